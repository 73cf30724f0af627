// See models.h.
#include "models.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

namespace axon::bench {

namespace {

[[noreturn]] void fail(const std::string& why) {
  fmt::print(stderr, "{}\n", why);
  std::exit(1);
}

bool holds(const plan::Variant& v, const shape::Assignment& sizes) {
  return std::all_of(v.program.guard.begin(), v.program.guard.end(), [&](const shape::Fact& f) {
    return shape::holds(f.relation, *f.lhs.evaluate(sizes), *f.rhs.evaluate(sizes));
  });
}

}  // namespace

std::string path_of(const Model& model) {
  return fmt::format("{}/examples/models/{}.axn", AXON_SOURCE_DIR, model.file);
}

std::string name_of(const std::string& path, const std::string& entry) {
  return path.substr(path.rfind('/') + 1) + " " + entry;
}

std::unique_ptr<Compilation> planned(const std::string& path, const std::string& entry,
                                     plan::Schedule schedule) {
  CompileOptions options;
  options.library = {AXON_SOURCE_DIR "/stdlib"};
  options.entries = {entry};
  options.schedule = schedule;
  auto c = std::make_unique<Compilation>(options);
  const auto file = c->sources.load(path, c->diagnostics);
  if (!file) fail("cannot read " + path);
  c->file = *file;
  if (!run(*c, "plan")) fail(path + " does not compile");
  return c;
}

shape::Assignment parse_sizes(const graph::Graph& g, const std::string& text) {
  shape::Assignment sizes;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find(' ', at), text.size());
    const std::string item = text.substr(at, end - at);
    const size_t equals = item.find('=');
    if (equals == std::string::npos) fail("a size is written as n=12, not as " + item);
    for (const graph::Size& size : g.sizes)
      if (size.name == item.substr(0, equals)) sizes[size.var] = std::atoll(item.c_str() + equals + 1);
    at = end + 1;
  }
  for (const graph::Size& size : g.sizes)
    if (size.from != graph::Size::From::data && !sizes.contains(size.var))
      fail(g.name + " has a size " + size.name + ", which is not given");
  return sizes;
}

const plan::Variant& variant_for(const Compilation& c, const shape::Assignment& sizes) {
  const auto& variants = c.entries.front().plan.variants;
  return *std::find_if(variants.begin(), variants.end(),
                       [&](const plan::Variant& v) { return holds(v, sizes); });
}

std::string sizes_text(int argc, char** argv) {
  std::string sizes;
  for (int i = 3; i < argc; ++i) sizes += (i > 3 ? " " : "") + std::string(argv[i]);
  return sizes;
}

}  // namespace axon::bench
