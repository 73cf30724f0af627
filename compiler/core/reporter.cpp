// See reporter.h.
#include "core/reporter.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "core/unsat_core.h"

namespace axon::core {

using shape::Dim;
using shape::Fact;
using shape::Var;
using source::Code;
using source::Diagnostic;
using source::error;
using source::Span;

void Reporter::report(Diagnostic d) {
  failed_ = true;
  if (attempt_) {
    attempt_->failures.insert(fmt::format("{}:{}", source::code_name(d.code), d.primary.span.begin));
    if (attempt_->call_depth && !attempt_->first) attempt_->first = std::move(d);
    return;
  }
  if (e_.infos[g_.index].not_read) return;
  // A second way in which sizes do not agree at a place most often comes of the first.
  const Span at = d.primary.span;
  const bool again = d.code == Code::E0303 && !disagreements_.insert({at.file, at.begin, at.end}).second;
  if (!again) e_.diagnostics->report(std::move(d));
}

Names& Reporter::names() {
  if (names_) return *names_;
  names_.emplace(p_.types);
  Occurrences written;
  const DeclInfo& info = e_.infos[g_.index];
  for (const auto& [name, v] : p_.globals[g_].sizes) written.add(Dim(v));
  for (uint32_t i = info.first_local; i < info.end_local; ++i)
    if (p_.locals[{i}].type.valid()) written.add(vars_, vars_.zonk(p_.locals[{i}].type));
  for (const Pattern& p : p_.globals[g_].params)
    if (p.annotation) written.add(vars_, vars_.zonk(*p.annotation));
  if (info.result) written.add(vars_, vars_.zonk(*info.result));
  for (Var v : written.dims)
    if (!vars_.is_meta(v)) names_->keep(v, shape::var_name(v));
  for (ShapeVarId v : written.shapes)
    if (!vars_.is_meta(v)) names_->keep(v, vars_.types.shape_vars[v].name);
  for (TypeVarId v : written.types)
    if (!vars_.is_meta(v)) names_->keep(v, vars_.types.vars[v].name);
  return *names_;
}

std::string Reporter::show(TypeId t) { return print(p_.types, vars_.zonk(t), names()); }

std::string Reporter::describe(ExprId id) {
  const Expr& e = p_.exprs[id];
  if (e.kind == Expr::Kind::local) return fmt::format("`{}`", p_.locals[e.local].name);
  if (e.kind == Expr::Kind::global)
    return fmt::format("`{}`", e.text.empty() ? p_.globals[e.global].name : e.text);
  const std::string_view text = e_.sources.text(e.span);
  if (!text.empty() && text.size() <= 24 && text.find('\n') == std::string_view::npos)
    return fmt::format("`{}`", text);
  return "this";
}

bool is_infix(const Program& p, const Expr& application) {
  const Expr& callee = p.exprs[application.args[0]];
  return callee.kind == Expr::Kind::global && !callee.text.empty() &&
         callee.span.begin > application.span.begin;
}

std::string role_of(const Program& p, const Expr& application, size_t i) {
  if (!is_infix(p, application)) return fmt::format("argument {}", i);
  return i == 1 ? "the left operand" : "the right operand";
}

void Reporter::report_failures() {
  for (const Failure& f : solver_.take_failures()) {
    if (attempt_ && !attempt_->call_depth) {
      failed_ = true;
      const std::string key = f.why.valid() ? key_of(whys_[f.why]) : "";
      attempt_->failures.insert(key);
      attempt_->found |= f.why.valid() && f.kind == attempt_->failure.kind && key == attempt_->key;
    } else {
      report_failure(f);
    }
  }
}

// ---- Failures ----

void Reporter::label_operands(Diagnostic& d, const Why& w) {
  auto label = [&](Span at, std::string text) {
    const bool there =
        std::any_of(d.secondary.begin(), d.secondary.end(), [&](const auto& l) { return l.span == at; });
    if (!there && at != d.primary.span) d.also(at, std::move(text));
  };
  const auto inside = [&](Span at) {
    const Span whole = d.primary.span;
    return at.file == whole.file && whole.begin <= at.begin && at.end <= whole.end;
  };
  // what lies under the marks of the message is named: these stand for the whole
  auto operand = [&](ExprId id, const std::string& role) {
    const Expr& e = p_.exprs[id];
    if (!e.type.valid()) return;
    const TypeId t = vars_.zonk(e.type);
    const Type::Kind kind = vars_[t].kind;
    if (kind != Type::Kind::tensor && kind != Type::Kind::stack) return;
    if (e.kind == Expr::Kind::local) {
      label(p_.locals[e.local].span, fmt::format("`{}` is {}", p_.locals[e.local].name, show(t)));
    } else {
      const std::string text = describe(id);
      label(e.span, fmt::format("{} is {}",
                                !inside(e.span)  ? "this"
                                : text == "this" ? role
                                                 : text,
                                show(t)));
    }
  };
  if (!w.expr.valid() || e_.only_counting) return;
  const Expr& whole = p_.exprs[w.expr];
  const bool condition = whole.kind == Expr::Kind::conditional && w.span == p_.exprs[whole.args[0]].span;
  const ExprId at = condition ? whole.args[0] : w.expr;
  const Expr& e = p_.exprs[at];
  switch (e.kind) {
    case Expr::Kind::apply:
      for (size_t i = 1; i < e.args.size(); ++i) operand(e.args[i], role_of(p_, e, i));
      break;
    case Expr::Kind::index:
    case Expr::Kind::local:
      operand(e.kind == Expr::Kind::local ? at : e.args[0], "what is indexed");
      break;
    case Expr::Kind::conditional:
      operand(e.args[1], "the value after `then`");
      operand(e.args[2], "the value after `else`");
      break;
    default:
      break;
  }
  const DeclInfo& info = e_.infos[g_.index];
  if (w.expr == p_.globals[g_].body && info.result_span.valid() && w.expected.valid())
    label(info.result_span, "the stated result");
}

std::string Reporter::failing_sizes(const Fact& goal, const std::vector<Fact>& facts) {
  if (e_.only_counting) return {};
  // sizes of at least 1 where that will do: they read better than empty tensors
  std::vector<Fact> positive = facts;
  std::vector<Var> all = goal.lhs.vars();
  goal.rhs.collect_vars(all);
  for (Var v : all)
    if (vars_.kind(v) != VarKind::index) positive.push_back(shape::at_least(Dim(v), 1));
  auto answer = shape::prove(positive, goal);
  if (answer.verdict != shape::Verdict::refuted) answer = shape::prove(facts, goal);
  std::string values;
  if (answer.verdict != shape::Verdict::refuted) return values;
  for (const auto& [v, value] : answer.counter_example)
    values += fmt::format("{}{} = {}", values.empty() ? "" : ", ", names().of(v), value);
  return values;
}

/// That a size is not negative.
static bool is_natural(const Fact& f) {
  return f.relation == shape::Relation::le && f.lhs.is(0) && f.rhs.as_var();
}

/// What is known of the sizes of a goal, but that they are not negative; empty when that is nothing.
static std::string known_facts(const std::vector<Fact>& facts, Names& names) {
  constexpr size_t shown = 6;
  std::string known;
  size_t count = 0;
  for (const Fact& f : facts) {
    if (!is_natural(f) && count++ < shown) known += (known.empty() ? "" : ", ") + print(f, names);
  }
  return known;
}

/// What a type variable in a message may stand for.
void Reporter::note_conversion(Diagnostic& d, const Why& w) {
  const Type want = vars_[vars_.zonk(w.expected)], have = vars_[vars_.zonk(w.found)];
  if (want.kind != Type::Kind::tensor || !want.elem.elem || *want.elem.elem == base::Elem::boolean) return;
  const base::Elem wide = *want.elem.elem;
  d.note(fmt::format("nothing converts by itself; `{} (...)` does", base::elem_name(wide)));
  if (have.kind != Type::Kind::tensor || !have.elem.elem || !base::is_integer(*have.elem.elem)) return;
  const base::Elem narrow = *have.elem.elem;
  const bool is_computed = e_.sources.text(w.span).find(' ') != std::string_view::npos;
  if (is_computed && base::is_integer(wide) && base::elem_bytes(wide) > base::elem_bytes(narrow))
    d.note(fmt::format("what is computed as {} wraps; to compute as {}, convert what it is computed of",
                       base::elem_name(narrow), base::elem_name(wide)));
}

void Reporter::note_class(Diagnostic& d, TypeId id) {
  const Type t = vars_[vars_.zonk(id)];
  if (t.kind != Type::Kind::tensor || t.elem.elem) return;
  const char* text = nullptr;
  switch (vars_.types.vars[t.elem.var].cls) {
    case ElemClass::num:
      text = "a number type";
      break;
    case ElemClass::flt:
      text = "a float type";
      break;
    case ElemClass::int_:
      text = "an integer type";
      break;
    case ElemClass::bool_:
      text = "bool";
      break;
    case ElemClass::any:
      break;
  }
  if (text) d.note(fmt::format("`'{}` is {}", names().of(t.elem.var), text));
}

/// Returns the facts without those on an opened size that neither the goal nor another fact mentions, such as
/// `l <= k`: they do not bear on the goal, and the size has no place in the message.
std::vector<Fact> Reporter::telling(std::vector<Fact> facts, const Fact& goal) const {
  const auto vars_of = [](const Fact& fact) {
    std::vector<Var> all = fact.lhs.vars();
    fact.rhs.collect_vars(all);
    return std::set<Var>(all.begin(), all.end());
  };
  const std::set<Var> asked = vars_of(goal);
  std::map<Var, size_t> facts_about;
  for (const Fact& fact : facts)
    if (!is_natural(fact))
      for (Var v : vars_of(fact)) ++facts_about[v];
  const auto is_untold = [&](Var v) {
    return vars_.kind(v) == VarKind::opened && !asked.count(v) && facts_about[v] < 2;
  };
  std::erase_if(facts, [&](const Fact& fact) {
    const std::set<Var> all = vars_of(fact);
    return std::any_of(all.begin(), all.end(), is_untold);
  });
  return facts;
}

/// Two sizes that ought to be equal: what is known of them, and values for which they are not.
void Reporter::note_sizes(Diagnostic& d, const Dim& a, const Dim& b) {
  const Fact goal = shape::equal(a, b);
  const std::vector<Fact> facts = telling(solver_.facts_for(goal, {}), goal);
  if (const std::string known = known_facts(facts, names()); !known.empty()) {
    d.known(known);
  } else if (a.as_var() && b.as_var()) {
    d.known(fmt::format("nothing relates `{}` and `{}`", print(a, names()), print(b, names())));
  }
  if (const std::string values = failing_sizes(goal, facts); !values.empty()) d.fails_for(values);
}

/// A name for any type was written where a tensor of any element type is meant.
void Reporter::note_any_type(Diagnostic& d, const Why& w) const {
  const Type found = vars_[vars_.zonk(w.found)], expected = vars_[vars_.zonk(w.expected)];
  if (found.kind != Type::Kind::var || vars_.is_meta(found.var) || expected.kind != Type::Kind::tensor)
    return;
  const std::string& name = p_.types.vars[found.var].name;
  d.help(fmt::format(
      "`'{0}` stands for any type; a number of any element type is `'{0}[]`, a tensor `'{0}[..s]`", name));
}

/// `s with k = s.k with [i] = x`: the second `with` updates the record, not the field.
void Reporter::offer_parentheses(Diagnostic& d, const Why& w) const {
  if (!w.expr.valid() || p_.exprs[w.expr].kind != Expr::Kind::with_index) return;
  const Expr& record = p_.exprs[p_.exprs[w.expr].args[0]];
  if (record.kind != Expr::Kind::with_field) return;
  source::Span value = p_.exprs[record.args[1]].span;
  value.end = p_.exprs[w.expr].span.end;
  d.help(fmt::format("to update the field `{}`", record.text),
         source::Edit{value, fmt::format("({})", e_.sources.text(value)), source::Applicability::maybe});
}

/// Two sizes differ of which one is an integer of an argument of a function that is a value.
bool Reporter::mentions_bound(const Failure& f) const {
  for (const Dim& side : {f.lhs, f.rhs})
    for (Var v : side.vars())
      if (vars_.kind(v) == VarKind::bound) return true;
  return false;
}

/// What was found takes the first names of variables.
std::string Reporter::expected_and_found(const Why& w) {
  const std::string found = show(w.found);
  return fmt::format("expected {}\nfound    {}", show(w.expected), found);
}

void Reporter::report_dependent(const Failure& f, const Why& w) {
  const bool plain = f.kind == Failure::Kind::dependent;
  auto d = error(Code::E0323, w.span,
                 plain ? fmt::format("{} makes a size from an integer of its argument", w.what)
                       : fmt::format("{} makes another size from the integer that it is given", w.what));
  if (w.expected.valid() && w.found.valid()) d.text(expected_and_found(w));
  if (plain) {
    d.note("each call of it may give another size, and what is expected has one type for all calls");
    d.help("call it where its result is wanted instead of passing it");
  }
  report(std::move(d));
}

/// A function where its result was meant: the call has fewer arguments than the function takes.
bool Reporter::report_lacking_arguments(const Why& w) {
  const Type found = vars_[vars_.zonk(w.found)], expected = vars_[vars_.zonk(w.expected)];
  if (found.kind != Type::Kind::function || expected.kind == Type::Kind::function || !w.expr.valid())
    return false;
  std::vector<ExprId> places = p_.exprs[w.expr].args;
  places.insert(places.begin(), w.expr);
  for (ExprId id : places) {
    if (!id.valid() || p_.exprs[id].span != w.span) continue;
    const Expr& e = p_.exprs[id];
    const bool call = e.kind == Expr::Kind::apply;
    const size_t given = call ? e.args.size() - 1 : 0, lacking = found.items.size() - 1;
    const std::string callee = describe(call ? e.args[0] : id);
    auto d = error(Code::E0301, w.span,
                   fmt::format("{} lacks {} argument{}", callee == "this" ? "the function" : callee, lacking,
                               lacking == 1 ? "" : "s"));
    d.label(given == 0 ? fmt::format("it takes {}, and none is given", lacking)
                       : fmt::format("it takes {}, and {} {} given", given + lacking, given,
                                     given == 1 ? "is" : "are"));
    d.text(expected_and_found(w));
    report(std::move(d));
    return true;
  }
  return false;
}

void Reporter::report_structure(const Failure& f, const Why& w) {
  const bool both = w.expected.valid() && w.found.valid();
  if (both && report_lacking_arguments(w)) return;
  auto d = error(Code::E0301, w.span, fmt::format("the type of {} is not the one expected", w.what));
  if (both) d.text(expected_and_found(w));
  if (!w.expected.valid() && w.found.valid()) {
    d.message =
        fmt::format("{} is not a record", w.expr.valid() ? describe(p_.exprs[w.expr].args[0]) : w.what);
    d.text(fmt::format("It is {}.", show(w.found)));
    if (!f.text.empty() && e_.library_value(f.text).valid() && w.expr.valid())
      d.help(fmt::format("functions are applied: `{} {}`", f.text,
                         e_.sources.text(p_.exprs[p_.exprs[w.expr].args[0]].span)));
  }
  if (both) note_any_type(d, w);
  if (both) offer_parentheses(d, w);
  const bool wants_record = !both || vars_[vars_.zonk(w.expected)].kind == Type::Kind::record;
  const bool tensor = w.found.valid() && vars_[vars_.zonk(w.found)].kind == Type::Kind::tensor;
  const Span given = both || !w.expr.valid() ? w.span : p_.exprs[p_.exprs[w.expr].args[0]].span;
  if (wants_record && tensor && e_.sources.text(given).ends_with(']'))
    d.note("what is indexed is a tensor where no type says otherwise: write the type of the parameter");
  suggest(d, f, w);
  report(std::move(d));
}

void Reporter::report_undetermined(const Why& w) {
  auto d = error(Code::E0314, w.span, fmt::format("the shapes at {} are not determined", w.what));
  label_operands(d, w);
  d.note("nothing says how many axes they have, and both must fit");
  d.help("annotate a parameter with its axes");
  report(std::move(d));
}

namespace {

/// How often variables of inference stand in types, and which of them as a whole axis.
struct OpenVariables {
  const Vars& vars;
  std::map<uint32_t, size_t> dims, shapes;
  std::set<uint32_t> axes;
  std::set<TypeId> seen;

  void add(const Dim& d) {
    for (Var v : d.vars())
      if (vars.is_meta(v)) ++dims[v.id];
  }
  void add(TypeId id) {
    const Type& t = vars[id];
    for (const ShapeItem& i : t.shape) {
      if (is_dim(i)) {
        add(i.dim);
        if (const auto v = i.dim.as_var()) axes.insert(v->id);
      } else if (is_var(i)) {
        ++shapes[i.var.index];
      }
      for (ShapeVarId v : i.join) shapes[v.index] += 2;  // a name in a join says what is joined
    }
    if (t.value) add(*t.value);
    if (t.kind == Type::Kind::stack) add(t.count);
    for (TypeId item : t.items) add(item);
  }
  void add_once(TypeId zonked) {
    if (seen.insert(zonked).second) add(zonked);
  }
};

}  // namespace

/// What inference left open and a message mentions once gets no name there.
void Reporter::hide_what_is_open(const Failure& f, const Why& w) {
  OpenVariables open{vars_, {}, {}, {}, {}};
  for (TypeId t : {w.expected, w.found})
    if (t.valid()) open.add_once(vars_.zonk(t));
  if (w.expr.valid())
    for (ExprId a : p_.exprs[w.expr].args)
      if (a.valid() && p_.exprs[a].type.valid() && p_.exprs[a].kind != Expr::Kind::global)
        open.add_once(vars_.zonk(p_.exprs[a].type));
  open.add(vars_.zonk(f.lhs));
  open.add(vars_.zonk(f.rhs));
  std::set<uint32_t> dims, shapes;
  for (const auto& [v, times] : open.dims)
    if (times == 1 && open.axes.count(v)) dims.insert(v);
  for (const auto& [v, times] : open.shapes)
    if (times == 1 && vars_.is_meta(ShapeVarId{v})) shapes.insert(v);
  names().hide(std::move(dims), std::move(shapes));
}

void Reporter::report_failure(const Failure& f) {
  const Why w = f.why.valid() ? whys_[f.why] : Why{};
  const bool both = w.expected.valid() && w.found.valid();
  // what is poisoned has been reported where it began
  for (TypeId t : {w.expected, w.found})
    if (t.valid() && vars_[vars_.zonk(t)].kind == Type::Kind::error) {
      failed_ = true;
      return;
    }
  hide_what_is_open(f, w);
  if (f.kind == Failure::Kind::dependent || mentions_bound(f)) return report_dependent(f, w);
  if (report_within(f, w)) return;
  switch (f.kind) {
    case Failure::Kind::dependent:
      return;
    case Failure::Kind::structure:
      return report_structure(f, w);
    case Failure::Kind::element: {
      auto d =
          error(Code::E0302, w.span, fmt::format("the element type of {} is not the one expected", w.what));
      if (both) {
        d.text(expected_and_found(w));
        note_class(d, w.expected);
        note_class(d, w.found);
        note_conversion(d, w);
      }
      label_operands(d, w);
      suggest(d, f, w);
      return report(std::move(d));
    }
    case Failure::Kind::rank:
    case Failure::Kind::size:
    case Failure::Kind::broadcast:
      if (!report_matmul(f, w) && !report_loop(f, w)) report_shapes(f, w);
      return;
    case Failure::Kind::infinite:
      return report(error(Code::E0311, w.span, fmt::format("the type of {} would contain itself", w.what)));
    case Failure::Kind::field:
      return report_field(f, w);
  }
}

/// The numbers next to k that divide n, said; nothing where n has none but itself, or is too large to look.
static std::string nearest_divisors(int64_t n, int64_t k) {
  constexpr int64_t most = 1 << 20;
  if (n < 1 || n > most || k < 1) return {};
  int64_t below = std::min(k - 1, n), above = k + 1;
  while (below > 1 && n % below != 0) --below;
  while (above < n && n % above != 0) ++above;
  const std::string low = below > 1 ? std::to_string(below) : "",
                    high = above <= n ? std::to_string(above) : "";
  if (low.empty() && above >= n) return {};
  return fmt::format("{} is divisible by {}{}{}", n, low, low.empty() || high.empty() ? "" : " and ", high);
}

/// A size of it has no name in the program: the types of what is used show where it stands.
bool Reporter::mentions_open(const Fact& fact) const {
  std::vector<Var> all = fact.lhs.vars();
  fact.rhs.collect_vars(all);
  return std::any_of(all.begin(), all.end(), [&](Var v) { return vars_.is_meta(v); });
}

static const char* said(Holds holds) {
  if (holds == Holds::never) return "never holds";
  return holds == Holds::not_always ? "need not hold" : "is not known to hold";
}

void Reporter::report_fact(const Fact& fact, const std::vector<Fact>& all_known, WhyId id, Holds holds) {
  const std::vector<Fact> facts = telling(all_known, fact);
  const Why& w = whys_[id];
  names().hide({}, {});
  const bool indexing = w.expr.valid() && (p_.exprs[w.expr].kind == Expr::Kind::index ||
                                           p_.exprs[w.expr].kind == Expr::Kind::with_index);
  std::string here = print(fact, names());
  std::string divisors;
  if (w.remainder) {
    const Dim a = vars_.zonk(w.remainder->first), b = vars_.zonk(w.remainder->second);
    const auto operand = [&](const Dim& d, bool alone) {
      const std::string text = print(d, names());
      return alone ? text : "(" + text + ")";
    };
    here = fmt::format("{} % {} == 0", operand(a, a.terms().size() <= 1),
                       operand(b, b.as_var() || b.constant()));
    if (a.constant() && b.constant()) divisors = nearest_divisors(*a.constant(), *b.constant());
  }
  const std::string goal =
      w.stated.empty() || w.stated == here ? here : fmt::format("`{}`, here {}", w.stated, here);
  auto d = error(indexing ? Code::E0308 : Code::E0313, w.span,
                 fmt::format("{} needs {}, which {}", w.what, goal, said(holds)));
  if (mentions_open(fact)) label_operands(d, w);
  if (!divisors.empty()) d.note(divisors);
  if (const std::string known = known_facts(facts, names()); !known.empty()) d.known(known);
  if (const std::string values = failing_sizes(fact, facts); !values.empty()) d.fails_for(values);
  if (indexing) {
    if (holds == Holds::unknown)
      d.help("`x[i else v]` reads v outside; a range `(i < n)` or a `where` states what is meant");
    Failure f;
    f.kind = Failure::Kind::size;
    f.why = id;
    f.lhs = fact.lhs;
    f.rhs = fact.rhs;
    suggest(d, f, w);
  }
  report(std::move(d));
}

}  // namespace axon::core
