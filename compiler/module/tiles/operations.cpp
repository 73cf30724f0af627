// See operations.h. Copies, stores and maps.
#include "module/tiles/operations.h"

#include <llvm/IR/IntrinsicsX86.h>

#include <algorithm>

namespace axon::module::tiles {

using tile::Space;

void Operations::emit(const tile::Op& op) {
  std::visit([&](const auto& which) { emit(op, which); }, op);
}

void Operations::assign(const tile::Op& op, const tile::Use& to,
                        const std::function<Value*(const Lanes&)>& value) {
  std::vector<std::pair<int64_t, Value*>> written;
  const bool in_registers = c_.p.tiles[to.tile].space == Space::registers;
  Sweep(c_, registers_, op, to).each(false, [&](const Lanes& lanes, int64_t number) {
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
  assign(op, copy.to, [&](const Lanes& lanes) {
    Accesses::Found found = accesses_.read(copy.from, copy.bounds.facts, lanes);
    found.value = c_.a.cast(found.value, from, to.elem);
    return accesses_.filled(found, copy.bounds.fill, to.elem, lanes.size());
  });
}

void Operations::store(const tile::Access&, const std::vector<std::pair<Accesses::Spot, Value*>>& vectors,
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
  c_.choose(
      aligned, [&] { all(true); }, [&] { all(false); });
}

void Operations::emit(const tile::Op& op, const tile::Store& s) {
  const Elem from = c_.p.tiles[s.from.tile].elem, to = accesses_.elem_of(s.to);
  const bool in_registers = c_.p.tiles[s.from.tile].space == Space::registers;
  std::vector<std::pair<Accesses::Spot, Value*>> vectors;
  Sweep(c_, registers_, op, s.from).each(true, [&](const Lanes& lanes, int64_t) {
    const Accesses::Spot spot = accesses_.spot(s.to, s.bounds, lanes);
    vectors.emplace_back(spot, c_.a.cast(accesses_.read(s.from, lanes), from, to));
    if (in_registers) return;
    store(s.to, vectors, s.streaming);
    vectors.clear();
  });
  store(s.to, vectors, s.streaming);
}

void Operations::emit(const tile::Op&, const tile::View& view) { c_.views[view.to.tile] = &view; }

void Operations::emit(const tile::Op&, const tile::Fence&) {
  c_.f.b.CreateIntrinsic(llvm::Intrinsic::x86_sse_sfence, {}, {});
}

Value* Operations::value_of(const tile::Map& map, const Lanes& lanes) {
  std::vector<Value*> values;
  for (const tile::Expr& e : map.exprs) {
    std::vector<Value*> args;
    for (const uint32_t arg : e.args) args.push_back(values[arg]);
    switch (e.kind) {
      case tile::Expr::Kind::tile:
        values.push_back(accesses_.read(e.use, lanes));
        break;
      case tile::Expr::Kind::constant:
        values.push_back(c_.a.constant(computed_as(e.elem), e.number.real, e.number.integer, lanes.size()));
        break;
      case tile::Expr::Kind::index: {
        std::vector<Dim> at;
        for (const Substitution& labels : lanes.labels) at.push_back(e.index.substitute(labels));
        Value* index = numbers(c_, at, base::is_integer(e.elem) ? c_.a.type_of(e.elem) : c_.f.b.getInt64Ty());
        values.push_back(base::is_integer(e.elem) ? index : c_.a.cast(index, Elem::i64, e.elem));
        break;
      }
      case tile::Expr::Kind::cast:
        values.push_back(c_.a.cast(args[0], map.exprs[e.args[0]].elem, e.elem));
        break;
      case tile::Expr::Kind::apply:
        values.push_back(c_.a.apply(e.op, computed_as(map.exprs[e.args.back()].elem), args));
        break;
    }
  }
  return values.back();
}

void Operations::emit(const tile::Op& op, const tile::Map& map) {
  assign(op, map.to, [&](const Lanes& lanes) {
    const Mask inside = mask_of(c_, map.bounds.facts, lanes);
    return accesses_.filled({value_of(map, lanes), inside}, map.bounds.fill, c_.p.tiles[map.to.tile].elem,
                            lanes.size());
  });
}

}  // namespace axon::module::tiles
