// etcc check FILE: names, types and shapes, and what each entry becomes as far as that can be refused; with
// --types every declaration's type on stdout.
#include <fmt/format.h>

#include <algorithm>

#include "core/print.h"
#include "tools/common.h"

namespace axon::tools {

namespace {

/// A file of functions alone is checked, too; an entry that is asked for has to be there.
bool has_entries(const Compilation& c) {
  return !c.options.entries.empty() ||
         std::any_of(c.core->own.begin(), c.core->own.end(), [&](core::GlobalId id) {
           return c.core->globals[id].kind == core::Global::Kind::entry;
         });
}

}  // namespace

Command add_check(CLI::App& app) {
  auto options = std::make_shared<CommonOptions>();
  auto types = std::make_shared<bool>(false);
  add_common(app, *options);
  app.add_flag("--types", *types, "print the inferred type of every declaration");
  return [options, types] {
    int status = ok;
    options->prints = *types;
    const auto c = open(*options, status);
    if (!c) return status;
    if (run(*c, "core") && has_entries(*c)) run(*c, "inplace");
    if (*types && c->core) fmt::print("{}", core::print_types(*c->core));
    status = report(*c, *options);
    if (options->verbose && c->core)
      fmt::print(stderr, "{}: {} declarations checked\n", c->sources[c->file].name(), c->core->own.size());
    return status;
  };
}

}  // namespace axon::tools
