// How the sizes of an entry follow from its arguments.
//
// Every axis of every tensor leaf, and every integer scalar, is an observation: the runtime sees a number
// there. A size is solved from the first observation that is linear in it with a constant coefficient, or
// that is a power of it, and only where there is none from one whose coefficient is a size known by then;
// weights come before other arguments, because the room of states is made when only they are known. The
// order of forms is the order of solving. Declared size parameters are given by name where no argument
// determines them. Whatever is left makes the entry an error: size `h` is not determined.
#include "core/entry.h"

#include <fmt/format.h>

#include <algorithm>

#include "source/place.h"

namespace axon::core {

using shape::Dim;
using shape::Var;
using source::Code;
using source::error;
using source::Span;

namespace {

/// v^k * a, for k >= 2 and a constant a: (k, a).
std::optional<std::pair<int, int64_t>> power_of(const Dim& d, Var v) {
  if (d.terms().size() != 1) return std::nullopt;
  const shape::Term& t = d.terms()[0];
  if (t.factors.size() < 2) return std::nullopt;
  for (const shape::Atom& a : t.factors)
    if (a.kind() != shape::AtomKind::var || a.var() != v) return std::nullopt;
  return std::pair(static_cast<int>(t.factors.size()), t.coefficient);
}

bool over(const Dim& d, const std::vector<Var>& known) {
  const auto all = d.vars();
  return std::all_of(all.begin(), all.end(),
                     [&](Var v) { return std::find(known.begin(), known.end(), v) != known.end(); });
}

}  // namespace

/// Finds the forms of sizes, one after the other, from the observations of an entry.
class SizeSolver {
 public:
  /// `of_weights`: of each observation, whether it is of weights.
  SizeSolver(EntrySizes& sizes, const std::vector<bool>& of_weights)
      : sizes_(sizes), of_weights_(of_weights) {}

  bool is_known(Var v) const { return std::find(known_.begin(), known_.end(), v) != known_.end(); }
  /// The size is known from elsewhere, and what follows from it.
  void give(Var v) {
    known_.push_back(v);
    solve();
  }
  void solve() {
    // A size that is a factor may be 0, and then leaves the others undetermined.
    while (solve_by(true, false) || solve_by(true, true) || solve_by(false, false) || solve_by(false, true)) {
    }
  }

 private:
  /// One size more, from observations of weights or of others; `sizes_multiply`: also where a size is its
  /// coefficient.
  bool solve_by(bool weights, bool sizes_multiply) {
    for (size_t o = 0; o < sizes_.observations.size(); ++o) {
      if (of_weights_[o] != weights) continue;
      const Dim& d = sizes_.observations[o].dim;
      for (Var v : d.vars()) {
        if (is_known(v)) continue;
        if (auto linear = d.linear_in(v); linear && (sizes_multiply || linear->first.constant()) &&
                                          over(linear->first, known_) && over(linear->second, known_))
          return add({v, o, linear->first, linear->second, 1});
        if (auto power = power_of(d, v)) return add({v, o, Dim(power->second), Dim(0), power->first});
      }
    }
    return false;
  }

  bool add(ClosedForm form) {
    known_.push_back(form.size);
    sizes_.forms.push_back(std::move(form));
    return true;
  }

  EntrySizes& sizes_;
  const std::vector<bool>& of_weights_;
  std::vector<Var> known_;
};

bool EntryChecker::first_order(TypeId id, Unbindable& why) {
  const Type t = vars_[id];
  const auto open = [&](std::string what) {
    why = {std::move(what), "annotate the parameter with its element type and axes"};
    return false;
  };
  switch (t.kind) {
    case Type::Kind::tensor:
      if (!known_rank(t.shape)) return open(fmt::format("the rank of {} is not fixed", reporter_.show(id)));
      if (!t.elem.elem) return open(fmt::format("the element type of {} is not fixed", reporter_.show(id)));
      return true;
    case Type::Kind::record:
      if (t.row.valid()) return open(fmt::format("{} may have more fields", reporter_.show(id)));
      break;
    case Type::Kind::tuple:
    case Type::Kind::stack:
      break;
    case Type::Kind::function:
      why = {fmt::format("{} is a function", reporter_.show(id)),
             "an entry takes no functions; the functions that it calls may"};
      return false;
    case Type::Kind::var:
      return open("its type is not fixed");
    case Type::Kind::string:
      why = {"it is a string", ""};
      return false;
    case Type::Kind::error:
      return true;
  }
  return std::all_of(t.items.begin(), t.items.end(), [&](TypeId i) { return first_order(i, why); });
}

void EntryChecker::observe(TypeId id, const std::string& path, Span at, EntrySizes& out) {
  const Type t = vars_[vars_.zonk(unifier_.shape_view(id))];
  switch (t.kind) {
    case Type::Kind::tensor:
      if (t.value) out.observations.push_back({path, std::nullopt, *t.value, at});
      for (size_t i = 0; i < t.shape.size(); ++i)
        out.observations.push_back({path, static_cast<uint32_t>(i), t.shape[i].dim, at});
      break;
    case Type::Kind::record:
      for (size_t i = 0; i < t.items.size(); ++i) observe(t.items[i], path + "." + t.fields[i], at, out);
      break;
    case Type::Kind::tuple:
      for (size_t i = 0; i < t.items.size(); ++i) observe(t.items[i], fmt::format("{}.{}", path, i), at, out);
      break;
    default:
      break;
  }
}

/// The source of a fact that becomes a check: `0` in `x with [0] = row`, where a short expression is around
/// it.
std::string EntryChecker::words_of(Span part, Span whole) const {
  constexpr uint32_t most = 60;
  const std::string text = fmt::format("`{}`", e_.sources.text(part)),
                    at = source::place_of(e_.sources, part);
  if (!whole.valid() || whole == part || whole.file != part.file || whole.size() > most)
    return fmt::format("{} ({})", text, at);
  const std::string around(e_.sources.text(whole));
  return around.find('\n') == std::string::npos ? fmt::format("{} in `{}` ({})", text, around, at)
                                                : fmt::format("{} ({})", text, at);
}

/// Whether the parameters and the result can be bound; reports why not. Notes what the runtime sees of them.
bool EntryChecker::observe_all(const Global& g, const std::vector<TypeId>& params, EntrySizes& sizes,
                               std::vector<bool>& of_weights) {
  if (!g.params.empty() && params.size() > g.params.size() + 1) {
    reporter_.report(error(
        Code::E0603, p_.exprs[g.body].span,
        fmt::format("the result of the entry `{}` is a function that lacks {} argument{}", g.name,
                    params.size() - g.params.size() - 1, params.size() == g.params.size() + 2 ? "" : "s")));
    return false;
  }
  for (size_t i = 0; i < params.size(); ++i) {
    Unbindable why;
    const bool result = i >= g.params.size();
    if (!first_order(params[i], why)) {
      const Span at = result ? p_.exprs[g.body].span : g.params[i].span;
      auto d =
          error(Code::E0315, at,
                fmt::format("{} of the entry `{}` cannot be bound: {}",
                            result ? "the result" : fmt::format("parameter {}", i + 1), g.name, why.what));
      if (!result && !why.help.empty()) d.help(why.help);
      reporter_.report(std::move(d));
      return false;
    }
    if (result) continue;
    observe(params[i], parameter_path(p_, g, i), g.params[i].span, sizes);
    of_weights.resize(sizes.observations.size(), g.params[i].weights);
  }
  return true;
}

/// Of a size that a function declares, `f[h]`, and a use of it leaves open: how that use would give it.
std::optional<std::string> EntryChecker::use_that_gives(Var v) const {
  for (uint32_t id = 0; id < p_.exprs.size(); ++id) {
    const Expr& e = p_.exprs[ExprId{id}];
    if (e.kind != Expr::Kind::global) continue;
    const auto& sizes = p_.globals[e.global].sizes;
    const auto is_v = [&](const auto& size) {
      return std::any_of(e.instantiation.begin(), e.instantiation.end(), [&](const auto& given) {
        return given.first == size.second && given.second.as_var() == v;
      });
    };
    if (std::none_of(sizes.begin(), sizes.end(), is_v)) continue;
    std::string text;
    for (const auto& [name, var] : sizes) text += (text.empty() ? "" : ", ") + name;
    return fmt::format("{}[{}]", p_.globals[e.global].name, text);
  }
  return std::nullopt;
}

/// Reports the sizes that nothing says. Of several that a constraint relates, one.
bool EntryChecker::refuse_undetermined(const Global& g, const Scheme& scheme, SizeSolver& solver) {
  std::vector<Var> refused;
  auto follows = [&](Var v) {  // from a size that was refused, by a constraint
    return std::any_of(scheme.where.begin(), scheme.where.end(), [&](const shape::Fact& f) {
      const Dim d = f.lhs - f.rhs;
      return d.contains(v) &&
             std::any_of(refused.begin(), refused.end(), [&](Var r) { return d.contains(r); });
    });
  };
  for (Var v : scheme.dims) {
    if (solver.is_known(v) || follows(v)) continue;
    refused.push_back(v);
    const Span at = vars_.origin(v).valid() ? vars_.origin(v) : g.span;
    auto d = error(Code::E0309, at, fmt::format("size `{}` is not determined", shape::var_name(v)));
    const auto use = use_that_gives(v);
    d.text("The arguments of the entry do not say what it is.")
        .help(fmt::format("make it a parameter of the entry{}: `entry {}[{}]`{}",
                          use ? " and say so where it is used" : "", g.name, shape::var_name(v),
                          use ? fmt::format(", `{}`", *use) : ""));
    reporter_.report(std::move(d));
    solver.give(v);
  }
  return !refused.empty();
}

/// What could not be proved is checked at the start; -D fixed sizes leave constants, which observations
/// check.
void EntryChecker::add_checks(const Global& g, const Scheme& scheme, EntrySizes& sizes) const {
  for (const shape::Fact& f : scheme.where) {
    SizeCheck check{f, {}, g.span};
    for (const WhyFact& w : fact_sources_)
      if (w.fact.lhs == f.lhs && w.fact.rhs == f.rhs && w.fact.relation == f.relation) {
        check.span = w.span;
        check.inferred = true;
        check.text = words_of(w.span, w.within);
      }
    if (check.text.empty()) check.text = fmt::format("`{}`", g.name);
    sizes.checks.push_back(std::move(check));
  }
  for (const Observation& o : sizes.observations) {
    const auto v = o.axis ? std::nullopt : o.dim.as_var();
    if (!v) continue;
    if (vars_.is_size(*v)) {
      sizes.checks.push_back({shape::at_least(o.dim, 0), fmt::format("`{}`", o.argument), o.span});
    } else {
      sizes.integers.push_back(*v);
    }
  }
}

void EntryChecker::check_entry(const Scheme& scheme) {
  const Global g = p_.globals[g_];
  const Type fn = vars_[scheme.type];
  std::vector<TypeId> params(fn.items);
  if (g.params.empty()) params = {scheme.type};
  EntrySizes sizes;
  std::vector<bool> of_weights;
  bool refused = !observe_all(g, params, sizes, of_weights) || !takes_all_layouts(g, params, scheme);
  if (!refused) {
    for (size_t i = 0; i < g.params.size(); ++i)
      observe_strides(params[i], parameter_path(p_, g, i), g.params[i].span, sizes);
    of_weights.resize(sizes.observations.size(), false);
    SizeSolver solver(sizes, of_weights);
    // What the arguments determine is determined by them; a declared size is given only where they do not.
    solver.solve();
    for (const auto& [name, v] : g.sizes) {
      if (solver.is_known(v)) continue;
      sizes.given.emplace_back(name, v);
      solver.give(v);
    }
    refused = refuse_undetermined(g, scheme, solver);
    add_checks(g, scheme, sizes);
  }
  if (refused) p_.globals[g_].has_error = true;
  if (!p_.globals[g_].has_error) p_.globals[g_].entry_sizes = std::move(sizes);
}

}  // namespace axon::core
