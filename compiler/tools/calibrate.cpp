// etcc calibrate BUNDLE [ENTRY ..] NAME=SIZE ..: measures what the kernels of entries cost on this machine,
// for arguments of these sizes (sized_bundle.h), and writes BUNDLE.costs, by which launches choose their
// workers.
//
// With --check the entries are run, too, and what was measured stands beside what the costs predict.
#include <fmt/format.h>

#include "tools/arguments.h"
#include "tools/common.h"
#include "tools/sized_bundle.h"

namespace axon::tools {

namespace {

struct CalibrateOptions {
  CommonOptions common;  ///< how to talk
  std::string bundle;
  std::vector<std::string> rest;  ///< entries, and NAME=SIZE
  uint32_t workers = 0;
  double seconds = 0.1;
  bool check = false;
};

constexpr size_t most_runs = 1000;  ///< that --check times

class Calibration {
 public:
  Calibration(const CalibrateOptions& o, Sizes sizes) : o_(o), bundle_(std::move(sizes)) {}

  void run(std::vector<std::string> entries) {
    bundle_.open(o_.bundle);
    if (entries.empty()) entries = bundle_.entry_names();
    bundle_.check_sizes(entries);
    bundle_.bind();
    measure(entries);
    if (!o_.check) return;
    bundle_.open(o_.bundle);  // with the costs
    bundle_.bind();
    fmt::print("{:24} {:>7} {:>12} {:>12} {:>9}\n", "entry", "workers", "predicted ms", "measured ms",
               "ratio");
    for (const std::string& name : entries) check(name);
  }

 private:
  void measure(const std::vector<std::string>& entries) {
    const Runtime runtime = runtime_of(o_.workers);
    std::vector<Call> calls;
    std::vector<axon_call*> handles;
    for (const std::string& name : entries) {
      calls.push_back(bundle_.call_of(name, runtime.get()));
      handles.push_back(calls.back().get());
    }
    bundle_.must(axon_calibrate(handles.data(), handles.size(), o_.seconds, (o_.bundle + ".costs").c_str(),
                                bundle_.error()));
  }

  /// Predicted and measured times with one worker, and with all.
  void check(const std::string& name) {
    const uint32_t all = axon_runtime_workers(runtime_of(o_.workers).get());
    for (uint32_t workers = 1;; workers = all) {
      const Runtime runtime = runtime_of(workers);
      const Call call = bundle_.call_of(name, runtime.get());
      double predicted = 0;
      const double measured = median(times_of(bundle_, call.get(), 1, most_runs));
      bundle_.must(axon_call_predict(call.get(), workers, &predicted, bundle_.error()));
      fmt::print("{:24} {:7} {:12.4f} {:12.4f} {:9.2f}\n", name, workers, predicted * 1e-6, measured * 1e-6,
                 predicted / measured);
      if (workers == all) break;
    }
  }

  const CalibrateOptions& o_;
  SizedBundle bundle_;
};

}  // namespace

Command add_calibrate(CLI::App& app) {
  auto o = std::make_shared<CalibrateOptions>();
  app.add_option("BUNDLE", o->bundle, "a bundle that `etcc build` has made; BUNDLE.costs is written")
      ->required();
  app.add_option("ARGUMENT", o->rest, "entries (none: all of them), and the sizes of their arguments, n=12");
  app.add_option("--workers", o->workers, "the most worker threads; 0: as many as there are CPUs");
  app.add_option("--seconds", o->seconds, "for each kernel with one worker, and with all")
      ->check(CLI::Range(0.0, 60.0));
  app.add_flag("--check", o->check, "run the entries, and compare times with predictions");
  add_talk(app, o->common);
  return [o] {
    std::vector<std::string> entries;
    Sizes sizes;
    if (!sort_words(o->rest, entries, sizes)) return static_cast<int>(usage);
    source::Diagnostics diagnostics;
    const source::SourceManager sources;
    o->common.prints = true;
    try {
      Calibration(*o, sizes).run(entries);
    } catch (const Problem& problem) {
      diagnostics.report(diagnostic_of(problem));
    }
    return report(diagnostics, sources, o->common);
  };
}

}  // namespace axon::tools
