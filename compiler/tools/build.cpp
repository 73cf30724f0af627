// etcc build FILE -o OUT.axb: one bundle with every entry. --emit=STAGE prints a representation instead.
#include <fmt/format.h>
#include "tools/common.h"

namespace axon::tools {

Command add_build(CLI::App& app) {
  auto options = std::make_shared<CommonOptions>();
  auto out = std::make_shared<std::string>();
  auto emit = std::make_shared<std::string>();
  add_common(app, *options);
  app.add_option("-o", *out, "the bundle to write; the file's name with .axb when left out");
  std::vector<std::string> names;
  for (const Stage& stage : stages())
    if (stage.print) names.emplace_back(stage.name);
  app.add_option("--emit,--stop-after", *emit, "print this stage's result on stdout and stop")
      ->check(CLI::IsMember(names));
  return [options, out, emit] {
    int status = ok;
    const auto c = open(*options, status);
    if (!c) return status;
    if (!emit->empty()) {
      const bool done = run(*c, *emit);
      if (done) {
        const std::string text = find_stage(*emit)->print(*c);
        if (!write_file(out->empty() ? "-" : *out, text)) return static_cast<int>(user_error);
      }
      return report(*c, *options);
    }
    if (!run(*c, "bundle")) return report(*c, *options);
    status = report(*c, *options);
    std::string path = *out;
    if (path.empty()) {
      const size_t dot = options->file.rfind(".axn");
      path = options->file == "-" ? "out.axb" : options->file.substr(0, dot) + ".axb";
    }
    return write_file(path, c->bundle) ? status : static_cast<int>(user_error);
  };
}

}  // namespace axon::tools
