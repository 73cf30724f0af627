// See common.h.
#include "tools/common.h"
#include <fmt/format.h>
#include <unistd.h>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include "source/render.h"

namespace axon::tools {

namespace fs = std::filesystem;

void add_common(CLI::App& app, CommonOptions& o) {
  app.add_option("FILE", o.file, "the .axn file, or - for stdin")->required();
  app.add_option("-D,--define", o.defines, "fix a size or an element type parameter: n=1024, t=bf16")
      ->allow_extra_args(false);
  app.add_option("--library", o.library, "another directory to find library modules in, before the standard one")
      ->allow_extra_args(false);
  app.add_option("--entry", o.entries, "only this entry (may be repeated)")->allow_extra_args(false);
  app.add_option("--error-format", o.error_format, "how errors are shown")
      ->check(CLI::IsMember({"human", "short", "json"}));
  app.add_option("--color", o.color, "colours on stderr")->check(CLI::IsMember({"auto", "always", "never"}));
  app.add_option("--schedule", o.schedule, "order tasks by events, or put a barrier after every operator")
      ->check(CLI::IsMember({"events", "barrier"}));
  app.add_option("--level", o.level, "instruction-set level to build for")
      ->check(CLI::IsMember({"all", "x86-64-v2", "x86-64-v3", "x86-64-v4"}));
  app.add_flag("--time-passes", o.time_passes, "show on stderr how long each stage took");
}

std::vector<std::string> library_directories(const CommonOptions& o) {
  std::vector<std::string> directories = o.library;
  std::error_code ignored;
  const fs::path self = fs::read_symlink("/proc/self/exe", ignored);
  for (const fs::path& candidate : {self.parent_path() / "../share/axon/stdlib", fs::path(AXON_STDLIB_DIR)})
    if (fs::is_directory(candidate, ignored)) directories.push_back(candidate.lexically_normal().string());
  return directories;
}

namespace {

/// name=value: an element type by name, or a size.
bool parse_define(const std::string& text, core::Options& out) {
  const size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0) return false;
  std::string name = text.substr(0, equals);
  const std::string value = text.substr(equals + 1);
  if (name.front() == '\'') name.erase(0, 1);
  if (const auto elem = base::elem_from_name(value)) {
    out.elems[name] = *elem;
    return true;
  }
  int64_t number = 0;
  const auto [end, failed] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (failed != std::errc{} || end != value.data() + value.size() || number < 0) return false;
  out.sizes[name] = number;
  return true;
}

bool use_color(const CommonOptions& o) {
  if (o.color != "auto") return o.color == "always";
  return isatty(STDERR_FILENO) && !std::getenv("NO_COLOR");
}

}  // namespace

std::unique_ptr<Compilation> open(const CommonOptions& o, int& status) {
  CompileOptions options;
  options.library = library_directories(o);
  options.entries = o.entries;
  options.schedule = o.schedule == "barrier" ? plan::Schedule::barrier : plan::Schedule::events;
  if (o.level != "all") options.levels = {o.level};
  for (const std::string& define : o.defines)
    if (!parse_define(define, options.core)) {
      fmt::print(stderr, "etcc: -D {}: expected NAME=SIZE or NAME=ELEMENT_TYPE\n", define);
      status = usage;
      return nullptr;
    }
  auto c = std::make_unique<Compilation>(std::move(options));
  if (o.file == "-") {
    std::string text(std::istreambuf_iterator<char>(std::cin), {});
    c->file = c->sources.add("<stdin>", std::move(text), c->diagnostics);
  } else if (const auto file = c->sources.load(o.file, c->diagnostics)) {
    c->file = *file;
  } else {
    status = report(*c, o);
    return nullptr;
  }
  return c;
}

int report(const Compilation& c, const CommonOptions& o) {
  if (o.time_passes)
    for (const auto& [name, ms] : c.times) fmt::print(stderr, "{:>10.2f} ms  {}\n", ms, name);
  if (o.error_format == "json") {
    fmt::print("{}\n", source::render_json(c.diagnostics, c.sources));
  } else if (!c.diagnostics.in_order_of_report().empty()) {
    source::RenderOptions render;
    render.color = use_color(o);
    const std::string text = o.error_format == "short" ? source::render_short(c.diagnostics, c.sources, render)
                                                       : source::render_human(c.diagnostics, c.sources, render);
    fmt::print(stderr, "{}", text);
  }
  return c.diagnostics.has_errors() ? user_error : ok;
}

bool write_file(const std::string& path, const std::string& bytes) {
  if (path == "-") return std::fwrite(bytes.data(), 1, bytes.size(), stdout) == bytes.size();
  const std::string temporary = fmt::format("{}.tmp{}", path, getpid());
  {
    std::ofstream out(temporary, std::ios::binary);
    out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    if (!out.flush()) {
      fmt::print(stderr, "etcc: cannot write {}\n", path);
      out.close();
      std::remove(temporary.c_str());
      return false;
    }
  }
  if (std::rename(temporary.c_str(), path.c_str()) != 0) {
    fmt::print(stderr, "etcc: cannot write {}\n", path);
    std::remove(temporary.c_str());
    return false;
  }
  return true;
}

}  // namespace axon::tools
