// The meaning of every scalar operator (the numerics of the language): integers wrap, `/` and `%` floor, max
// and min propagate NaN, floats are computed in double and rounded once to their type, narrow types inside a
// reduction are kept in the accumulation type. In Precision::f64 no float is rounded.
#include "graph/interpret_expr.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/bug.h"
#include "base/pointwise.h"
#include "graph/round.h"
#include "shape/floor.h"

namespace axon::graph {

// ---- compilation ----

uint32_t ScalarInterpreter::slot(Var v) {
  auto [it, fresh] = slot_of_.emplace(v.id, static_cast<uint32_t>(slots_.size()));
  if (fresh) slots_.emplace_back();
  return it->second;
}

uint32_t ScalarInterpreter::tensor(Value v) {
  auto [it, fresh] = tensor_of_.emplace(v, static_cast<uint32_t>(tensors_.size()));
  if (fresh) {
    tensors_.push_back(nullptr);
    tensor_values_.push_back(v);
  }
  return it->second;
}

std::string fill_sides(std::string message, std::optional<int64_t> lhs, std::optional<int64_t> rhs) {
  if (const size_t at = message.find(index_words); at != std::string::npos) {
    const bool none = rhs && *rhs < 0;
    if (none || lhs == no_element)
      message.replace(at, std::string_view(index_words).size(),
                      none ? ": the axis has no elements" : ": the axis has no such element");
  }
  for (const auto& [place, value] : {std::pair("{lhs}", lhs), std::pair("{rhs}", rhs)})
    if (const size_t at = message.find(place); at != std::string::npos)
      message.replace(at, 5, value ? std::to_string(*value) : "?");
  return message;
}

void ScalarInterpreter::bind(Var v, int64_t value) {
  uint32_t s = slot(v);
  if (!slots_[s].bound || slots_[s].value != value) set(s, value);
}

void ScalarInterpreter::provide(Value v, const Tensor* t) { tensors_[tensor(v)] = t; }

/// The variable's slot; `uses` gets those that its value depends on.
uint32_t ScalarInterpreter::use(Var v, DimCode& code, std::vector<uint32_t>& uses) {
  const uint32_t at = slot(v);
  const auto definition = definitions_.find(v.id);
  if (definition == definitions_.end()) {
    uses.push_back(at);
  } else {
    code.defined.emplace_back(at, compile_node(definition->second, false));
    const std::vector<uint32_t>& of_value = code.defined.back().second->slots;
    uses.insert(uses.end(), of_value.begin(), of_value.end());
  }
  return at;
}

DimCode ScalarInterpreter::compile_dim(const Dim& d, std::vector<uint32_t>& uses) {
  DimCode code;
  for (const shape::Term& term : d.terms()) {
    if (term.factors.empty()) {
      code.constant = term.coefficient;
      continue;
    }
    if (term.factors.size() == 1 && term.factors[0].kind() == shape::AtomKind::var) {
      code.linear.emplace_back(term.coefficient, use(term.factors[0].var(), code, uses));
      continue;
    }
    DimCode::Term general{term.coefficient, {}};
    for (const shape::Atom& atom : term.factors) {
      DimCode::Factor f;
      f.kind = atom.kind();
      if (f.kind == shape::AtomKind::var) {
        f.slot = use(atom.var(), code, uses);
      } else {
        f.lhs = std::make_shared<DimCode>(compile_dim(atom.lhs(), uses));
        f.rhs = std::make_shared<DimCode>(compile_dim(atom.rhs(), uses));
      }
      general.factors.push_back(std::move(f));
    }
    code.terms.push_back(std::move(general));
  }
  return code;
}

std::optional<int64_t> ScalarInterpreter::evaluate(const Dim& d) {
  return d.evaluate([&](Var v) -> std::optional<int64_t> {
    auto it = slot_of_.find(v.id);
    if (it == slot_of_.end() || !slots_[it->second].bound) return std::nullopt;
    return slots_[it->second].value;
  });
}

Code* ScalarInterpreter::compile(ScalarId root) { return compile_node(root, false); }

namespace {

void sort_unique(std::vector<uint32_t>& list) {
  std::sort(list.begin(), list.end());
  list.erase(std::unique(list.begin(), list.end()), list.end());
}

}  // namespace

Code* ScalarInterpreter::compile_node(ScalarId id, bool inside) {
  uint64_t key = uint64_t{id.index} * 2 + (inside ? 1 : 0);
  if (auto it = compiled_.find(key); it != compiled_.end()) {
    if (it->second->op != Op::constant && it->second->op != Op::index) it->second->memo = true;  // shared
    return it->second;
  }
  const Scalar& s = g.scalars[id];
  Code c;
  c.op = s.op;
  const bool binder = binds(s.op);
  // Inside a reduction, arithmetic on narrow floats is done in the type they accumulate in; casts and loads
  // are exact. Keys of an order are compared as they would be stored. Integers wrap at every operator, there
  // as anywhere: fusion must not show.
  bool arithmetic = is_pointwise_op(s.op) && base::is_float(s.elem);
  c.elem = inside && arithmetic ? base::accumulator(s.elem) : s.elem;
  if (base::is_float(c.elem)) {
    bool rounds = precision_ == Precision::storage && c.elem != Elem::f64 && s.op != Op::load;
    c.round = !rounds ? Code::Round::none : c.elem == Elem::f32 ? Code::Round::f32 : Code::Round::narrow;
  } else if (c.elem != Elem::i64 && s.op != Op::load) {
    c.round = Code::Round::integer;
  }
  if (!s.args.empty())
    c.float_args = base::is_float(g.scalars[s.args[s.op == Op::order ? 0 : s.args.size() - 1]].elem);
  c.monoid = s.monoid;
  c.base2 = s.base2;
  c.or_zero = s.or_zero;
  c.descending = s.descending;
  c.scale = s.scale;
  c.component = s.component;
  c.check = s.check;
  if (s.op == Op::index || s.op == Op::bounded) c.dim = compile_dim(s.dim, c.slots);
  if (s.op == Op::load) {
    c.tensor = tensor(s.target);
    c.point.resize(s.args.size());
    for (ScalarId a : s.args) {
      auto affine = affine_index(g, a);
      c.indices.push_back(affine ? compile_dim(*affine, c.slots) : DimCode{});
      c.args.push_back(affine ? nullptr : compile_node(a, inside));
    }
  } else {
    for (ScalarId a : s.args) c.args.push_back(compile_node(a, inside || (binder && s.op != Op::order)));
  }
  if (s.op == Op::constant) {
    bool exact = precision_ == Precision::f64;
    c.value.real = exact ? s.number : round_to(s.elem, s.number);
    c.value.integer = s.integer;
  }
  for (Code* a : c.args)
    if (a) c.slots.insert(c.slots.end(), a->slots.begin(), a->slots.end());
  sort_unique(c.slots);
  if (s.op == Op::order || s.op == Op::online) c.row_slots = c.args[0]->slots;
  for (const Axis& b : s.binders) {
    std::vector<uint32_t> of_extent;
    c.binders.emplace_back(slot(b.var), compile_dim(b.extent, of_extent));
    for (std::vector<uint32_t>* slots : {&c.slots, &c.row_slots})
      slots->insert(slots->end(), of_extent.begin(), of_extent.end());
  }
  for (const auto& binder : c.binders) {
    std::erase(c.slots, binder.first);
    std::erase(c.row_slots, binder.first);
  }
  sort_unique(c.slots);
  for (Code* a : c.args) {
    if (!a || a->op == Op::constant || a->op == Op::index || a->op == Op::load) continue;
    bool fewer = binder || a->slots.size() < c.slots.size();
    if (binder)
      fewer = std::none_of(c.binders.begin(), c.binders.end(), [&](const auto& b) {
        return std::binary_search(a->slots.begin(), a->slots.end(), b.first);
      });
    if (fewer) a->memo = true;
  }
  codes_.push_back(std::move(c));
  compiled_[key] = &codes_.back();
  return &codes_.back();
}

// ---- evaluation ----

int64_t ScalarInterpreter::factor(const DimCode::Factor& f) {
  if (f.kind == shape::AtomKind::var) return slots_[f.slot].value;
  int64_t a = dim(*f.lhs), b = dim(*f.rhs);
  if (f.kind == shape::AtomKind::min) return std::min(a, b);
  if (f.kind == shape::AtomKind::max) return std::max(a, b);
  if (b == 0) return 0;  // the size that would divide by zero is refused when sizes are solved
  return f.kind == shape::AtomKind::mod ? shape::floor_remainder(a, b) : shape::floor_quotient(a, b);
}

int64_t ScalarInterpreter::dim(const DimCode& d) {
  for (const auto& [slot, code] : d.defined) slots_[slot].value = run(code).integer;
  int64_t sum = d.constant;
  for (const auto& [coefficient, slot] : d.linear) sum += coefficient * slots_[slot].value;
  for (const DimCode::Term& t : d.terms) {
    int64_t product = t.coefficient;
    for (const DimCode::Factor& f : t.factors) product *= factor(f);
    sum += product;
  }
  return sum;
}

inline double ScalarInterpreter::rounded(const Code& c, double value) const {
  if (c.round == Code::Round::f32) return static_cast<double>(static_cast<float>(value));
  return c.round == Code::Round::narrow ? round_to(c.elem, value) : value;
}

Number ScalarInterpreter::run(Code* code) {
  Code& c = *code;
  if (c.op == Op::constant) return c.value;
  if (!c.memo) return compute(c);
  if (still_valid(c.slots, c.computed_at)) return c.value;
  c.value = compute(c);
  c.computed_at = clock_;
  return c.value;
}

Number ScalarInterpreter::compute(Code& c) {
  switch (c.op) {
    case Op::constant:
      return c.value;
    case Op::index:
      return {0, dim(c.dim)};
    case Op::load:
      return load(c);
    case Op::bounded: {
      Number n = run(c.args[0]);
      int64_t extent = dim(c.dim);
      if (n.integer >= 0 && n.integer < extent) return n;
      std::string message = c.check < g.checks.size() ? g.checks[c.check].message : "index out of range";
      fail(fill_sides(message + index_words, n.integer, extent - 1));
      return {};
    }
    case Op::require: {
      if (run(c.args[0]).integer) return {};
      const int64_t found = run(c.args[1]).integer, wanted = run(c.args[2]).integer;
      fail(c.check < g.checks.size() ? fill_sides(g.checks[c.check].message, found, wanted)
                                     : "a requirement");
      return {};
    }
    case Op::reduce:
      return reduce(c);
    case Op::online:
      online(c);
      return {c.online[0], 0};
    case Op::order:
      return order(c);
    case Op::proj: {
      run(c.args[0]);
      return {rounded(c, c.args[0]->online[c.component]), 0};
    }
    case Op::select:
      return run(run(c.args[0]).integer ? c.args[1] : c.args[2]);
    case Op::cast: {
      Number n = run(c.args[0]);
      if (base::is_float(c.elem))
        return {rounded(c, c.float_args ? n.real : base::real_of(c.elem, n.integer)), 0};
      return {0, c.float_args ? truncate_to(c.elem, n.real) : wrap_to(c.elem, n.integer)};
    }
#define STRUCTURAL(name)
#define CHOICE(name)
#define OP(name, word, arity) case Op::name:
#include "graph/ops.def"
      return c.float_args ? real_op(c) : integer_op(c);
  }
  return {};
}

Number ScalarInterpreter::load(Code& c) {
  for (size_t i = 0; i < c.point.size(); ++i)
    c.point[i] = c.args[i] ? run(c.args[i]).integer : dim(c.indices[i]);
  if (reader_) return reader_(tensor_values_[c.tensor], c.point);
  const Tensor* t = tensors_[c.tensor];
  if (!t) {
    fail("a value is read before it is computed");
    return {};
  }
  int64_t offset = 0;
  for (size_t i = 0; i < c.point.size(); ++i) {
    if (c.point[i] < 0 || c.point[i] >= t->shape[i]) {
      if (guarded_) return {};
      fail(fmt::format("index {} is out of range on axis {} of extent {}", c.point[i], i, t->shape[i]));
      return {};
    }
    offset = offset * t->shape[i] + c.point[i];
  }
  size_t at = static_cast<size_t>(offset);
  if (at >= t->floats.size() + t->integers.size()) {
    fail("storage without contents is read");
    return {};
  }
  return t->floats.empty() ? Number{0, t->integers[at]} : Number{t->floats[at], 0};
}

namespace {

/// The operators of base/ops.def stand together in both lists.
base::Pointwise pointwise(Op op) {
  return static_cast<base::Pointwise>(static_cast<int>(op) - static_cast<int>(Op::add));
}

}  // namespace

Number ScalarInterpreter::real_op(const Code& c) {
  const double a = run(c.args[0]).real;
  const double b = c.args.size() > 1 ? run(c.args[1]).real : 0;
  const OpClass is = class_of(c.op);
  if (is == OpClass::comparison) return {0, base::compare(pointwise(c.op), a, b)};
  const double value = base::of_reals(pointwise(c.op), a, b);
  return {base::is_exact_on_reals(pointwise(c.op)) ? value : rounded(c, value), 0};
}

Number ScalarInterpreter::integer_op(const Code& c) {
  const int64_t a = run(c.args[0]).integer;
  if (c.op == Op::and_ && !a) return {};
  if (c.op == Op::or_ && a) return {0, 1};
  const int64_t b = c.args.size() > 1 ? run(c.args[1]).integer : 0;
  if (class_of(c.op) == OpClass::comparison) return {0, base::compare(pointwise(c.op), a, b)};
  const int64_t value = base::of_integers(pointwise(c.op), a, b);
  return {0, c.round == Code::Round::integer ? wrap_to(c.elem, value) : value};
}

// ---- reductions ----

template <class Step>
void ScalarInterpreter::each_point(Code& c, const Step& step, size_t first) {
  if (first == c.binders.size()) return step();
  const auto& [slot, extent] = c.binders[first];
  const int64_t count = dim(extent);
  for (int64_t i = 0; i < count && error.empty(); ++i) {
    set(slot, i);
    each_point(c, step, first + 1);
  }
}

Number ScalarInterpreter::reduce(Code& c) {
  Code* body = c.args[0];
  if (c.monoid == Monoid::argmax) {
    Number best;
    int64_t at = -1;
    each_point(c, [&] {
      Number n = run(body);
      bool better =
          at < 0 || (c.float_args ? !std::isnan(best.real) && (n.real > best.real || std::isnan(n.real))
                                  : n.integer > best.integer);
      if (!better) return;
      best = n;
      at = slots_[c.binders[0].first].value;
    });
    at = std::max<int64_t>(at, 0);  // of nothing, where a branch that is not taken looks for it
    return {0, at};
  }
  if (c.float_args) {
    const double inf = std::numeric_limits<double>::infinity();
    double sum = c.monoid == Monoid::sum    ? 0
                 : c.monoid == Monoid::prod ? 1
                 : c.monoid == Monoid::max  ? -inf
                                            : inf;
    bool single = precision_ == Precision::storage && base::accumulator(c.elem) == Elem::f32;
    auto kept = [&](double v) { return single ? static_cast<double>(static_cast<float>(v)) : v; };
    switch (c.monoid) {
      case Monoid::sum:
        each_point(c, [&] { sum = kept(sum + run(body).real); });
        break;
      case Monoid::prod:
        each_point(c, [&] { sum = kept(sum * run(body).real); });
        break;
      case Monoid::max:
        each_point(c, [&] { sum = base::larger(sum, run(body).real); });
        break;
      case Monoid::min:
        each_point(c, [&] { sum = base::smaller(sum, run(body).real); });
        break;
      default:
        base::bug("interpret", "a logical reduction of floats");
    }
    return {rounded(c, sum), 0};
  }
  const auto [least, greatest] = base::range_of_integers(c.elem);
  int64_t total = 0;
  switch (c.monoid) {
    case Monoid::sum:
      each_point(c, [&] { total = base::add_wrapping(total, run(body).integer); });
      break;
    case Monoid::prod:
      total = 1;
      each_point(c, [&] { total = base::mul_wrapping(total, run(body).integer); });
      break;
    case Monoid::max:
      total = least;
      each_point(c, [&] { total = std::max(total, run(body).integer); });
      break;
    case Monoid::min:
      total = greatest;
      each_point(c, [&] { total = std::min(total, run(body).integer); });
      break;
    case Monoid::all:
      total = 1;
      each_point(c, [&] { total = total && run(body).integer; });
      break;
    case Monoid::any:
      each_point(c, [&] { total = total || run(body).integer; });
      break;
    case Monoid::argmax:
      break;
  }
  return {0, wrap_to(c.elem, total)};
}

/// Element number args[1] of the sorted positions, which are kept for the rest of the row.
Number ScalarInterpreter::order(Code& c) {
  if (!still_valid(c.row_slots, c.row_at)) {
    std::vector<Number> keys;
    each_point(c, [&] { keys.push_back(run(c.args[0])); });
    const auto before = [&](const Number& a, const Number& b) {
      if (!c.float_args) return c.descending ? a.integer > b.integer : a.integer < b.integer;
      const bool first_is_nan = std::isnan(a.real), second_is_nan = std::isnan(b.real);
      if (first_is_nan || second_is_nan) return c.descending ? !second_is_nan : !first_is_nan;
      return c.descending ? a.real > b.real : a.real < b.real;
    };
    c.row.resize(keys.size());
    std::iota(c.row.begin(), c.row.end(), 0);
    std::stable_sort(c.row.begin(), c.row.end(), [&](int64_t i, int64_t j) {
      return before(keys[static_cast<size_t>(i)], keys[static_cast<size_t>(j)]);
    });
    c.row_at = clock_;
  }
  const int64_t number = run(c.args[1]).integer;
  const bool is_there = number >= 0 && number < static_cast<int64_t>(c.row.size());
  return {0, is_there ? c.row[static_cast<size_t>(number)] : 0};
}

/// By definition, in two passes: the maximum, then the sums. Leaves the components in c.online; the scores
/// and their maximum are kept for the rest of the row.
void ScalarInterpreter::online(Code& c) {
  if (!still_valid(c.row_slots, c.row_at)) {
    c.scores.clear();
    c.top = -std::numeric_limits<double>::infinity();
    each_point(c, [&] {
      c.scores.push_back(run(c.args[0]).real);
      c.top = base::larger(c.top, c.scores.back());
    });
    c.row_at = clock_;
  }
  const double top = c.top;
  std::vector<double> components(c.args.size() + 1, 0.0);
  components[0] = top;
  bool single = precision_ == Precision::storage && base::accumulator(c.elem) == Elem::f32;
  auto kept = [&](double v) { return single ? static_cast<double>(static_cast<float>(v)) : v; };
  const double shift = c.or_zero && top == -std::numeric_limits<double>::infinity() ? 0 : top;
  size_t at = 0;
  each_point(c, [&] {
    double exponent = kept(c.scale * kept(c.scores[at++] - shift));
    double weight = kept(c.base2 ? std::exp2(exponent) : std::exp(exponent));
    components[1] = kept(components[1] + weight);
    for (size_t v = 1; v < c.args.size(); ++v)
      components[v + 1] = kept(components[v + 1] + kept(weight * run(c.args[v]).real));
  });
  c.online = std::move(components);
}

}  // namespace axon::graph
