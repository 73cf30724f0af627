// See examples.h.
#include "syntax/examples.h"

#include <algorithm>

namespace axon::syntax {

source::Span said_by(const Comment& comment, const source::SourceFile& file) {
  constexpr uint32_t sign = 3;  // `--|`
  source::Span out = comment.span;
  out.begin = std::min(out.begin + sign, out.end);
  if (out.begin < out.end && file.text()[out.begin] == ' ') ++out.begin;
  while (out.end > out.begin && (file.text()[out.end - 1] == ' ' || file.text()[out.end - 1] == '\t'))
    --out.end;
  return out;
}

std::optional<source::Span> example_in(const Comment& comment, const source::SourceFile& file) {
  constexpr std::string_view mark = ">>> ";
  if (!comment.is_doc || !comment.own_line) return std::nullopt;
  source::Span out = said_by(comment, file);
  if (!file.text().substr(out.begin, out.size()).starts_with(mark)) return std::nullopt;
  out.begin += static_cast<uint32_t>(mark.size());
  return out;
}

}  // namespace axon::syntax
