// etcc fmt FILE|DIR ...: every file in the one style, in place; `-` from stdin to stdout. With --check
// nothing is written: the files that would change are listed on stdout, and the exit status is 1 when there
// are any.
//
// A file with syntax errors is reported and left as it is; the others are still done.
#include <fmt/format.h>

#include "format/format.h"
#include "tools/common.h"
#include "tools/files.h"

namespace axon::tools {

namespace {

struct FmtOptions {
  CommonOptions common;
  std::vector<std::string> paths;
  bool check = false;
};

int format_file(const FmtOptions& o, const std::string& path) {
  CommonOptions one = o.common;
  one.file = path;
  int status = ok;
  const auto c = open(one, status);
  if (!c) return status;
  if (c->diagnostics.has_errors()) return report(*c, one);
  const source::SourceFile& file = c->sources[c->file];
  const auto text = format::format(file, c->diagnostics);
  if (!text) return report(*c, one);
  const bool same = *text == file.text();
  if (o.check) {
    if (!same) fmt::print("{}\n", file.name());
    return same ? ok : user_error;
  }
  if (same && path != "-") return ok;
  if (!write_file(path, *text, c->diagnostics)) return report(*c, one);
  if (o.common.verbose) fmt::print(stderr, "formatted {}\n", path);
  return ok;
}

}  // namespace

Command add_fmt(CLI::App& app) {
  auto o = std::make_shared<FmtOptions>();
  app.add_option("FILE", o->paths, ".axn files, directories of them, or - for stdin to stdout")->required();
  app.add_flag("--check", o->check,
               "write nothing; list the files that are not formatted, and exit with 1 if there are any");
  add_talk(app, o->common);
  o->common.prints = true;
  return [o] {
    std::vector<SourcePath> files;
    int status = find(o->paths, files, o->common);
    for (const SourcePath& source : files) status = std::max<int>(status, format_file(*o, source.file));
    return status;
  };
}

}  // namespace axon::tools
