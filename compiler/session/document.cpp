// See document.h.
#include "session/document.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "syntax/parse.h"
#include "syntax/parts.h"

namespace axon::session {

Document::Document(source::SourceManager& sources, const std::string& path, std::string text)
    : sources_(sources) {
  source::Diagnostics ignored;
  text_.source = sources.add(path, "", ignored);
  set_text(std::move(text));
}

std::vector<Document::Piece> Document::pieces() const {
  const source::SourceFile& whole = sources_[text_.source];
  const std::vector<uint32_t> starts = syntax::part_starts(whole.text());
  std::vector<Piece> out;
  for (size_t i = 0; i < starts.size(); ++i) {
    const uint32_t end = i + 1 < starts.size() ? starts[i + 1] : whole.size();
    const source::Span span{text_.source, starts[i], end};
    const std::string_view text = sources_.text(span);
    out.push_back({span, text, i == 0 && text.find("--|") != text.npos, nullptr});
  }
  return out;
}

/// Gives parts to the pieces that have their text; first those that stand where they stood.
void Document::keep_equal(std::vector<Piece>& pieces) {
  const auto take = [](Piece& piece, std::shared_ptr<Part>& part) {
    const bool same = part && !piece.part && part->text == piece.text && part->first == piece.first;
    if (same) piece.part = std::move(part);
    return same;
  };
  const size_t common = std::min(pieces.size(), parts_.size());
  size_t front = 0, back = 0;
  while (front < common && take(pieces[front], parts_[front])) ++front;
  while (front + back < common && take(pieces[pieces.size() - 1 - back], parts_[parts_.size() - 1 - back]))
    ++back;
  std::unordered_map<std::string_view, std::vector<size_t>> others;  // the last of a text is its first part
  for (size_t q = parts_.size() - back; q-- > front;)
    if (parts_[q]) others[parts_[q]->text].push_back(q);
  for (size_t p = front; p + back < pieces.size(); ++p) {
    const auto equal = others.find(pieces[p].text);
    if (equal != others.end() && !equal->second.empty() && take(pieces[p], parts_[equal->second.back()]))
      equal->second.pop_back();
  }
}

void Document::read(Piece& piece) {
  Part& part = *piece.part;
  part.revision = ++revisions_;
  part.first = piece.first;
  part.text = piece.text;
  sources_.place_part(part.id, piece.span);
  part.found = {};
  part.file = syntax::parse(sources_[part.id], part.found);
}

void Document::give_up(std::shared_ptr<Part> part) {
  if (!part) return;
  const auto is_it = [&](const Piece& held) { return held.part == part; };
  const bool held = held_ && std::any_of(held_->pieces.begin(), held_->pieces.end(), is_it);
  if (held) return;
  const source::FileId id = part->id;
  *part = Part();
  part->id = id;
  unused_.push_back(std::move(part));
}

/// The text is what stands in these pieces, which have parts or get some.
void Document::place(std::vector<Piece> pieces) {
  parts_.clear();
  text_.parts.clear();
  revision_of_.clear();
  for (Piece& piece : pieces) {
    if (piece.part) {
      sources_.place_part(piece.part->id, piece.span);
    } else {
      if (unused_.empty()) {
        piece.part = std::make_shared<Part>();
        piece.part->id = sources_.add_part(piece.span);
      } else {
        piece.part = std::move(unused_.back());
        unused_.pop_back();
      }
      read(piece);
    }
    text_.parts.push_back(&piece.part->file);
    revision_of_[piece.part->id] = piece.part->revision;
    parts_.push_back(std::move(piece.part));
  }
}

void Document::set_text(std::string text) {
  version_ = ++versions_;
  bytes_ = {};
  sources_.replace(text_.source, std::move(text), bytes_);
  std::vector<Piece> all = pieces();
  keep_equal(all);
  const auto before = static_cast<long>(unused_.size());
  for (std::shared_ptr<Part>& part : parts_) give_up(std::move(part));
  std::reverse(unused_.begin() + before, unused_.end());  // a part that is edited keeps its id
  place(std::move(all));
}

void Document::hold() {
  held_.emplace(std::string(sources_[text_.source].text()), bytes_, std::vector<Piece>{}, version_);
  for (const std::shared_ptr<Part>& part : parts_)
    held_->pieces.push_back({sources_[part->id].piece(), part->text, part->first, part});
}

void Document::release() {
  const std::vector<std::shared_ptr<Part>> tried = std::move(parts_);
  for (const std::shared_ptr<Part>& part : tried) give_up(part);
  source::Diagnostics known;
  sources_.replace(text_.source, std::move(held_->text), known);
  bytes_ = std::move(held_->bytes);
  place(std::move(held_->pieces));
  version_ = held_->version;
  held_.reset();
}

Document::Difference Document::difference() const {
  Difference out;
  if (!held_) return out;
  std::unordered_set<const Part*> before, after;
  for (const Piece& piece : held_->pieces) before.insert(piece.part.get());
  for (const std::shared_ptr<Part>& part : parts_) {
    after.insert(part.get());
    if (before.count(part.get()) == 0) out.now.push_back(&part->file);
  }
  for (const Piece& piece : held_->pieces)
    if (after.count(piece.part.get()) == 0) out.held.push_back(&piece.part->file);
  return out;
}

std::vector<source::Diagnostic> Document::reports() const {
  std::vector<source::Diagnostic> out = bytes_.in_order_of_report();
  for (const auto& part : parts_) {
    const auto& found = part->found.in_order_of_report();
    out.insert(out.end(), found.begin(), found.end());
  }
  return out;
}

uint64_t Document::revision(source::FileId part) const {
  const auto found = revision_of_.find(part);
  return found == revision_of_.end() ? 0 : found->second;
}

}  // namespace axon::session
