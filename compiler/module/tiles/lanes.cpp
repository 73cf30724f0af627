// See lanes.h.
#include "module/tiles/lanes.h"

#include <algorithm>

namespace axon::module::tiles {

std::optional<std::vector<int64_t>> steps(const std::vector<Dim>& values) {
  std::vector<int64_t> out;
  for (const Dim& d : values) {
    const auto step = (d - values.front()).constant();
    if (!step) return std::nullopt;
    out.push_back(*step);
  }
  return out;
}

Value* numbers(Context& c, const std::vector<Dim>& values, llvm::Type* integer) {
  auto& b = c.f.b;
  const auto narrow = [&](const Dim& d) { return b.CreateIntCast(c.value(d), integer, true); };
  if (values.size() == 1) return narrow(values[0]);
  if (const auto all = steps(values)) {
    Value* first = b.CreateVectorSplat(static_cast<unsigned>(values.size()), narrow(values[0]));
    std::vector<llvm::Constant*> more;
    for (const int64_t step : *all) more.push_back(llvm::ConstantInt::getSigned(integer, step));
    return b.CreateAdd(first, llvm::ConstantVector::get(more));
  }
  const auto all_of = [&](const auto& number_in) {
    Value* out =
        llvm::PoisonValue::get(llvm::FixedVectorType::get(integer, static_cast<unsigned>(values.size())));
    for (size_t i = 0; i < values.size(); ++i) out = b.CreateInsertElement(out, narrow(number_in(i)), i);
    return out;
  };
  // Steps of a size are the same in all iterations of a loop.
  const Dim step = values[1] - values[0];
  const auto moved = [&](size_t i) { return step * static_cast<int64_t>(i); };
  bool are_even = true;
  for (size_t i = 0; i < values.size(); ++i) are_even &= values[i] - values[0] == moved(i);
  if (!are_even) return all_of([&](size_t i) { return values[i]; });
  return b.CreateAdd(b.CreateVectorSplat(static_cast<unsigned>(values.size()), narrow(values[0])),
                     all_of(moved));
}

namespace {

Value* compared_in_full(Context& c, const std::vector<Dim>& values, llvm::CmpInst::Predicate predicate) {
  Value* wide = numbers(c, values, c.f.b.getInt64Ty());
  return c.f.b.CreateICmp(predicate, wide, llvm::Constant::getNullValue(wide->getType()));
}

/// Are all values non-negative where the first one is? The others are less by up to what it is more than a
/// multiple.
bool are_alike(Context& c, const Dim& first, const std::vector<int64_t>& steps) {
  const int64_t least = *std::min_element(steps.begin(), steps.end()), of = 1 - least;
  const int64_t most = *std::max_element(steps.begin(), steps.end());
  return c.is_aligned && steps[0] == 0 && most == 0 && c.is_multiple(first + 1, of);
}

bool fall_by_one(const std::vector<int64_t>& steps) {
  for (size_t i = 0; i < steps.size(); ++i)
    if (steps[i] != -static_cast<int64_t>(i)) return false;
  return true;
}

/// Which lanes of a value are not negative, or are zero.
Mask holding(Context& c, const std::vector<Dim>& values, llvm::CmpInst::Predicate predicate) {
  auto& b = c.f.b;
  const auto all = steps(values);
  if (all && (std::all_of(all->begin(), all->end(), [](int64_t s) { return s == 0; }) ||
              (predicate == llvm::CmpInst::ICMP_SGE && are_alike(c, values[0], *all))))
    return {b.CreateICmp(predicate, c.value(values[0]), c.f.i64(0)), nullptr, nullptr};
  if (!all) return {nullptr, compared_in_full(c, values, predicate), nullptr};
  // Far from zero all lanes are alike, so 32 bits say as much. What registers differ in is in the constants.
  constexpr int64_t far = 1 << 30;
  const int64_t constant = shape::constant_part(values[0]);
  if (std::abs(constant) > far / 2) return {nullptr, compared_in_full(c, values, predicate), nullptr};
  Value* rest = b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, c.value(values[0] - constant), c.f.i64(far));
  rest = b.CreateTrunc(b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, rest, c.f.i64(-far)), b.getInt32Ty());
  std::vector<llvm::Constant*> least;
  for (const int64_t step : *all)
    least.push_back(llvm::ConstantInt::getSigned(b.getInt32Ty(), -step - constant));
  Mask out;
  out.each = b.CreateICmp(predicate, b.CreateVectorSplat(static_cast<unsigned>(values.size()), rest),
                          llvm::ConstantVector::get(least));
  if (predicate == llvm::CmpInst::ICMP_SGE && fall_by_one(*all) && !c.threads.are_several())
    out.end = b.CreateAdd(rest, b.getInt32(static_cast<uint32_t>(constant + 1)));
  return out;
}

}  // namespace

Mask both(Context& c, const Mask& x, const Mask& y) {
  const auto one = [&](Value* a, Value* b) { return !a ? b : !b ? a : c.f.b.CreateAnd(a, b); };
  Mask out{one(x.whole, y.whole), one(x.each, y.each), nullptr};
  const bool ends = (!x.each || x.end) && (!y.each || y.end);
  if (ends && x.each && y.each)
    out.end = c.f.b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, x.end, y.end);
  else if (ends)
    out.end = x.each ? x.end : y.end;
  return out;
}

Mask mask_of(Context& c, const std::vector<Fact>& facts, const Lanes& lanes) {
  Mask out;
  for (const Fact& fact : facts) {
    const bool differs = fact.relation == shape::Relation::ne;
    const auto wanted = differs ? std::optional(std::vector<Dim>{fact.rhs - fact.lhs}) : nonnegatives(fact);
    for (const Dim& d : *wanted) {
      std::vector<Dim> values;
      for (const Substitution& labels : lanes.labels) values.push_back(d.substitute(labels));
      const bool known = std::all_of(values.begin(), values.end(), [&](const Dim& value) {
        return differs ? c.known.nonnegative(value - 1) || c.known.nonnegative(-value - 1)
                       : c.known.nonnegative(value);
      });
      if (known) continue;
      out = both(c, out, holding(c, values, differs ? llvm::CmpInst::ICMP_NE : llvm::CmpInst::ICMP_SGE));
    }
  }
  return out;
}

bool are_outside(Context& c, const std::vector<Fact>& facts, const Lanes& lanes) {
  if (!c.rows) return false;
  return std::any_of(facts.begin(), facts.end(), [&](const Fact& fact) {
    const auto wanted = nonnegatives(fact);
    return wanted && std::any_of(wanted->begin(), wanted->end(), [&](const Dim& d) {
             return std::all_of(lanes.labels.begin(), lanes.labels.end(), [&](const Substitution& labels) {
               return c.known.nonnegative(-d.substitute(labels) - 1);
             });
           });
  });
}

Value* as_vector(Context& c, const Mask& mask, unsigned lanes) {
  if (lanes == 1 || !mask.whole) return mask.each ? mask.each : mask.whole;
  Value* whole = c.f.b.CreateVectorSplat(lanes, mask.whole);
  return mask.each ? c.f.b.CreateAnd(whole, mask.each) : whole;
}

Value* in_lane(Context& c, const Mask& mask, unsigned lane) {
  if (!mask.each) return mask.whole;
  Value* each = mask.each->getType()->isVectorTy() ? c.f.b.CreateExtractElement(mask.each, lane) : mask.each;
  return mask.whole ? c.f.b.CreateAnd(mask.whole, each) : each;
}

Value* widened(Context& c, Value* value, const std::vector<unsigned>& lanes, unsigned width) {
  if (width == 1 || lanes.size() == width) return value;
  if (lanes.size() == 1)
    return c.f.b.CreateInsertElement(
        llvm::PoisonValue::get(llvm::FixedVectorType::get(value->getType(), width)), value, lanes[0]);
  std::vector<int> mask(width, -1);
  for (size_t i = 0; i < lanes.size(); ++i) mask[lanes[i]] = static_cast<int>(i);
  return c.f.b.CreateShuffleVector(value, mask);
}

}  // namespace axon::module::tiles
