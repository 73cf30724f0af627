// See typed_places.h.
#include "repl/typed_places.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>

namespace axon::repl {

std::string with_its(std::string text, const std::string& it) {
  for (size_t at = 0; !it.empty() && (at = text.find(it, at)) != std::string::npos; at += 2)
    text.replace(at, it.size(), "it");
  return text;
}

TypedPlaces::TypedPlaces(Typed typed, const KeptRanges& ranges, size_t fresh, std::string_view text)
    : typed_(std::move(typed)), ranges_(ranges), fresh_(fresh) {
  source::Diagnostics ignored;
  phrase_ = sources_.add("repl", typed_.phrase, ignored);
  loaded_ = sources_.add(typed_.loaded_path, typed_.loaded_text, ignored);
  definitions_ = sources_.add("definitions", std::string(text), ignored);
  if (!typed_.it.empty()) its_ = places_of(typed_.phrase, "it");
}

source::Span TypedPlaces::span(size_t begin, size_t end) {
  const auto [file, first] = place(begin);
  const auto [same, last] = place(std::max(begin, end));
  return {file, first, same == file ? std::max(first, last) : first};
}

/// The expression of a value.
source::FileId TypedPlaces::value(const Item& item) {
  const auto [known, added] = values_.try_emplace(&item);
  source::Diagnostics ignored;
  if (added) known->second = sources_.add("it", item.text.substr(item.made), ignored);
  return known->second;
}

TypedPlaces::Place TypedPlaces::place(size_t offset) {
  size_t i = 0;
  while (i + 1 < ranges_.size() && ranges_[i + 1].begin <= offset) ++i;
  const bool is_typed = i < ranges_.size() && i >= fresh_;
  const bool is_value = i < ranges_.size() && ranges_[i].kept->hidden;
  if (i == ranges_.size() || (!is_typed && !is_value && !ranges_[i].kept->loaded))
    return {definitions_, static_cast<uint32_t>(offset)};
  const Item& item = ranges_[i].kept->item;
  size_t at = item.at + std::max(offset - ranges_[i].begin, item.made) - item.made;
  if (is_value && !is_typed) return {value(item), static_cast<uint32_t>(at)};
  if (!is_typed) return {loaded_, static_cast<uint32_t>(at)};
  for (const size_t it : its_)  // which is longer in the text
    if (at > it) at = std::max(it + std::min<size_t>(at - it, 2), at - (typed_.it.size() - 2));
  return {phrase_, static_cast<uint32_t>(std::min(at, typed_.phrase.size()))};
}

source::Diagnostic TypedPlaces::moved(source::Diagnostic d, const source::SourceManager& files,
                                      source::FileId document) {
  const auto move = [&](source::Span& place) {
    if (!place.valid()) return;
    if (place.file == document) {
      place = span(place.begin, place.end);
      return;
    }
    auto [other, added] = others_.try_emplace(place.file);
    source::Diagnostics ignored;
    const source::SourceFile& file = files[place.file];
    if (added) other->second = sources_.add(file.name(), std::string(file.text()), ignored);
    place.file = other->second;
  };
  move(d.primary.span);
  for (source::Label& label : d.secondary) move(label.span);
  for (source::Help& help : d.helps)
    if (help.edit) move(help.edit->span);
  return d;
}

/// The byte that stands there in the file.
static uint32_t offset_of(const source::SourceFile& file, uint32_t line, uint32_t column) {
  uint32_t offset = file.line_begin(line);
  while (offset < file.size() && file.position(offset).line == line && file.position(offset).column < column)
    ++offset;
  return offset;
}

std::string TypedPlaces::moved(std::string text, const source::SourceFile& program, const std::string& path) {
  const std::string name = std::filesystem::path(path).filename().string() + ":";
  const std::string folder = path.substr(0, path.size() - (name.size() - 1));
  for (size_t at = 0; (at = text.find(name, at)) != std::string::npos; ++at) {
    uint32_t line = 0, column = 0;
    int length = 0;
    const int read = std::sscanf(text.c_str() + at + name.size(), "%u:%u%n", &line, &column, &length);
    if (read < 2 || line == 0 || line > program.line_count()) continue;
    const uint32_t offset = offset_of(program, line, column);
    const source::Span place = span(offset, offset);
    const source::SourceFile& typed = sources_[place.file];
    const source::Position position = typed.position(place.begin);
    const bool is_path = std::string_view(text).substr(0, at).ends_with(folder);
    const size_t begin = is_path ? at - folder.size() : at;
    text.replace(begin, at + name.size() + static_cast<size_t>(length) - begin,
                 fmt::format("{}:{}:{}", typed.name(), position.line, position.column));
    at = begin;
  }
  return text;
}

}  // namespace axon::repl
