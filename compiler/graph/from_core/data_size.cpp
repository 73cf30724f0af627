// Data-dependent sizes: an integer computed from data becomes a size with a bound that is known before.
//
// The integer is stored as a tensor of rank 0 at the root of the graph; the size has a value once that is
// computed. Memory is laid out for the bound, which follows from the form of the integer: a count of true
// elements is at most the number of elements, a minimum is at most each operand, an argument what the entry
// states. A sum or product of the
// entry's sizes and integers bounds itself where what every call is checked for shows that it does not wrap.
#include <algorithm>
#include <functional>
#include <map>

#include "graph/dynamic_sizes.h"
#include "graph/from_core/evaluator.h"

namespace axon::graph {

/// Is an integer at least so large, by its form?
bool CheckedIntegers::is_at_least(ScalarId id, int64_t least) const {
  const Scalar& s = g.scalars[id];
  if (s.op == Op::constant) return s.integer >= least;
  if (s.op == Op::cast) return is_at_least(s.args[0], least);
  if (s.op == Op::max) return is_at_least(s.args[0], least) || is_at_least(s.args[1], least);
  const auto dim = affine_index(g, id);
  return dim && bounds_.proof(shape::at_least(*dim, Dim(least))) == Proof::always;
}

namespace {

/// Sums and products of sizes as one: modulo 2^64 each has the value of the integer.
class Polynomials {
 public:
  explicit Polynomials(const Graph& graph) : g_(graph) {}

  /// nullopt where the integer is none.
  std::optional<Dim> of(ScalarId id) {
    if (const auto known = known_.find(id); known != known_.end()) return known->second;
    const Scalar& s = g_.scalars[id];
    std::optional<Dim> sum = affine_index(g_, id);
    if (sum && !over_sizes(*sum)) sum = std::nullopt;
    if (s.elem == Elem::i64 && (s.op == Op::add || s.op == Op::sub || s.op == Op::mul)) {
      const auto a = of(s.args[0]), b = of(s.args[1]);
      if (a && b) sum = s.op == Op::add ? *a + *b : s.op == Op::sub ? *a - *b : *a * *b;
    } else if (s.elem == Elem::i64 && s.op == Op::neg) {
      if (const auto a = of(s.args[0])) sum = -*a;
    }
    return known_[id] = sum;
  }

 private:
  bool over_sizes(const Dim& d) const {
    const std::vector<Var> vars = d.vars();
    return std::all_of(vars.begin(), vars.end(), [&](Var v) {
      return std::any_of(g_.sizes.begin(), g_.sizes.end(), [&](const Size& s) { return s.var == v; });
    });
  }

  const Graph& g_;
  std::map<ScalarId, std::optional<Dim>> known_;
};

/// What may wrap bounds nothing. Products of integers may, unless the facts of the graph, which every call is
/// checked for, say otherwise: an axis in the entry's type is a size.
bool stays_in_range(const Graph& g, const Dim& d) {
  if (is_exact(g, d)) return true;
  const Dim most(static_cast<int64_t>(shape::size_range().high));
  const auto proved = [&](const Fact& fact) {
    return shape::prove(g.facts, fact).verdict == shape::Verdict::proved;
  };
  return !shape::overflowed(d) && proved(shape::at_most(d, most)) && proved(shape::at_least(d, -most));
}

/// The most that integers can be; nullopt when nothing is known. Each part of an expression is looked at
/// once.
class MostOf {
 public:
  MostOf(const Graph& graph, const std::map<NodeId, Dim>& arguments,
         std::function<bool(ScalarId, int64_t)> is_at_least)
      : g_(graph), arguments_(arguments), is_at_least_(std::move(is_at_least)), polynomials_(graph) {}

  std::optional<Dim> of(ScalarId id) {
    if (const auto known = known_.find(id); known != known_.end()) return known->second;
    auto most = by_parts(id);
    if (!most || !stays_in_range(g_, *most)) most = polynomials_.of(id);
    return known_[id] = most && stays_in_range(g_, *most) ? most : std::nullopt;
  }

 private:
  std::optional<Dim> by_parts(ScalarId id) {
    const Scalar& s = g_.scalars[id];
    if (s.elem == Elem::boolean) return Dim(1);
    if (!base::is_integer(s.elem)) return std::nullopt;
    const auto side = [&](size_t i) { return of(s.args[i]); };
    const auto constant = [&](size_t i) -> std::optional<int64_t> {
      if (g_.scalars[s.args[i]].op == Op::constant) return g_.scalars[s.args[i]].integer;
      const auto dim = affine_index(g_, s.args[i]);
      return dim ? dim->constant() : std::nullopt;
    };
    const auto both = [&](size_t i, size_t j, const std::function<Dim(const Dim&, const Dim&)>& combine) {
      const auto a = side(i), b = side(j);
      return a && b ? std::optional(combine(*a, *b)) : std::nullopt;
    };
    switch (s.op) {
      case Op::constant:
        return Dim(s.integer);
      case Op::index:
        return without_sizes(s.dim);
      case Op::bounded:
        return s.dim - Dim(1);
      case Op::cast:
        return side(0);
      case Op::select:
        return both(1, 2, [](const Dim& a, const Dim& b) { return shape::max(a, b); });
      case Op::max:
        return both(0, 1, [](const Dim& a, const Dim& b) { return shape::max(a, b); });
      case Op::add:
        return both(0, 1, [](const Dim& a, const Dim& b) { return a + b; });
      case Op::min: {
        const auto a = side(0), b = side(1);
        return a && b ? std::optional(shape::min(*a, *b)) : a ? a : b;
      }
      case Op::mul:
      case Op::sub:
      case Op::div:
      case Op::mod: {
        const auto a = side(0);
        const auto by = constant(1);
        if (s.op == Op::div && !by && a && is_at_least_(s.args[1], 1))
          return shape::simplify(shape::max(*a, Dim(0)), g_.facts);
        if (s.op == Op::sub && !by && a && is_at_least_(s.args[1], 0)) return a;
        if (!by || *by < 1) return std::nullopt;
        if (s.op == Op::mod) return Dim(*by - 1);
        if (!a) return std::nullopt;
        return s.op == Op::mul ? *a * Dim(*by) : s.op == Op::sub ? *a - Dim(*by) : floor_div(*a, Dim(*by));
      }
      case Op::reduce: {
        if (s.monoid == Monoid::argmax) return extent(s.binders[0]);
        const auto each = side(0);
        if (!each || (s.monoid != Monoid::sum && s.monoid != Monoid::max)) return std::nullopt;
        Dim most = shape::max(*each, Dim(0));
        if (s.monoid == Monoid::sum)
          for (const Axis& a : s.binders) most = most * extent(a);
        return shape::simplify(most, g_.facts);
      }
      case Op::order:
        return extent(s.binders[0]);
      case Op::load: {
        if (s.target.is_local()) return std::nullopt;
        const Node& node = g_.nodes[s.target.node];
        if (const auto stated = arguments_.find(s.target.node); stated != arguments_.end())
          return stated->second;
        if (node.op != NodeOp::compute || node.outputs[s.target.output].base) return std::nullopt;
        const Node* reader = std::exchange(node_, &node);
        const auto most = of(node.outputs[s.target.output].body);
        node_ = reader;
        return most;
      }
      default:
        return std::nullopt;
    }
  }

  /// The most that a dimension is, over sizes and index variables.
  std::optional<Dim> without_sizes(const Dim& d) const {
    std::optional<Dim> most = d;
    for (size_t i = node_ ? node_->dynamic_sizes.size() : 0; i-- > 0 && most;)
      if (const DynamicSize& s = node_->dynamic_sizes[i]; most->contains(s.size))
        most = at_most(*most, s.size, s.bound);
    return most;
  }
  /// The most elements that the axis of a reduction has.
  Dim extent(const Axis& a) const { return node_ ? ExtentBounds(g_, *node_).of(a.extent) : a.extent; }

  const Graph& g_;
  const std::map<NodeId, Dim>& arguments_;
  const std::function<bool(ScalarId, int64_t)> is_at_least_;
  const Node* node_ = nullptr;  // that what is looked at stands in
  Polynomials polynomials_;
  std::map<ScalarId, std::optional<Dim>> known_;
};

/// Said of a size that is not what its bound allows.
constexpr const char* outside_of_bound = " is {lhs}, which is not in 0 .. {rhs}";

}  // namespace

/// The expression may mention index variables, and what is given is a bound for every value of them:
/// data_size() takes only what is over sizes.
std::optional<Dim> CheckedIntegers::upper_bound(ScalarId id) const {
  return MostOf(g, context_.most_of_arguments,
                [&](ScalarId part, int64_t least) { return is_at_least(part, least); })
      .of(id);
}

std::optional<Dim> CheckedIntegers::size_of_call(ScalarId integer, const std::string& what) {
  if (!conditions_.empty() || !active_.empty() || !loops_.empty()) return std::nullopt;
  const auto size = Polynomials(g).of(integer);
  if (!size || shape::overflowed(*size) || reads_data(g, *size)) return std::nullopt;
  const auto learn = [&](const Fact& fact, const std::string& words) {
    if (shape::prove(g.facts, fact).verdict == shape::Verdict::proved) return;
    check_at_call(g, fact, what + words);
  };
  learn(shape::at_least(*size, Dim(0)), " is {rhs}, which is no size");
  learn(shape::at_most(*size, Dim(static_cast<int64_t>(shape::size_range().high))),
        " is {lhs}, too many elements");
  narrow_integers(g);
  return size;
}

bool CheckedIntegers::is_exact_by_facts(ScalarId id) const {
  const auto polynomial = Polynomials(g).of(id);
  return polynomial && stays_in_range(g, *polynomial);
}

ScalarId CheckedIntegers::difference(ScalarId a, ScalarId b) {
  std::map<ScalarId, int64_t> parts;
  Dim known(0);
  std::map<ScalarId, uint64_t> left;  // times so much, modulo 2^64; the greatest has met all of its users
  ++left[a], --left[b];
  while (!left.empty()) {
    const auto [id, times] = *left.rbegin();
    left.erase(id);
    const auto factor = static_cast<int64_t>(times);
    const Scalar s = g.scalars[id];
    if (const auto dim = affine_index(g, id)) {
      known = known + *dim * Dim(factor);
    } else if (s.op == Op::add || s.op == Op::sub) {
      left[s.args[0]] += times;
      left[s.args[1]] += s.op == Op::add ? times : 0 - times;
    } else {
      parts[id] = factor;
    }
  }
  const auto affine = exact_index(g, known);
  if (!affine) return apply(g, Op::sub, {a, b});
  ScalarId sum = *affine;
  for (const auto& [part, factor] : parts) {
    if (factor == 0) continue;
    const ScalarId times = index_of(g, Dim(factor < 0 ? -factor : factor));
    sum = apply(g, factor < 0 ? Op::sub : Op::add, {sum, apply(g, Op::mul, {times, part})});
  }
  return sum;
}

void SizeEnvironment::learn_opened_sizes(core::TypeId id, const Val& value,
                                         const std::function<bool(Var)>& wanted) {
  if (!id.valid()) return;
  const core::Type& type = p.types.types[id];
  if (type.kind == core::Type::Kind::tuple || type.kind == core::Type::Kind::record) {
    if (type.items.size() == value.items.size())
      for (size_t i = 0; i < type.items.size(); ++i)
        learn_opened_sizes(type.items[i], value.items[place_of_field(value, type.fields, i)], wanted);
    return;
  }
  if (type.kind != core::Type::Kind::tensor || value.kind != Val::Kind::array ||
      type.shape.size() != value.array->shape.size())
    return;
  for (size_t axis = 0; axis < type.shape.size(); ++axis) {
    if (type.shape[axis].kind != core::ShapeItem::Kind::dim) return;
    const Dim stated = resolve(type.shape[axis].dim), &found = value.array->shape[axis];
    std::vector<Var> unknown = stated.vars();
    std::erase_if(unknown, [&](Var v) { return is_known_here(v) || found.contains(v) || !wanted(v); });
    if (unknown.size() > 1) env_->opened.emplace_back(stated, found);
    if (unknown.size() != 1 || stated == found) continue;
    const auto linear = stated.linear_in(unknown[0]);
    const int64_t factor = linear ? linear->first.constant().value_or(0) : 0;
    const Dim rest = linear ? found - linear->second : Dim(0);
    const Dim quotient = factor != 0 ? floor_div(rest, Dim(factor)) : Dim(0);
    if (factor != 0 && quotient * Dim(factor) == rest)
      env_->dims.emplace(unknown[0], quotient);
    else
      env_->opened.emplace_back(stated, found);
  }
}

/// Notes the integers of the data that a value of the type shows; the type names the fields of records.
void CoreEvaluator::note_integers(const std::vector<core::OpenedSize>& opens, core::TypeId type,
                                  const Val& value, const std::string& name, Environment& env) const {
  for (const core::OpenedSize& o : opens) {
    if (o.axis) continue;  // learn_opened_sizes()
    const Val* part = &value;
    core::TypeId at = type;
    for (const uint32_t item : o.item) {
      const core::Type* whole = at.valid() ? &p.types.types[at] : nullptr;
      const bool known = whole && item < whole->items.size();
      const size_t place = known ? place_of_field(*part, whole->fields, item) : item;
      if (place < part->items.size()) part = &part->items[place];
      at = known ? whole->items[item] : core::TypeId{};
    }
    if (part->kind == Val::Kind::array && part->array->shape.empty())
      env.integers.insert_or_assign(o.size, OpenedInteger{part->array->body, o.bound, name});
  }
}

const OpenedInteger* CoreEvaluator::find_integer(Var v) const {
  for (const Environment* f = env_.get(); f; f = f->parent.get())
    if (const auto at = f->integers.find(v); at != f->integers.end()) return &at->second;
  return nullptr;
}

bool CoreEvaluator::is_read_from_data(Var size) const {
  const OpenedInteger* const integer = find_integer(size);
  return integer && !affine_index(g, integer->value);
}

/// Makes the integers of the data known as sizes that the size mentions.
void CoreEvaluator::learn_integers(const Dim& size) {
  if (sizes_.is_known_here(sizes_.resolve(size))) return;
  for (Var v : size.vars()) {
    const auto known = sizes_.known_dim(v);
    const OpenedInteger* integer = find_integer(v);
    if (!integer || sizes_.is_known_here(v) || (known && sizes_.is_known_here(*known))) continue;
    std::optional<Dim> bound = checked_.upper_bound(integer->value);
    if (!bound && integer->bound && sizes_.is_known_here(sizes_.resolve(*integer->bound)))
      bound = sizes_.resolve(*integer->bound);
    const auto here = affine_index(g, integer->value);
    const auto made = here ? here : checked_.data_size(integer->value, "`" + integer->name + "`", bound);
    if (!made) return;
    env_->dims.insert_or_assign(v, *made);
  }
}

bool SizeEnvironment::is_known_here(Var v) const { return is_size(v) || data_dependent(v) || is_index(v); }

bool SizeEnvironment::is_known_here(const Dim& d) const {
  const std::vector<Var> vars = d.vars();
  return std::all_of(vars.begin(), vars.end(), [&](Var v) { return is_known_here(v); });
}

bool SizeEnvironment::is_index(Var v) const {
  const auto has = [&](const std::vector<Axis>& axes) {
    return std::any_of(axes.begin(), axes.end(), [&](const Axis& a) { return a.var == v; });
  };
  return has(active_) || has(loops_);
}

/// A size whose value varies over the iterations or elements around. It is not a size of the graph: arrays
/// with this size have its bound in memory.
std::optional<Dim> CheckedIntegers::size_anywhere(ScalarId integer, const Dim& bound,
                                                  const std::string& what) {
  const ScalarId value = data_index(integer, bound + Dim(1), what);
  const Dim size = sizes_.make_data_dependent(value, bound);
  sizes_.note_integer(*size.as_var(), integer);
  return size;
}

std::optional<ScalarId> SizeEnvironment::integer_of(Var size) const {
  const auto found = integers_.find(size);
  return found == integers_.end() ? std::nullopt : std::optional(found->second);
}

Dim SizeEnvironment::make_data_dependent(ScalarId value, const Dim& bound) {
  for (const DynamicSize& d : data_dependent_)
    if (d.value == value && d.bound == bound) return Dim(d.size);
  data_dependent_.push_back({shape::fresh_var("k"), value, bound});
  return Dim(data_dependent_.back().size);
}

/// Bounds an unbounded size with that value, where the bound is made of sizes that are found before it.
void CheckedIntegers::bound_size(Value value, const Dim& bound, const std::string& what) {
  std::set<Var> earlier;
  for (Size& s : g.sizes) {
    const std::vector<Var> vars = bound.vars();
    const auto is_earlier = [&](Var v) { return earlier.count(v) > 0; };
    if (s.is_unbounded() && s.value == value && std::all_of(vars.begin(), vars.end(), is_earlier)) {
      s.equation = bound;
      s.message = what + outside_of_bound;
      g.facts.push_back(shape::at_most(Dim(s.var), bound));
    }
    earlier.insert(s.var);
  }
}

std::optional<Dim> CheckedIntegers::data_size(ScalarId integer, const std::string& what,
                                              std::optional<Dim> bound) {
  const auto refuse = [&](const std::string& why) {
    unsupported(why);
    return std::nullopt;
  };
  require_exact(integer, what);
  if (!bound) bound = upper_bound(integer);
  if (bound && !sizes_.over_sizes(*bound))
    bound = shape::bounds_of(*bound, sizes_.known_facts(), [&](Var v) { return sizes_.is_size(v); }).high;
  Array scalar;
  scalar.elem = Elem::i64;
  integer = cast(g, Elem::i64, integer);
  scalar.body = where_all(conditions_, integer);
  const bool bounded = bound && sizes_.over_sizes(*bound);
  // No size is less than 0, and where the branch is not taken it is that.
  if (bounded && bounds_.proof(shape::at_least(*bound, Dim(0))) != Proof::always) bound = max(*bound, Dim(0));
  if (!builder_.free_axes(scalar.body).empty() ||
      builder_.region_for({}, {scalar.body}, std::nullopt, {}) > 0) {
    if (bounded) return size_anywhere(integer, *bound, what);
    return refuse(
        what +
        ": a size that the data decides in a loop or an element of `for`, without a bound: `min` with a "
        "size gives it one");
  }
  // Without a bound the host may have to launch again, so the first launch must not have changed anything.
  const bool changes = std::any_of(g.inputs.begin(), g.inputs.end(),
                                   [](const Input& i) { return i.kind == InputKind::state; });
  if (!bounded && changes)
    return refuse(
        what +
        ": a size that the data decides, without a bound, beside what is updated in place: `min` with a "
        "size gives it one");
  // A bound that the data decides is known before what it is compared with: so the comparison is an
  // operation.
  if (bounded && reads_data(g, *bound)) scalar.body = data_index(scalar.body, *bound + Dim(1), what);
  scalar.name = "size";
  Value value = builder_.store(scalar, {});
  if (g.nodes[value.node].op != NodeOp::compute)  // what a loop carries becomes a value of its own
    value = builder_.emit({}, scalar.body, {Elem::i64, {}}, scalar.name);
  if (bounded) bound_size(value, *bound, what);
  for (const Size& s : g.sizes)
    if (s.from == Size::From::data && s.value == value &&
        (!bounded || s.equation == *bound ||
         bounds_.proof(shape::at_most(Dim(s.var), *bound)) == Proof::always))
      return Dim(s.var);
  Size size;
  size.from = Size::From::data;
  size.name = "k";
  for (int n = 1;
       std::any_of(g.sizes.begin(), g.sizes.end(), [&](const Size& s) { return s.name == size.name; }); ++n)
    size.name = "k" + std::to_string(n);
  size.var = shape::fresh_var(size.name);
  sizes_.note_integer(size.var, integer);
  size.equation = bounded ? *bound : Dim(size.var);
  size.value = value;
  size.message = what + (bounded ? outside_of_bound : " is {lhs}, which is no size");
  g.facts.push_back(shape::at_least(Dim(size.var), Dim(0)));
  if (bounded) g.facts.push_back(shape::at_most(Dim(size.var), *bound));
  g.sizes.push_back(size);
  return Dim(size.var);
}

}  // namespace axon::graph
