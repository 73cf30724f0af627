// See accesses.h: loads and stores of the lanes of a spot.
#include <algorithm>
#include <bit>
#include <numeric>

#include "module/tiles/accesses.h"

namespace axon::module::tiles {

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

bool Accesses::are_next(const Spot& at) {
  const auto all = steps(at.offsets);
  return all && are_neighbours(*all);
}

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
