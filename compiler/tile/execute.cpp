// See execute.h. Copies, stores and views; what computes is in execute_math.cpp.
#include "tile/execute.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/pointwise.h"
#include "tile/linear.h"
#include "tile/names.h"
#include "tile/pointwise.h"

namespace axon::tile {

size_t Labels::of(Var v) const {
  return static_cast<size_t>(std::find(vars.begin(), vars.end(), v) - vars.begin());
}

Flat::Flat(const Program& p, const Use& use, const Labels& labels) {
  int64_t stride = 1;
  for (size_t a = use.labels.size(); a-- > 0; stride *= p.tiles[use.tile].shape[a])
    steps_.emplace_back(labels.of(use.labels[a]), stride);
}

void Executor::run(OpId id) {
  op_ = id;
  std::visit([this](const auto& op) { execute(op); }, p_.ops[id]);
}

void Executor::fail(const std::string& why, std::optional<FailedCheck> check) const {
  std::vector<std::string> values;
  for (const auto& [v, value] : scene_.values)
    if (std::find(p_.sizes.begin(), p_.sizes.end(), v) == p_.sizes.end())
      values.push_back(fmt::format("{} = {}", shape::var_name(v), value));
  throw Failed{fmt::format("`{}` at ({}): {}", print(p_, op_), fmt::join(values, ", "), why), check};
}

std::string Executor::place(const Labels& labels, const At& at) const {
  std::vector<std::string> values;
  for (size_t i = 0; i < at.size(); ++i)
    values.push_back(fmt::format("{} = {}", shape::var_name(labels.vars[i]), at[i]));
  return fmt::format("[{}]", fmt::join(values, ", "));
}

int64_t Executor::number(const Dim& dim) const {
  const auto value = dim.evaluate(scene_.values);
  if (!value) fail(fmt::format("`{}` has no value", dim.str()));
  return *value;
}

std::pair<int64_t, int64_t> Executor::iterations(OpId id) {
  op_ = id;
  const Loop& loop = std::get<Loop>(p_.ops[id]);
  const auto data = [&](const std::optional<Use>& use, int64_t otherwise) {
    if (!use) return otherwise;
    const Value value = read(use->tile, 0, -1);
    if (!value.defined()) fail(std::string("its count is not defined: ") + words(value.why));
    return value.number.integer;
  };
  return {std::max<int64_t>(0, data(loop.first, 0)),
          std::min(number(loop.extent), data(loop.count, INT64_MAX))};
}

std::vector<std::pair<int64_t, int64_t>> Executor::numbers(const Box& box) const {
  std::vector<std::pair<int64_t, int64_t>> out;
  for (const Interval& i : box) out.emplace_back(number(i.low), number(i.high));
  return out;
}

Labels Executor::labels_of(const Op& op) const {
  Labels out;
  for (const Use* use : uses(op))
    for (size_t a = 0; a < use->labels.size(); ++a)
      if (out.of(use->labels[a]) == out.vars.size()) {
        out.vars.push_back(use->labels[a]);
        out.extents.push_back(p_.tiles[use->tile].shape[a]);
      }
  return out;
}

// ---- reading and writing tiles ----

const Places* Executor::places(TileId tile) const {
  return p_.tiles[tile].space == Space::view ? nullptr : shared_.places[p_.tiles[tile].layout.index].get();
}

/// The slot that the ring's name reads; -1 where none is acquired.
int64_t Executor::slot(TileId tile) const {
  if (p_.tiles[tile].space != Space::ring) return 0;
  const auto ring = rings_.find(tile);
  if (ring == rings_.end()) return -1;
  const auto acquired = ring->second.acquired.find(scene_.role);
  const auto released = ring->second.released.find(scene_.role);
  const int64_t count = acquired == ring->second.acquired.end() ? 0 : acquired->second;
  if (count == 0 || (released != ring->second.released.end() && released->second == count)) return -1;
  return (count - 1) % p_.tiles[tile].depth;
}

Value Executor::read(TileId tile, int64_t element, int64_t holder) {
  return read(tile, element, holder, slot(tile));
}

Value Executor::read(TileId tile, int64_t element, int64_t holder, int64_t slot) {
  if (p_.tiles[tile].space == Space::view) {
    const auto view = memory_.views.find(tile);
    return view == memory_.views.end() ? Value{{}, Undefined::unwritten}
                                       : fetch(view->second[static_cast<size_t>(element)]);
  }
  if (slot < 0) return {{}, Undefined::released};
  if (const auto found = scene_.in_flight.find(tile); found != scene_.in_flight.end() && found->second > 0)
    return {{}, Undefined::pending};
  memory_.note_read(tile, element);
  return memory_.read(tile, element, slot, holder);
}

Value Executor::fetch(const Source& from) {
  switch (from.kind) {
    case Source::Kind::undefined:
      return {{}, Undefined::outside};
    case Source::Kind::fill:
      return {from.fill, Undefined::no};
    case Source::Kind::tensor:
      return shared_.tensors[from.id]->read(from.at, scene_.task);
    case Source::Kind::tile:
      return read({from.id}, from.at, -1, from.slot);
  }
  return {};
}

bool Executor::same_warp(TileId from, int64_t element, int64_t holder) const {
  if (holder < 0 || p_.tiles[from].space != Space::registers) return true;
  const auto points = places(from)->of(element);
  return std::any_of(points.begin(), points.end(),
                     [&](const Point& point) { return warp_of(point.holder) == warp_of(holder); });
}

void Executor::each_copy(TileId tile, int64_t element,
                         const std::function<void(int64_t, int64_t)>& step) const {
  if (p_.tiles[tile].space != Space::registers) return step(0, -1);
  const auto points = places(tile)->of(element);
  for (size_t c = 0; c < points.size(); ++c) step(static_cast<int64_t>(c), points[c].holder);
}

/// Every element of `to`, once for each of its points, when all values are known.
void Executor::each_copy_of(const Use& to, const Labels& labels,
                            const std::function<Value(const At&, int64_t)>& value) {
  struct Written {
    int64_t element, copy;
    Value value;
  };
  std::vector<Written> all;
  At at(labels.vars.size());
  const Tile& tile = p_.tiles[to.tile];
  const Places& places = *this->places(to.tile);
  shared_.spend(static_cast<uint64_t>(places.elements() * places.copies()));
  for (int64_t x = 0; x < places.elements(); ++x) {
    int64_t rest = x;
    for (size_t a = tile.shape.size(); a-- > 0; rest /= tile.shape[a])
      at[labels.of(to.labels[a])] = rest % tile.shape[a];
    each_copy(to.tile, x, [&](int64_t copy, int64_t holder) { all.push_back({x, copy, value(at, holder)}); });
  }
  for (const Written& one : all) memory_.write(to.tile, one.element, 0, one.copy, one.value);
}

// ---- accesses ----

/// Facts over labels, for the values of the moment.
class Executor::Conditions {
 public:
  Conditions(const Executor& of, const std::vector<Fact>& facts, const Labels& labels) : of_(of) {
    for (const Fact& f : facts)
      sides_.push_back({Linear(f.lhs, labels.vars, of.scene_.values),
                        Linear(f.rhs, labels.vars, of.scene_.values), f.relation});
  }
  bool hold(const At& at) const {
    return std::all_of(sides_.begin(), sides_.end(), [&](const Side& side) {
      const auto lhs = side.lhs(at), rhs = side.rhs(at);
      if (!lhs || !rhs) of_.fail("a bound has no value");
      return shape::holds(side.relation, *lhs, *rhs);
    });
  }

 private:
  struct Side {
    Linear lhs, rhs;
    shape::Relation relation;
  };
  const Executor& of_;
  std::vector<Side> sides_;
};

/// Where an access goes, for the values of the moment.
class Executor::Indices {
 public:
  Indices(Executor& of, const Access& access, const Labels& labels)
      : of_(of), access_(access), labels_(labels) {
    for (const Index& index : access.at) {
      at_.emplace_back(index.dim, labels.vars, of.scene_.values);
      tables_.emplace_back(of.p_, index.table.value_or(Use()), labels);
    }
    if (access.tensor) {
      extents_ = of.shared_.tensors[access.tensor.index]->shape();
    } else {
      extents_ = of.p_.tiles[access.tile].shape;
    }
  }
  /// False where an index of a table lies outside of its axis. Any other index that does is an error.
  bool find(const At& at, At& index) const {
    index.resize(extents_.size());
    bool inside = true;
    for (size_t a = 0; a < extents_.size(); ++a) {
      const auto value = at_[a](at);
      if (!value) of_.fail("an index has no value");
      index[a] = *value;
      const auto& table = access_.at[a].table;
      if (table) {
        const Value entry = of_.read(table->tile, tables_[a](at), -1);
        if (!entry.defined())
          of_.fail(fmt::format("an index {} is not defined: {}", of_.place(labels_, at), words(entry.why)));
        if (__builtin_add_overflow(index[a], entry.number.integer, &index[a])) inside = false;
      }
      if (index[a] >= 0 && index[a] < extents_[a]) continue;
      if (!table)
        of_.fail(fmt::format("{} reaches index {} on axis {} of extent {}", of_.place(labels_, at), index[a],
                             a, extents_[a]));
      inside = false;
    }
    return inside;
  }
  int64_t element(const At& index) const {
    int64_t x = 0;
    for (size_t a = 0; a < index.size(); ++a) x = x * extents_[a] + index[a];
    return x;
  }

 private:
  Executor& of_;
  const Access& access_;
  const Labels& labels_;
  std::vector<Linear> at_;
  std::vector<Flat> tables_;  ///< of the indices that have one
  std::vector<int64_t> extents_;
};

namespace {

bool is_inside(const std::vector<int64_t>& index, const std::vector<std::pair<int64_t, int64_t>>& box) {
  for (size_t a = 0; a < index.size(); ++a)
    if (index[a] < box[a].first || index[a] >= box[a].second) return false;
  return true;
}

template <class Step>
void each_label(const Labels& labels, const Step& step) {
  std::vector<int64_t> at(labels.extents.size(), 0);
  for (;;) {
    step(at);
    size_t a = at.size();
    while (a-- > 0) {
      if (++at[a] < labels.extents[a]) break;
      at[a] = 0;
    }
    if (a == SIZE_MAX) return;
  }
}

}  // namespace

int64_t Executor::shown(const Index& index, const Labels& labels, const At& at) {
  const auto number = Linear(index.dim, labels.vars, scene_.values)(at);
  if (!number) fail("what a check shows has no value");
  if (!index.table) return *number;
  const Value entry = read(index.table->tile, Flat(p_, *index.table, labels)(at), -1);
  if (!entry.defined()) fail(std::string("what a check shows is not defined: ") + words(entry.why));
  return base::add_wrapping(*number, entry.number.integer);
}

void Executor::execute(const Check& op) {
  const Labels labels = labels_of(p_.ops[op_]);
  const Conditions conditions(*this, op.bounds, labels);
  const Flat element(p_, op.of, labels);
  shared_.spend(1);
  each_label(labels, [&](const At& at) {
    if (!conditions.hold(at)) return;
    const Value value = read(op.of.tile, element(at), -1);
    if (!value.defined())
      fail(fmt::format("{}: what is checked is not defined: {}", place(labels, at), words(value.why)));
    const int64_t number = value.number.integer;
    const int64_t extent = op.extent ? shown({std::nullopt, *op.extent}, labels, at) : 0;
    if (op.extent ? number >= 0 && number < extent : number != 0) return;
    const int64_t found = op.extent ? number : shown(op.found, labels, at);
    const int64_t wanted = op.extent ? extent - 1 : shown(op.wanted, labels, at);
    fail(fmt::format("{} fails: {}, {}", place(labels, at), found, wanted),
         FailedCheck{op.number, found, wanted});
  });
}

std::vector<Source> Executor::resolve(const Use& to, const Access& access, const Bounds& bounds,
                                      bool checked) {
  const Labels labels = labels_of(p_.ops[op_]);
  const Conditions conditions(*this, bounds.facts, labels);
  const Indices indices(*this, access, labels);
  int64_t elements = 1;
  for (const int64_t extent : p_.tiles[to.tile].shape) elements *= extent;
  shared_.spend(static_cast<uint64_t>(elements));
  std::vector<std::pair<int64_t, int64_t>> box;
  if (access.tensor) {
    if (!p_.tensors[access.tensor].reads) fail("the tensor is not read by this task");
    box = numbers(*p_.tensors[access.tensor].reads);
  }
  Source outside;
  if (bounds.fill) outside = {Source::Kind::fill, 0, 0, 0, *bounds.fill};
  std::vector<Source> out(static_cast<size_t>(elements), outside);
  At index;
  const Flat element(p_, to, labels);
  each_label(labels, [&](const At& at) {
    if (!conditions.hold(at)) return;
    if (!indices.find(at, index)) {
      if (checked) fail(place(labels, at) + " has an index outside of its axis, which no check has said");
      return;
    }
    Source& source = out[static_cast<size_t>(element(at))];
    if (access.tensor) {
      if (!is_inside(index, box)) fail(place(labels, at) + " lies outside of what the task reads");
      source = {Source::Kind::tensor,
                access.tensor.index,
                shared_.tensors[access.tensor.index]->address(index),
                0,
                {}};
      return;
    }
    const int64_t x = indices.element(index);
    const auto view = memory_.views.find(access.tile);
    if (p_.tiles[access.tile].space != Space::view)
      source = {Source::Kind::tile, access.tile.index, x, slot(access.tile), {}};
    else if (view != memory_.views.end())
      source = view->second[static_cast<size_t>(x)];
    else
      fail("the view was not made");
  });
  return out;
}

void Executor::execute(const Copy& op) {
  std::vector<Source> from = resolve(op.to, op.from, op.bounds, op.checked);
  const Tile& tile = p_.tiles[op.to.tile];
  if (tile.space == Space::ring) {
    RingState& ring = rings_[op.to.tile];
    memory_.forget_slot(op.to.tile, ring.filled % tile.depth, Undefined::pending);
    ring.pending.push_back({op_, ring.filled++, scene_.task, std::move(from)});
    return;
  }
  const Elem elem = op.from.tensor ? p_.tensors[op.from.tensor].elem : p_.tiles[op.from.tile].elem;
  std::vector<Value> values;
  for (const Source& source : from) {
    Value value = fetch(source);
    if (source.kind != Source::Kind::fill) value.number = cast(value.number, elem, tile.elem);
    values.push_back(value);
  }
  for (size_t x = 0; x < values.size(); ++x)
    each_copy(op.to.tile, static_cast<int64_t>(x), [&](int64_t copy, int64_t) {
      memory_.write(op.to.tile, static_cast<int64_t>(x), 0, copy, values[x]);
    });
}

void Executor::arrive(const PendingFill& fill) {
  op_ = fill.op;
  const auto& op = std::get<Copy>(p_.ops[fill.op]);
  const Tile& tile = p_.tiles[op.to.tile];
  const Elem elem = p_.tensors[op.from.tensor].elem;
  for (size_t x = 0; x < fill.from.size(); ++x) {
    const Source& source = fill.from[x];
    Value value = source.kind == Source::Kind::tensor ? shared_.tensors[source.id]->read(source.at, fill.task)
                                                      : fetch(source);
    if (source.kind != Source::Kind::fill) value.number = cast(value.number, elem, tile.elem);
    memory_.write(op.to.tile, static_cast<int64_t>(x), fill.number % tile.depth, 0, value);
  }
}

void Executor::execute(const View& op) {
  std::vector<Source> from = resolve(op.to, op.from, op.bounds, op.checked);
  memory_.views[op.to.tile] = std::move(from);
}

void Executor::execute(const Store& op) {
  if (!op.to.tensor) return store_block(op);
  const Labels labels = labels_of(p_.ops[op_]);
  const Conditions conditions(*this, op.bounds, labels);
  const Indices indices(*this, op.to, labels);
  const Tensor& tensor = p_.tensors[op.to.tensor];
  if (!tensor.writes) fail("the tensor is not written by this task");
  const auto box = numbers(*tensor.writes);
  TensorMemory& memory = *shared_.tensors[op.to.tensor.index];
  At index;
  const Flat element(p_, op.from, labels);
  each_label(labels, [&](const At& at) {
    shared_.spend(1);
    if (!conditions.hold(at) || !indices.find(at, index)) return;
    if (!is_inside(index, box)) fail(place(labels, at) + " lies outside of what the task writes");
    const Value value = read(op.from.tile, element(at), -1);
    if (!value.defined()) fail(fmt::format("{} is not defined: {}", place(labels, at), words(value.why)));
    if (!memory.write(memory.address(index), cast(value.number, p_.tiles[op.from.tile].elem, tensor.elem),
                      scene_.task))
      fail(place(labels, at) + " is stored where the task has stored before");
  });
}

void Executor::store_block(const Store& op) {
  const Labels labels = labels_of(p_.ops[op_]);
  const Indices indices(*this, op.to, labels);
  const Elem from = p_.tiles[op.from.tile].elem, to = p_.tiles[op.to.tile].elem;
  std::vector<std::pair<int64_t, Value>> written;
  At index;
  const Flat element(p_, op.from, labels);
  each_label(labels, [&](const At& at) {
    shared_.spend(1);
    indices.find(at, index);
    Value value = read(op.from.tile, element(at), -1);
    value.number = cast(value.number, from, to);
    written.emplace_back(indices.element(index), value);
  });
  for (const auto& [x, value] : written) memory_.write(op.to.tile, x, 0, 0, value);
}

}  // namespace axon::tile
