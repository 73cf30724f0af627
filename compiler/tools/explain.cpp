// etcc explain: what a diagnostic code means, or what the compiler makes of a program.
//
//   etcc explain [CODE]                       the page of a code, or the list of all; they are compiled in
//   etcc explain FILE [ENTRY] --graph         one entry as a page (explain_graph.h)
//   etcc explain --why FILE:LINE:COLUMN       why a type is what it is, or an error one (explain_why.h)
//   etcc explain --layout 'FROM -> TO'        the collectives between two placements (explain_layout.h)
//
// A file is a program when its name ends in .axn; no code does.
#include "source/explain.h"

#include <fmt/format.h>

#include "tools/common.h"
#include "tools/explain_graph.h"
#include "tools/explain_layout.h"
#include "tools/explain_why.h"

namespace axon::tools {

namespace {

struct ExplainOptions {
  GraphOptions graph;
  WhyOptions why;
  LayoutOptions layout;
  std::string what;  ///< a code or a file
};

int explain_code(const std::string& code) {
  if (code.empty()) {
    fmt::print("{}", source::explain_all());
    return ok;
  }
  std::string name = code;
  if (name.starts_with('e')) name[0] = 'E';
  const auto known = source::code_from_name(name);
  if (!known) {
    fmt::print(stderr, "etcc: there is no code {}; `etcc explain` lists all\n", code);
    return usage;
  }
  fmt::print("{}", source::explain(*known));
  return ok;
}

bool is_program(const std::string& what) { return what == "-" || what.ends_with(".axn"); }

int run_explain(const ExplainOptions& o) {
  if (!o.why.at.empty()) {
    if (o.what.empty() && o.graph.format.empty()) return explain_why({o.graph.common, o.why.at, o.why.json});
    fmt::print(stderr, "etcc: --why stands alone: `etcc explain --why FILE:LINE:COLUMN`\n");
    return usage;
  }
  if (!o.layout.layouts.empty()) {
    LayoutOptions layout = o.layout;
    layout.common = o.graph.common;
    if (o.what.empty() && o.graph.format.empty()) return explain_layout(layout);
    fmt::print(stderr, "etcc: --layout stands alone: `etcc explain --layout 'FROM -> TO' --mesh x=4`\n");
    return usage;
  }
  const bool draws = !o.graph.format.empty();
  if (!draws && is_program(o.what)) {
    fmt::print(stderr, "etcc: {} is a program: `etcc explain {} --graph` writes an entry as a page\n", o.what,
               o.what);
    return usage;
  }
  if (!draws && (!o.graph.entry.empty() || !o.graph.out.empty())) {
    fmt::print(stderr, "etcc: an entry and -o go with --graph\n");
    return usage;
  }
  if (!draws) return explain_code(o.what);
  if (!is_program(o.what)) {
    fmt::print(stderr, "etcc: --graph is of a program, a file whose name ends in .axn\n");
    return usage;
  }
  GraphOptions graph = o.graph;
  graph.common.file = o.what;
  auto& named = graph.common.entries;  // --entry NAME says the same as NAME
  if (!graph.entry.empty()) named.push_back(graph.entry);
  if (named.size() > 1) {
    fmt::print(stderr, "etcc: a page is of one entry\n");
    return usage;
  }
  if (!named.empty()) graph.entry = named[0];
  named.clear();
  return explain_graph(graph);
}

}  // namespace

Command add_explain(CLI::App& app) {
  auto o = std::make_shared<ExplainOptions>();
  app.add_option("CODE|FILE", o->what, "a code such as E0301, all codes when left out; or an .axn file");
  app.add_option("ENTRY", o->graph.entry, "of the file; may be left out where it has one");
  app.add_flag(
         "--graph{html}", o->graph.format,
         "write the entry as one page: program, graph, tasks, schedule and costs for sizes that are typed "
         "in; --graph=dot: its graph as DOT")
      ->check(CLI::IsMember({"html", "dot"}));
  app.add_option(
      "-o", o->graph.out,
      "the file to write, DOT where it ends in .dot, - for stdout; when left out FILE.ENTRY.html, or "
      "stdout for DOT");
  app.add_option(
      "--why", o->why.at,
      "FILE:LINE:COLUMN: where the type there and each size in it come from, or what clashes in an error");
  app.add_option(
      "--layout", o->layout.layouts,
      "FROM -> TO: the collectives between two placements of a tensor, and the bytes that they move");
  app.add_option("--mesh", o->layout.mesh, "of --layout: how many devices each axis has, x=4,y=2")
      ->delimiter(',');
  app.add_option("--partial", o->layout.partial, "of --layout: axes whose copies are partial sums")
      ->delimiter(',');
  app.add_option("--elem", o->layout.elem, "of --layout: the element type, f32 when left out");
  app.add_flag("--json", o->why.json, "what --why finds as JSON on stdout");
  add_compile(app, o->graph.common);
  add_talk(app, o->graph.common);
  return [o] { return run_explain(*o); };
}

}  // namespace axon::tools
