// See operations.h. Copies, stores and maps.
#include "module/tiles/operations.h"

#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/IntrinsicsX86.h>

#include <algorithm>
#include <array>

#include "tile/names.h"

namespace axon::module::tiles {

using tile::Space;

namespace {

/// Of the last cache that a worker has for itself, or with few others.
constexpr int64_t bytes_of_caches = int64_t{1} << 25;

}  // namespace

void Operations::emit(const tile::Op& op) {
  std::visit([&](const auto& which) { emit(op, which); }, op);
}

void Operations::emit_by_register(const std::vector<tile::OpId>& ops) {
  const int64_t count = registers_.count(swept(c_.p.ops[ops.front()])->tile);
  for (only_ = 0; *only_ < count; ++*only_)
    for (const tile::OpId id : ops) emit(c_.p.ops[id]);
  only_.reset();
}

Value* Operations::elements(TileId id) {
  const tile::Tile& tile = c_.p.tiles[id];
  tile::Use use{id, {}};
  Lanes all;
  all.width = static_cast<unsigned>(tile.shape.empty() ? 1 : tile.shape[0]);
  if (!tile.shape.empty()) use.labels.push_back(shape::fresh_var("e"));
  for (unsigned lane = 0; lane < all.width; ++lane) {
    all.own.push_back(lane);
    Substitution& labels = all.labels.emplace_back();
    for (const Var label : use.labels) labels[label] = Dim(int64_t{lane});
  }
  return accesses_.read(use, all);
}

Iterations Operations::iterations_of(const tile::Loop& loop) {
  auto& b = c_.f.b;
  const auto number = [&](const std::optional<tile::Use>& use) -> Value* {
    if (!use) return nullptr;
    Value* const count = b.CreateSExt(elements(use->tile), b.getInt64Ty());
    return b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, count, c_.f.i64(0));
  };
  return {number(loop.first), number(loop.count)};
}

bool Operations::is_of_elements(const tile::Program& p, const tile::Op& op) {
  const auto* copy = std::get_if<tile::Copy>(&op);
  if (!copy) return std::holds_alternative<tile::Map>(op);
  const auto& labels = copy->to.labels;
  return std::all_of(copy->from.at.begin(), copy->from.at.end(), [&](const tile::Index& index) {
    const bool is_same = labels.size() == 1 && index.dim == Dim(labels[0]);
    return !index.table &&
           (copy->from.tensor || (is_same && p.tiles[copy->from.tile].space == Space::registers));
  });
}

Value* Operations::element_of(const std::vector<tile::OpId>& body, TileId wanted, const Dim& label) {
  if (!std::all_of(body.begin(), body.end(),
                   [&](tile::OpId id) { return is_of_elements(c_.p, c_.p.ops[id]); }))
    return nullptr;
  std::map<TileId, Value*> made;
  for (const tile::OpId id : body) {
    const tile::Op& op = c_.p.ops[id];
    Lanes one{{{}}, {0}, 1};
    for (const tile::Use* use : tile::uses(op))
      for (const Var v : use->labels) one.labels[0][v] = label;
    const tile::Use& to = *swept(op);
    const Elem elem = c_.p.tiles[to.tile].elem;
    const auto* map = std::get_if<tile::Map>(&op);
    const auto* copy = std::get_if<tile::Copy>(&op);
    const tile::Bounds& bounds = map ? map->bounds : copy->bounds;
    Accesses::Found found{nullptr, {}};
    if (map) {
      std::vector<Value*> values;
      for (const tile::Expr& e : map->exprs) {
        std::vector<Value*> args;
        for (const uint32_t arg : e.args) args.push_back(values[arg]);
        values.push_back(e.kind == tile::Expr::Kind::tile ? made.at(e.use.tile)
                                                          : value_of(e, *map, args, one));
      }
      found = {values.back(), mask_of(c_, bounds.facts, one)};
    } else {
      found = copy->from.tensor ? accesses_.read(copy->from, bounds.facts, one)
                                : Accesses::Found{made.at(copy->from.tile), mask_of(c_, bounds.facts, one)};
      found.value = c_.a.cast(found.value, accesses_.elem_of(copy->from), elem);
    }
    made[to.tile] = accesses_.filled(found, bounds.fill, elem, 1);
  }
  return made.at(wanted);
}

void Operations::sweep(const tile::Op& op, const tile::Use& over, bool once, const Sweep::Body& body) {
  Sweep(c_, registers_, op, over).each(once, [&](const Lanes& lanes, int64_t number) {
    if (!only_ || number == *only_) body(lanes, number);
  });
}

void Operations::assign(const tile::Op& op, const tile::Use& to,
                        const std::function<Value*(const Lanes&)>& value) {
  std::vector<std::pair<int64_t, Value*>> written;
  const bool in_registers = c_.p.tiles[to.tile].space == Space::registers;
  sweep(op, to, false, [&](const Lanes& lanes, int64_t number) {
    Value* result = value(lanes);
    if (in_registers) {
      written.emplace_back(number, widened(c_, result, lanes.own, lanes.width));
      return;
    }
    tile::Access access{{}, to.tile, {}};
    for (Var label : to.labels) access.at.push_back({std::nullopt, Dim(label)});
    accesses_.write(accesses_.spot(access, {}, lanes), result);
  });
  for (const auto& [number, result] : written) registers_.set(to.tile, number, result);
}

void Operations::emit(const tile::Op& op, const tile::Copy& copy) {
  if (matrices_.load(op, copy)) return;
  const tile::Tile& to = c_.p.tiles[copy.to.tile];
  const Elem from = accesses_.elem_of(copy.from);
  const bool plain = copy.bounds.facts.empty() && !copy.from.tensor && to.space == Space::registers &&
                     c_.p.tiles[copy.from.tile].space == Space::registers;
  if (plain) {
    const auto element_of = [&](int64_t x) {
      Substitution labels;
      for (size_t a = to.shape.size(); a-- > 0; x /= to.shape[a])
        labels[copy.to.labels[a]] = Dim(x % to.shape[a]);
      int64_t y = 0;
      for (size_t a = 0; a < copy.from.at.size(); ++a)
        y = y * c_.p.tiles[copy.from.tile].shape[a] + *copy.from.at[a].dim.substitute(labels).constant();
      return y;
    };
    const auto values = registers_.converted(copy.to.tile, copy.from.tile, element_of);
    for (size_t r = 0; r < values.size(); ++r)
      if (values[r])
        registers_.set(copy.to.tile, static_cast<int64_t>(r), c_.a.cast(values[r], from, to.elem));
    return;
  }
  assign(op, copy.to, [&](const Lanes& lanes) -> Value* {
    if (are_outside(c_, copy.bounds.facts, lanes)) {
      const tile::Number other = copy.bounds.fill.value_or(tile::Number());
      return c_.a.constant(computed_as(to.elem), other.real, other.integer, lanes.size());
    }
    Accesses::Found found = accesses_.read(copy.from, copy.bounds.facts, lanes);
    found.value = c_.a.cast(found.value, from, to.elem);
    if (copy.checked) found.good = {};
    return accesses_.filled(found, copy.bounds.fill, to.elem, lanes.size());
  });
}

/// Do the tasks of a launch write more of the tensor than the caches hold, if each writes as much as this
/// one? Only then are there stores past them: a row of a large cache of keys is read soon.
Value* Operations::writes_much(tile::TensorId tensor) {
  auto& b = c_.f.b;
  Value* bytes = c_.f.i64(static_cast<int64_t>(base::elem_bytes(c_.p.tensors[tensor].elem)));
  for (const tile::Coordinate& axis : c_.p.grid) bytes = b.CreateMul(bytes, c_.value(axis.extent));
  for (const auto& [low, high] : c_.p.tensors[tensor].writes.value_or(tile::Box()))
    bytes = b.CreateMul(bytes, c_.value(high - low));
  return b.CreateICmpSGE(bytes, c_.f.i64(bytes_of_caches));
}

void Operations::store(const tile::Access& to, const std::vector<std::pair<Accesses::Spot, Value*>>& vectors,
                       bool streaming) {
  Value* aligned = nullptr;
  for (const auto& [spot, value] : vectors) {
    Value* one = streaming ? accesses_.is_aligned(spot) : nullptr;
    streaming &= one != nullptr;
    aligned = !one ? nullptr : aligned ? c_.f.b.CreateAnd(aligned, one) : one;
  }
  const auto all = [&](bool past_caches) {
    for (const auto& [spot, value] : vectors) accesses_.write(spot, value, past_caches);
  };
  if (!streaming || !aligned) return all(false);
  // A tensor that the caches hold is better left there for whoever reads it next.
  aligned = c_.f.b.CreateAnd(aligned, writes_much(to.tensor));
  c_.choose(
      aligned, [&] { all(true); }, [&] { all(false); });
}

void Operations::emit(const tile::Op& op, const tile::Store& s) {
  const Elem from = c_.p.tiles[s.from.tile].elem, to = accesses_.elem_of(s.to);
  const bool in_registers = c_.p.tiles[s.from.tile].space == Space::registers;
  std::vector<std::pair<Accesses::Spot, Value*>> vectors, in_runs;
  std::vector<Accesses::Run> runs;
  std::vector<Dim> conditions;
  const bool streams = s.streaming && !c_.back;
  const auto store_all = [&] {
    if (vectors.empty() || in_runs.size() < vectors.size()) return store(s.to, vectors, streams);
    c_.choose(
        c_.all_nonnegative(conditions), [&] { store(s.to, in_runs, streams); },
        [&] {
          for (size_t v = 0; v < vectors.size(); ++v)
            accesses_.write_by_lane(runs[v], vectors[v].first, vectors[v].second);
        });
  };
  Value* const first = in_registers ? c_.threads.is_first(s.from.tile) : nullptr;
  sweep(op, s.from, true, [&](const Lanes& lanes, int64_t) {
    if (are_outside(c_, s.bounds, lanes)) return;
    Accesses::Spot spot = accesses_.spot(s.to, s.bounds, lanes);
    spot.inside = both(c_, spot.inside, {first, nullptr});
    vectors.emplace_back(spot, c_.a.cast_to_store(accesses_.read(s.from, lanes), from, to));
    if (auto run = accesses_.run_of(s.to, spot, lanes)) {
      in_runs.emplace_back(run->spot, vectors.back().second);
      conditions.insert(conditions.end(), run->conditions.begin(), run->conditions.end());
      runs.push_back(std::move(*run));
    }
    if (in_registers) return;
    store_all();
    vectors.clear(), in_runs.clear(), runs.clear(), conditions.clear();
  });
  store_all();
}

void Operations::emit(const tile::Op&, const tile::View& view) { c_.views[view.to.tile] = &view; }

void Operations::emit(const tile::Op&, const tile::Fence&) {
  Value* any = nullptr;
  std::set<tile::TensorId> seen;
  for (const tile::Op& op : c_.p.ops) {
    const auto* s = std::get_if<tile::Store>(&op);
    if (!s || !s->streaming || !seen.insert(s->to.tensor).second) continue;
    Value* one = writes_much(s->to.tensor);
    any = any ? c_.f.b.CreateOr(any, one) : one;
  }
  if (any) c_.f.when(any, [&] { c_.f.b.CreateIntrinsic(llvm::Intrinsic::x86_sse_sfence, {}, {}); });
}

/// As i64, of each lane.
Value* Operations::shown(const tile::Index& index, const Lanes& lanes) {
  auto& b = c_.f.b;
  std::vector<Dim> at;
  for (const Substitution& labels : lanes.labels) at.push_back(index.dim.substitute(labels));
  Value* number = numbers(c_, at, b.getInt64Ty());
  if (!index.table) return number;
  Value* entry = accesses_.read(*index.table, lanes);
  entry = b.CreateIntCast(entry, number->getType(), base::is_signed(c_.p.tiles[index.table->tile].elem));
  return b.CreateAdd(number, entry);
}

/// Notes the first lane that has failed, where one has.
void Operations::note_first(const tile::Check& check, Value* failed, const Lanes& lanes) {
  auto& b = c_.f.b;
  const tile::Index found{check.of, Dim(0)}, wanted{std::nullopt, check.extent.value_or(Dim(0)) - 1};
  Value* const any = lanes.size() == 1 ? failed : b.CreateOrReduce(failed);
  c_.f.when(any, [&] {
    c_.scoped([&] {
      std::vector<Value*> numbers;
      for (const tile::Index& index :
           check.extent ? std::array{found, wanted} : std::array{check.found, check.wanted})
        numbers.push_back(shown(index, lanes));
      if (lanes.size() > 1) {
        Value* const bits = b.CreateBitCast(failed, b.getIntNTy(lanes.size()));
        Value* const first = b.CreateZExtOrTrunc(
            b.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, bits, b.getTrue()), b.getInt64Ty());
        for (Value*& number : numbers) number = b.CreateExtractElement(number, first);
      }
      c_.memory.check_failed(c_.f, c_.memory.notes, check.number, numbers[0], numbers[1]);
    });
  });
}

/// In each lane.
Value* Operations::holds(const tile::Check& check, const Lanes& lanes) {
  auto& b = c_.f.b;
  if (!check.extent) return accesses_.read(check.of, lanes);
  std::vector<Dim> extents;
  for (const Substitution& labels : lanes.labels) extents.push_back(check.extent->substitute(labels));
  return b.CreateICmpULT(shown({check.of, Dim(0)}, lanes), numbers(c_, extents, b.getInt64Ty()));
}

/// One branch for all registers where nothing has failed.
void Operations::emit(const tile::Op& op, const tile::Check& check) {
  auto& b = c_.f.b;
  std::vector<std::pair<Value*, Lanes>> failed;
  Value* any = nullptr;
  sweep(op, check.of, true, [&](const Lanes& lanes, int64_t) {
    Value* one = b.CreateNot(holds(check, lanes));
    if (const Mask inside = mask_of(c_, check.bounds, lanes); !inside.all())
      one = b.CreateSelect(as_vector(c_, inside, lanes.size()), one,
                           llvm::Constant::getNullValue(one->getType()));
    Value* const here = lanes.size() == 1 ? one : b.CreateOrReduce(one);
    any = any ? b.CreateOr(any, here) : here;
    failed.emplace_back(one, lanes);
  });
  if (!any) return;
  c_.f.when(any, [&] {
    for (const auto& [one, lanes] : failed) note_first(check, one, lanes);
  });
}

// ---- scatters ----

/// Lanes that are next to each other at once; others one after the other, since several may be one element.
void Operations::emit(const tile::Op& op, const tile::Scatter& scatter) {
  sweep(op, scatter.from, true, [&](const Lanes& lanes, int64_t) {
    Accesses::Spot spot = accesses_.spot(scatter.to, scatter.bounds, lanes);
    Value* const terms = accesses_.read(scatter.from, lanes);
    if (lanes.size() > 1 && Accesses::are_next(spot)) {
      Value* const any = std::exchange(spot.inside.whole, nullptr);
      const auto all = [&] { c_.scoped([&] { combine(scatter, spot, terms); }); };
      return any ? c_.f.when(any, all) : all();
    }
    for (unsigned l = 0; l < lanes.size(); ++l) {
      Accesses::Spot one{spot.elem, spot.base, spot.region, {spot.offsets[l]}, {}};
      Value* const term = lanes.size() == 1 ? terms : c_.f.b.CreateExtractElement(terms, l);
      Value* const inside = in_lane(c_, spot.inside, l);
      const auto add = [&] { c_.scoped([&] { combine(scatter, one, term); }); };
      inside ? c_.f.when(inside, add) : add();
    }
  });
}

void Operations::combine(const tile::Scatter& scatter, const Accesses::Spot& at, Value* terms) {
  accesses_.write(at, c_.a.combined(scatter.monoid, computed_as(at.elem), accesses_.read(at), terms));
}

/// A device function of the same operands of several registers: one call of all lanes together, whose chains
/// of instructions run side by side.
std::vector<Value*> Operations::together(base::Pointwise op, Elem elem,
                                         const std::vector<std::vector<Value*>>& args) {
  auto& b = c_.f.b;
  std::vector<Value*> results;
  constexpr size_t at_once = 4;  // registers: more would not stay in registers
  for (size_t first = 0; first < args.size(); first += at_once) {
    const size_t count = std::min(at_once, args.size() - first);
    const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(args[first][0]->getType());
    if (count == 1 || !vector) {
      for (size_t r = first; r < first + count; ++r) results.push_back(c_.a.apply(op, elem, args[r]));
      continue;
    }
    std::vector<Value*> wide;
    for (size_t a = 0; a < args[first].size(); ++a) {
      std::vector<Value*> parts;
      for (size_t r = first; r < first + count; ++r) parts.push_back(args[r][a]);
      wide.push_back(llvm::concatenateVectors(b, parts));
    }
    Value* const all = c_.a.apply(op, elem, wide);
    for (size_t r = 0; r < count; ++r) {
      const unsigned lanes = vector->getNumElements();
      std::vector<int> of(lanes);
      for (unsigned lane = 0; lane < lanes; ++lane) of[lane] = static_cast<int>(r * lanes + lane);
      results.push_back(b.CreateShuffleVector(all, of));
    }
  }
  return results;
}

Value* Operations::value_of(const tile::Expr& e, const tile::Map& map, const std::vector<Value*>& args,
                            const Lanes& lanes) {
  switch (e.kind) {
    case tile::Expr::Kind::tile:
      return accesses_.read(e.use, lanes);
    case tile::Expr::Kind::constant:
      return c_.a.constant(computed_as(e.elem), e.number.real, e.number.integer, lanes.size());
    case tile::Expr::Kind::index: {
      std::vector<Dim> at;
      for (const Substitution& labels : lanes.labels) at.push_back(e.index.substitute(labels));
      Value* index = numbers(c_, at, base::is_integer(e.elem) ? c_.a.type_of(e.elem) : c_.f.b.getInt64Ty());
      return base::is_integer(e.elem) ? index : c_.a.cast(index, Elem::i64, e.elem);
    }
    case tile::Expr::Kind::cast:
      return c_.a.cast(args[0], map.exprs[e.args[0]].elem, e.elem);
    case tile::Expr::Kind::apply:
      return c_.a.apply(e.op, computed_as(map.exprs[e.args.back()].elem), args);
  }
  return nullptr;
}

/// One value for each of `lanes`.
/// Where an expression is the same in all lanes: it, in one. Null elsewhere.
std::vector<Value*> Operations::numbers_of(const tile::Map& map) {
  const Lanes one{{{}}, {0}, 1};
  std::vector<Value*> numbers;
  for (const tile::Expr& e : map.exprs) {
    const auto is_number = [&](uint32_t arg) { return numbers[arg] != nullptr; };
    bool alike = e.kind != tile::Expr::Kind::tile || e.use.labels.empty();
    if (e.kind == tile::Expr::Kind::index)
      alike = std::none_of(map.to.labels.begin(), map.to.labels.end(),
                           [&](Var label) { return e.index.contains(label); });
    alike &= std::all_of(e.args.begin(), e.args.end(), is_number);
    std::vector<Value*> args;
    if (alike)
      for (const uint32_t arg : e.args) args.push_back(numbers[arg]);
    numbers.push_back(alike ? value_of(e, map, args, one) : nullptr);
  }
  return numbers;
}

std::vector<Value*> Operations::values_of(const tile::Map& map, const std::vector<Lanes>& lanes) {
  const bool in_vectors = lanes.front().size() > 1 && !c_.threads.are_several();
  const std::vector<Value*> numbers =
      in_vectors ? numbers_of(map) : std::vector<Value*>(map.exprs.size(), nullptr);
  std::vector<std::vector<Value*>> values;  // by expression
  for (size_t n = 0; n < map.exprs.size(); ++n) {
    const tile::Expr& e = map.exprs[n];
    if (numbers[n] && (e.kind == tile::Expr::Kind::tile || !e.args.empty())) {
      values.emplace_back();
      for (const Lanes& some : lanes)
        values.back().push_back(c_.f.b.CreateVectorSplat(static_cast<unsigned>(some.size()), numbers[n]));
      continue;
    }
    std::vector<std::vector<Value*>> args(lanes.size());
    for (size_t r = 0; r < lanes.size(); ++r)
      for (const uint32_t arg : e.args) args[r].push_back(values[arg][r]);
    std::vector<Value*> results;
    if (e.kind == tile::Expr::Kind::apply && base::is_device_function(e.op)) {
      results = together(e.op, computed_as(map.exprs[e.args.back()].elem), args);
    } else {
      for (size_t r = 0; r < lanes.size(); ++r) results.push_back(value_of(e, map, args[r], lanes[r]));
    }
    values.push_back(std::move(results));
  }
  return values.back();
}

void Operations::emit(const tile::Op& op, const tile::Map& map) {
  const Elem elem = c_.p.tiles[map.to.tile].elem;
  const auto filled = [&](Value* value, const Lanes& lanes) {
    const Mask inside = mask_of(c_, map.bounds.facts, lanes);
    return accesses_.filled({value, inside}, map.bounds.fill, elem, lanes.size());
  };
  // A thread of several has many elements and few registers: one after the other.
  if (c_.p.tiles[map.to.tile].space != Space::registers || c_.threads.are_several())
    return assign(op, map.to,
                  [&](const Lanes& lanes) { return filled(values_of(map, {lanes}).front(), lanes); });
  if (map.to.labels.empty()) {
    // What all lanes have is computed in one.
    Value* const one = filled(values_of(map, {{{{}}, {0}, 1}}).front(), {{{}}, {0}, 1});
    return assign(op, map.to, [&](const Lanes& lanes) {
      return lanes.size() == 1 ? one : c_.f.b.CreateVectorSplat(lanes.size(), one);
    });
  }
  std::vector<Lanes> all;
  Sweep(c_, registers_, op, map.to).each(false, [&](const Lanes& lanes, int64_t) { all.push_back(lanes); });
  const std::vector<Value*> values = values_of(map, all);
  size_t next = 0;
  assign(op, map.to, [&](const Lanes& lanes) { return filled(values[next++], lanes); });
}

}  // namespace axon::module::tiles
