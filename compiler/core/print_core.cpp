// The typed core as text: one declaration after the other, in a syntax close to the source, with what
// inference added: `heads[h := 8, k := 64, 't := f32]`, ranges of binders, types of let-bound names.
#include <fmt/format.h>

#include "core/print.h"

namespace axon::core {

namespace {

class CorePrinter {
 public:
  explicit CorePrinter(const Program& p) : p_(p), names_(p.types) {}
  std::string declaration(GlobalId id);

 private:
  std::string expr(ExprId id, int indent);
  std::string atom(ExprId id, int indent);
  std::string type(TypeId t) { return t.valid() ? print(p_.types, t, names_) : "?"; }
  std::string pattern(const Pattern& p);
  std::string instantiation(const Expr& e);
  std::string indices(const Expr& e, int indent);
  std::string opens(const std::vector<OpenedSize>& sizes);
  std::string whole(ExprId id, int indent);
  static std::string line(int indent) { return "\n" + std::string(static_cast<size_t>(indent), ' '); }

  const Program& p_;
  Names names_;
};

std::string CorePrinter::pattern(const Pattern& p) {
  switch (p.kind) {
    case Pattern::Kind::name:
      return fmt::format("({}{} : {})",
                         p.consumed  ? "*"
                         : p.weights ? "weights "
                                     : "",
                         p_.locals[p.local].name,
                         type(p_.locals[p.local].type) + opens(p_.locals[p.local].opens));
    case Pattern::Kind::wildcard:
      return "_";
    case Pattern::Kind::unit:
      return "()";
    case Pattern::Kind::tuple:
      break;
  }
  std::string out;
  for (const Pattern& item : p.items) out += (out.empty() ? "" : ", ") + pattern(item);
  return "(" + out + ")";
}

std::string CorePrinter::instantiation(const Expr& e) {
  std::string out;
  for (const auto& [v, d] : e.instantiation)
    out += fmt::format("{}{} := {}", out.empty() ? "" : ", ", shape::var_name(v), print(d, names_));
  for (const auto& [v, term] : e.elems) {
    if (!term.elem && !term.var.valid()) continue;
    out += fmt::format("{}'{} := {}", out.empty() ? "" : ", ", p_.types.vars[v].name,
                       term.elem ? std::string(base::elem_name(*term.elem)) : "'" + names_.of(term.var));
  }
  for (const auto& [v, s] : e.shapes)
    out +=
        fmt::format("{}..{} := {}", out.empty() ? "" : ", ", p_.types.shape_vars[v].name, print(s, names_));
  return out.empty() ? "" : "[" + out + "]";
}

/// ` opens k = .0.shape[1] <= n`: the size, the number in the value that gives it, its bound.
std::string CorePrinter::opens(const std::vector<OpenedSize>& sizes) {
  std::string out;
  for (const OpenedSize& o : sizes) {
    std::string place;
    for (uint32_t i : o.item) place += fmt::format(".{}", i);
    if (o.axis) place += fmt::format(".shape[{}]", *o.axis);
    if (place.empty()) place = "it";
    const shape::Dim others = o.number - shape::Dim(o.size), negated = o.number + shape::Dim(o.size);
    if (!others.contains(o.size) && !others.is(0)) place += " - (" + print(others, names_) + ")";
    if (!negated.contains(o.size)) place = print(negated, names_) + " - " + place;
    out += fmt::format("{}{} = {}", out.empty() ? " opens " : ", ", names_.of(o.size), place);
    if (o.bound) out += " <= " + print(*o.bound, names_);
  }
  return out;
}

std::string CorePrinter::expr(ExprId id, int indent) {
  const std::string out = whole(id, indent), opened = opens(p_.exprs[id].opens);
  return opened.empty() ? out : "(" + out + opened + ")";
}

std::string CorePrinter::atom(ExprId id, int indent) {
  const Expr::Kind k = p_.exprs[id].kind;
  const bool simple = k == Expr::Kind::local || k == Expr::Kind::global || k == Expr::Kind::number ||
                      k == Expr::Kind::boolean || k == Expr::Kind::string || k == Expr::Kind::tuple ||
                      k == Expr::Kind::record || k == Expr::Kind::field || k == Expr::Kind::index ||
                      k == Expr::Kind::size || k == Expr::Kind::list || k == Expr::Kind::error;
  return simple || !p_.exprs[id].opens.empty() ? expr(id, indent) : "(" + expr(id, indent) + ")";
}

std::string CorePrinter::indices(const Expr& e, int indent) {
  std::string out;
  for (const IndexItem& i : e.indices) {
    if (!out.empty()) out += ", ";
    auto part = [&](ExprId x) { return x.valid() ? expr(x, indent) : std::string(); };
    switch (i.kind) {
      case IndexItem::Kind::point:
        out += part(i.point);
        break;
      case IndexItem::Kind::slice:
        out += part(i.start) + ":" + part(i.stop) + (i.step.valid() ? ":" + part(i.step) : "");
        break;
      case IndexItem::Kind::ellipsis:
        out += "..";
        break;
      case IndexItem::Kind::rank:
        out += ".." + p_.locals[i.rank].name;
        break;
    }
  }
  return out;
}

std::string CorePrinter::whole(ExprId id, int indent) {
  const Expr& e = p_.exprs[id];
  auto group = [](const std::vector<AxisGroup>& groups) {
    std::string out;
    for (const AxisGroup& g : groups) {
      out += out.empty() ? "" : ", ";
      for (size_t i = 0; i < g.size(); ++i) out += (i ? "*" : "") + g[i];
    }
    return "[" + out + "]";
  };
  std::string out;
  switch (e.kind) {
    case Expr::Kind::local:
      return p_.locals[e.local].name + instantiation(e);
    case Expr::Kind::global:
      return p_.globals[e.global].name + instantiation(e);
    case Expr::Kind::number:
      return fmt::format("{}:{}", e.text, type(e.type));
    case Expr::Kind::boolean:
      return e.flag ? "true" : "false";
    case Expr::Kind::string:
      return "\"" + e.text + "\"";
    case Expr::Kind::size:
      return "{" + print(e.dim, names_) + "}";
    case Expr::Kind::lambda:
      for (const Pattern& p : e.params) out += pattern(p) + " ";
      return "fn " + out + "=>" + line(indent + 2) + expr(e.args[0], indent + 2);
    case Expr::Kind::apply:
      for (ExprId a : e.args) out += (out.empty() ? "" : " ") + atom(a, indent);
      return out;
    case Expr::Kind::let:
      return fmt::format("let {} = {} in{}{}", pattern(e.params[0]), expr(e.args[0], indent + 2),
                         line(indent), expr(e.args[1], indent));
    case Expr::Kind::conditional:
      return fmt::format("if {} then {} else {}", expr(e.args[0], indent), expr(e.args[1], indent),
                         expr(e.args[2], indent));
    case Expr::Kind::tuple:
    case Expr::Kind::list:
      for (ExprId a : e.args) out += (out.empty() ? "" : ", ") + expr(a, indent);
      return e.kind == Expr::Kind::tuple ? "(" + out + ")" : "[" + out + "]";
    case Expr::Kind::record:
      for (size_t i = 0; i < e.args.size(); ++i)
        out += fmt::format("{}{} = {}", i ? ", " : "", e.fields[i], expr(e.args[i], indent));
      return "{" + out + "}";
    case Expr::Kind::field:
      return atom(e.args[0], indent) + "." + e.text;
    case Expr::Kind::with_field:
      return fmt::format("{} with {} = {}", atom(e.args[0], indent), e.text, atom(e.args[1], indent));
    case Expr::Kind::with_index:
      return fmt::format("{} with [{}] = {}", atom(e.args[0], indent), indices(e, indent),
                         atom(e.args[1], indent));
    case Expr::Kind::index:
      out = atom(e.args[0], indent) + "[" + indices(e, indent);
      if (e.args.size() > 1) out += " else " + expr(e.args[1], indent);
      return out + "]";
    case Expr::Kind::for_:
      for (const Binder& b : e.binders) {
        const Local& l = p_.locals[b.local];
        if (l.kind != Local::Kind::rank) {
          const bool opened = b.bound.valid() && !p_.exprs[b.bound].opens.empty();
          out += fmt::format("({} < {}) ", l.name,
                             opened    ? expr(b.bound, indent)
                             : b.range ? print(*b.range, names_)
                                       : "?");
          continue;
        }
        std::string axes;
        for (const Shape& s : b.joined) axes += (axes.empty() ? "" : " | ") + print(s, names_);
        out += fmt::format("(..{} < {}) ", l.name, axes);
      }
      return "for " + out + "=> " + expr(e.args[0], indent);
    case Expr::Kind::rearrange:
      return fmt::format("rearrange{} {} {} => {}", instantiation(e), atom(e.args[0], indent), group(e.from),
                         group(e.to));
    case Expr::Kind::check_as:
      return fmt::format("{} :> {}", atom(e.args[0], indent), e.annotation ? type(*e.annotation) : "?");
    case Expr::Kind::error:
      return "<error>";
  }
  return out;
}

std::string CorePrinter::declaration(GlobalId id) {
  const Global& g = p_.globals[id];
  for (shape::Var v : g.scheme.dims) names_.of(v);
  std::string out = g.kind == Global::Kind::entry      ? "entry "
                    : g.kind == Global::Kind::function ? "fun "
                                                       : "val ";
  out += g.name;
  if (g.scheme.type.valid()) out += " : " + print(p_.types, g.scheme, names_, 2);
  if (!g.body.valid()) return out + "\n";
  out += " =\n  ";
  if (!g.params.empty()) {
    out += "fn ";
    for (const Pattern& p : g.params) out += pattern(p) + " ";
    out += "=>\n    ";
  }
  return out + expr(g.body, g.params.empty() ? 2 : 4) + "\n";
}

}  // namespace

std::string print_core(const Program& program) {
  std::string out;
  for (GlobalId g : program.own) {
    if (program.globals[g].kind == Global::Kind::type) continue;
    out += (out.empty() ? "" : "\n") + print_core(program, g);
  }
  return out;
}

std::string print_core(const Program& program, GlobalId declaration) {
  std::string out = CorePrinter(program).declaration(declaration);
  if (const auto& sizes = program.globals[declaration].entry_sizes) out += print_entry_sizes(*sizes);
  return out;
}

std::string print_entry_sizes(const EntrySizes& s) {
  std::string out;
  auto place = [](const Observation& o) {
    return o.axis ? fmt::format("{}.{}[{}]", o.argument, o.stride ? "strides" : "shape", *o.axis)
                  : o.argument;
  };
  for (const auto& [name, v] : s.given) out += fmt::format("  size {} is given\n", name);
  for (const ClosedForm& f : s.forms) {
    std::string text = place(s.observations[f.observation]);
    if (!f.offset.is(0)) text = fmt::format("({} - ({}))", text, f.offset.str());
    if (!f.coefficient.is(1)) text = fmt::format("{} / ({})", text, f.coefficient.str());
    if (f.power > 1) text = fmt::format("root{} ({})", f.power, text);
    out += fmt::format("  size {} = {}\n", shape::var_name(f.size), text);
  }
  for (size_t i = 0; i < s.observations.size(); ++i) {
    bool defines = false;
    for (const ClosedForm& f : s.forms) defines |= f.observation == i;
    if (!defines)
      out += fmt::format("  check {} == {}\n", place(s.observations[i]), s.observations[i].dim.str());
  }
  for (const SizeCheck& c : s.checks) out += fmt::format("  check {}   -- {}\n", c.fact.str(), c.text);
  return out;
}

}  // namespace axon::core
