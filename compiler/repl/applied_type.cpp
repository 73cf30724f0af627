// See applied_type.h.
#include "repl/applied_type.h"

#include <fmt/format.h>

#include <algorithm>

#include "query/typed.h"
#include "repl/answer.h"
#include "repl/conditions.h"
#include "shape/prover.h"

namespace axon::repl {

using shape::Var;

namespace {

/// The requirements that the conditions do not imply.
std::vector<core::Requirement> not_assumed(const core::Scheme& scheme,
                                           const std::vector<std::string>& assumed) {
  Conditions conditions({});
  for (const Var v : scheme.dims) conditions.name(shape::var_name(v), v);
  for (const std::string& text : assumed) static_cast<void>(conditions.read(text));
  std::vector<shape::Fact> known = conditions.facts();
  for (const shape::Fact& fact : not_negative(scheme.dims)) known.push_back(fact);
  std::vector<core::Requirement> left;
  for (const core::Requirement& r : scheme.where)
    if (shape::prove(known, r).verdict != shape::Verdict::proved) left.push_back(r);
  return left;
}

/// What the variables of the function's type are where it is applied: `m = b, n = 128, ..a = []`.
std::string solved(query::Typed& typed, const core::Expr& function) {
  std::string out;
  const auto add = [&](const std::string& name, const std::string& value) {
    if (name != value) out += fmt::format("{}{} = {}", out.empty() ? "" : ", ", name, value);
  };
  for (const auto& [var, dim] : function.instantiation) add(shape::var_name(var), typed.dim(dim));
  for (const auto& [var, shape] : function.shapes)
    add(".." + typed.program().types.shape_vars[var].name, typed.shape(shape));
  return out;
}

}  // namespace

std::vector<std::string> number_types(const session::Record& record) {
  const core::Program& program = record.checked->program;
  const auto& types = program.types.types;
  const core::Type& type = types[program.globals[record.checked->global].scheme.type];
  std::vector<std::string> names;
  if (type.kind == core::Type::Kind::function)
    for (size_t i = 0; i + 1 < type.items.size(); ++i) {
      const core::Type& one = types[type.items[i]];
      const bool is_number =
          one.kind == core::Type::Kind::tensor && one.shape.empty() && one.elem.elem.has_value();
      names.emplace_back(is_number ? base::elem_name(*one.elem.elem) : "");
    }
  return names;
}

AppliedType applied_type(const session::Record& record, size_t first, size_t given,
                         const std::vector<std::string>& assumed) {
  query::Typed typed(record);
  const shape::UseArena use(typed.arena());
  core::Program& program = record.checked->program;
  const core::Global& global = typed.global();
  core::Scheme scheme = global.scheme;
  scheme.where = not_assumed(scheme, assumed);
  core::Type type = program.types.types[scheme.type];
  std::vector<Typed> lines;
  const core::Expr& body = program.exprs[global.body];
  const core::ExprId head = body.kind == core::Expr::Kind::apply ? body.args[0] : global.body;
  if (program.exprs[head].kind == core::Expr::Kind::global) {
    const core::Global& function = program.globals[program.exprs[head].global];
    core::Names names(program.types);
    core::name_variables(program.types, function.scheme, names);
    lines.push_back({function.name, core::print(program.types, function.scheme, names)});
    if (std::string sizes = solved(typed, program.exprs[head]); !sizes.empty())
      lines.push_back({"with", std::move(sizes)});
  }
  const size_t end = first + given;
  if (type.kind == core::Type::Kind::function && end > 0) {
    for (size_t i = first; i < end && i + 1 < type.items.size(); ++i)
      lines.push_back({program.locals[global.params[i].local].name, typed.type(type.items[i])});
    type.items.erase(type.items.begin(),
                     type.items.begin() + static_cast<std::ptrdiff_t>(std::min(end, type.items.size() - 1)));
    scheme.type = type.items.size() == 1 ? type.items[0] : program.types.types.add(std::move(type));
  }
  AppliedType out;
  out.type = typed.type(scheme);
  lines.push_back({"result", out.type});
  size_t width = 0;
  for (const Typed& line : lines) width = std::max(width, line.name.size());
  for (const Typed& line : lines)
    out.why += fmt::format("{:<{}} {} {}\n", line.name, width, line.name == "with" ? " " : ":", line.type);
  return out;
}

}  // namespace axon::repl
