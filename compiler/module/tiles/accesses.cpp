// See accesses.h.
#include "module/tiles/accesses.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include "base/bug.h"
#include "module/tiles/quotients.h"

namespace axon::module::tiles {

using tile::Space;

namespace {

constexpr uint64_t bytes_elsewhere = 1024;  ///< at least of one vector

/// Lanes at neighbouring places; of several.
bool are_neighbours(const std::vector<int64_t>& steps) {
  for (size_t i = 0; i < steps.size(); ++i)
    if (steps[i] != static_cast<int64_t>(i)) return false;
  return steps.size() > 1;
}
/// Lanes a few places apart, all alike, and how many.
std::optional<int64_t> few_apart(const std::vector<int64_t>& steps) {
  constexpr int64_t most = 4;
  const int64_t step = steps.size() > 1 ? steps[1] : 0;
  if (step < 2 || step > most || !std::has_single_bit(steps.size())) return std::nullopt;
  for (size_t i = 0; i < steps.size(); ++i)
    if (steps[i] != static_cast<int64_t>(i) * step) return std::nullopt;
  return step;
}
bool are_reversed(const std::vector<int64_t>& steps) {
  for (size_t i = 0; i < steps.size(); ++i)
    if (steps[i] != -static_cast<int64_t>(i)) return false;
  return steps.size() > 1;
}
bool are_equal(const std::vector<int64_t>& steps) {
  return std::all_of(steps.begin(), steps.end(), [](int64_t s) { return s == 0; });
}

}  // namespace

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
/// the lanes that are returned, labels that go through such blocks are those of their first elements.
Lanes Accesses::in_place(const tile::Access& access, const Lanes& lanes) const {
  Lanes out = lanes;
  const auto is_block = [](const Dim& d, int64_t of) {
    return std::all_of(d.terms().begin(), d.terms().end(),
                       [&](const shape::Term& term) { return term.coefficient % of == 0; });
  };
  const tile::Tensor& tensor = c_.p.tensors[access.tensor];
  for (size_t a = 0; a < access.at.size(); ++a)
    for (auto& [label, value] : out.labels.front()) {
      const auto step = access.at[a].table ? std::nullopt : access.at[a].dim.linear_in(label);
      const int64_t block = tensor.multiples[a];
      if (block < 2 || !step || !step->first.is(1) || !is_block(step->second, block)) continue;
      for (Substitution& labels : out.labels)
        if (const auto constant = labels.at(label).constant())
          labels.at(label) = Dim(*constant / block * block);
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
  Run out{at, std::move(found->conditions)};
  out.spot.offsets = std::move(found->offsets);
  return out;
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
      [&] { b.CreateStore(load(at), found); });
  return b.CreateLoad(found->getAllocatedType(), found);
}

Value* Accesses::read(const Spot& at) { return c_.a.from_stored(load(at), at.elem); }

bool Accesses::are_next(const Spot& at) {
  const auto all = steps(at.offsets);
  return all && are_neighbours(*all);
}

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
  const auto bits = static_cast<unsigned>(base::elem_bytes(at.elem)) * 8;
  Value* const pointers = b.CreateGEP(b.getIntNTy(bits), at.base, offsets);
  return Found{c_.a.from_stored(load_each(at, pointers), at.elem), at.inside, good};
}

/// Machines with vectors of 64 bytes have an instruction, of words.
Value* Accesses::load_each(const Spot& at, Value* pointers) {
  auto& b = c_.f.b;
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
  return {filled(found, view.bounds.fill, tile.elem, lanes.size()), {}};
}

Value* Accesses::filled(const Found& found, const std::optional<tile::Number>& fill, Elem elem,
                        unsigned lanes) {
  const Mask inside = both(c_, found.inside, found.good);
  if (inside.all() || !fill) return found.value;
  Value* other = c_.a.constant(computed_as(elem), fill->real, fill->integer, lanes);
  return c_.f.b.CreateSelect(as_vector(c_, inside, lanes), found.value, other);
}

// ---- memory ----

llvm::Align Accesses::align_of(const Spot& at) const {
  const int64_t bytes = base::elem_bytes(at.elem), count = static_cast<int64_t>(at.offsets.size());
  const int64_t lanes = std::min(std::max<int64_t>(1, c_.f.level.vector_bytes / bytes), count);
  const bool whole = (c_.is_aligned || (at.is_scratch && c_.threads.are_several())) &&
                     std::has_single_bit(static_cast<uint64_t>(lanes)) && count % lanes == 0 &&
                     c_.is_multiple(at.offsets[0], lanes);
  return llvm::Align(static_cast<uint64_t>(whole ? lanes * bytes : bytes));
}

/// Do neighbours stay neighbours when they are swizzled?
bool Accesses::are_together(const Spot& at) const {
  const auto lanes = static_cast<int64_t>(at.offsets.size());
  return !at.swizzle || (lanes <= int64_t{1} << at.swizzle->base && c_.is_multiple(at.offsets[0], lanes));
}

/// Does the machine have masked accesses of such vectors?
bool Accesses::has_masked(const Spot& at) const {
  const int64_t bytes = base::elem_bytes(at.elem);
  return std::has_single_bit(at.offsets.size()) &&
         (c_.f.level.vector_bytes >= 64 || (c_.f.level.vector_bytes >= 32 && bytes >= 4));
}

/// Zeros, which stay.
Value* Accesses::read_elsewhere() {
  llvm::Module& m = *c_.f.function->getParent();
  constexpr const char* name = "axon_elsewhere";
  if (llvm::GlobalVariable* made = m.getNamedGlobal(name)) return made;
  auto* type = llvm::ArrayType::get(c_.f.b.getInt8Ty(), bytes_elsewhere);
  auto* zeros = new llvm::GlobalVariable(
      m, type, true, llvm::GlobalValue::PrivateLinkage, llvm::ConstantAggregateZero::get(type), name, nullptr,
      llvm::GlobalValue::NotThreadLocal, c_.f.level.is_gpu() ? global_memory : 0);
  zeros->setAlignment(llvm::Align(64));
  return zeros;
}

/// Memory that nobody reads. One volatile store keeps LLVM from seeing that, and from letting a store that
/// may go there go to the other address always.
Value* Accesses::written_elsewhere() {
  if (!written_elsewhere_) {
    auto* type = llvm::ArrayType::get(c_.f.b.getInt8Ty(), bytes_elsewhere);
    written_elsewhere_ = c_.f.variable(type, "elsewhere");
    written_elsewhere_->setAlignment(llvm::Align(64));
    llvm::IRBuilder<> at(written_elsewhere_->getParent()->getTerminator());
    at.CreateStore(at.getInt8(0), written_elsewhere_, true);
  }
  return written_elsewhere_;
}

Value* Accesses::pointer(const Spot& at, const Dim& offset) {
  auto& b = c_.f.b;
  const int64_t constant = shape::constant_part(offset);
  const int64_t bytes = base::elem_bytes(at.elem);
  Value* p = at.base;
  if (at.swizzle) {
    Value* place = b.CreateTrunc(c_.value(offset), b.getInt32Ty());
    const auto mask = static_cast<uint32_t>(((1 << at.swizzle->bits) - 1) << at.swizzle->base);
    Value* bits = b.CreateLShr(place, static_cast<uint64_t>(at.swizzle->shift));
    place = b.CreateXor(place, b.CreateAnd(bits, b.getInt32(mask)));
    return b.CreateGEP(b.getIntNTy(static_cast<unsigned>(bytes) * 8), p, place);
  }
  if (const Dim rest = offset - constant; !rest.is(0))
    p = b.CreateGEP(b.getIntNTy(static_cast<unsigned>(bytes) * 8), p, c_.value(rest));
  return constant == 0 ? p : b.CreateGEP(b.getInt8Ty(), p, c_.f.i64(constant * bytes));
}

/// By a branch, which becomes a predicate of the instruction; else 0.
Value* Accesses::load_where(Value* condition, const Spot& at, Value* p, llvm::Type* type, llvm::Align align) {
  auto& b = c_.f.b;
  llvm::BasicBlock* const before = b.GetInsertBlock();
  Value* loaded = nullptr;
  c_.f.when(condition, [&] {
    auto* load = b.CreateAlignedLoad(type, p, align);
    c_.f.mark(load, at.region);
    loaded = load;
  });
  auto* both = b.CreatePHI(type, 2);
  both->addIncoming(llvm::Constant::getNullValue(type), before);
  both->addIncoming(loaded, llvm::cast<llvm::Instruction>(loaded)->getParent());
  return both;
}

Value* Accesses::load_one(const Spot& at, const Dim& offset, Value* condition) {
  Value* p = pointer(at, offset);
  if (condition && c_.threads.are_several())
    return load_where(condition, at, p, c_.a.stored_type(at.elem),
                      llvm::Align(static_cast<uint64_t>(base::elem_bytes(at.elem))));
  if (condition) p = c_.f.b.CreateSelect(condition, p, read_elsewhere());
  auto* load = c_.f.b.CreateAlignedLoad(c_.a.stored_type(at.elem), p,
                                        llvm::Align(static_cast<uint64_t>(base::elem_bytes(at.elem))));
  c_.f.mark(load, at.region);
  return load;
}

Value* Accesses::load(const Spot& at) {
  auto& b = c_.f.b;
  const auto n = static_cast<unsigned>(at.offsets.size());
  if (n == 1) return load_one(at, at.offsets[0], in_lane(c_, at.inside, 0));
  const auto all = steps(at.offsets);
  if (all && are_equal(*all)) {
    Value* any = at.inside.each ? b.CreateAnd(b.CreateOrReduce(at.inside.each),
                                              at.inside.whole ? at.inside.whole : b.getTrue())
                                : at.inside.whole;
    return b.CreateVectorSplat(n, load_one(at, at.offsets[0], any));
  }
  llvm::Type* type = c_.a.stored_type(at.elem, n);
  if (all && are_neighbours(*all) && are_together(at) && at.inside.end && !has_masked(at) &&
      std::has_single_bit(n))
    return load_first(at, end_of(at));
  if (all && are_neighbours(*all) && are_together(at) && (!at.inside.each || has_masked(at))) {
    Value* p = pointer(at, at.offsets[0]);
    llvm::Instruction* load = nullptr;
    if (at.inside.whole && c_.threads.are_several())
      return load_where(at.inside.whole, at, p, type, align_of(at));
    if (at.inside.each) {
      load = b.CreateMaskedLoad(type, p, align_of(at), as_vector(c_, at.inside, n),
                                llvm::Constant::getNullValue(type));
    } else {
      if (at.inside.whole) p = b.CreateSelect(at.inside.whole, p, read_elsewhere());
      load = b.CreateAlignedLoad(type, p, align_of(at));
    }
    c_.f.mark(load, at.region);
    return load;
  }
  if (const auto step = all ? few_apart(*all) : std::nullopt;
      step && !c_.threads.are_several() && !at.swizzle && (at.inside.all() || has_masked(at)))
    return load_stepped(at, *step);
  if (all && can_reverse(at, *all)) return b.CreateVectorReverse(load(reversed(at)));
  Value* out = llvm::PoisonValue::get(type);
  std::map<const void*, Value*> loaded;  // lanes at one place, where no mask tells them apart
  for (unsigned l = 0; l < n; ++l) {
    Value*& one = loaded[at.offsets[l].node()];
    if (!one || at.inside.each) one = load_one(at, at.offsets[l], in_lane(c_, at.inside, l));
    out = b.CreateInsertElement(out, one, l);
  }
  return out;
}

/// Do the lanes lie next to each other in descending order, where a vector can be accessed at once?
bool Accesses::can_reverse(const Spot& at, const std::vector<int64_t>& steps) const {
  return are_reversed(steps) && !c_.threads.are_several() && !at.swizzle &&
         (at.inside.all() || has_masked(at));
}

/// The same lanes, the last one first.
Accesses::Spot Accesses::reversed(const Spot& at) {
  Spot out = at;
  std::reverse(out.offsets.begin(), out.offsets.end());
  if (at.inside.all()) return out;
  const auto n = static_cast<unsigned>(at.offsets.size());
  Value* mask = as_vector(c_, at.inside, n);
  if (!mask->getType()->isVectorTy()) mask = c_.f.b.CreateVectorSplat(n, mask);
  out.inside = {nullptr, c_.f.b.CreateVectorReverse(mask), nullptr};
  return out;
}

/// As whole vectors, the last of which ends at the last lane: so nothing behind that is read.
Value* Accesses::load_stepped(const Spot& at, int64_t step) {
  auto& b = c_.f.b;
  const auto n = static_cast<unsigned>(at.offsets.size());
  const auto lanes = static_cast<int64_t>(n), end = (lanes - 1) * step + 1;
  llvm::Type* type = c_.a.stored_type(at.elem, n);
  Value* mask = at.inside.all() ? nullptr : as_vector(c_, at.inside, n);
  if (mask && !mask->getType()->isVectorTy()) mask = b.CreateVectorSplat(n, mask);
  Value* out = nullptr;
  const auto align = llvm::Align(static_cast<uint64_t>(base::elem_bytes(at.elem)));
  for (int64_t first = 0, lane = 0; lane < lanes; first = std::min(first + lanes, end - lanes)) {
    Value* const p = pointer(at, at.offsets[0] + first);
    std::vector<int> of_lanes(n), of_elements(n, static_cast<int>(n));  // n: of the other operand
    for (unsigned l = 0; l < n; ++l) of_lanes[l] = static_cast<int>(l);
    for (; lane < lanes && lane * step < first + lanes; ++lane) {
      of_lanes[static_cast<size_t>(lane)] = static_cast<int>(lanes + lane * step - first);
      of_elements[static_cast<size_t>(lane * step - first)] = static_cast<int>(lane);
    }
    llvm::Instruction* part = nullptr;
    if (mask)
      part = b.CreateMaskedLoad(
          type, p, align,
          b.CreateShuffleVector(mask, llvm::Constant::getNullValue(mask->getType()), of_elements));
    else
      part = b.CreateAlignedLoad(type, p, align);
    c_.f.mark(part, at.region);
    out = b.CreateShuffleVector(out ? out : llvm::PoisonValue::get(type), part, of_lanes);
  }
  return out;
}

void Accesses::store_one(const Spot& at, const Dim& offset, Value* stored, Value* condition) {
  Value* p = pointer(at, offset);
  const auto store = [&] {
    const bool is_vector = stored->getType()->isVectorTy();
    const auto align =
        is_vector ? align_of(at) : llvm::Align(static_cast<uint64_t>(base::elem_bytes(at.elem)));
    c_.f.mark(c_.f.b.CreateAlignedStore(stored, p, align), at.region);
  };
  if (!condition) return store();
  if (c_.threads.are_several()) return c_.f.when(condition, store);
  p = c_.f.b.CreateSelect(condition, p, written_elsewhere());
  store();
}

void Accesses::write(const Spot& at, Value* computed, bool past_caches) {
  auto& b = c_.f.b;
  Value* stored = c_.a.to_stored(computed, at.elem);
  const auto n = static_cast<unsigned>(at.offsets.size());
  if (n == 1) return store_one(at, at.offsets[0], stored, in_lane(c_, at.inside, 0));
  const auto all = steps(at.offsets);
  const bool one = all && are_neighbours(*all) && are_together(at);
  if (one && at.inside.end && std::has_single_bit(n)) return store_first(at, stored, end_of(at));
  if (one && !at.inside.whole && (!at.inside.each || has_masked(at))) {
    Value* p = pointer(at, at.offsets[0]);
    if (at.inside.each) {
      c_.f.mark(b.CreateMaskedStore(stored, p, align_of(at), at.inside.each), at.region);
      return;
    }
    auto* store = b.CreateAlignedStore(stored, p, align_of(at));
    if (past_caches) {
      store->setAlignment(llvm::Align(
          static_cast<uint64_t>(std::min<int64_t>(n * base::elem_bytes(at.elem), c_.f.level.vector_bytes))));
      auto* one = llvm::ConstantAsMetadata::get(b.getInt32(1));
      store->setMetadata(llvm::LLVMContext::MD_nontemporal, llvm::MDNode::get(b.getContext(), {one}));
    }
    c_.f.mark(store, at.region);
    return;
  }
  if (one && !at.inside.each) return store_one(at, at.offsets[0], stored, at.inside.whole);
  for (unsigned l = 0; l < n; ++l)
    store_one(at, at.offsets[l], b.CreateExtractElement(stored, l), in_lane(c_, at.inside, l));
}

// ---- the first lanes of a vector ----

namespace {

llvm::Type* vector_of(llvm::Type* type, unsigned lanes) { return llvm::FixedVectorType::get(type, lanes); }

Value* has_bit(Context& c, Value* number, unsigned bit) {
  return c.f.b.CreateICmpNE(c.f.b.CreateAnd(number, c.f.i64(bit)), c.f.i64(0));
}

}  // namespace

/// Before which lane the mask ends, as an i64 that is not negative.
Value* Accesses::end_of(const Spot& at) {
  auto& b = c_.f.b;
  Value* end = b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, at.inside.end, b.getInt32(0));
  if (at.inside.whole) end = b.CreateSelect(at.inside.whole, end, b.getInt32(0));
  return b.CreateZExt(end, b.getInt64Ty());
}

Value* Accesses::part(const Spot& at, Value* begin) {
  const unsigned bits = static_cast<unsigned>(base::elem_bytes(at.elem)) * 8;
  return c_.f.b.CreateGEP(c_.f.b.getIntNTy(bits), pointer(at, at.offsets[0]), begin);
}

/// Masked stores take dozens of instructions on some machines.
void Accesses::store_first(const Spot& at, Value* stored, Value* end) {
  auto& b = c_.f.b;
  const auto n = static_cast<unsigned>(at.offsets.size());
  const auto store = [&](Value* what, Value* begin) {
    c_.f.mark(b.CreateAlignedStore(what, part(at, begin), align_of(at)), at.region);
  };
  const auto rest = [&] {
    Value *begin = c_.f.i64(0), *left = stored;
    for (unsigned lanes = n / 2; lanes > 0; lanes /= 2) {
      std::vector<int> low(lanes), high(lanes);
      std::iota(low.begin(), low.end(), 0);
      std::iota(high.begin(), high.end(), static_cast<int>(lanes));
      Value* const lower = b.CreateShuffleVector(left, low);
      Value* const has = has_bit(c_, end, lanes);
      c_.choose(
          has, [&] { store(lanes == 1 ? b.CreateExtractElement(lower, uint64_t{0}) : lower, begin); }, [] {});
      left = b.CreateSelect(has, b.CreateShuffleVector(left, high), lower);
      begin = b.CreateAnd(end, c_.f.i64(-static_cast<int64_t>(lanes)));
    }
  };
  c_.choose(
      b.CreateICmpUGE(end, c_.f.i64(n)), [&] { store(stored, c_.f.i64(0)); },
      [&] { c_.choose(b.CreateICmpNE(end, c_.f.i64(0)), rest, [] {}); });
}

/// Others are undefined. From the last lanes on: `lanes` of them or none, and behind them what is found so
/// far.
Value* Accesses::load_first(const Spot& at, Value* end) {
  auto& b = c_.f.b;
  const auto n = static_cast<unsigned>(at.offsets.size());
  llvm::AllocaInst* const all = c_.f.variable(c_.a.stored_type(at.elem, n), "first");
  const auto load = [&](unsigned lanes, Value* begin) {
    auto* made = b.CreateAlignedLoad(c_.a.stored_type(at.elem, lanes), part(at, begin), align_of(at));
    c_.f.mark(made, at.region);
    return lanes == 1 ? b.CreateInsertElement(llvm::PoisonValue::get(vector_of(made->getType(), 1)), made,
                                              uint64_t{0})
                      : made;
  };
  const auto rest = [&] {
    Value* found = llvm::PoisonValue::get(vector_of(c_.a.stored_type(at.elem), 1));
    for (unsigned lanes = 1; lanes < n; lanes *= 2) {
      llvm::AllocaInst* const both = c_.f.variable(c_.a.stored_type(at.elem, 2 * lanes), "both");
      std::vector<int> alone(2 * lanes, -1), joined(2 * lanes);
      std::iota(alone.begin(), alone.begin() + lanes, 0);
      std::iota(joined.begin(), joined.end(), 0);
      c_.choose(
          has_bit(c_, end, lanes),
          [&] {
            Value* const first = load(lanes, b.CreateAnd(end, c_.f.i64(-2 * static_cast<int64_t>(lanes))));
            b.CreateStore(b.CreateShuffleVector(first, found, joined), both);
          },
          [&] { b.CreateStore(b.CreateShuffleVector(found, alone), both); });
      found = b.CreateLoad(both->getAllocatedType(), both);
    }
    b.CreateStore(found, all);
  };
  c_.choose(
      b.CreateICmpUGE(end, c_.f.i64(n)), [&] { b.CreateStore(load(n, c_.f.i64(0)), all); }, rest);
  return b.CreateLoad(all->getAllocatedType(), all);
}

Value* Accesses::is_aligned(const Spot& at) {
  auto& b = c_.f.b;
  const auto all = steps(at.offsets);
  const int64_t elem = base::elem_bytes(at.elem), bytes = static_cast<int64_t>(at.offsets.size()) * elem;
  if (!all || !are_neighbours(*all) || !at.inside.all() || bytes < 16 ||
      !std::has_single_bit(static_cast<uint64_t>(bytes)))
    return nullptr;
  const int64_t align = std::min<int64_t>(bytes, c_.f.level.vector_bytes);
  Dim rest;  // what steps by whole vectors says nothing
  for (const shape::Term& term : at.offsets[0].terms()) {
    Dim part(term.coefficient % (align / elem));
    for (const shape::Atom& factor : term.factors) {
      const Dim atom = factor.kind() == shape::AtomKind::var ? Dim(factor.var())
                       : factor.kind() == shape::AtomKind::floor_div
                           ? shape::floor_div(factor.lhs(), factor.rhs())
                       : factor.kind() == shape::AtomKind::mod ? shape::mod(factor.lhs(), factor.rhs())
                       : factor.kind() == shape::AtomKind::min ? shape::min(factor.lhs(), factor.rhs())
                                                               : shape::max(factor.lhs(), factor.rhs());
      part = part * atom;
    }
    rest = rest + part;
  }
  Value* address =
      b.CreateAdd(b.CreatePtrToInt(at.base, b.getInt64Ty()), b.CreateMul(c_.value(rest), c_.f.i64(elem)));
  return b.CreateICmpEQ(b.CreateAnd(address, c_.f.i64(align - 1)), c_.f.i64(0));
}

}  // namespace axon::module::tiles
