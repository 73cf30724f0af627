// See opened_sizes.h.
#include "core/opened_sizes.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

namespace axon::core {

using shape::Dim;
using shape::Fact;
using shape::Var;
using source::Code;
using source::error;
using source::Span;

Dim OpenedSizes::open(const std::string& hint, Span at, ShownBy by, bool size) {
  const Var v = vars_.dim(hint, VarKind::opened, size, at);
  opened_.push_back(v);
  if (by.expr.valid())
    scopes_.add_with_expr(v, by.expr);
  else
    scopes_.add_with_name(v, by.local);
  openings_.push_back({v, std::move(by), {}});
  if (!size) data_.insert(v.id);
  return Dim(v);
}

Dim OpenedSizes::open(const Scheme& s, Var closed, Span at, ShownBy by) {
  const bool integer = std::find(s.integers.begin(), s.integers.end(), closed) != s.integers.end();
  const bool size = vars_.is_size(closed);
  const Dim own = open(shape::var_name(closed), at, std::move(by), size);
  if (integer && size) checked_.insert(own.as_var()->id);
  return own;
}

void OpenedSizes::note_check(Var size, ExprId at, const Dim& most) {
  for (Opening& o : openings_)
    if (o.size == size && !o.checked && (solver_.reached() || o.by.expr == at)) o.checked = most;
}

bool OpenedSizes::reads_data(const Dim& d) const {
  const auto all = d.vars();
  return !data_.empty() && std::any_of(all.begin(), all.end(), [&](Var v) { return data_.count(v.id) > 0; });
}

bool OpenedSizes::depends_on_integer(const Dim& d, bool sizes) const {
  const auto all = d.vars();
  return std::any_of(all.begin(), all.end(),
                     [&](Var v) { return checked_.count(v.id) > 0 ? sizes : data_.count(v.id) > 0; });
}

bool OpenedSizes::is_checked_integer(const Dim& size) const {
  const auto v = size.as_var();
  return v && checked_.count(v->id) > 0;
}

namespace {
/// v is at most (at least) each part of a minimum (maximum) that does not depend on data.
void assume_bounds(Solver& solver, const Dim& v, const Dim& value,
                   const std::function<bool(const Dim&)>& from_data) {
  if (value.terms().size() != 1 || value.terms()[0].coefficient != 1 || value.terms()[0].factors.size() != 1)
    return;
  const shape::Atom& atom = value.terms()[0].factors[0];
  if (atom.kind() != shape::AtomKind::min && atom.kind() != shape::AtomKind::max) return;
  const bool least = atom.kind() == shape::AtomKind::min;
  for (const Dim& side : {atom.lhs(), atom.rhs()}) {
    if (!from_data(side)) {
      solver.assume(least ? shape::at_most(v, side) : shape::at_least(v, side));
    } else {
      const auto inner = side.terms().size() == 1 && side.terms()[0].factors.size() == 1
                             ? side.terms()[0].factors[0].kind()
                             : shape::AtomKind::var;
      if (inner == atom.kind()) assume_bounds(solver, v, side, from_data);
    }
  }
}
}  // namespace

Dim OpenedSizes::size_of_unknown(Span at, ShownBy by) {
  const Dim size = open("k", at, std::move(by));
  checked_.insert(size.as_var()->id);
  return size;
}

Dim OpenedSizes::size_of_value(const Dim& value, Span at, ShownBy by) {
  if (auto v = value.as_var()) {
    vars_.make_size(*v);
    checked_.insert(v->id);
    return value;
  }
  for (const auto& [known, size] : of_values_)
    if (known == value) {
      openings_.push_back({*size.as_var(), std::move(by), {}});
      return size;
    }
  const Dim size = size_of_unknown(at, std::move(by));
  scopes_.add_with_value(*size.as_var(), value);
  solver_.assume(shape::equal(size, value));
  assume_bounds(solver_, size, value, [&](const Dim& d) { return reads_data(d); });
  of_values_.emplace_back(value, size);
  return size;
}

TypeId OpenedSizes::name_value(TypeId type, const std::string& hint, Span at, ShownBy by) {
  const Type t = vars_[vars_.head(type)];
  if (t.kind != Type::Kind::tensor || t.value || !vars_.zonk(t.shape).empty()) return type;
  const ElemTerm elem = vars_.zonk(t.elem);
  if (!elem.elem || !base::is_integer(*elem.elem)) return type;
  return vars_.tensor(elem, {}, open(hint, at, std::move(by), false));
}

/// A size that is made of what was known before is one number of all calls.
bool OpenedSizes::is_of_one_call(Var v, size_t mark, const std::vector<Var>& own) const {
  const VarKind kind = vars_.kind(v);
  if (kind == VarKind::bound || kind == VarKind::index) return true;
  if (std::find(own.begin(), own.end(), v) != own.end()) return true;
  if (std::find(opened_.begin() + static_cast<long>(mark), opened_.end(), v) == opened_.end()) return false;
  const auto made = std::find_if(of_values_.begin(), of_values_.end(),
                                 [&](const auto& known) { return known.second == Dim(v); });
  if (made == of_values_.end()) return true;
  const std::vector<Var> parts = vars_.zonk(made->first).vars();
  return std::any_of(parts.begin(), parts.end(),
                     [&](Var part) { return part.id > v.id || is_of_one_call(part, mark, own); });
}

bool OpenedSizes::mentions_since(TypeId type, size_t mark) {
  if (opened_.size() == mark) return false;
  Occurrences all;
  all.add(vars_, vars_.zonk(type));
  return std::any_of(opened_.begin() + static_cast<long>(mark), opened_.end(),
                     [&](Var v) { return all.has(v) && is_of_one_call(v, mark, {}); });
}

TypeId OpenedSizes::as_value(ExprId id, TypeId type, size_t mark) {
  const Type fn = vars_[vars_.head(type)];
  if (fn.kind != Type::Kind::function || !mentions_since(type, mark)) return type;
  // The value of an integer may be forgotten, since it may differ from call to call; a size may not.
  if (const TypeId plain = unifier_.plain(type); plain.valid() && !mentions_since(plain, mark)) return plain;
  reporter_.report(
      error(Code::E0323, p_.exprs[id].span, "each call of this function decides a size of its result")
          .text("As a value it would have one type, with one size, for all of its calls.")
          .note(fmt::format("it is {}", reporter_.show(type)))
          .help("call it where its result is wanted instead of passing it"));
  return vars_.error();
}

/// A caller must know the sizes of parameters before the call.
bool OpenedSizes::refuse_in_parameters(TypeId type) {
  if (opened_.empty() || failed_) return false;
  const Type fn = vars_[vars_.zonk(type)];
  if (fn.kind != Type::Kind::function) return false;
  for (size_t i = 0; i + 1 < fn.items.size(); ++i) {
    Occurrences all;
    all.add(vars_, fn.items[i]);
    for (Var v : opened_) {
      if (!all.has(v)) continue;
      const auto& params = p_.globals[g_].params;
      const Span at = i < params.size() ? params[i].span : p_.globals[g_].span;
      reporter_.report(
          error(Code::E0323, at, fmt::format("this parameter would be {}", reporter_.show(fn.items[i])))
              .also(vars_.origin(v),
                    fmt::format("`{}` is decided by the data, here", reporter_.names().of(v)))
              .text("A caller cannot know that size before the call.")
              .help("state the size that is meant, and check it where it is known: `e :> t`"));
      return true;
    }
  }
  return false;
}

/// The assumed facts, and what follows from them by opened sizes that are not kept: from l <= k and k <= n,
/// l <= n.
std::vector<Fact> OpenedSizes::given_without_others(const Occurrences& kept) const {
  std::vector<Fact> facts = solver_.given();
  const auto between = [&](const Dim& d) {
    const auto v = vars_.zonk(d).as_var();
    return v && vars_.kind(*v) == VarKind::opened && !kept.has(*v);
  };
  const size_t given = facts.size();
  for (size_t i = 0; i < facts.size() && facts.size() < given + most_bounds; ++i) {
    if (facts[i].relation != shape::Relation::le || !between(facts[i].rhs)) continue;
    for (size_t k = 0; k < given; ++k)
      if (facts[k].relation == shape::Relation::le && vars_.zonk(facts[k].lhs) == vars_.zonk(facts[i].rhs))
        facts.push_back(shape::at_most(facts[i].lhs, facts[k].rhs));
  }
  return facts;
}

void OpenedSizes::close(Scheme& s, size_t mark) {
  if (opened_.size() == mark) return;
  Occurrences closed;
  closed.add(vars_, s.type);
  const std::vector<Fact> facts = given_without_others(closed);
  const size_t stated = s.where.size();
  const std::vector<Var> own = s.dims;
  for (Var v : closed.dims) {
    if (std::find(opened_.begin() + static_cast<long>(mark), opened_.end(), v) == opened_.end()) continue;
    if (!is_of_one_call(v, mark, own)) continue;
    std::erase(s.dims, v);
    if (std::find(s.exists.begin(), s.exists.end(), v) == s.exists.end()) s.exists.push_back(v);
    if (depends_on_integer(Dim(v), true)) s.integers.push_back(v);
    for (const Fact& f : facts) {
      const Fact known{vars_.zonk(f.lhs), f.relation, vars_.zonk(f.rhs)};
      Occurrences mentioned;
      mentioned.add(known.lhs);
      mentioned.add(known.rhs);
      const bool all_shown =
          std::all_of(mentioned.dims.begin(), mentioned.dims.end(), [&](Var x) { return closed.has(x); });
      const bool said = std::any_of(s.where.begin(), s.where.end(), [&](const Fact& o) {
        return o.lhs == known.lhs && o.rhs == known.rhs && o.relation == known.relation;
      });
      const bool says = !(vars_.is_size(v) && known.lhs.is(0) && known.rhs == Dim(v));  // every size is
      if (mentioned.has(v) && all_shown && says && !said) s.where.push_back({known});
    }
  }
  for (size_t i = s.where.size(); i-- > stated;) {  // a bound that other bounds say is not said again
    std::vector<Requirement> others = s.where;
    const Fact one = others[i];
    others.erase(others.begin() + static_cast<long>(i));
    std::vector<Fact> bounds(others.begin(), others.end());
    std::erase_if(bounds, [&](const Fact& f) { return f.relation != one.relation; });
    const bool bound = one.relation == shape::Relation::le;
    if (bound && shape::prove(bounds, one).verdict == shape::Verdict::proved) s.where = std::move(others);
  }
}

Dim OpenedSizes::without_opened(const Dim& d) const {
  auto mentions_opened = [&](const Dim& x) {
    const auto all = x.vars();
    return std::any_of(all.begin(), all.end(), [&](Var v) { return vars_.kind(v) == VarKind::opened; });
  };
  if (opened_.empty() || !mentions_opened(d)) return d;
  shape::Substitution values;
  for (const auto& [value, size] : of_values_) values.emplace(*size.as_var(), value.substitute(values));
  if (const Dim of_values = d.substitute(values); !mentions_opened(of_values)) return of_values;
  for (const Fact& f : solver_.given()) {
    if (f.relation != shape::Relation::eq) continue;
    const Dim zero = vars_.zonk(f.lhs) - vars_.zonk(f.rhs);
    for (const Dim& other : {d - zero, d + zero})
      if (!mentions_opened(other)) return other;
  }
  return d;
}

// ---- Into the program ----

namespace {

/// A number that a value shows: the extent of an axis, or an integer of known value.
struct Shown {
  std::vector<uint32_t> item;
  std::optional<uint32_t> axis;
  Dim number;
};

void collect_shown(Vars& vars, Unifier& unifier, TypeId id, std::vector<uint32_t>& item,
                   std::vector<Shown>& out) {
  const Type t = vars[vars.zonk(unifier.shape_view(id))];
  if (t.kind == Type::Kind::tensor) {
    if (t.value) out.push_back({item, std::nullopt, *t.value});
    for (size_t axis = 0; axis < t.shape.size() && is_dim(t.shape[axis]); ++axis)
      out.push_back({item, static_cast<uint32_t>(axis), t.shape[axis].dim});
  }
  if (t.kind != Type::Kind::tuple && t.kind != Type::Kind::record) return;
  for (size_t i = 0; i < t.items.size(); ++i) {
    item.push_back(static_cast<uint32_t>(i));
    collect_shown(vars, unifier, t.items[i], item, out);
    item.pop_back();
  }
}

/// Whether the size follows from the number, when the number's other variables are known.
bool gives(const Dim& number, Var size) {
  const auto linear = number.linear_in(size);
  const auto factor = linear ? linear->first.constant() : std::nullopt;
  return factor && (*factor == 1 || *factor == -1);
}

}  // namespace

/// The greatest value that is known of an opened size, over sizes that do not depend on data.
std::optional<Dim> OpenedSizes::bound_of(const Opening& o) const {
  auto facts = solver_.facts_for(shape::at_least(Dim(o.size), 0), {});
  if (o.checked) facts.push_back(shape::at_most(Dim(o.size), vars_.zonk(*o.checked)));
  const auto keep = [&](Var v) {
    return vars_.kind(v) != VarKind::opened && vars_.kind(v) != VarKind::index;
  };
  return shape::bounds_of(Dim(o.size), facts, keep).high;
}

/// The sizes that were opened for the result of an application, each where the type shows it first.
void OpenedSizes::write_results(ExprId id, std::vector<Opening> unknown) {
  std::vector<Shown> shown;
  std::vector<uint32_t> item;
  collect_shown(vars_, unifier_, p_.exprs[id].type, item, shown);
  const auto shown_of = [&](const Opening& o) {
    const auto same = [&](const Shown& s) { return s.number == Dim(o.size); };
    const auto solvable = [&](const Shown& s) {
      return gives(s.number, o.size) &&
             std::none_of(unknown.begin(), unknown.end(), [&](const Opening& other) {
               return other.size != o.size && s.number.contains(other.size);
             });
    };
    const auto at = std::find_if(shown.begin(), shown.end(), same);
    return at != shown.end() ? at : std::find_if(shown.begin(), shown.end(), solvable);
  };
  for (bool found = true; found;) {
    found = false;
    for (auto o = unknown.begin(); o != unknown.end(); ++o) {
      const auto at = shown_of(*o);
      if (at == shown.end()) continue;
      p_.exprs[id].opens.push_back({o->size, at->item, at->axis, at->number, bound_of(*o)});
      unknown.erase(o);
      found = true;
      break;
    }
  }
}

void OpenedSizes::write_back() {
  std::map<ExprId, std::vector<Opening>> results;
  for (const Opening& o : openings_) {
    if (o.by.in_type) {
      results[o.by.expr].push_back(o);
      continue;
    }
    std::vector<OpenedSize>& opens =
        o.by.expr.valid() ? p_.exprs[o.by.expr].opens : p_.locals[o.by.local].opens;
    opens.push_back({o.size, o.by.item, std::nullopt, Dim(o.size), bound_of(o)});
  }
  for (auto& [id, openings] : results) write_results(id, std::move(openings));
}

}  // namespace axon::core
