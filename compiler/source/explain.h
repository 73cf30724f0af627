// What each code means, at length: the pages of explain/*.md, compiled in.
//
// A page is Markdown: `# E0312: title`, what it means, a block ```axn bad``` whose text raises the code, why,
// a block ```axn good``` that is accepted, and a note. Where the error takes a command, the blocks are
// ```sh bad``` and ```sh good```, or a plain ```sh``` whose files are not at hand. Tests hold every page to
// that.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "source/diagnostic.h"

namespace axon::source {

struct Page {
  Code code;
  std::string_view text;
};
const std::vector<Page>& pages();         ///< by code; made by embed_pages.cmake
std::string_view explanation(Code code);  ///< the page of a code; empty when it has none
/// The page of a code, or the list of all codes with their titles, as `etcc explain` prints it.
std::string explain(Code code);
std::string explain_all();

}  // namespace axon::source
