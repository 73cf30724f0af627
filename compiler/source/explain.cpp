// See explain.h.
#include "source/explain.h"

#include <fmt/format.h>

namespace axon::source {

std::string_view explanation(Code code) {
  for (const Page& page : pages())
    if (page.code == code) return page.text;
  return {};
}

std::string explain(Code code) {
  std::string_view page = explanation(code);
  if (page.empty()) return fmt::format("# {}: {}\n", code_name(code), code_title(code));
  return std::string(page);
}

std::string explain_all() {
  std::string text;
  for (Code code : all_codes()) text += fmt::format("{}  {}\n", code_name(code), code_title(code));
  return text + "\n`etcc explain CODE` shows the page of a code.\n";
}

}  // namespace axon::source
