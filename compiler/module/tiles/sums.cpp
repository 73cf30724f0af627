// See operations.h. Reductions: their order is that of tile.h.
#include <llvm/Analysis/VectorUtils.h>

#include <algorithm>
#include <bit>

#include "base/bug.h"
#include "module/tiles/operations.h"
#include "tile/names.h"
#include "tile/pointwise.h"

namespace axon::module::tiles {

using base::Pointwise;
using tile::Space;

std::vector<Var> summed_labels(const tile::Use& result, const std::vector<const tile::Use*>& operands) {
  std::vector<Var> out;
  for (const tile::Use* use : operands)
    for (Var label : use->labels)
      if (std::find(result.labels.begin(), result.labels.end(), label) == result.labels.end() &&
          std::find(out.begin(), out.end(), label) == out.end())
        out.push_back(label);
  return out;
}

namespace {

/// The largest divisor of the extent that is at most that.
int64_t divisor_below(int64_t extent, int64_t most) {
  int64_t d = std::max<int64_t>(1, std::min(extent, most));
  while (extent % d != 0) --d;
  return d;
}

}  // namespace

void each_in_order(Context& c, const std::vector<Var>& labels, const std::map<Var, int64_t>& extents,
                   const std::set<Var>& pinned, const std::vector<Fact>& bounds, int64_t most,
                   const std::function<void(const Substitution&)>& body, LoopKind kind) {
  std::map<Var, int64_t> unrolled;  // how many values of each have code of their own
  for (size_t i = labels.size(); i-- > 0;) {
    const int64_t extent = extents.at(labels[i]);
    unrolled[labels[i]] = pinned.contains(labels[i]) ? extent : divisor_below(extent, most);
    most = unrolled[labels[i]] == extent ? most / std::max<int64_t>(extent, 1) : 1;
  }
  const std::function<void(size_t, Substitution)> next = [&](size_t i, Substitution now) {
    if (i == labels.size()) return body(now);
    const Var label = labels[i];
    const int64_t extent = extents.at(label), at_once = unrolled[label];
    const auto all = [&](const Dim& first) {
      for (int64_t k = 0; k < at_once; ++k) {
        now[label] = first + k;
        next(i + 1, now);
      }
    };
    if (at_once == extent) return all(0);
    const Axis loop{shape::fresh_var(shape::var_name(label)), Dim(extent / at_once)};
    const Var step = shape::fresh_var("step");
    Substitution here = now;
    here[label] = Dim(loop.var) * at_once + Dim(step);
    std::map<Var, int64_t> free{{step, at_once}};
    for (const auto& [other, count] : extents)
      if (!here.contains(other)) free[other] = count;
    c.loop(
        loop, conditions_in(loop.var, bounds, here, free), [&] { all(Dim(loop.var) * at_once); }, kind);
  };
  next(0, {});
}

namespace {

Lanes with(const Lanes& lanes, const Substitution& more) {
  Lanes out = lanes;
  for (Substitution& labels : out.labels) labels.insert(more.begin(), more.end());
  return out;
}

}  // namespace

Value* Operations::read_as(const tile::Use& use, Elem in, const Lanes& lanes) {
  return c_.a.cast(accesses_.read(use, lanes), c_.p.tiles[use.tile].elem, in);
}

// ---- reductions ----

Value* Operations::combined(const tile::Reduce& r, Value* a, Value* b) {
  return c_.a.combined(r.monoid, computed_as(r.in), a, b);
}

/// What changes no value, the sign of a zero included.
Value* Operations::neutral(Pointwise monoid, Elem in, unsigned lanes) {
  tile::Number n = tile::neutral(monoid, in);
  if (monoid == Pointwise::add) n.real = -0.0;
  return c_.a.constant(computed_as(in), n.real, n.integer, lanes);
}

/// The upper half onto the lower one, until one is left; of an odd number, the last one first.
Value* Operations::folded(const tile::Reduce& r, Value* parts) {
  auto& b = c_.f.b;
  auto* type = llvm::dyn_cast<llvm::FixedVectorType>(parts->getType());
  if (!type) return parts;
  if (r.monoid == Pointwise::or_ || (r.monoid == Pointwise::and_ && type->getElementType()->isIntegerTy(1)))
    return r.monoid == Pointwise::or_ ? b.CreateOrReduce(parts) : b.CreateAndReduce(parts);
  int n = static_cast<int>(type->getNumElements());
  while (n > 1) {
    std::vector<int> low, high;
    if (n % 2 == 1) {
      Value* both = combined(r, b.CreateExtractElement(parts, static_cast<uint64_t>(n) - 2),
                             b.CreateExtractElement(parts, static_cast<uint64_t>(n) - 1));
      parts = b.CreateInsertElement(parts, both, static_cast<uint64_t>(n) - 2);
      --n;
    }
    for (int i = 0; i < n / 2; ++i) low.push_back(i), high.push_back(i + n / 2);
    n /= 2;
    if (n == 1)
      return combined(r, b.CreateExtractElement(parts, uint64_t{0}), b.CreateExtractElement(parts, 1));
    parts = combined(r, b.CreateShuffleVector(parts, low), b.CreateShuffleVector(parts, high));
  }
  return b.CreateExtractElement(parts, uint64_t{0});
}

namespace {

/// The lower halves of all segments of one or two vectors, and the upper ones, as shuffles of both.
struct Halves {
  std::vector<int> low, high;
  std::vector<size_t> of;  ///< which of the segments, those of the second vector behind the first one's
};

/// What instructions exchange is in one run of 128 bits: there the segments of both vectors follow each
/// other.
Halves halves_of(int lanes, int width, int lanes_of_run, bool is_pair) {
  const int run = width > lanes_of_run ? lanes : std::min(lanes, lanes_of_run);
  Halves out;
  for (int first = 0; first < lanes; first += run)
    for (int which = 0; which < (is_pair ? 2 : 1); ++which)
      for (int segment = first; segment < first + run; segment += width) {
        out.of.push_back(static_cast<size_t>((which * lanes + segment) / width));
        for (int i = 0; i < width / 2; ++i) {
          out.low.push_back(which * lanes + segment + i);
          out.high.push_back(which * lanes + segment + width / 2 + i);
        }
      }
  return out;
}

}  // namespace

/// Pairs of vectors become one each time, which has a sum of both in every operation.
Value* Operations::folded_together(const tile::Reduce& r, std::vector<Value*> all) {
  auto& b = c_.f.b;
  const size_t count = all.size();
  const auto* type = llvm::cast<llvm::FixedVectorType>(all[0]->getType());
  const int lanes_of_run = static_cast<int>(128 / type->getScalarSizeInBits());
  int lanes = static_cast<int>(type->getNumElements());
  all.resize(std::bit_ceil(count), all.back());
  std::vector<std::vector<size_t>> of;  // of each vector, which sums its segments are
  for (size_t i = 0; i < all.size(); ++i) of.push_back({i});
  for (int width = lanes; width > 1; width /= 2) {
    const bool are_pairs = all.size() > 1;
    const Halves halves = halves_of(lanes, width, lanes_of_run, are_pairs);
    std::vector<Value*> next;
    std::vector<std::vector<size_t>> next_of;
    for (size_t i = 0; i < all.size(); i += are_pairs ? 2 : 1) {
      Value *const x = all[i], *const y = are_pairs ? all[i + 1] : llvm::PoisonValue::get(x->getType());
      next.push_back(
          combined(r, b.CreateShuffleVector(x, y, halves.low), b.CreateShuffleVector(x, y, halves.high)));
      std::vector<size_t> both = of[i];
      if (are_pairs) both.insert(both.end(), of[i + 1].begin(), of[i + 1].end());
      next_of.emplace_back();
      for (const size_t segment : halves.of) next_of.back().push_back(both[segment]);
    }
    if (!are_pairs) lanes /= 2;
    all = std::move(next);
    of = std::move(next_of);
  }
  std::vector<int> places;
  for (size_t i = 0; i < count; ++i)
    places.push_back(static_cast<int>(std::find(of[0].begin(), of[0].end(), i) - of[0].begin()));
  return b.CreateShuffleVector(all[0], places);
}

Value* Operations::folded(const tile::Reduce& r, const std::vector<Value*>& all) {
  auto& b = c_.f.b;
  const auto* type = llvm::dyn_cast<llvm::FixedVectorType>(all[0]->getType());
  const size_t lanes = type ? type->getNumElements() : 1;
  const bool are_alike =
      std::all_of(all.begin(), all.end(), [&](Value* one) { return one->getType() == all[0]->getType(); });
  const bool is_of_bits = all[0]->getType()->getScalarType()->isIntegerTy(1);
  if (are_alike && lanes > 1 && std::has_single_bit(lanes) && !is_of_bits) {
    std::vector<Value*> parts;
    for (size_t first = 0; first < all.size(); first += lanes)
      parts.push_back(folded_together(
          r, {all.begin() + static_cast<std::ptrdiff_t>(first),
              all.begin() + static_cast<std::ptrdiff_t>(std::min(all.size(), first + lanes))}));
    return llvm::concatenateVectors(b, parts);
  }
  Value* out = llvm::PoisonValue::get(c_.a.type_of(computed_as(r.in), static_cast<unsigned>(all.size())));
  for (size_t i = 0; i < all.size(); ++i) out = b.CreateInsertElement(out, folded(r, all[i]), i);
  return out;
}

Operations::Parts Operations::parts_of(const tile::Reduce& r, Substitution labels,
                                       const std::vector<Var>& summed) {
  const tile::Tile& from = c_.p.tiles[r.from.tile];
  const tile::Places& places = c_.places(r.from.tile);
  for (auto& [label, value] : labels) value = c_.threads.in_first(value);
  const auto extent_of = [&](Var label) {
    return from.shape[static_cast<size_t>(std::find(r.from.labels.begin(), r.from.labels.end(), label) -
                                          r.from.labels.begin())];
  };
  Parts parts;
  const std::function<void(size_t)> next = [&](size_t i) {
    if (i < summed.size()) {
      for (int64_t k = 0; k < extent_of(summed[i]); ++k) labels[summed[i]] = Dim(k), next(i + 1);
      return;
    }
    int64_t x = 0;
    for (size_t a = 0; a < from.shape.size(); ++a)
      x = x * from.shape[a] + *labels.at(r.from.labels[a]).constant();
    parts[places.of(x)[0].holder].push_back(x);
  };
  next(0);
  return parts;
}

namespace {

/// The bits in which the lanes of the holders differ, where these are all that differ in no other bits; from
/// the highest.
std::vector<unsigned> lane_bits(const std::map<int64_t, std::vector<int64_t>>& holders) {
  std::set<unsigned> lanes;
  for (const auto& [holder, elements] : holders) lanes.insert(static_cast<unsigned>(tile::lane_of(holder)));
  std::vector<unsigned> bits;
  for (unsigned bit = tile::most_lanes / 2; bit > 0; bit /= 2)
    if (lanes.contains(bit)) bits.push_back(bit);
  if (lanes.size() != size_t{1} << bits.size()) base::bug("module::tiles", "a sum over a part of a warp");
  return bits;
}

}  // namespace

/// A thread sums its elements in each lane of a register; then threads exchange the sums: each gets the same,
/// since the order of two operands makes no difference.
Value* Operations::in_threads(const tile::Reduce& r, const Lanes& lanes, const std::vector<Var>& summed) {
  auto& b = c_.f.b;
  const Elem from = c_.p.tiles[r.from.tile].elem;
  Value* out =
      lanes.size() == 1 ? nullptr : llvm::PoisonValue::get(c_.a.type_of(computed_as(r.in), lanes.size()));
  for (unsigned l = 0; l < lanes.size(); ++l) {
    const Parts parts = parts_of(r, lanes.labels[l], summed);
    std::vector<Value*> sums;  // by lane of a register
    for (const auto& [holder, elements] : parts) {
      if (holder >= tile::most_vector_lanes) break;
      Value*& sum = sums.emplace_back();
      for (const int64_t x : elements) {
        Value* next =
            c_.a.cast(registers_.gathered(r.from.tile, {x}, {static_cast<unsigned>(holder)}), from, r.in);
        sum = sum ? combined(r, sum, next) : next;
      }
    }
    for (const unsigned bit : lane_bits(parts))
      for (Value*& sum : sums) sum = combined(r, sum, c_.threads.exchanged(sum, bit));
    while (sums.size() > 1) {
      if (sums.size() % 2 == 1) {
        sums[sums.size() - 2] = combined(r, sums[sums.size() - 2], sums.back());
        sums.pop_back();
      }
      for (size_t i = 0; i < sums.size() / 2; ++i) sums[i] = combined(r, sums[i], sums[i + sums.size() / 2]);
      sums.resize(sums.size() / 2);
    }
    out = out ? b.CreateInsertElement(out, sums[0], l) : sums[0];
  }
  return out;
}

/// Each lane sums what its holders have, and folds them where there are several.
Value* Operations::in_registers(const tile::Reduce& r, const Lanes& lanes, const std::vector<Var>& summed) {
  if (c_.threads.are_several()) return in_threads(r, lanes, summed);
  auto& b = c_.f.b;
  const tile::Tile& from = c_.p.tiles[r.from.tile];
  std::vector<Parts> all;
  bool one_each = true;
  for (const Substitution& labels : lanes.labels)
    one_each &= all.emplace_back(parts_of(r, labels, summed)).size() == 1;
  const auto gathered = [&](const std::vector<int64_t>& elements, const std::vector<unsigned>& own) {
    return c_.a.cast(registers_.gathered(r.from.tile, elements, own), from.elem, r.in);
  };
  if (one_each) {
    Value* sum = nullptr;
    for (size_t k = 0; k < all[0].begin()->second.size(); ++k) {
      std::vector<int64_t> elements;
      for (const Parts& parts : all) elements.push_back(parts.begin()->second[k]);
      Value* next = gathered(elements, lanes.own);
      sum = sum ? combined(r, sum, next) : next;
    }
    return sum;
  }
  std::map<std::vector<int64_t>, size_t> known;
  std::vector<Value*> sums;   // of the different sets of elements, what each holder has
  std::vector<int> of_lanes;  // which of these
  for (unsigned l = 0; l < lanes.size(); ++l) {
    std::vector<unsigned> own;
    size_t most = 0;
    for (const auto& [holder, elements] : all[l])
      own.push_back(static_cast<unsigned>(holder)), most = std::max(most, elements.size());
    const auto [found, fresh] = known.try_emplace(all[l].begin()->second, sums.size());
    of_lanes.push_back(static_cast<int>(found->second));
    if (!fresh) continue;
    Value*& one = sums.emplace_back(nullptr);
    for (size_t k = 0; k < most; ++k) {
      std::vector<int64_t> elements;
      std::vector<llvm::Constant*> has;
      for (const auto& [holder, list] : all[l]) {
        elements.push_back(list[std::min(k, list.size() - 1)]);
        has.push_back(b.getInt1(k < list.size()));
      }
      Value* next = gathered(elements, own);
      one = one ? b.CreateSelect(llvm::ConstantVector::get(has), combined(r, one, next), one) : next;
    }
  }
  if (sums.size() > 1) return b.CreateShuffleVector(folded(r, sums), of_lanes);
  Value* const one = folded(r, sums[0]);
  return lanes.size() == 1 ? one : b.CreateVectorSplat(lanes.size(), one);
}

/// One element after the other.
Value* Operations::in_order(const tile::Op& op, const tile::Reduce& r, const Lanes& lanes,
                            const std::vector<Var>& summed) {
  auto& b = c_.f.b;
  llvm::AllocaInst* sum = c_.f.variable(c_.a.type_of(computed_as(r.in), lanes.size()), "sum");
  b.CreateStore(neutral(r.monoid, r.in, lanes.size()), sum);
  each_in_order(c_, summed, extents_of_labels(c_.p, op), labels_of_registers(c_.p, c_.views, op),
                bounds_of(c_.p, c_.views, op), 8, [&](const Substitution& at) {
                  Value* so_far = b.CreateLoad(sum->getAllocatedType(), sum);
                  b.CreateStore(combined(r, so_far, read_as(r.from, r.in, with(lanes, at))), sum);
                });
  return b.CreateLoad(sum->getAllocatedType(), sum);
}

/// A vector along the last label, where the order makes no difference; several where they are many.
Value* Operations::in_any_order(const tile::Op& op, const tile::Reduce& r, const Lanes& one,
                                const std::vector<Var>& summed) {
  auto& b = c_.f.b;
  const Var last = summed.back();
  auto extents = extents_of_labels(c_.p, op);
  const int64_t extent = extents.at(last);
  const int64_t lanes =
      std::min<int64_t>(extent, c_.f.level.vector_bytes / base::elem_bytes(computed_as(r.in)));
  const Var chunk = shape::fresh_var(shape::var_name(last)), lane = shape::fresh_var("lane");
  std::vector<Var> labels(summed.begin(), summed.end() - 1);
  std::vector<Fact> bounds;
  for (const Fact& fact : bounds_of(c_.p, c_.views, op))
    bounds.push_back(substituted(fact, {{last, Dim(chunk) * lanes + Dim(lane)}}));
  const auto values = [&](Substitution at, const Dim& first, int64_t count) {
    Lanes many;
    many.width = static_cast<unsigned>(count);
    for (int64_t l = 0; l < count; ++l) {
      many.labels.push_back(one.labels[0]);
      many.labels.back().insert(at.begin(), at.end());
      many.labels.back()[last] = first + l;
      many.own.push_back(static_cast<unsigned>(l));
    }
    return read_as(r.from, r.in, many);
  };
  const auto add_to = [&](llvm::AllocaInst* sum, Value* next) {
    b.CreateStore(combined(r, b.CreateLoad(sum->getAllocatedType(), sum), next), sum);
  };
  const auto sum_of = [&](int64_t width) {
    llvm::AllocaInst* sum =
        c_.f.variable(c_.a.type_of(computed_as(r.in), static_cast<unsigned>(width)), "sum");
    b.CreateStore(neutral(r.monoid, r.in, static_cast<unsigned>(width)), sum);
    return sum;
  };
  constexpr int64_t chains = 4;
  std::vector<llvm::AllocaInst*> sums;
  for (int64_t i = 0; i < std::min(chains, extent / lanes); ++i) sums.push_back(sum_of(lanes));
  llvm::AllocaInst* rest = sum_of(extent % lanes == 0 ? 1 : extent % lanes);
  labels.push_back(chunk);
  extents.erase(last);
  extents[chunk] = extent / lanes;
  extents[lane] = lanes;
  each_in_order(c_, labels, extents, {}, bounds, chains, [&](const Substitution& at) {
    const int64_t which = shape::constant_part(at.at(chunk)) % static_cast<int64_t>(sums.size());
    add_to(sums[static_cast<size_t>(which)], values(at, at.at(chunk) * lanes, lanes));
  });
  labels.pop_back();
  if (extent % lanes != 0)
    each_in_order(c_, labels, extents, {}, {}, chains, [&](const Substitution& at) {
      add_to(rest, values(at, extent - extent % lanes, extent % lanes));
    });
  Value* all = nullptr;
  for (llvm::AllocaInst* sum : sums) {
    Value* one_sum = b.CreateLoad(sum->getAllocatedType(), sum);
    all = all ? combined(r, all, one_sum) : one_sum;
  }
  all = folded(r, all);
  if (extent % lanes == 0) return all;
  return combined(r, all, folded(r, b.CreateLoad(rest->getAllocatedType(), rest)));
}

Value* Operations::reduced(const tile::Op& op, const tile::Reduce& r, const Lanes& lanes) {
  const auto summed = summed_labels(r.to, {&r.from});
  if (c_.p.tiles[r.from.tile].space == Space::registers) return in_registers(r, lanes, summed);
  const bool alike = std::all_of(lanes.labels.begin(), lanes.labels.end(), [&](const Substitution& labels) {
    return std::all_of(r.to.labels.begin(), r.to.labels.end(),
                       [&](Var v) { return labels.at(v) == lanes.labels[0].at(v); });
  });
  if (!alike || summed.empty()) return in_order(op, r, lanes, summed);
  // What comes of all lanes alike is computed once.
  const Lanes one{{lanes.labels[0]}, {0}, 1};
  const bool free = !base::is_float(r.in) || r.monoid == Pointwise::min || r.monoid == Pointwise::max;
  const auto numbered = labels_of_registers(c_.p, c_.views, op);
  const bool pinned = std::any_of(summed.begin(), summed.end(), [&](Var v) { return numbered.contains(v); });
  Value* sum = free && !pinned ? in_any_order(op, r, one, summed) : in_order(op, r, one, summed);
  return lanes.size() == 1 ? sum : c_.f.b.CreateVectorSplat(lanes.size(), sum);
}

/// In steps of 1, 2, 4, .. lanes; lanes without one so many before them stay as they are.
Value* Operations::scanned(const tile::Scan& s, Value* vector) {
  auto& b = c_.f.b;
  const int lanes = static_cast<int>(llvm::cast<llvm::FixedVectorType>(vector->getType())->getNumElements());
  Value* const nothing = neutral(s.monoid, s.in, static_cast<unsigned>(lanes));
  for (int step = 1; step < lanes; step *= 2) {
    std::vector<int> earlier;
    for (int l = 0; l < lanes; ++l) earlier.push_back(l < step ? lanes + l : l - step);
    vector =
        c_.a.combined(s.monoid, computed_as(s.in), b.CreateShuffleVector(vector, nothing, earlier), vector);
  }
  return vector;
}

void Operations::emit(const tile::Op&, const tile::Scan& s) {
  auto& b = c_.f.b;
  const auto lanes = static_cast<unsigned>(tile::lanes_of_scan(c_.p, s));
  const Elem from = c_.p.tiles[s.from.tile].elem, to = c_.p.tiles[s.to.tile].elem;
  Value* before = nullptr;
  if (s.start) {
    Value* const start =
        c_.a.cast(registers_.gathered(s.start->tile, {0}, {0}), c_.p.tiles[s.start->tile].elem, s.in);
    before = b.CreateVectorSplat(lanes, start);
  }
  for (int64_t r = 0; r < registers_.count(s.from.tile); ++r) {
    Value* const own = scanned(s, c_.a.cast(registers_.get(s.from.tile, r), from, s.in));
    Value* const all = before ? c_.a.combined(s.monoid, computed_as(s.in), before, own) : own;
    registers_.set(s.to.tile, r, c_.a.cast(all, s.in, to));
    const std::vector<int> last(lanes, static_cast<int>(lanes) - 1);
    Value* const total = b.CreateShuffleVector(own, last);
    before = before ? c_.a.combined(s.monoid, computed_as(s.in), before, total) : total;
  }
}

void Operations::emit(const tile::Op& op, const tile::Reduce& r) {
  assign(op, r.to, [&](const Lanes& lanes) { return reduced(op, r, lanes); });
}

}  // namespace axon::module::tiles
