// See accesses.h.
#include "module/tiles/accesses.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include "base/bug.h"
#include "module/tiles/quotients.h"

namespace axon::module::tiles {

using tile::Space;

Elem Accesses::elem_of(const tile::Access& access) const {
  return access.tensor ? c_.p.tensors[access.tensor].elem : c_.p.tiles[access.tile].elem;
}

// ---- places ----

Accesses::Spot Accesses::spot_at(tile::TensorId tensor, TileId tile, const Indices& index) {
  const uint64_t key = tensor ? tensor.index : uint64_t{1} << 32 | tile.index;
  auto [found, added] = places_.try_emplace(key);
  Place& place = found->second;
  if (added) {
    layout::Shape shape;
    if (tensor)
      shape = layout::rounded_up(c_.p.tensors[tensor].shape, c_.p.tensors[tensor].multiples);
    else
      shape.assign(c_.p.tiles[tile].shape.begin(), c_.p.tiles[tile].shape.end());
    const layout::Layout& layout =
        tensor ? c_.p.tensors[tensor].place : c_.p.layouts[c_.p.tiles[tile].layout].layout.layout;
    std::vector<Dim> at;
    for (size_t a = 0; a < shape.size(); ++a)
      at.emplace_back(place.index.emplace_back(shape::fresh_var("at")));
    const auto points = layout::apply(layout, shape, at);
    const auto m = points.find("m");
    if (m != points.end()) place.offset = m->second;
  }
  Spot out;
  for (const auto& of_lane : index) {
    Substitution values;
    for (size_t a = 0; a < of_lane.size(); ++a) values[place.index[a]] = of_lane[a];
    out.offsets.push_back(place.offset.substitute(values));
  }
  if (tensor) {
    out.elem = c_.p.tensors[tensor].elem;
    out.base = c_.memory.tensors[tensor.index];
    out.region = c_.memory.regions[tensor.index];
  } else {
    out.elem = c_.p.tiles[tile].elem;
    out.base = c_.f.b.CreateConstGEP1_64(c_.f.b.getInt8Ty(), c_.memory.scratch,
                                         static_cast<uint64_t>(c_.p.tiles[tile].offset));
    out.region = c_.memory.scratch_region;
    out.is_scratch = true;
    if (const layout::Swizzle& swizzle = c_.p.layouts[c_.p.tiles[tile].layout].layout.swizzle;
        swizzle.bits != 0)
      out.swizzle = swizzle;
  }
  return out;
}

/// dim plus the element of an index tile, and whether that is an index of the axis. Where it is none, some
/// number that does no harm.
Dim Accesses::from_table(const tile::Use& use, const Dim& dim, const Dim& extent, const Lanes& lane,
                         Value*& good) {
  auto& b = c_.f.b;
  constexpr int64_t far = int64_t{1} << 58;  // further than any axis reaches
  const Elem elem = c_.p.tiles[use.tile].elem;
  Value* entry = b.CreateIntCast(b.CreateFreeze(read(use, lane)), b.getInt64Ty(), base::is_signed(elem));
  Value* index = entry;
  if (!dim.is(0) && !c_.is_small(dim)) {
    entry = b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, entry, c_.f.i64(far));
    entry = b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, entry, c_.f.i64(-far));
  }
  if (!dim.is(0)) index = b.CreateAdd(c_.value(dim), entry);
  good = b.CreateICmpULT(index, c_.value(extent));
  const Var safe = shape::fresh_var("entry");
  c_.f.bind(safe, b.CreateSelect(good, entry, c_.f.i64(0)), Frame::of_data, extent);
  return dim + Dim(safe);
}

Accesses::Indices Accesses::indices(const tile::Access& access, const Lanes& lanes, Mask& inside,
                                    Mask& good) {
  const auto extent_of = [&](size_t a) {
    return access.tensor ? c_.p.tensors[access.tensor].shape[a] : Dim(c_.p.tiles[access.tile].shape[a]);
  };
  Indices out(lanes.size());
  for (size_t a = 0; a < access.at.size(); ++a) {
    const auto& [table, dim] = access.at[a];
    std::map<std::vector<const void*>, std::pair<Dim, Value*>> known;  // by what the labels of the table are
    std::vector<Value*> are_good;
    for (unsigned l = 0; l < lanes.size(); ++l) {
      const Dim here = dim.substitute(lanes.labels[l]);
      if (!table) {
        out[l].push_back(here);
        continue;
      }
      std::vector<const void*> key{here.node()};
      for (Var label : table->labels) key.push_back(Dim(label).substitute(lanes.labels[l]).node());
      auto [found, added] = known.try_emplace(key);
      if (added)
        found->second.first = from_table(*table, here, extent_of(a), {{lanes.labels[l]}, {lanes.own[l]}, 1},
                                         found->second.second);
      out[l].push_back(found->second.first);
      are_good.push_back(found->second.second);
    }
    if (are_good.empty()) continue;
    Mask here{are_good[0], nullptr};
    if (known.size() > 1) {
      Value* each = llvm::PoisonValue::get(c_.a.type_of(Elem::boolean, lanes.size()));
      for (unsigned l = 0; l < lanes.size(); ++l) each = c_.f.b.CreateInsertElement(each, are_good[l], l);
      here = {nullptr, each};
    }
    good = both(c_, good, here);
    if (!dim.is(0) || !c_.known.nonnegative(extent_of(a) - 1)) inside = both(c_, inside, here);
  }
  return out;
}

/// A place is over its tensor's shape rounded up: where one element of a block is there, all can be read. In
/// the lanes that are returned, labels that go through parts of such blocks are those of the first elements.
Lanes Accesses::in_place(const tile::Access& access, const Lanes& lanes) const {
  Lanes out = lanes;
  const tile::Tensor& tensor = c_.p.tensors[access.tensor];
  for (size_t a = 0; a < access.at.size(); ++a)
    for (auto& [label, value] : out.labels.front()) {
      const auto step = access.at[a].table ? std::nullopt : access.at[a].dim.linear_in(label);
      if (tensor.multiples[a] < 2 || !step || !step->first.is(1)) continue;
      int64_t part = tensor.multiples[a];  // that begins where the label is 0, and lies in one block
      for (const shape::Term& term : step->second.terms()) part = std::gcd(part, term.coefficient);
      if (part < 2) continue;
      for (Substitution& labels : out.labels)
        if (const auto constant = labels.at(label).constant())
          labels.at(label) = Dim(*constant / part * part);
    }
  return out;
}

Accesses::Spot Accesses::spot(const tile::Access& access, const std::vector<Fact>& facts, const Lanes& lanes,
                              bool any_outside) {
  Mask inside = mask_of(c_, facts, any_outside && access.tensor ? in_place(access, lanes) : lanes);
  Mask good;
  const Indices index = indices(access, lanes, inside, good);
  Spot out = spot_at(access.tensor, access.tile, index);
  out.inside = both(c_, inside, good);
  return out;
}

std::optional<Accesses::Run> Accesses::run_of(const tile::Access& access, const Spot& at,
                                              const Lanes& lanes) {
  if (lanes.size() < 2 || c_.threads.are_several() || at.swizzle ||
      std::any_of(access.at.begin(), access.at.end(), [](const auto& index) { return index.table; }))
    return std::nullopt;
  const Var lane = shape::fresh_var("lane");
  Substitution labels = lanes.labels.front();
  std::vector<int64_t> indices;
  for (auto& [label, first] : labels) {
    std::vector<int64_t> of_label;
    bool differs = false;
    for (const Substitution& of_lane : lanes.labels) {
      const Dim& here = of_lane.at(label);
      differs |= here != first;
      if (const auto number = here.constant()) of_label.push_back(*number);
    }
    if (!differs) continue;
    if (!indices.empty() || of_label.size() != lanes.size() ||
        !std::is_sorted(of_label.begin(), of_label.end()))
      return std::nullopt;
    indices = of_label;
    first = Dim(lane);
  }
  if (indices.empty()) return std::nullopt;
  Indices index(1);
  for (const tile::Index& one : access.at) index[0].push_back(one.dim.substitute(labels));
  const Dim offset = spot_at(access.tensor, access.tile, index).offsets.front();
  auto found = within_quotients(offset, lane, indices);
  if (!found) return std::nullopt;
  Run out{at, std::move(found->conditions), lane, {}};
  out.spot.offsets = std::move(found->offsets);
  if (indices.back() - indices.front() == static_cast<int64_t>(lanes.size()) - 1)
    out.offset = offset.substitute({{lane, Dim(lane) + indices.front()}});
  return out;
}

/// body() of each lane; of one that is outside `place` is elsewhere.
void Accesses::each_lane(const Run& run, const Spot& at, Value* elsewhere,
                         const std::function<void(Value* place, Value* lane)>& body) {
  auto& b = c_.f.b;
  const auto n = static_cast<unsigned>(at.offsets.size());
  Value* const mask = at.inside.all() ? nullptr : as_vector(c_, at.inside, n);
  const auto one = [&] {
    Value* const lane = c_.value(Dim(run.lane));
    Value* place = pointer(at, *run.offset);
    if (mask) {
      Value* const inside = mask->getType()->isVectorTy() ? b.CreateExtractElement(mask, lane) : mask;
      place = b.CreateSelect(inside, place, elsewhere);
    }
    body(place, lane);
  };
  c_.loop({run.lane, Dim(static_cast<int64_t>(n))}, {}, one, LoopKind::rolled);
}

void Accesses::write_by_lane(const Run& run, const Spot& at, Value* computed) {
  if (!run.offset) return write(at, computed);
  auto& b = c_.f.b;
  Value* const stored = c_.a.to_stored(computed, at.elem);
  llvm::AllocaInst* const lanes = c_.f.variable(stored->getType(), "lanes");
  b.CreateStore(stored, lanes);
  llvm::Type* const type = c_.a.stored_type(at.elem);
  each_lane(run, at, at.inside.all() ? nullptr : written_elsewhere(), [&](Value* place, Value* lane) {
    Value* const one = b.CreateLoad(type, b.CreateGEP(type, lanes, lane));
    c_.f.mark(b.CreateAlignedStore(one, place, llvm::Align(static_cast<uint64_t>(base::elem_bytes(at.elem)))),
              at.region);
  });
}

/// With one division for all lanes where they have one quotient.
Value* Accesses::load_in_run(const tile::Access& access, const Spot& at, const Lanes& lanes) {
  const auto run = run_of(access, at, lanes);
  if (!run) return load(at);
  auto& b = c_.f.b;
  llvm::AllocaInst* const found = c_.f.variable(
      at.offsets.size() == 1 ? c_.a.stored_type(at.elem)
                             : c_.a.stored_type(at.elem, static_cast<unsigned>(at.offsets.size())),
      "run");
  c_.choose(
      c_.all_nonnegative(run->conditions), [&] { b.CreateStore(load(run->spot), found); },
      [&] {
        if (!run->offset) {
          b.CreateStore(load(at), found);
          return;
        }
        llvm::Type* const type = c_.a.stored_type(at.elem);
        each_lane(*run, at, at.inside.all() ? nullptr : read_elsewhere(), [&](Value* place, Value* lane) {
          auto* const one =
              b.CreateAlignedLoad(type, place, llvm::Align(static_cast<uint64_t>(base::elem_bytes(at.elem))));
          c_.f.mark(one, at.region);
          b.CreateStore(one, b.CreateGEP(type, found, lane));
        });
      });
  return b.CreateLoad(found->getAllocatedType(), found);
}

Value* Accesses::read(const Spot& at) { return c_.a.from_stored(load(at), at.elem); }

// ---- reading ----

/// The elements of an index tile plus an expression, in each lane, as from_table() has them of one.
Value* Accesses::from_table(const tile::Index& index, const Dim& extent, const Lanes& lanes, Mask& good) {
  auto& b = c_.f.b;
  constexpr int64_t far = int64_t{1} << 58;
  std::vector<Dim> dims;
  bool are_small = true;
  for (const Substitution& labels : lanes.labels) {
    dims.push_back(index.dim.substitute(labels));
    are_small &= c_.is_small(dims.back());
  }
  const Elem elem = c_.p.tiles[index.table->tile].elem;
  Value* entry = b.CreateFreeze(read(*index.table, lanes));
  auto* const type = llvm::FixedVectorType::get(b.getInt64Ty(), lanes.size());
  entry = b.CreateIntCast(entry, type, base::is_signed(elem));
  const auto splat = [&](int64_t n) { return llvm::ConstantInt::getSigned(type, n); };
  if (!index.dim.is(0)) {
    if (!are_small) {
      entry = b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, entry, splat(far));
      entry = b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, entry, splat(-far));
    }
    entry = b.CreateAdd(entry, numbers(c_, dims, b.getInt64Ty()));
  }
  Value* const end = b.CreateVectorSplat(lanes.size(), c_.value(extent));
  good.each = b.CreateICmpULT(entry, end);
  return b.CreateSelect(good.each, entry, splat(0));
}

std::optional<Accesses::Found> Accesses::gathered(const tile::Access& access, const std::vector<Fact>& facts,
                                                  const Lanes& lanes) {
  if (!access.tensor || lanes.size() < 2 || c_.threads.are_several()) return std::nullopt;
  const auto differs = [&](const tile::Index& index) {
    return index.table && std::any_of(index.table->labels.begin(), index.table->labels.end(), [&](Var label) {
             return std::any_of(lanes.labels.begin(), lanes.labels.end(), [&](const Substitution& labels) {
               return labels.at(label) != lanes.labels[0].at(label);
             });
           });
  };
  if (std::none_of(access.at.begin(), access.at.end(), differs)) return std::nullopt;
  std::map<size_t, Var> entries;
  Indices index(lanes.size());
  for (size_t a = 0; a < access.at.size(); ++a) {
    if (access.at[a].table) entries.emplace(a, shape::fresh_var("entry"));
    for (unsigned l = 0; l < lanes.size(); ++l)
      index[l].push_back(access.at[a].table ? Dim(entries.at(a))
                                            : access.at[a].dim.substitute(lanes.labels[l]));
  }
  Spot at = spot_at(access.tensor, {}, index);
  Substitution none;
  for (const auto& [a, entry] : entries) none[entry] = Dim(0);
  std::map<size_t, Dim> strides;
  for (const auto& [a, entry] : entries) {
    const auto split = at.offsets[0].linear_in(entry);
    if (!split || split->first.substitute(none) != split->first) return std::nullopt;
    strides[a] = split->first;
  }
  auto& b = c_.f.b;
  Mask good;
  at.inside = mask_of(c_, facts, lanes);
  std::vector<Dim> rest;
  for (const Dim& d : at.offsets) rest.push_back(d.substitute(none));
  Value* offsets = numbers(c_, rest, b.getInt64Ty());
  for (const auto& [a, entry] : entries) {
    const Dim& extent = c_.p.tensors[access.tensor].shape[a];
    Mask here;
    Value* one = from_table(access.at[a], extent, lanes, here);
    if (!strides[a].is(1)) one = b.CreateMul(one, b.CreateVectorSplat(lanes.size(), c_.value(strides[a])));
    offsets = b.CreateAdd(offsets, one);
    good = both(c_, good, here);
    if (!access.at[a].dim.is(0) || !c_.known.nonnegative(extent - 1)) at.inside = both(c_, at.inside, here);
  }
  at.inside.end = nullptr;
  Value* const loaded = access.in_runs ? load_run_or_each(at, offsets) : load_each(at, offsets);
  return Found{c_.a.from_stored(loaded, at.elem), at.inside, good};
}

Value* Accesses::load_run_or_each(const Spot& at, Value* offsets) {
  auto& b = c_.f.b;
  const auto n = static_cast<unsigned>(at.offsets.size());
  Value* const first = b.CreateExtractElement(offsets, uint64_t{0});
  Value* const run = b.CreateAdd(b.CreateVectorSplat(n, first), b.CreateStepVector(offsets->getType()));
  Value* follow = b.CreateICmpEQ(offsets, run);
  const bool masked = !at.inside.all() && has_masked(at);
  Value* const inside = at.inside.all() ? nullptr : as_vector(c_, at.inside, n);
  if (inside) follow = masked ? b.CreateOr(follow, b.CreateNot(inside)) : b.CreateAnd(follow, inside);
  const auto bytes = static_cast<unsigned>(base::elem_bytes(at.elem));
  const llvm::Align align(bytes);
  llvm::Type* const type = c_.a.stored_type(at.elem, n);
  std::vector<std::pair<Value*, llvm::BasicBlock*>> loaded;
  const auto note = [&](Value* value) { loaded.emplace_back(value, b.GetInsertBlock()); };
  const auto together = [&] {
    Value* const p = b.CreateGEP(b.getIntNTy(bytes * 8), at.base, first);
    auto* const load = masked ? b.CreateMaskedLoad(type, p, align, inside, llvm::Constant::getNullValue(type))
                              : static_cast<llvm::Instruction*>(b.CreateAlignedLoad(type, p, align));
    c_.f.mark(load, at.region);
    note(load);
  };
  c_.choose(b.CreateAndReduce(follow), together, [&] { note(load_each(at, offsets)); });
  auto* const either = b.CreatePHI(type, 2);
  for (const auto& [value, block] : loaded) either->addIncoming(value, block);
  return either;
}

/// Machines with vectors of 64 bytes have an instruction, of words.
Value* Accesses::load_each(const Spot& at, Value* offsets) {
  auto& b = c_.f.b;
  const auto bits = static_cast<unsigned>(base::elem_bytes(at.elem)) * 8;
  Value* const pointers = b.CreateGEP(b.getIntNTy(bits), at.base, offsets);
  const auto n = static_cast<unsigned>(at.offsets.size());
  const int64_t bytes = base::elem_bytes(at.elem);
  const llvm::Align align(static_cast<uint64_t>(bytes));
  llvm::Type* const type = c_.a.stored_type(at.elem, n);
  if (c_.f.level.vector_bytes >= 64 && bytes >= 4) {
    Value* const mask = at.inside.all()
                            ? llvm::ConstantInt::getTrue(llvm::FixedVectorType::get(b.getInt1Ty(), n))
                            : as_vector(c_, at.inside, n);
    auto* const load = b.CreateMaskedGather(type, pointers, align, mask, llvm::Constant::getNullValue(type));
    c_.f.mark(load, at.region);
    return load;
  }
  Value* out = llvm::PoisonValue::get(type);
  for (unsigned l = 0; l < n; ++l) {
    Value* p = b.CreateExtractElement(pointers, l);
    if (Value* const condition = in_lane(c_, at.inside, l))
      p = b.CreateSelect(condition, p, read_elsewhere());
    auto* const load = b.CreateAlignedLoad(c_.a.stored_type(at.elem), p, align);
    c_.f.mark(load, at.region);
    out = b.CreateInsertElement(out, load, l);
  }
  return out;
}

Accesses::Found Accesses::read(const tile::Access& access, const std::vector<Fact>& facts, const Lanes& lanes,
                               bool any_outside) {
  if (auto found = gathered(access, facts, lanes)) return *found;
  Mask inside = mask_of(c_, facts, any_outside && access.tensor ? in_place(access, lanes) : lanes), good;
  const Indices index = indices(access, lanes, inside, good);
  if (!access.tensor && c_.p.tiles[access.tile].space != Space::scratch)
    return {read_tile(access.tile, index, lanes).value, inside, good};
  Spot at = spot_at(access.tensor, access.tile, index);
  at.inside = inside;
  return {c_.a.from_stored(load_in_run(access, at, lanes), at.elem), inside, good};
}

Value* Accesses::read(const tile::Use& use, const Lanes& lanes) {
  Indices index;
  for (const Substitution& labels : lanes.labels) {
    index.emplace_back();
    for (Var label : use.labels) index.back().push_back(Dim(label).substitute(labels));
  }
  return read_tile(use.tile, index, lanes).value;
}

Accesses::Found Accesses::read_tile(TileId id, const Indices& index, const Lanes& lanes) {
  const tile::Tile& tile = c_.p.tiles[id];
  if (tile.space == Space::registers) {
    std::vector<int64_t> elements;
    for (const auto& of_lane : index) {
      int64_t x = 0;
      for (size_t a = 0; a < of_lane.size(); ++a) {
        const auto at = c_.in_registers(of_lane[a]).constant();
        if (!at) base::bug("module::tiles", "a register that is no number");
        x = x * tile.shape[a] + *at;
      }
      elements.push_back(x);
    }
    return {registers_.gathered(id, elements, lanes.own), {}};
  }
  if (tile.space == Space::scratch) {
    const Spot at = spot_at({}, id, index);
    return {c_.a.from_stored(load(at), at.elem), {}};
  }
  const tile::View& view = *c_.views.at(id);
  Lanes inner{{}, lanes.own, lanes.width};
  for (const auto& of_lane : index) {
    Substitution& labels = inner.labels.emplace_back();
    for (size_t a = 0; a < of_lane.size(); ++a) labels[view.to.labels[a]] = of_lane[a];
  }
  Found found = read(view.from, view.bounds.facts, inner, !view.bounds.fill);
  found.value = c_.a.cast(found.value, elem_of(view.from), tile.elem);
  if (view.checked) found.good = {};
  return {filled(found, view.bounds.fill, tile.elem, lanes.size()), {}};
}

Value* Accesses::filled(const Found& found, const std::optional<tile::Number>& fill, Elem elem,
                        unsigned lanes) {
  const Mask inside = both(c_, found.inside, found.good);
  if (inside.all() || !fill) return found.value;
  Value* other = c_.a.constant(computed_as(elem), fill->real, fill->integer, lanes);
  return c_.f.b.CreateSelect(as_vector(c_, inside, lanes), found.value, other);
}

}  // namespace axon::module::tiles
