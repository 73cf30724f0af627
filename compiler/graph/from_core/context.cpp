// Where evaluation stands, for messages and for the names of nodes.
#include "graph/from_core/context.h"

#include <algorithm>

#include "source/place.h"

namespace axon::graph {

std::string Context::source_text(source::Span span) const {
  if (!sources || !span.valid()) return "";
  return std::string(sources->text(span));
}

std::string Context::quoted(source::Span span) const {
  const source::Span own = span.valid() && span.file == file ? span : span_here();
  const std::string text = source_text(own);
  if (text.empty()) return "";
  constexpr size_t most = 60;
  const std::string line = text.substr(0, text.find('\n'));
  size_t end = std::min(line.size(), most);
  while (end < line.size() && (line[end] & 0xc0) == 0x80) --end;  // not within a character
  const std::string shown = line.substr(0, end);
  return "`" + shown + (shown == text ? "` (" : " ...` (") + source::place_of(*sources, own) + ")";
}

source::Span Context::span_here() const {
  for (size_t i = spans.size(); i-- > 0;)
    if (spans[i].valid() && spans[i].file == file) return spans[i];
  return spans.empty() ? source::Span{} : spans[0];
}

std::string Context::name_here(const std::string& otherwise) const {
  for (core::GlobalId id : calls)
    if (program.globals[id].span.file != file) return program.globals[id].name;
  return otherwise;
}

Place Context::leave_for_root() {
  Place at_root;
  at_root.env = std::make_shared<Environment>();
  at_root.regions = {regions.front()};
  return std::exchange(static_cast<Place&>(*this), std::move(at_root));
}

Val Context::fail(source::Code code, const std::string& message) {
  if (!failed) diagnostics.report(source::error(code, span_here(), message));
  failed = true;
  return {};
}

}  // namespace axon::graph
