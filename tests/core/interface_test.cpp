// Declarations that are checked one by one, each in an arena of its own and with the interfaces of those that
// it uses: their types and reports are those of the whole file.
#include "core/interface.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>

#include "harness.h"

namespace axon::core {
namespace {

std::string without_padding(const std::string& text) {
  std::string out;
  for (char c : text)
    if (c != ' ' && c != '\n') out += c;
  return out;
}

std::string report(const source::Diagnostic& d, const source::SourceManager& sources) {
  std::string out = fmt::format("{} {} {} {}\n", sources.describe(d.primary.span), code_name(d.code),
                                d.headline(), d.primary.text);
  for (const source::Label& l : d.secondary)
    out += fmt::format("  {} {}\n", sources.describe(l.span), l.text);
  for (const source::Note& n : d.notes) out += fmt::format("  {}: {}\n", n.kind, n.text);
  return out + d.body;
}

/// The declarations of one file, in the order in which something needs them.
class OneByOne {
 public:
  OneByOne(const Checked& c, const Modules& modules) : c_(c), modules_(modules) {}

  const Interface* interface_of(DeclId d) {
    if (modules_[d].kind == Global::Kind::type) return nullptr;
    if (const auto known = known_.find(d); known != known_.end()) return known->second.get();
    known_[d] = nullptr;  // what uses itself is elaborated where it is used
    shape::Arena arena;
    const shape::UseArena use(arena);
    source::Diagnostics found;
    Elaborator e(*c_.sources, modules_, *modules_[d].module, found, options_);
    e.given = [&](DeclId used) { return interface_of(used); };
    const GlobalId g = e.global(d);
    e.check(g);
    e.program.own = {g};
    types[modules_[d].name] = without_padding(print_types(e.program));
    for (const source::Diagnostic& r : found.in_order_of_report()) reports.push_back(report(r, *c_.sources));
    return (known_[d] = std::make_unique<Interface>(e, g)).get();
  }

  std::map<std::string, std::string> types;
  std::vector<std::string> reports;

 private:
  const Checked& c_;
  const Modules& modules_;
  const Options options_;
  std::map<DeclId, std::unique_ptr<Interface>> known_;
};

void expect_same_one_by_one(const std::string& path) {
  Checked c;
  c.loader = std::make_unique<LibraryLoader>(*c.sources, *c.diagnostics,
                                             std::vector<std::string>{AXON_SOURCE_DIR "/stdlib"});
  const auto id = c.sources->add(path, read(path), *c.diagnostics);
  c.file = std::make_unique<syntax::File>(syntax::parse((*c.sources)[id], *c.diagnostics));
  if (c.diagnostics->has_errors()) return;
  const Options options;
  Modules modules(*c.sources, std::ref(*c.loader), *c.diagnostics);
  const Module& own = modules.open_program({id, {c.file.get()}}, "");
  if (c.diagnostics->has_errors()) return;

  Elaborator whole(*c.sources, modules, own, *c.diagnostics, options);
  for (DeclId d : own.in_order) whole.check(whole.global(d));
  OneByOne parts(c, modules);
  for (DeclId d : own.in_order) {
    if (modules[d].kind == Global::Kind::type) continue;
    parts.interface_of(d);
    whole.program.own = {whole.global(d)};
    EXPECT_EQ(parts.types[modules[d].name], without_padding(print_types(whole.program))) << path;
  }
  std::vector<std::string> expected;
  for (const source::Diagnostic& d : c.diagnostics->in_order_of_report())
    if (d.primary.span.file == id) expected.push_back(report(d, *c.sources));
  std::sort(expected.begin(), expected.end());
  std::sort(parts.reports.begin(), parts.reports.end());
  parts.reports.erase(std::unique(parts.reports.begin(), parts.reports.end()), parts.reports.end());
  parts.reports.erase(std::remove_if(parts.reports.begin(), parts.reports.end(),
                                     [&](const std::string& r) { return !r.starts_with(path); }),
                      parts.reports.end());
  EXPECT_EQ(fmt::format("{}", fmt::join(parts.reports, "")), fmt::format("{}", fmt::join(expected, "")))
      << path;
}

TEST(Interface, GivesLibraryAndExamplesTheirTypes) {
  for (const char* folder : {"stdlib", "examples"})
    for (const auto& entry :
         std::filesystem::recursive_directory_iterator(std::filesystem::path(AXON_SOURCE_DIR) / folder))
      if (entry.path().extension() == ".axn") expect_same_one_by_one(entry.path().string());
}

TEST(Interface, GivesTheSameReports) {
  for (const char* folder : {"errors", "types", "calls", "entries"})
    for (const std::string& path : files_in(std::string(AXON_SOURCE_DIR "/tests/core/") + folder, ".axn"))
      expect_same_one_by_one(path);
}

}  // namespace
}  // namespace axon::core
