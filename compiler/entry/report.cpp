// See report.h.
#include "entry/report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

namespace axon::entry {

using core::Program;
using graph::Graph;
using source::Diagnostics;

namespace {

source::Span span_of(const Program& program, const Graph& g) {
  return program.globals[program.find(g.name)].span;
}

/// The place in the entry's file that most of the graph's steps come from, and how many those are.
std::pair<source::Span, size_t> most_frequent(const Program& program, const Graph& g) {
  std::map<std::pair<uint32_t, uint32_t>, size_t> places;
  for (const graph::Node& node : g.nodes)
    if (node.op == graph::NodeOp::compute && node.source_end) ++places[{node.source_begin, node.source_end}];
  const auto most = std::max_element(places.begin(), places.end(),
                                     [](const auto& a, const auto& b) { return a.second < b.second; });
  const source::Span whole = span_of(program, g);
  if (most == places.end() || !whole.valid()) return {whole, 0};
  return {source::Span{whole.file, most->first.first, most->first.second}, most->second};
}

/// The expression that the node was made from; not valid for what is not of this file.
source::Span place_of(const Program& program, const Graph& g, graph::NodeId id) {
  const graph::Node& node = g.nodes[id];
  if (!node.source_end) return {};
  return {span_of(program, g).file, node.source_begin, node.source_end};
}

/// The `if` in whose branches the two places stand, one in each; not valid where there is none.
source::Span if_between(const core::Program& program, source::Span a, source::Span b) {
  const auto encloses = [](source::Span whole, source::Span part) {
    return whole.file == part.file && whole.begin <= part.begin && part.end <= whole.end;
  };
  for (const core::Expr& e : program.exprs) {
    if (e.kind != core::Expr::Kind::conditional) continue;
    const source::Span yes = program.exprs[e.args[1]].span, no = program.exprs[e.args[2]].span;
    if ((encloses(yes, a) && encloses(no, b)) || (encloses(yes, b) && encloses(no, a))) return e.span;
  }
  return {};
}

}  // namespace

source::Diagnostic no_such_entry(const std::string& wanted, const std::vector<std::string>& names) {
  return source::error(source::Code::E0610, {}, fmt::format("the file has no entry `{}`", wanted))
      .help(fmt::format("its entries are `{}`", fmt::join(names, "`, `")));
}

void report_no_entry(const Program& program, const std::vector<std::string>& wanted,
                     Diagnostics& diagnostics) {
  std::vector<std::string> names;
  for (core::GlobalId id : program.own)
    if (program.globals[id].kind == core::Global::Kind::entry) names.push_back(program.globals[id].name);
  if (names.empty())
    return diagnostics.report(source::error(source::Code::E0610, {}, "the file has no entry to build")
                                  .help("declare what a host program calls with `entry NAME ... = ...`"));
  for (const std::string& name : wanted)
    if (std::find(names.begin(), names.end(), name) == names.end())
      diagnostics.report(no_such_entry(name, names));
}

void report_too_large(const Graph& graph, const Program& program, Diagnostics& diagnostics,
                      const std::string& why) {
  const auto [place, count] = most_frequent(program, graph);
  diagnostics.report(
      source::error(source::Code::E0592, place, fmt::format("entry `{}` is too large to compile", graph.name))
          .label(count > 1 ? fmt::format("{} of its {} steps come from here", count, graph.nodes.size())
                           : "this is compiled as one piece")
          .text(why)
          .help("write what repeats as one loop (`iterate`, `fold`, `scan`), or make parts of it entries of "
                "their own"));
}

void report_unbounded(const Graph& g, const Program& program, graph::NodeId node, const shape::Dim& size,
                      Diagnostics& diagnostics) {
  diagnostics.report(source::error(
      source::Code::E9001, place_of(program, g, node),
      fmt::format("entry `{}`: memory for the size {}, which the data decides", g.name, size.str())));
}

void report_copy(const Graph& g, const Program& program, const task::CopiedState& state,
                 Diagnostics& diagnostics) {
  const auto place = [&](graph::NodeId id) { return place_of(program, g, id); };
  const std::string& name = g.inputs[state.input].path;
  auto found = source::error(
      source::Code::E0611, place(state.update),
      fmt::format("`{}` of entry `{}` is given up with `*`, but updating it in place would destroy a value "
                  "that is still used",
                  name, g.name));
  found.label("updated here");
  using Why = task::CopiedState::Why;
  switch (state.why) {
    case Why::result:
      found.text(fmt::format("A result of the entry is `{}` as it was before.", name));
      break;
    case Why::reader: {
      const bool apart =
          place(*state.reader) != place(state.update) && place(*state.reader) != source::Span{};
      if (apart) found.also(place(*state.reader), "the old value is used here");
      if (if_between(program, place(*state.reader), place(state.update)).valid()) {
        found.text("Both branches of an `if` between tensors are computed, and each needs the old value.");
        found.help("update once: `x with [if c then i else j] = if c then a else b`");
        break;
      }
      found.text(
          fmt::format("{} cannot come first: it needs what the update makes, or changes what the update "
                      "reads.",
                      apart ? "That use" : "Another use of the old value"));
      break;
    }
    case Why::iteration:
      found.also(place(*state.reader), "each iteration of this loop needs the old value");
      break;
    case Why::elsewhere:
      found.text("The update itself reads other elements than those that it changes.");
      break;
    case Why::reduction:
      found.text("The update itself reads it in a reduction, which may need elements that have changed.");
      break;
    case Why::replaced:
      found.text("The loop goes on with a tensor that is not made of it, element by element.");
      break;
  }
  diagnostics.report(std::move(found));
}

void report_unproved(const Graph& g, const std::string& obligation, Diagnostics& diagnostics) {
  diagnostics.report(source::error(
      source::Code::E0612, {}, fmt::format("entry `{}`: not proved for all sizes: {}", g.name, obligation)));
}

}  // namespace axon::entry
