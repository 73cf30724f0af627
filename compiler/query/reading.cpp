// See reading.h.
#include "query/reading.h"

#include <algorithm>

#include "source/differences.h"

namespace axon::query {

using source::Span;

namespace {

/// Names, numbers, blanks, and all else one by one.
std::vector<std::string_view> words(std::string_view text) {
  const auto kind = [](char c) {
    if (c == ' ' || c == '\n' || c == '\t' || c == '\r') return 1;
    const bool letter = c == '_' || (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') ||
                        (c >= 'a' && c <= 'z') || static_cast<unsigned char>(c) >= 0x80;
    return letter ? 2 : 0;
  };
  std::vector<std::string_view> out;
  for (size_t i = 0; i < text.size();) {
    const int first = kind(text[i]);
    size_t end = i + 1;
    while (first != 0 && end < text.size() && kind(text[end]) == first) ++end;
    out.push_back(text.substr(i, end - i));
    i = end;
  }
  return out;
}

}  // namespace

TextMap::TextMap(std::string_view before, std::string_view after) {
  if (before == after) {
    same_.push_back({0, 0, static_cast<uint32_t>(before.size())});
    return;
  }
  const std::vector<std::string_view> old_words = words(before), new_words = words(after);
  const auto begin = [](std::string_view text, const std::vector<std::string_view>& pieces, size_t i) {
    return static_cast<uint32_t>(i < pieces.size() ? pieces[i].data() - text.data() : text.size());
  };
  size_t from = 0, new_from = 0;
  const auto add = [&](size_t to) {
    const uint32_t first = begin(before, old_words, from), last = begin(before, old_words, to);
    if (first < last) same_.push_back({first, begin(after, new_words, new_from), last - first});
  };
  for (const source::Change& change : source::differences(old_words, new_words)) {
    add(change.first);
    from = change.last;
    new_from = change.new_last;
  }
  add(old_words.size());
}

std::optional<Span> TextMap::later(Span span) const {
  for (const Same& s : same_)
    if (s.before <= span.begin && span.end <= s.before + s.size)
      return Span{span.file, span.begin - s.before + s.after, span.end - s.before + s.after};
  return std::nullopt;
}

std::optional<uint32_t> TextMap::earlier(uint32_t offset) const {
  for (const Same& s : same_)
    if (s.after <= offset && offset <= s.after + s.size) return offset - s.after + s.before;
  return std::nullopt;
}

Layer::Layer(const session::Record& record, const session::ReadPart& read, Span now,
             std::string_view text_now)
    : record_(&record), part_(read.id), now_(now), map_(read.text, text_now) {}

std::optional<Span> Layer::now(Span span) const {
  if (span.file != part_) return std::nullopt;
  const auto later = map_.later(span);
  if (!later) return std::nullopt;
  return Span{now_.file, now_.begin + later->begin, now_.begin + later->end};
}

std::optional<uint32_t> Layer::then(uint32_t offset) const {
  if (offset < now_.begin || now_.end < offset) return std::nullopt;
  return map_.earlier(offset - now_.begin);
}

std::optional<Span> Layer::then(Span whole) const {
  const auto begin = then(whole.begin), end = then(whole.end);
  if (!begin || !end || *end < *begin) return std::nullopt;
  return Span{part_, *begin, *end};
}

Reading reading_of(const session::Session& session, session::Entry entry) {
  const source::SourceFile& part = session.sources()[entry.part->source];
  Reading out{std::move(entry), part.piece(), {}};
  const session::Record* const record = out.entry.record;
  if (!record) return out;
  const auto which = static_cast<size_t>(out.entry.read - record->own.data());
  out.layers.emplace_back(*record, *out.entry.read, out.whole, part.text());
  const session::Record* const good = record->last_good.get();
  if (good && which < good->own.size())
    out.layers.emplace_back(*good, good->own[which], out.whole, part.text());
  return out;
}

std::vector<Reading> readings_in(const session::Session& session, const std::string& path, uint32_t begin,
                                 uint32_t end) {
  std::vector<Reading> out;
  for (session::Entry& entry : session.declarations_in(path, begin, end))
    out.push_back(reading_of(session, std::move(entry)));
  return out;
}

std::vector<Reading> readings(const session::Session& session, const std::string& path) {
  return readings_in(session, path, 0, UINT32_MAX);
}

std::vector<Reading> readings_at(const session::Session& session, const std::string& path, uint32_t offset) {
  return readings_in(session, path, offset, offset);
}

}  // namespace axon::query
