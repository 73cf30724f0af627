// Types that are printed can be written: each declaration of the library, the lessons and the tests of this
// folder is stated by its own printed type, checks against it, and prints the same type again.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "../sanitized.h"
#include "harness.h"

namespace axon::core {

namespace {

std::string library_path(const std::string& path) { return std::string(AXON_SOURCE_DIR) + path; }

std::vector<std::string> programs() {
  std::vector<std::string> out;
  for (const char* folder : {"/stdlib", "/stdlib/prelude", "/examples", "/examples/models",
                             "/tests/core/types", "/tests/core/entries", "/tests/core/calls"})
    for (const std::string& file : files_in(library_path(folder), ".axn")) out.push_back(file);
  return out;
}

/// The types of a program's own declarations, by name.
std::map<std::string, std::string> types_of(const Checked& c) {
  std::map<std::string, std::string> out;
  for (GlobalId id : c.program.own) {
    const Global& g = c.program.globals[id];
    if (g.kind == Global::Kind::type || g.kind == Global::Kind::prim || g.name.starts_with("test \""))
      continue;
    if (!g.has_error) out[g.name] = c.type_of(g.name);
  }
  return out;
}

/// The text with `val name : type` before every declaration that has no error and no such line.
std::string stated(const Checked& c, const std::string& text) {
  auto types = types_of(c);
  for (const syntax::Decl& d : c.file->decls)
    if (syntax::as<syntax::SignatureDecl>(d)) types.erase(d.name.text);
  std::vector<std::pair<uint32_t, std::string>> insertions;
  for (const syntax::Decl& d : c.file->decls) {
    const bool value = syntax::as<syntax::FunDecl>(d) || syntax::as<syntax::ValueDecl>(d);
    const auto type = types.find(d.name.text);
    if (value && type != types.end())
      insertions.emplace_back(d.span.begin, "val " + d.name.text + " : " + type->second + "\n");
  }
  std::sort(insertions.rbegin(), insertions.rend());
  std::string out = text;
  for (const auto& [at, line] : insertions) out.insert(at, line);
  return out;
}

}  // namespace

TEST(RoundTrip, PrintedTypesAreWritten) {
  std::string differing;
  size_t all = 0;
  for (const std::string& path : sampled(programs())) {
    const Checked inferred = check_path(path, {});
    const Checked again = check_text(stated(inferred, read(path)), {}, path);
    auto found = types_of(again);
    for (const auto& [name, type] : types_of(inferred)) {
      ++all;
      if (found[name] != type) differing += path.substr(library_path("/").size()) + " " + name + "\n";
    }
  }
  EXPECT_GT(all, sampled_floor(500u));
  EXPECT_EQ(differing, "");
}

}  // namespace axon::core
