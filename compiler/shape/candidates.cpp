// See candidates.h.
#include "shape/candidates.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace axon::shape {
namespace {

constexpr int64_t largest_step = int64_t{1} << 60;
/// Divisors are found by division by all numbers up to this; what has two larger prime factors has none here.
constexpr int64_t largest_divisor_tried = int64_t{1} << 20;
constexpr size_t most_divisors = 4096;
/// Fewer values than these are tried one by one.
constexpr int64_t few = 64;

int64_t positive_remainder(Wide value, int64_t modulus) {
  const Wide rest = value % modulus;
  return static_cast<int64_t>(rest < 0 ? rest + modulus : rest);
}

/// x with a * x = 1 modulo m, for a and m without a common factor.
int64_t inverse(int64_t a, int64_t m) {
  Wide r = m, next_r = positive_remainder(a, m), t = 0, next_t = 1;
  while (next_r != 0) {
    const Wide q = r / next_r;
    r = std::exchange(next_r, r - q * next_r);
    t = std::exchange(next_t, t - q * next_t);
  }
  return positive_remainder(t, m);
}

/// The v with a * v + b = 0 modulo m > 0.
std::optional<Congruence> solved(int64_t a, int64_t b, int64_t m) {
  a = positive_remainder(a, m);
  b = positive_remainder(b, m);
  const int64_t g = std::gcd(a, m);
  if (b % g != 0) return std::nullopt;
  const int64_t step = m / g;
  if (step == 1) return Congruence{};
  return Congruence{step, positive_remainder(-(Wide{b} / g) * inverse(a / g, step), step)};
}

bool is_variable(const Term& term, Var v) {
  return term.factors.size() == 1 && term.factors[0].kind() == AtomKind::var && term.factors[0].var() == v;
}

/// The v for which `dim`, an integer, is 0 modulo `modulus`; of an equality, where that is 0, modulo what all
/// terms but those of v alone have in common.
std::optional<Congruence> where_zero(const Dim& dim, int64_t modulus, Var v) {
  int64_t a = 0, b = 0;
  for (const Term& term : dim.terms()) {
    if (term.coefficient == INT64_MIN) return Congruence{};
    if (term.factors.empty())
      b = term.coefficient;
    else if (is_variable(term, v))
      a = term.coefficient;
    else
      modulus = std::gcd(modulus, term.coefficient);
  }
  if (modulus <= 1 || modulus > largest_step) return Congruence{};
  return solved(a, b, modulus);
}

/// Its divisors, sorted; nothing where they are too many, or take too long to find.
std::optional<std::vector<int64_t>> divisors_of(int64_t number, size_t& work) {
  std::vector<int64_t> all = {1};
  const auto multiply = [&](int64_t prime, int powers) {
    const size_t before = all.size();
    int64_t power = 1;
    for (int i = 0; i < powers; ++i) {
      power *= prime;
      for (size_t at = 0; at < before; ++at) all.push_back(all[at] * power);
    }
  };
  for (int64_t p = 2; p <= number / p; ++p) {
    if (p > largest_divisor_tried) return std::nullopt;
    ++work;
    int powers = 0;
    for (; number % p == 0; ++powers) number /= p;
    multiply(p, powers);
    if (all.size() > most_divisors) return std::nullopt;
  }
  if (number > 1) multiply(number, 1);
  std::sort(all.begin(), all.end());
  return all;
}

}  // namespace

std::optional<Congruence> in_both(const Congruence& a, const Congruence& b) {
  const int64_t g = std::gcd(a.step, b.step);
  if ((b.first - a.first) % g != 0) return std::nullopt;
  const Wide step = Wide{a.step} / g * b.step;
  if (step > largest_step) return a.step > b.step ? a : b;
  const int64_t rest = b.step / g;
  const int64_t times =
      rest == 1 ? 0 : positive_remainder(Wide{(b.first - a.first) / g} * inverse(a.step / g, rest), rest);
  return Congruence{static_cast<int64_t>(step),
                    static_cast<int64_t>((a.first + Wide{a.step} * times) % step)};
}

std::optional<Congruence> congruence_of(const Fact& fact, Var v) {
  if (fact.relation != Relation::eq) return Congruence{};
  const Dim difference = fact.lhs - fact.rhs;
  if (overflowed(difference)) return Congruence{};
  for (const Dim& side : {difference, -difference}) {
    // p % k == r is p - r = 0 modulo k
    const auto alone = as_atom_plus_constant(side);
    if (!alone || alone->atom.kind() != AtomKind::mod) continue;
    const auto k = alone->atom.rhs().constant();
    if (!k || *k <= 0) continue;
    if (alone->constant > 0 || alone->constant <= -*k) return std::nullopt;
    const Dim rest = alone->atom.lhs() + alone->constant;
    return overflowed(rest) ? Congruence{} : where_zero(rest, *k, v);
  }
  return where_zero(difference, 0, v);
}

/// Of v * p + c == 0, v divides c.
void Candidates::divide(const Fact& fact, Var v) {
  if (fact.relation != Relation::eq || divisors_) return;
  const Dim difference = fact.lhs - fact.rhs;
  int64_t constant = 0;
  for (const Term& term : difference.terms()) {
    if (term.factors.empty()) {
      constant = term.coefficient;
      continue;
    }
    const bool has_it = std::any_of(term.factors.begin(), term.factors.end(), [&](const Atom& factor) {
      return factor.kind() == AtomKind::var && factor.var() == v;
    });
    if (!has_it) return;
  }
  if (constant == 0 || constant == INT64_MIN || overflowed(difference)) return;
  divisors_ = divisors_of(constant < 0 ? -constant : constant, work_);
}

Candidates::Candidates(const std::vector<Fact>& facts, Var v, const Range& range) : range_(range) {
  range_.low = std::max<int64_t>(0, range.low.value_or(0));
  range_.high = std::min(largest_candidate, range.high.value_or(INT64_MAX));
  is_cut_ = range.high.value_or(INT64_MAX) > largest_candidate;
  for (const Fact& fact : facts) {
    const auto own = congruence_of(fact, v);
    const auto both = own ? in_both(congruence_, *own) : std::nullopt;
    none_ |= !both;
    is_cut_ &= !none_;
    if (none_) return;
    congruence_ = *both;
  }
  if (*range_.high - *range_.low < few) return;
  for (const Fact& fact : facts) divide(fact, v);
  is_cut_ &= !divisors_ || divisors_->back() > largest_candidate;
}

std::optional<int64_t> Candidates::at_least(int64_t from) const {
  int64_t value = std::max(from, *range_.low);
  const auto allowed = [&] { return !none_ && value <= *range_.high; };
  if (!allowed()) return std::nullopt;
  if (!divisors_) {
    value += positive_remainder(Wide{congruence_.first} - value, congruence_.step);
    return allowed() ? std::optional(value) : std::nullopt;
  }
  for (auto at = std::lower_bound(divisors_->begin(), divisors_->end(), value); at != divisors_->end();
       ++at) {
    value = *at;
    if (!allowed()) return std::nullopt;
    if (value % congruence_.step == congruence_.first) return value;
  }
  return std::nullopt;
}

}  // namespace axon::shape
