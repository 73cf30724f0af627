// The operations that compute (see execute.h). The order of sums is that of tile.h.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "tile/execute.h"
#include "tile/linear.h"
#include "tile/names.h"
#include "tile/pointwise.h"

namespace axon::tile {

namespace {

/// What is left of two values: the number that `of` gives, or why one of them is undefined.
template <class Of>
Value both(const Value& a, const Value& b, const Of& of) {
  if (!a.defined()) return a;
  if (!b.defined()) return b;
  return {of(a.number, b.number), Undefined::no};
}
Value combined(Pointwise op, Elem elem, const Value& a, const Value& b) {
  return both(a, b, [&](const Number& x, const Number& y) { return apply(op, elem, std::array{x, y}); });
}
Value converted(const Value& value, Elem from, Elem to) {
  return value.defined() ? Value{cast(value.number, from, to), Undefined::no} : value;
}

/// Every value of some labels, the others staying as they are.
template <class Step>
void each_of(const std::vector<size_t>& over, const Labels& labels, std::vector<int64_t>& at,
             const Step& step) {
  for (const size_t label : over) at[label] = 0;
  for (;;) {
    step();
    size_t i = over.size();
    while (i-- > 0) {
      if (++at[over[i]] < labels.extents[over[i]]) break;
      at[over[i]] = 0;
    }
    if (i == SIZE_MAX) return;
  }
}

/// The labels that the use lacks, in the order of `labels`.
std::vector<size_t> others(const Labels& labels, const Use& use) {
  std::vector<size_t> out;
  for (size_t i = 0; i < labels.vars.size(); ++i)
    if (std::find(use.labels.begin(), use.labels.end(), labels.vars[i]) == use.labels.end()) out.push_back(i);
  return out;
}

/// The upper half onto the lower one, until one is left.
Value folded(Pointwise op, Elem elem, std::vector<Value> parts) {
  while (parts.size() > 1) {
    const size_t n = parts.size();
    if (n % 2 == 1) {
      parts[n - 2] = combined(op, elem, parts[n - 2], parts[n - 1]);
    } else {
      for (size_t i = 0; i < n / 2; ++i) parts[i] = combined(op, elem, parts[i], parts[i + n / 2]);
    }
    parts.resize(n % 2 == 1 ? n - 1 : n / 2);
  }
  return parts.front();
}

/// The value of a map's expression at one element, for one holder.
class MapValue {
 public:
  using ReadUse = std::function<Value(const Use&)>;
  using IndexAt = std::function<int64_t(uint32_t expr)>;
  MapValue(const Map& map, const ReadUse& read, const IndexAt& index)
      : map_(map), read_(read), index_(index) {}
  Value of(uint32_t at) const {
    const Expr& e = map_.exprs[at];
    switch (e.kind) {
      case Expr::Kind::tile:
        return read_(e.use);
      case Expr::Kind::constant:
        return {e.number, Undefined::no};
      case Expr::Kind::index:
        return {cast({0, index_(at)}, Elem::i64, e.elem), Undefined::no};
      case Expr::Kind::cast:
        return converted(of(e.args[0]), map_.exprs[e.args[0]].elem, e.elem);
      case Expr::Kind::apply:
        break;
    }
    if (e.op == Pointwise::select) {
      const Value which = of(e.args[0]);
      return which.defined() ? of(e.args[which.number.integer ? 1 : 2]) : which;
    }
    std::array<Number, 3> args;
    for (size_t i = 0; i < e.args.size(); ++i) {
      const Value value = of(e.args[i]);
      if (!value.defined()) return value;
      args[i] = value.number;
    }
    const Elem operands = map_.exprs[e.args.back()].elem;
    return {apply(e.op, operands, std::span<const Number>(args.data(), e.args.size())), Undefined::no};
  }

 private:
  const Map& map_;
  const ReadUse& read_;
  const IndexAt& index_;
};

}  // namespace

void Executor::execute(const Map& op) {
  const Labels labels = labels_of(p_.ops[op_]);
  std::vector<std::pair<Linear, Linear>> bounds;
  std::map<uint32_t, Linear> indices;
  std::map<const Use*, Flat> elements;
  const auto linear = [&](const Dim& dim) { return Linear(dim, labels.vars, scene_.values); };
  for (const Fact& f : op.bounds.facts) bounds.emplace_back(linear(f.lhs), linear(f.rhs));
  for (uint32_t e = 0; e < op.exprs.size(); ++e)
    if (op.exprs[e].kind == Expr::Kind::index)
      indices.emplace(e, linear(op.exprs[e].index));
    else if (op.exprs[e].kind == Expr::Kind::tile)
      elements.emplace(&op.exprs[e].use, Flat(p_, op.exprs[e].use, labels));
  each_copy_of(op.to, labels, [&](const At& at, int64_t holder) -> Value {
    for (size_t f = 0; f < bounds.size(); ++f) {
      const auto lhs = bounds[f].first(at), rhs = bounds[f].second(at);
      if (!lhs || !rhs) fail("a bound has no value");
      if (shape::holds(op.bounds.facts[f].relation, *lhs, *rhs)) continue;
      return op.bounds.fill ? Value{*op.bounds.fill, Undefined::no} : Value{{}, Undefined::outside};
    }
    const MapValue::ReadUse read_use = [&](const Use& use) {
      return read(use.tile, elements.at(&use)(at),
                  p_.tiles[use.tile].space == Space::registers ? holder : -1);
    };
    const MapValue::IndexAt index = [&](uint32_t e) {
      const auto value = indices.at(e)(at);
      if (!value) fail("an index has no value");
      return *value;
    };
    return MapValue(op, read_use, index).of(static_cast<uint32_t>(op.exprs.size() - 1));
  });
}

void Executor::execute(const Gemm& op) {
  const std::map<TileId, int64_t> slots = {{op.a.tile, slot(op.a.tile)}, {op.b.tile, slot(op.b.tile)}};
  if (!op.async) return gemm(op, slots);
  ++scene_.in_flight[op.acc.tile];
  scene_.gemms.push_back([this, &op, slots, id = op_] {
    op_ = id;
    gemm(op, slots);
    --scene_.in_flight[op.acc.tile];
  });
}

void Executor::gemm(const Gemm& op, const std::map<TileId, int64_t>& slots) {
  const Labels labels = labels_of(p_.ops[op_]);
  const std::vector<size_t> summed = others(labels, op.acc);
  /// Operands that every holder reads alike are read once.
  struct Operand {
    const Use& use;
    Elem elem;
    bool by_holder;
    Flat element;
    std::vector<Value> values;
    const std::vector<Source>* view;
    bool is_filled(int64_t x) const {
      return view && (*view)[static_cast<size_t>(x)].kind == Source::Kind::fill;
    }
  };
  const auto operand = [&](const Use& use) {
    const Tile& tile = p_.tiles[use.tile];
    const auto view = memory_.views.find(use.tile);
    const bool is_view = tile.space == Space::view && view != memory_.views.end();
    Operand out{use,
                tile.elem,
                tile.space == Space::registers && op.by.empty(),
                Flat(p_, use, labels),
                {},
                is_view ? &view->second : nullptr};
    int64_t elements = 1;
    for (const int64_t extent : tile.shape) elements *= extent;
    for (int64_t x = 0; x < elements && !out.by_holder; ++x)
      out.values.push_back(converted(read(use.tile, x, -1, slots.at(use.tile)), tile.elem, op.in));
    return out;
  };
  const Operand a = operand(op.a), b = operand(op.b);
  const auto value_of = [&](const Operand& of, int64_t x, int64_t holder) {
    return of.by_holder ? converted(read(of.use.tile, x, holder, 0), of.elem, op.in)
                        : of.values[static_cast<size_t>(x)];
  };
  std::vector<std::pair<int64_t, int64_t>> steps;  // to the elements of both operands, for each product
  At at_step(labels.vars.size(), 0);
  each_of(summed, labels, at_step, [&] { steps.emplace_back(a.element(at_step), b.element(at_step)); });
  shared_.spend(static_cast<uint64_t>(places(op.acc.tile)->elements()) * steps.size());
  const Flat element(p_, op.acc, labels);
  each_copy_of(op.acc, labels, [&](const At& at, int64_t holder) {
    Value sum = memory_.read(op.acc.tile, element(at), 0, holder);
    const int64_t first_a = a.element(at), first_b = b.element(at);
    for (const auto& [step_a, step_b] : steps) {
      if (a.is_filled(first_a + step_a) || b.is_filled(first_b + step_b)) continue;
      const Value x = value_of(a, first_a + step_a, holder), y = value_of(b, first_b + step_b, holder);
      for (const Value* value : {&x, &y})
        if (sum.defined() && !value->defined()) sum = *value;
      if (sum.defined()) sum.number = multiply_add(op.in, x.number, y.number, sum.number);
    }
    return sum;
  });
}

void Executor::execute(const Reduce& op) {
  const Labels labels = labels_of(p_.ops[op_]);
  const std::vector<size_t> summed = others(labels, op.to);
  const Elem elem = p_.tiles[op.from.tile].elem;
  const bool in_registers = p_.tiles[op.from.tile].space == Space::registers;
  const Flat element(p_, op.from, labels);
  std::map<At, Value> known;  // for each warp: its threads have the same sum
  At now(labels.vars.size());
  each_copy_of(op.to, labels, [&](const At& at, int64_t holder) {
    At key = at;
    for (const size_t label : summed) key[label] = 0;
    key.push_back(holder < 0 ? -1 : warp_of(holder));
    if (const auto found = known.find(key); found != known.end()) return found->second;
    std::map<int64_t, Value> parts;  // of each holder
    now = at;
    each_of(summed, labels, now, [&] {
      shared_.spend(1);
      const int64_t x = element(now);
      Value value = converted(read(op.from.tile, x, -1), elem, op.in);
      if (!same_warp(op.from.tile, x, holder)) value = {{}, Undefined::elsewhere};
      const int64_t part = in_registers ? places(op.from.tile)->of(x)[0].holder : 0;
      const auto [found, added] = parts.try_emplace(part, value);
      if (!added) found->second = combined(op.monoid, op.in, found->second, value);
    });
    std::vector<Value> list;
    for (const auto& [part, value] : parts) list.push_back(value);
    return known[key] = folded(op.monoid, op.in, std::move(list));
  });
}

/// Vector by vector; each has the elements of so many lanes.
std::vector<Value> Executor::scanned_in_steps(const Scan& op, int64_t lanes) {
  const Elem elem = p_.tiles[op.from.tile].elem;
  std::optional<Value> before;
  if (op.start) before = read(op.start->tile, 0, -1);
  std::vector<Value> out;
  for (int64_t first = 0; first < p_.tiles[op.from.tile].shape[0]; first += lanes) {
    std::vector<Value> now;
    for (int64_t l = 0; l < lanes; ++l) now.push_back(read(op.from.tile, first + l, -1));
    for (int64_t step = 1; step < lanes; step *= 2)
      for (int64_t l = lanes; l-- > step;) {
        const auto at = static_cast<size_t>(l), earlier = static_cast<size_t>(l - step);
        now[at] = combined(op.monoid, elem, now[earlier], now[at]);
      }
    for (Value& value : now) out.push_back(before ? combined(op.monoid, elem, *before, value) : value);
    before = out.back();
  }
  return out;
}

void Executor::execute(const Scan& op) {
  const Labels labels = labels_of(p_.ops[op_]);
  if (const int64_t lanes = lanes_of_scan(p_, op); lanes > 1) {
    const std::vector<Value> all = scanned_in_steps(op, lanes);
    return each_copy_of(op.to, labels,
                        [&](const At& at, int64_t) { return all[static_cast<size_t>(at[0])]; });
  }
  const size_t along = labels.of(op.along);
  const Elem elem = p_.tiles[op.from.tile].elem;
  const Flat element(p_, op.from, labels);
  const Flat start(p_, op.start.value_or(Use()), labels);
  std::map<At, Value> before;  // of the elements that an earlier one has summed, for each holder
  each_copy_of(op.to, labels, [&](const At& at, int64_t holder) {
    At now = at;
    const auto element_at = [&](int64_t i) {
      now[along] = i;
      const int64_t x = element(now);
      const Value value = read(op.from.tile, x, -1);
      return same_warp(op.from.tile, x, holder) ? value : Value{{}, Undefined::elsewhere};
    };
    At key = at;
    key.push_back(holder);
    Value sum;
    int64_t from = at[along];
    if (--key[along]; at[along] > 0 && before.contains(key)) {
      sum = combined(op.monoid, elem, before.at(key), element_at(from++));
    } else {
      sum = element_at(from = 0);
      if (op.start) {
        const int64_t x = start(at);
        sum = combined(op.monoid, elem,
                       same_warp(op.start->tile, x, holder) ? read(op.start->tile, x, -1)
                                                            : Value{{}, Undefined::elsewhere},
                       sum);
      }
      ++from;
    }
    for (; from <= at[along]; ++from) sum = combined(op.monoid, elem, sum, element_at(from));
    ++key[along];
    before[key] = sum;
    return sum;
  });
}

void Executor::execute(const Scatter& op) {
  const Labels labels = labels_of(p_.ops[op_]);
  const Elem elem = p_.tiles[op.to.tile].elem;
  const auto& shape = p_.tiles[op.to.tile].shape;
  std::vector<Linear> at_dims;
  std::vector<std::pair<Linear, Linear>> bounds;
  for (const Index& index : op.to.at) at_dims.emplace_back(index.dim, labels.vars, scene_.values);
  for (const Fact& f : op.bounds)
    bounds.emplace_back(Linear(f.lhs, labels.vars, scene_.values), Linear(f.rhs, labels.vars, scene_.values));
  const Flat element(p_, op.from, labels);
  std::vector<Flat> tables;
  for (const Index& index : op.to.at) tables.emplace_back(p_, index.table.value_or(Use()), labels);
  At at(labels.vars.size());
  std::vector<size_t> all(labels.vars.size());
  std::iota(all.begin(), all.end(), 0);
  std::map<int64_t, Value> targets;
  each_of(all, labels, at, [&] {
    shared_.spend(1);
    for (size_t f = 0; f < bounds.size(); ++f) {
      const auto lhs = bounds[f].first(at), rhs = bounds[f].second(at);
      if (!lhs || !rhs) fail("a bound has no value");
      if (!shape::holds(op.bounds[f].relation, *lhs, *rhs)) return;
    }
    int64_t x = 0;
    for (size_t a = 0; a < shape.size(); ++a) {
      auto index = at_dims[a](at);
      if (!index) fail("an index has no value");
      if (const auto& table = op.to.at[a].table) {
        const Value entry = read(table->tile, tables[a](at), -1);
        if (!entry.defined())
          fail(fmt::format("an index {} is not defined: {}", place(labels, at), words(entry.why)));
        if (__builtin_add_overflow(*index, entry.number.integer, &*index)) return;
        if (*index < 0 || *index >= shape[a]) return;
      } else if (*index < 0 || *index >= shape[a]) {
        fail(fmt::format("{} reaches index {} on axis {} of extent {}", place(labels, at), *index, a,
                         shape[a]));
      }
      x = x * shape[a] + *index;
    }
    const auto [found, added] = targets.try_emplace(x);
    Value& target = found->second;
    if (added) target = read(op.to.tile, x, -1);
    target = combined(op.monoid, elem, target, read(op.from.tile, element(at), -1));
  });
  for (const auto& [x, value] : targets) memory_.write(op.to.tile, x, 0, 0, value);
}

// ---- orders ----

void Executor::note_keys(const Loop& loop) {
  const Tile& tile = p_.tiles[loop.order->keys];
  const int64_t elements = tile.shape.empty() ? 1 : tile.shape[0], count = number(loop.order->count);
  const int64_t first = scene_.values.at(loop.index) * elements;
  shared_.spend(static_cast<uint64_t>(elements));
  for (int64_t e = 0; e < elements && first + e < count; ++e) {
    const Value value = read(loop.order->keys, e, -1);
    if (!value.defined()) fail(fmt::format("the key of {} is not defined: {}", first + e, words(value.why)));
    keys_[&loop][first + e] = value.number;
  }
}

void Executor::store_order(const Loop& loop) {
  const Order& order = *loop.order;
  const auto keys = std::exchange(keys_[&loop], {});
  const Elem elem = p_.tiles[order.keys].elem;
  const int64_t count = std::max<int64_t>(number(order.count), 0);
  if (static_cast<int64_t>(keys.size()) != count) fail("not all elements have keys");
  shared_.spend(static_cast<uint64_t>(count));
  std::vector<int64_t> positions(keys.size());
  std::iota(positions.begin(), positions.end(), 0);
  const auto comes_first = [&](int64_t a, int64_t b) {
    const Number &x = keys.at(order.descending ? b : a), &y = keys.at(order.descending ? a : b);
    return is_less(x, y, elem) || (base::is_float(elem) && !std::isnan(x.real) && std::isnan(y.real));
  };
  std::stable_sort(positions.begin(), positions.end(), comes_first);
  const Tensor& tensor = p_.tensors[order.to];
  if (!tensor.writes) fail("the tensor is not written by this task");
  const auto box = numbers(*tensor.writes);
  TensorMemory& memory = *shared_.tensors[order.to.index];
  At index;
  for (const Dim& d : order.row) index.push_back(number(d));
  index.push_back(0);
  for (int64_t& i = index.back(); i < number(order.kept); ++i) {
    for (size_t a = 0; a < index.size(); ++a)
      if (index[a] < 0 || index[a] >= memory.shape()[a] || index[a] < box[a].first ||
          index[a] >= box[a].second)
        fail(fmt::format("position {} lies outside of what the task writes", i));
    const int64_t found = i < count ? positions[static_cast<size_t>(i)] : 0;
    if (!memory.write(memory.address(index), {0, found}, scene_.task))
      fail(fmt::format("position {} is stored where the task has stored before", i));
  }
}

}  // namespace axon::tile
