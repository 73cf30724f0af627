// See why_error.h.
#include "query/why_error.h"

#include <fmt/format.h>

#include <algorithm>

namespace axon::query {

namespace {

bool covers(source::Span span, source::FileId file, uint32_t offset) {
  return span.file == file && span.begin <= offset && (offset < span.end || offset == span.begin);
}

bool is_about(const source::Diagnostic& d, source::FileId file, uint32_t offset) {
  return covers(d.primary.span, file, offset) ||
         std::any_of(d.secondary.begin(), d.secondary.end(),
                     [&](const source::Label& l) { return covers(l.span, file, offset); });
}

/// The lines of a text as steps without a place.
void add_lines(std::vector<Step>& steps, const std::string& text, unsigned depth) {
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    if (end > at) steps.push_back({{}, text.substr(at, end - at), depth});
    at = end + 1;
  }
}

}  // namespace

std::vector<Step> why_error(const source::Diagnostics& said, source::FileId file, uint32_t offset) {
  std::vector<Step> steps;
  for (const source::Diagnostic& d : said.sorted()) {
    if (!is_about(d, file, offset)) continue;
    const char* const severity = d.severity == source::Severity::error ? "error" : "warning";
    steps.push_back(
        {d.primary.span, fmt::format("{}[{}]: {}", severity, source::code_name(d.code), d.headline())});
    std::vector<source::Label> labels = d.secondary;
    labels.push_back(d.primary);
    std::stable_sort(labels.begin(), labels.end(), [](const source::Label& a, const source::Label& b) {
      return std::pair(a.span.file.index, a.span.begin) < std::pair(b.span.file.index, b.span.begin);
    });
    for (const source::Label& label : labels)
      if (!label.text.empty()) steps.push_back({label.span, label.text, 1});
    add_lines(steps, d.body, 1);
    for (const source::Note& note : d.notes) steps.push_back({{}, note.kind + ": " + note.text, 1});
  }
  return steps;
}

}  // namespace axon::query
