// The operators that stay as atoms: floor division, remainder, min and max, each brought to normal form.
//
// Every rewrite here holds for all integers for which the left side is defined (rules.def states them, and a
// test has each proved). Nothing is assumed of the sign of a symbolic divisor, and a divisor that may be zero
// is never cancelled: that needs facts and is done by simplify().
#include <algorithm>
#include <numeric>

#include "shape/dim_node.h"

namespace axon::shape {

int64_t constant_part(const Dim& p) {
  return !p.terms().empty() && p.terms().back().factors.empty() ? p.terms().back().coefficient : 0;
}

namespace {

const Atom* single_atom(const Dim& dim) {
  if (dim.terms().size() != 1) return nullptr;
  const Term& term = dim.terms()[0];
  return term.coefficient == 1 && term.factors.size() == 1 ? &term.factors[0] : nullptr;
}

/// The greatest common divisor of all coefficients, INT64_MIN excluded (answers 1).
int64_t content(const Dim& dim) {
  int64_t divisor = 0;
  for (const Term& term : dim.terms()) {
    if (term.coefficient == INT64_MIN) return 1;
    divisor = std::gcd(divisor, term.coefficient);
  }
  return divisor;
}

Dim divide_exactly(const Dim& dim, int64_t divisor) {
  if (divisor == 1) return dim;
  std::vector<Term> terms = dim.terms();
  for (Term& term : terms) term.coefficient /= divisor;
  return make_dim(std::move(terms));
}

struct Split {
  Dim quotient, rest;
};
/// p = divisor * quotient + rest, coefficient by coefficient: the constant of the rest is in [0, divisor),
/// the other coefficients keep their sign, so that `(n - i) / 4` stays readable.
Split split_multiples(const Dim& p, int64_t divisor) {
  std::vector<Term> quotient, rest;
  for (const Term& term : p.terms()) {
    bool constant = term.factors.empty();
    int64_t high = constant ? floor_quotient(term.coefficient, divisor) : term.coefficient / divisor;
    int64_t low = constant ? floor_remainder(term.coefficient, divisor) : term.coefficient % divisor;
    if (high != 0) quotient.push_back({high, term.factors});
    if (low != 0) rest.push_back({low, term.factors});
  }
  if (quotient.empty()) return {Dim(), p};
  return {make_dim(std::move(quotient)), make_dim(std::move(rest))};
}

/// gcd of the divisor and the coefficients of all terms but the constant.
int64_t common_factor(const Dim& p, int64_t divisor) {
  for (const Term& term : p.terms())
    if (!term.factors.empty()) divisor = std::gcd(divisor, term.coefficient);
  return divisor;
}

Range static_range(const Atom& atom) {
  if (atom.kind() != AtomKind::mod) return {};
  auto modulus = atom.rhs().constant();
  if (!modulus || *modulus <= 0) return {};
  return {0, *modulus - 1};
}

bool has_mod(const Dim& p) {
  for (const Term& term : p.terms())
    for (const Atom& atom : term.factors)
      if (atom.kind() == AtomKind::mod) return true;
  return false;
}

// ---- Ranges ----

std::optional<int64_t> add_ends(std::optional<int64_t> a, std::optional<int64_t> b) {
  return a && b ? checked_add(*a, *b) : std::nullopt;
}
Range scale(const Range& range, int64_t factor) {
  auto end = [&](std::optional<int64_t> v) { return v ? checked_multiply(*v, factor) : std::nullopt; };
  if (factor == 0) return {0, 0};
  return factor > 0 ? Range{end(range.low), end(range.high)} : Range{end(range.high), end(range.low)};
}

Range multiply(const Range& a, const Range& b) {
  if (a.empty() || b.empty()) return {};
  if (a.low && a.high && *a.low == *a.high) return scale(b, *a.low);
  if (b.low && b.high && *b.low == *b.high) return scale(a, *b.low);
  if (a.high && *a.high <= 0) return scale(multiply(scale(a, -1), b), -1);
  if (b.high && *b.high <= 0) return scale(multiply(a, scale(b, -1)), -1);
  bool both_known = a.low && b.low;
  auto product = [](auto x, auto y) { return x && y ? checked_multiply(*x, *y) : std::nullopt; };
  if (both_known && *a.low >= 0 && *b.low >= 0) {
    auto low = product(a.low, b.low);  // an overflowing lower end is still not negative
    return {low ? *low : 0, product(a.high, b.high)};
  }
  if (!both_known || !a.high || !b.high) return {};
  std::optional<int64_t> corners[] = {product(a.low, b.low), product(a.low, b.high), product(a.high, b.low),
                                      product(a.high, b.high)};
  Range result{corners[0], corners[0]};
  for (auto corner : corners) {
    if (!corner) return {};
    result.low = std::min(*result.low, *corner);
    result.high = std::max(*result.high, *corner);
  }
  return result;
}

}  // namespace

Range range_of(const Dim& dim, const AtomRange& atom_range) {
  Range sum{0, 0};
  for (const Term& term : dim.terms()) {
    Range product{1, 1};
    for (size_t i = 0; i < term.factors.size(); ++i) {
      Range factor = atom_range(term.factors[i]);
      bool square = i + 1 < term.factors.size() && term.factors[i] == term.factors[i + 1];
      if (square) {
        factor = multiply(factor, factor);
        factor.low = std::max<int64_t>(factor.low.value_or(0), 0);
        ++i;
      }
      product = multiply(product, factor);
    }
    product = scale(product, term.coefficient);
    sum = {add_ends(sum.low, product.low), add_ends(sum.high, product.high)};
    if (!sum.low && !sum.high) return {};
  }
  return sum;
}

namespace {

/// p = grain * high + low, with `low` known to lie in one period of the grain: floor(low / grain) = shift.
struct Grains {
  int64_t grain;
  Dim high, low;
  int64_t shift;
};

std::optional<Grains> split_grains(const Dim& p, int64_t divisor, const AtomRange& range) {
  std::vector<int64_t> grains{divisor};
  for (const Term& term : p.terms())
    if (!term.factors.empty()) grains.push_back(std::gcd(divisor, term.coefficient));
  std::sort(grains.begin(), grains.end(), std::greater<>());
  grains.erase(std::unique(grains.begin(), grains.end()), grains.end());
  for (int64_t grain : grains) {
    if (grain <= 1) break;
    std::vector<Term> high, low;
    for (const Term& term : p.terms())
      (!term.factors.empty() && term.coefficient % grain == 0 ? high : low).push_back(term);
    if (high.empty() && grain != divisor) continue;
    Dim low_part = make_dim(std::move(low));
    Range low_range = range_of(low_part, range);
    if (!low_range.low || !low_range.high) continue;
    int64_t shift = floor_quotient(*low_range.low, grain);
    if (shift != floor_quotient(*low_range.high, grain)) continue;
    return Grains{grain, divide_exactly(make_dim(std::move(high)), grain), low_part, shift};
  }
  return std::nullopt;
}

Dim floor_div_positive(const Dim& p, int64_t divisor) {
  if (divisor == 1) return p;
  auto [quotient, rest] = split_multiples(p, divisor);
  if (rest.constant()) return quotient;  // it is in [0, divisor)
  if (quotient != Dim()) return quotient + floor_div_positive(rest, divisor);
  if (int64_t factor = common_factor(rest, divisor); factor > 1) {
    Dim reduced = divide_exactly(rest - constant_part(rest), factor);
    return floor_div_positive(reduced + floor_quotient(constant_part(rest), factor), divisor / factor);
  }
  if (has_mod(rest))
    if (auto decided = floor_div_by_range(rest, divisor, static_range)) return *decided;
  if (auto inner = as_atom_plus_constant(rest)) {
    int64_t by = inner->atom.kind() == AtomKind::var ? 0 : inner->atom.rhs().constant().value_or(0);
    if (inner->atom.kind() == AtomKind::floor_div && by > 0) {
      auto both = checked_multiply(by, divisor), shift = checked_multiply(by, inner->constant);
      if (both && shift) return floor_div_positive(inner->atom.lhs() + *shift, *both);
    }
    if (inner->atom.kind() == AtomKind::mod && by > 0 && by % divisor == 0 && inner->constant == 0)
      return mod(floor_div(inner->atom.lhs(), divisor), by / divisor);
  }
  return make_dim(make_atom(AtomKind::floor_div, rest, divisor));
}

/// Replaces `k*(x % m)` by `k*x` where the divisor divides k*m.
Dim open_inner_mods(const Dim& p, int64_t divisor) {
  std::vector<Term> kept;
  Dim opened;
  bool any = false;
  for (const Term& term : p.terms()) {
    auto inner = std::find_if(term.factors.begin(), term.factors.end(), [&](const Atom& atom) {
      if (atom.kind() != AtomKind::mod || atom.rhs().is(0)) return false;
      auto step = checked_multiply(content(atom.rhs()), term.coefficient);
      return step && *step % divisor == 0;
    });
    if (inner == term.factors.end()) {
      kept.push_back(term);
      continue;
    }
    std::vector<Atom> others = term.factors;
    others.erase(others.begin() + (inner - term.factors.begin()));
    opened = opened + monomial(term.coefficient, std::move(others)) * inner->lhs();
    any = true;
  }
  return any ? open_inner_mods(make_dim(std::move(kept)) + opened, divisor) : p;
}

Dim mod_positive(const Dim& p, int64_t divisor) {
  if (divisor == 1) return Dim();
  Dim rest = split_multiples(has_mod(p) ? open_inner_mods(p, divisor) : p, divisor).rest;
  if (rest.constant()) return rest;
  if (int64_t factor = common_factor(rest, divisor); factor > 1) {
    int64_t constant = constant_part(rest);
    Dim reduced = divide_exactly(rest - constant, factor) + floor_quotient(constant, factor);
    return Dim(factor) * mod_positive(reduced, divisor / factor) + floor_remainder(constant, factor);
  }
  if (has_mod(rest))
    if (auto decided = mod_by_range(rest, divisor, static_range)) return *decided;
  return make_dim(make_atom(AtomKind::mod, rest, divisor));
}

bool leads_negative(const Dim& dim) { return !dim.terms().empty() && dim.terms()[0].coefficient < 0; }

}  // namespace

std::optional<std::vector<Atom>> divide_factors(std::vector<Atom> factors, const std::vector<Atom>& divisor) {
  for (const Atom& atom : divisor) {
    auto at = std::find(factors.begin(), factors.end(), atom);
    if (at == factors.end()) return std::nullopt;
    factors.erase(at);
  }
  return factors;
}

Division divide_polynomial(const Dim& p, const Dim& q) {
  const Term& lead = q.terms()[0];
  Division result{Dim(), p};
  for (int step = 0; step < 64; ++step) {
    bool found = false;
    for (const Term& term : result.rest.terms()) {
      auto factors = divide_factors(term.factors, lead.factors);
      if (!factors || lead.coefficient == -1 || term.coefficient % lead.coefficient != 0) continue;
      Dim part = monomial(term.coefficient / lead.coefficient, std::move(*factors));
      result.quotient = result.quotient + part;
      result.rest = result.rest - part * q;
      found = true;
      break;
    }
    if (!found || overflowed(result.rest)) break;
  }
  return result;
}

std::optional<int64_t> constant_difference(const Dim& a, const Dim& b) {
  auto length = [](const Dim& dim) {
    const auto& terms = dim.terms();
    return terms.size() - (!terms.empty() && terms.back().factors.empty());
  };
  if (length(a) != length(b)) return std::nullopt;
  for (size_t i = 0; i < length(a); ++i) {
    const Term &left = a.terms()[i], &right = b.terms()[i];
    if (left.coefficient != right.coefficient || left.factors != right.factors) return std::nullopt;
  }
  int64_t difference;
  bool overflow = __builtin_sub_overflow(constant_part(a), constant_part(b), &difference);
  return overflow ? std::nullopt : std::optional(difference);
}

std::optional<AtomPlusConstant> as_atom_plus_constant(const Dim& p) {
  const auto& terms = p.terms();
  if (terms.empty() || terms.size() > 2 || (terms.size() == 2 && !terms[1].factors.empty()))
    return std::nullopt;
  if (terms[0].coefficient != 1 || terms[0].factors.size() != 1) return std::nullopt;
  return AtomPlusConstant{terms[0].factors[0], terms.size() == 2 ? terms[1].coefficient : 0};
}

std::optional<Dim> floor_div_by_range(const Dim& p, int64_t divisor, const AtomRange& range) {
  auto split = split_grains(p, divisor, range);
  if (!split) return std::nullopt;
  return floor_div(split->high + split->shift, divisor / split->grain);
}

std::optional<Dim> mod_by_range(const Dim& p, int64_t divisor, const AtomRange& range) {
  auto split = split_grains(p, divisor, range);
  if (!split) return std::nullopt;
  auto start = checked_multiply(split->grain, split->shift);
  if (!start) return std::nullopt;
  return Dim(split->grain) * mod(split->high + split->shift, divisor / split->grain) + (split->low - *start);
}

Dim floor_div(const Dim& p, const Dim& q) {
  if (overflowed(p) || overflowed(q)) return too_large();
  if (auto divisor = q.constant()) {
    if (*divisor == 0) return make_dim(make_atom(AtomKind::floor_div, p, q));
    if (*divisor == INT64_MIN) return too_large();
    return *divisor > 0 ? floor_div_positive(p, *divisor) : floor_div_positive(-p, -*divisor);
  }
  if (leads_negative(q)) return floor_div(-p, -q);
  int64_t common = std::gcd(content(p), content(q));
  return make_dim(make_atom(AtomKind::floor_div, divide_exactly(p, common), divide_exactly(q, common)));
}

Dim mod(const Dim& p, const Dim& q) {
  if (overflowed(p) || overflowed(q)) return too_large();
  if (auto divisor = q.constant()) {
    if (*divisor == 0) return make_dim(make_atom(AtomKind::mod, p, q));
    if (*divisor == INT64_MIN) return too_large();
    return *divisor > 0 ? mod_positive(p, *divisor) : -mod_positive(-p, -*divisor);
  }
  if (leads_negative(q)) return -mod(-p, -q);
  int64_t common = std::gcd(content(p), content(q));
  if (common > 1) return Dim(common) * mod(divide_exactly(p, common), divide_exactly(q, common));
  if (const Atom* inner = single_atom(p); inner && inner->kind() == AtomKind::mod && inner->rhs() == q)
    return p;
  return make_dim(make_atom(AtomKind::mod, p, q));
}

// ---- min and max ----

AtomKind dual(AtomKind kind) { return kind == AtomKind::min ? AtomKind::max : AtomKind::min; }

/// k*min(x, y) + r = min(k*x + r, k*y + r) for k > 0, and k*max(x, y) + r = min(k*x + r, k*y + r) for k < 0.
void collect_operands(AtomKind kind, const Dim& dim, std::vector<Dim>& out) {
  constexpr size_t most = 32;
  const Term* nest = nullptr;
  bool several = false;
  for (const Term& term : dim.terms()) {
    if (term.factors.size() != 1 || term.factors[0].kind() != (term.coefficient > 0 ? kind : dual(kind)))
      continue;
    several |= nest != nullptr;
    nest = &term;
  }
  if (!nest || several || out.size() >= most) {
    out.push_back(dim);
    return;
  }
  Atom atom = nest->factors[0];
  Dim rest = dim - monomial(nest->coefficient, nest->factors);
  collect_operands(kind, Dim(nest->coefficient) * atom.lhs() + rest, out);
  collect_operands(kind, Dim(nest->coefficient) * atom.rhs() + rest, out);
}

namespace {

/// Drops each operand that another one decides: a constant difference, or min(a, max(a, b)) = a.
void drop_decided(AtomKind kind, std::vector<Dim>& operands) {
  std::vector<Dim> kept;
  for (const Dim& operand : operands) {
    bool add = true;
    for (size_t i = 0; i < kept.size() && add; ++i) {
      auto difference = constant_difference(operand, kept[i]);
      if (!difference) continue;
      bool better = kind == AtomKind::min ? *difference < 0 : *difference > 0;
      if (better)
        kept.erase(kept.begin() + static_cast<std::ptrdiff_t>(i--));
      else
        add = false;
    }
    if (add) kept.push_back(operand);
  }
  auto absorbed = [&](const Dim& operand) {
    std::vector<Dim> inner;
    collect_operands(dual(kind), operand, inner);
    return inner.size() > 1 && std::any_of(inner.begin(), inner.end(), [&](const Dim& dim) {
             return std::find(kept.begin(), kept.end(), dim) != kept.end();
           });
  };
  if (kept.size() > 1)
    operands = kept, std::erase_if(operands, absorbed);
  else
    operands = kept;
}

/// The terms that every operand has, and the least constant.
Dim common_terms(const std::vector<Dim>& operands) {
  std::vector<Term> common;
  for (const Term& term : operands[0].terms()) {
    bool everywhere = !term.factors.empty();
    for (size_t i = 1; i < operands.size() && everywhere; ++i) {
      const auto& terms = operands[i].terms();
      everywhere = std::any_of(terms.begin(), terms.end(), [&](const Term& other) {
        return other.coefficient == term.coefficient && other.factors == term.factors;
      });
    }
    if (everywhere) common.push_back(term);
  }
  int64_t least = constant_part(operands[0]);
  for (const Dim& operand : operands) least = std::min(least, constant_part(operand));
  if (least != 0) common.push_back({least, {}});
  return make_dim(std::move(common));
}

Dim extremum_of(AtomKind kind, std::vector<Dim> operands) {
  drop_decided(kind, operands);
  if (operands.size() == 1) return operands[0];
  if (Dim common = common_terms(operands); common != Dim()) {
    for (Dim& operand : operands) operand = operand - common;
    return common + extremum_of(kind, std::move(operands));
  }
  int64_t factor = 0;
  for (const Dim& operand : operands) factor = std::gcd(factor, content(operand));
  bool negate = std::all_of(operands.begin(), operands.end(),
                            [](const Dim& dim) { return !dim.constant() && leads_negative(dim); });
  if (factor > 1 || negate) {
    for (Dim& operand : operands)
      operand = negate ? -divide_exactly(operand, factor) : divide_exactly(operand, factor);
    return Dim(negate ? -factor : factor) * extremum_of(negate ? dual(kind) : kind, std::move(operands));
  }
  std::sort(operands.begin(), operands.end(), [](const Dim& a, const Dim& b) {  // constants last
    bool left = a.constant().has_value(), right = b.constant().has_value();
    return left != right ? right : compare(a, b) < 0;
  });
  Dim nest = operands.back();
  for (size_t i = operands.size() - 1; i-- > 0;) nest = make_dim(make_atom(kind, operands[i], nest));
  return nest;
}

Dim extremum(AtomKind kind, const Dim& a, const Dim& b) {
  if (a == b) return a;
  if (overflowed(a) || overflowed(b)) return too_large();
  std::vector<Dim> operands;
  collect_operands(kind, a, operands);
  collect_operands(kind, b, operands);
  return extremum_of(kind, std::move(operands));
}

}  // namespace

Dim min(const Dim& a, const Dim& b) { return extremum(AtomKind::min, a, b); }
Dim max(const Dim& a, const Dim& b) { return extremum(AtomKind::max, a, b); }

// ---- Quotients and remainders that belong together ----

namespace {

/// Finds the term with these factors; its index, or none.
std::optional<size_t> find_term(const std::vector<Term>& terms, const std::vector<Atom>& factors) {
  for (size_t i = 0; i < terms.size(); ++i)
    if (terms[i].factors == factors) return i;
  return std::nullopt;
}

/// terms - terms[i] - terms[j] + replacement
Dim replace_two(const std::vector<Term>& terms, size_t i, size_t j, const Dim& replacement) {
  std::vector<Term> rest;
  for (size_t k = 0; k < terms.size(); ++k)
    if (k != i && k != j) rest.push_back(terms[k]);
  return make_dim(std::move(rest)) + replacement;
}

/// Is terms[?] the single term `wanted`, times scale and the factors `others`? Its index.
std::optional<size_t> find_multiple(const std::vector<Term>& terms, const Dim& wanted, int64_t scale,
                                    const std::vector<Atom>& others) {
  if (wanted.terms().size() != 1 || wanted.terms()[0].factors.empty()) return std::nullopt;
  auto coefficient = checked_multiply(wanted.terms()[0].coefficient, scale);
  auto at = find_term(terms, multiply_factors(wanted.terms()[0].factors, others));
  if (!coefficient || !at || terms[*at].coefficient != *coefficient) return std::nullopt;
  return at;
}

}  // namespace

namespace {

/// One occurrence of an operator in a sum: terms[at] = scale * atom * others.
struct Occurrence {
  size_t at;
  Atom atom;
  int64_t scale;
  std::vector<Atom> others;
};

/// scale*(p % q) + scale*q*(p / q) = scale*p, and
/// scale*c*((x / c) % q) + scale*(x % c) = scale*(x % (c*q)).
std::optional<Dim> join_remainder(const std::vector<Term>& terms, const Occurrence& mod_term) {
  const auto& [at, atom, scale, others] = mod_term;
  Dim p = atom.lhs(), q = atom.rhs();
  if (auto j = find_multiple(terms, q * floor_div(p, q), scale, others); j && *j != at)
    return replace_two(terms, at, *j, monomial(scale, others) * p);
  const Atom* inner = single_atom(p);
  if (!inner || inner->kind() != AtomKind::floor_div || !q.constant()) return std::nullopt;
  auto c = inner->rhs().constant();
  if (!c || *c <= 0 || *q.constant() <= 0 || scale % *c != 0) return std::nullopt;
  auto j = find_multiple(terms, mod(inner->lhs(), *c), scale / *c, others);
  if (!j || *j == at) return std::nullopt;
  return replace_two(terms, at, *j, monomial(scale / *c, others) * mod(inner->lhs(), Dim(*c) * q));
}

/// k*p - k*c*(p / c) = k*(p % c), when every term of k*p is there.
std::optional<Dim> find_remainder(const std::vector<Term>& terms, const Occurrence& quotient) {
  const auto& [at, atom, scale, others] = quotient;
  auto c = atom.rhs().constant();
  if (!c || *c <= 0 || scale % *c != 0) return std::nullopt;
  int64_t k = -(scale / *c);
  Dim p = atom.lhs();
  std::vector<Term> rest = terms;
  rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(at));
  for (const Term& term : p.terms()) {
    auto wanted = checked_multiply(term.coefficient, k);
    auto j = find_term(rest, multiply_factors(term.factors, others));
    if (!wanted || !j || rest[*j].coefficient != *wanted) return std::nullopt;
    rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(*j));
  }
  return make_dim(std::move(rest)) + monomial(k, others) * mod(p, *c);
}

}  // namespace

std::optional<Dim> recombine(const std::vector<Term>& terms) {
  size_t candidates = 0;
  for (const Term& term : terms)
    candidates += std::any_of(term.factors.begin(), term.factors.end(), [](const Atom& atom) {
      return atom.kind() == AtomKind::mod || atom.kind() == AtomKind::floor_div;
    });
  if (candidates == 0 || terms.size() < 2) return std::nullopt;
  for (size_t i = 0; i < terms.size(); ++i)
    for (size_t f = 0; f < terms[i].factors.size(); ++f) {
      Atom atom = terms[i].factors[f];
      bool remainder = atom.kind() == AtomKind::mod && candidates > 1;
      if (!remainder && atom.kind() != AtomKind::floor_div) continue;
      Occurrence here{i, atom, terms[i].coefficient, terms[i].factors};
      here.others.erase(here.others.begin() + static_cast<std::ptrdiff_t>(f));
      if (auto joined = remainder ? join_remainder(terms, here) : find_remainder(terms, here)) return joined;
    }
  return std::nullopt;
}

}  // namespace axon::shape
