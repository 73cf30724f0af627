// etcc verify FILE: the obligations of every plan variant, one line each, with who proved it; the totals only
// with -q. Then how much memory its temporaries take.
#include "plan/verify.h"

#include <fmt/format.h>

#include "plan/footprint.h"
#include "tools/common.h"

namespace axon::tools {

Command add_verify(CLI::App& app) {
  auto options = std::make_shared<CommonOptions>();
  add_common(app, *options);
  options->prints = true;
  return [options] {
    int status = ok;
    const auto c = open(*options, status);
    if (!c) return status;
    c->options.verify_tasks = false;  // shown here instead of refused there
    if (!run(*c, "plan")) return report(*c, *options);
    status = report(*c, *options);
    for (const CompiledEntry& entry : c->entries)
      for (const plan::Variant& variant : entry.plan.variants) {
        size_t proved = 0, total = 0;
        std::vector<task::Obligation> obligations;
        if (!within_allowance(*c, entry, [&] { obligations = plan::obligations(variant); }))
          return report(*c, *options);
        for (const task::Obligation& o : obligations) {
          ++total;
          proved += o.proved;
          if (!options->quiet || !o.proved)
            fmt::print("{} {}: {} ({})\n", o.proved ? "proved" : "FAILED", variant.symbol, o.what, o.by);
        }
        fmt::print("{}: {} of {} obligations proved, for all sizes\n", variant.symbol, proved, total);
        fmt::print("{}: {}\n", variant.symbol, plan::describe_footprint(variant));
        if (proved != total) status = user_error;
      }
    return status;
  };
}

}  // namespace axon::tools
