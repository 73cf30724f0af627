// etcc check FILE: names, types and shapes; with --types every declaration's type on stdout.
#include <fmt/format.h>

#include "core/print.h"
#include "tools/common.h"

namespace axon::tools {

Command add_check(CLI::App& app) {
  auto options = std::make_shared<CommonOptions>();
  auto types = std::make_shared<bool>(false);
  add_common(app, *options);
  app.add_flag("--types", *types, "print the inferred type of every declaration");
  return [options, types] {
    int status = ok;
    const auto c = open(*options, status);
    if (!c) return status;
    run(*c, "core");
    if (*types && c->core) fmt::print("{}", core::print_types(*c->core));
    status = report(*c, *options);
    if (options->verbose && c->core)
      fmt::print(stderr, "{}: {} declarations checked\n", c->sources[c->file].name(), c->core->own.size());
    return status;
  };
}

}  // namespace axon::tools
