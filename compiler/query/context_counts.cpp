// See context_counts.h.
#include "query/context_counts.h"

#include <array>
#include <cmath>
#include <set>

#include "source/diagnostic.h"
#include "syntax/tokens.h"

namespace axon::query {

namespace {

/// Which of the tokens beside a name are counted with it, and what an occurrence of that is worth.
struct With {
  bool before_that, before, after, after_that;
  double worth;
};
constexpr std::array<With, 6> ways = {{{false, false, false, false, 0.2},
                                       {false, true, false, false, 1.0},
                                       {false, false, true, false, 1.2},
                                       {false, true, true, false, 1.5},
                                       {true, true, false, false, 1.2},
                                       {false, false, true, true, 1.8}}};

/// FNV-1a, of words with what ends them.
class Hash {
 public:
  Hash& add(std::string_view word) {
    for (const char c : word) step(static_cast<unsigned char>(c));
    step(0);
    return *this;
  }
  uint64_t value() const { return value_; }

 private:
  void step(unsigned char byte) { value_ = (value_ ^ byte) * 1099511628211u; }
  uint64_t value_ = 14695981039346656037u;
};

uint64_t number(size_t way, std::string_view name, const ContextCounts::Around& around) {
  const With& with = ways[way];
  Hash out;
  out.add(name).add(std::string_view("012345").substr(way, 1));
  if (with.before_that) out.add(around.before_that);
  if (with.before) out.add(around.before);
  if (with.after) out.add(around.after);
  if (with.after_that) out.add(around.after_that);
  return out.value();
}

}  // namespace

std::vector<uint64_t> ContextCounts::count(const std::string& text) {
  std::vector<uint64_t> out;
  const source::SourceFile file(source::FileId{0}, "", text);
  source::Diagnostics ignored;
  const std::vector<syntax::Token> tokens = syntax::lex(file, ignored).tokens;
  const auto word = [&](size_t i) {
    return i < tokens.size() ? file.text().substr(tokens[i].begin, tokens[i].end - tokens[i].begin)
                             : std::string_view();
  };
  for (size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i].kind != syntax::TokenKind::ID) continue;
    const Around around{i > 1 ? word(i - 2) : "", i > 0 ? word(i - 1) : "", word(i + 1), word(i + 2)};
    for (size_t way = 0; way < ways.size(); ++way) out.push_back(number(way, word(i), around));
  }
  return out;
}

void ContextCounts::add(File& file, const Part& part) {
  for (const uint64_t key : part.counted) ++file.counts[key], ++all_[key];
}

void ContextCounts::remove(File& file, const Part& part) {
  const auto less = [](Counts& counts, uint64_t key) {
    const auto found = counts.find(key);
    if (--found->second == 0) counts.erase(found);
  };
  for (const uint64_t key : part.counted) less(file.counts, key), less(all_, key);
}

/// Parts of a text that was there before are kept.
void ContextCounts::read(File& file, std::string_view text, const std::vector<std::string_view>& parts) {
  std::unordered_multimap<std::string_view, size_t> known;
  for (size_t i = 0; i < file.parts.size(); ++i) known.emplace(file.parts[i].text, i);
  std::vector<Part> now;
  std::vector<bool> kept(file.parts.size());
  for (const std::string_view part : parts) {
    const auto same = known.find(part);
    if (same == known.end()) {
      now.push_back({std::string(part), count(std::string(part))});
      add(file, now.back());
      continue;
    }
    const size_t which = same->second;
    known.erase(same);
    kept[which] = true;
    now.push_back({std::string(part), std::move(file.parts[which].counted)});
  }
  for (size_t i = 0; i < kept.size(); ++i)
    if (!kept[i]) remove(file, file.parts[i]);
  file.text = text;
  file.parts = std::move(now);
}

void ContextCounts::update(const session::Session& session) {
  std::set<std::string> loaded;
  for (const std::string& path : session.documents().paths()) {
    loaded.insert(path);
    const syntax::Text& now = session.documents().find(path)->text();
    const std::string_view text = session.sources()[now.source].text();
    File& file = files_[path];
    if (file.text == text && !file.parts.empty()) continue;
    std::vector<std::string_view> parts;
    for (const syntax::File* part : now.parts) parts.push_back(session.sources()[part->source].text());
    read(file, text, parts);
  }
  for (auto file = files_.begin(); file != files_.end();) {
    const bool gone = !loaded.count(file->first);
    if (gone) read(file->second, "", {});
    file = gone ? files_.erase(file) : std::next(file);
  }
}

double ContextCounts::weight(std::string_view name, const Around& around, const std::string& own) const {
  constexpr double own_counts_more = 2;  // besides what it counts as one of all
  const auto mine = files_.find(own);
  const auto in = [](const Counts& counts, uint64_t key) {
    const auto found = counts.find(key);
    return found == counts.end() ? 0.0 : static_cast<double>(found->second);
  };
  double out = 0;
  for (size_t way = 0; way < ways.size(); ++way) {
    const uint64_t key = number(way, name, around);
    const double all = in(all_, key);
    if (all == 0 && way == 0) return 0;
    const double here = mine == files_.end() || all == 0 ? 0 : in(mine->second.counts, key);
    out += ways[way].worth * std::log1p(all + own_counts_more * here);
  }
  return out;
}

}  // namespace axon::query
