// See entries.h.
#include "tools/entries.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <vector>

namespace axon::tools {

namespace {

std::vector<core::GlobalId> entries_of(const core::Program& program) {
  std::vector<core::GlobalId> entries;
  for (core::GlobalId id : program.own)
    if (program.globals[id].kind == core::Global::Kind::entry) entries.push_back(id);
  return entries;
}

}  // namespace

core::GlobalId chosen_entry(const Compilation& c, const std::string& name, const char* purpose,
                            source::Diagnostics& diagnostics) {
  const auto entries = entries_of(*c.core);
  std::vector<std::string> names;
  for (core::GlobalId id : entries) {
    names.push_back(fmt::format("`{}`", c.core->globals[id].name));
    if (c.core->globals[id].name == name) return id;
  }
  if (name.empty() && entries.size() == 1) return entries[0];
  const std::string what = entries.empty() ? fmt::format("the file has no entry {}", purpose)
                           : name.empty()  ? "the file has several entries, and none is named"
                                           : fmt::format("the file has no entry `{}`", name);
  auto error = source::error(source::Code::E0610, {}, what);
  if (entries.empty())
    error.help("declare what a host program calls with `entry NAME ... = ...`");
  else
    error.help(fmt::format("its entries are {}", fmt::join(names, ", ")));
  diagnostics.report(std::move(error));
  return {};
}

}  // namespace axon::tools
