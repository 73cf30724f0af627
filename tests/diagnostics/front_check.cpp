// front_check [--format FORMAT] FILE...: reads, parses and infers, and shows what is reported on stdout; `-`
// is stdin. For tests that need a process of its own, with limits on memory and time. Exit 0 without errors,
// 1 with some.
#include <cstdio>
#include <iostream>
#include <iterator>

#include "support.h"

int main(int argc, char** argv) {
  using namespace axon::source;
  std::string format = "short";
  bool failed = false;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--format" && i + 1 < argc) {
      format = argv[++i];
      continue;
    }
    const Checked c = argument == "-" ? check({std::istreambuf_iterator<char>(std::cin), {}}, "<stdin>")
                                      : check_file(argument);
    failed |= c.diagnostics->has_errors();
    std::string shown = render_short(*c.diagnostics, *c.sources);
    if (format == "human") shown = render_human(*c.diagnostics, *c.sources, {});
    if (format == "json") shown = render_json(*c.diagnostics, *c.sources);
    std::fwrite(shown.data(), 1, shown.size(), stdout);
  }
  return failed ? 1 : 0;
}
