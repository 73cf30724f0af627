// Interval arithmetic of exact.h.
#include "shape/exact.h"

#include <algorithm>

namespace axon::shape {
namespace {

Wide magnitude(const WideRange& r) { return std::max(-r.low, r.high); }

std::optional<WideRange> times(const WideRange& a, const WideRange& b) {
  WideRange out;
  bool first = true;
  for (Wide x : {a.low, a.high})
    for (Wide y : {b.low, b.high}) {
      Wide product;
      if (__builtin_mul_overflow(x, y, &product)) return std::nullopt;
      out = first ? WideRange{product, product}
                  : WideRange{std::min(out.low, product), std::max(out.high, product)};
      first = false;
    }
  return out;
}

class Ranges {
 public:
  Ranges(const std::function<WideRange(Var)>& of, Wide most_of_products)
      : of_(of), most_of_products_(most_of_products) {}

  std::optional<WideRange> sum(const Dim& d) const {
    if (overflowed(d)) return std::nullopt;
    WideRange whole, partial;  // of all terms, and of any of them
    for (const Term& term : d.terms()) {
      const auto part = product(term);
      if (!part) return std::nullopt;
      whole = {whole.low + part->low, whole.high + part->high};
      partial = {partial.low + std::min<Wide>(part->low, 0), partial.high + std::max<Wide>(part->high, 0)};
      if (!partial.inside(integer_range())) return std::nullopt;
    }
    return whole;
  }

 private:
  /// Of several factors one that is 0 does not excuse the others: they may be multiplied before it.
  std::optional<WideRange> product(const Term& term) const {
    WideRange sizes{1, 1}, out{term.coefficient, term.coefficient};
    Wide most_of_sizes = 1, most = magnitude(out);
    size_t count = 0;
    const bool alone = term.coefficient == 1 && term.factors.size() == 1;
    for (const Atom& factor : term.factors) {
      const auto range = atom(factor);
      if (!range || alone) return range;
      const Wide at_most = std::max<Wide>(magnitude(*range), 1);
      if (range->inside(size_range())) {
        const auto both = times(sizes, *range);
        if (!both) return std::nullopt;
        sizes = *both;
        most_of_sizes *= at_most;
        if (++count > 1) {
          sizes = {0, std::min<Wide>(sizes.high, most_of_products_)};
          most_of_sizes = std::min<Wide>(most_of_sizes, most_of_products_);
        }
      } else {
        const auto both = times(out, *range);
        if (!both) return std::nullopt;
        out = *both;
        most *= at_most;
      }
      if (most > INT64_MAX / most_of_sizes) return std::nullopt;
    }
    return times(out, sizes);
  }

  std::optional<WideRange> atom(const Atom& a) const {
    if (a.kind() == AtomKind::var) return of_(a.var());
    const auto lhs = sum(a.lhs()), rhs = sum(a.rhs());
    if (!lhs || !rhs) return std::nullopt;
    switch (a.kind()) {
      case AtomKind::var:
        break;
      case AtomKind::min:
        return WideRange{std::min(lhs->low, rhs->low), std::min(lhs->high, rhs->high)};
      case AtomKind::max:
        return WideRange{std::max(lhs->low, rhs->low), std::max(lhs->high, rhs->high)};
      case AtomKind::floor_div: {
        if (rhs->low >= 0) return WideRange{std::min<Wide>(lhs->low, 0), std::max<Wide>(lhs->high, 0)};
        const WideRange either{-magnitude(*lhs), magnitude(*lhs)};  // the least integer / -1 is too large
        return either.inside(integer_range()) ? std::optional(either) : std::nullopt;
      }
      case AtomKind::mod: {
        WideRange out{std::min<Wide>(rhs->low + 1, 0), std::max<Wide>(rhs->high - 1, 0)};
        if (lhs->low >= 0 && rhs->low >= 0) out.high = std::min(out.high, lhs->high);
        return out;
      }
    }
    return std::nullopt;
  }

  const std::function<WideRange(Var)>& of_;
  Wide most_of_products_;
};

}  // namespace

WideRange integer_range() { return {INT64_MIN, INT64_MAX}; }
WideRange size_range() { return {0, largest_size}; }

std::optional<WideRange> exact_range(const Dim& d, const std::function<WideRange(Var)>& of,
                                     Wide most_of_products) {
  return Ranges(of, most_of_products).sum(d);
}

}  // namespace axon::shape
