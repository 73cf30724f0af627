// System: columns, the rows that define atoms, range propagation and product rows (see prover_linear.h).
#include "shape/prover_linear.h"

#include <algorithm>

#include "base/work.h"
#include "shape/prover_session.h"

namespace axon::shape {
namespace {

constexpr int max_rounds = 8;
constexpr size_t max_products = 96;
constexpr size_t max_pairs = 12;
constexpr size_t max_row_terms = 8;  ///< longer rows are not multiplied

Range intersect(const Range& a, const Range& b) {
  Range both = a;
  if (b.low && (!both.low || *b.low > *both.low)) both.low = b.low;
  if (b.high && (!both.high || *b.high < *both.high)) both.high = b.high;
  return both;
}

void sort_and_merge(std::vector<std::pair<uint32_t, int64_t>>& terms, bool& exact) {
  std::sort(terms.begin(), terms.end());
  size_t kept = 0;
  for (size_t i = 0; i < terms.size();) {
    auto sum = terms[i++];
    for (; i < terms.size() && terms[i].first == sum.first; ++i)
      if (__builtin_add_overflow(sum.second, terms[i].second, &sum.second)) exact = false;
    if (sum.second != 0) terms[kept++] = sum;
  }
  terms.resize(kept);
}

}  // namespace

size_t System::FactorsHash::operator()(const Factors& factors) const {
  size_t seed = factors.size();
  for (const Atom& atom : factors) seed = seed * 0x9e3779b97f4a7c15u + atom.node->summary.hash;
  return seed;
}

// ---- Columns and rows ----

uint32_t System::column(const Factors& factors) {
  auto [at, added] = column_of_.try_emplace(factors, static_cast<uint32_t>(columns_.size()));
  uint32_t index = at->second;
  if (!added) return index;
  columns_.push_back(factors);
  ranges_.emplace_back();
  if (factors.size() == 1)
    define(factors[0]);
  else
    for (const Atom& atom : factors) column({atom});
  return index;
}

std::optional<uint32_t> System::find_column(const Factors& factors) const {
  auto found = column_of_.find(factors);
  return found == column_of_.end() ? std::nullopt : std::optional(found->second);
}

void System::accumulate(const Dim& expr, int64_t scale, std::vector<std::pair<uint32_t, int64_t>>& terms,
                        int64_t& constant, bool& exact) {
  for (const Term& term : expr.terms()) {
    int64_t coefficient;
    if (__builtin_mul_overflow(term.coefficient, scale, &coefficient)) {
      exact = false;
    } else if (term.factors.empty()) {
      if (__builtin_add_overflow(constant, coefficient, &constant)) exact = false;
    } else {
      terms.push_back({column(term.factors), coefficient});
    }
  }
}

Row System::row_of(const Dim& expr) {
  Row row;
  bool exact = true;
  accumulate(expr, 1, row.terms, row.constant, exact);
  std::sort(row.terms.begin(), row.terms.end());
  return row;
}

void System::add(const Dim& expr, bool equality) {
  Row row = row_of(expr);
  row.equality = equality;
  rows_.push_back(std::move(row));
}

void System::add_sum(std::initializer_list<std::pair<const Dim*, int64_t>> parts, int64_t constant,
                     bool equality) {
  Row row;
  row.equality = equality;
  row.constant = constant;
  bool exact = true;
  for (auto [dim, scale] : parts) accumulate(*dim, scale, row.terms, row.constant, exact);
  sort_and_merge(row.terms, exact);
  bool trivial = row.terms.empty() && (equality ? row.constant == 0 : row.constant >= 0);
  if (exact && !trivial) rows_.push_back(std::move(row));
}

// ---- What the operators mean ----

/// Adds the rows that hold for the atom without any other fact.
void System::define(const Atom& atom) {
  if (atom.kind() == AtomKind::var) return;
  Dim self = make_dim(atom), lhs = atom.lhs(), rhs = atom.rhs();
  mention(lhs);
  mention(rhs);
  if (atom.kind() == AtomKind::min || atom.kind() == AtomKind::max) {
    int64_t sign = atom.kind() == AtomKind::min ? 1 : -1;
    add_sum({{&lhs, sign}, {&self, -sign}}, 0, false);
    add_sum({{&rhs, sign}, {&self, -sign}}, 0, false);
    undecided_.push_back(atom);
    return;
  }
  auto divisor = rhs.constant();
  if (!divisor) {
    waiting_.push_back(atom);
    return;
  }
  if (*divisor <= 0) return;
  if (atom.kind() == AtomKind::mod) {
    Dim quotient = floor_div(lhs, rhs);
    add_sum({{&self, 1}}, 0, false);
    add_sum({{&self, -1}}, *divisor - 1, false);
    add_sum({{&lhs, 1}, {&quotient, -*divisor}, {&self, -1}}, 0, true);
  } else {
    add_sum({{&lhs, 1}, {&self, -*divisor}}, 0, false);
    add_sum({{&lhs, -1}, {&self, *divisor}}, *divisor - 1, false);
  }
}

/// The same for a divisor that is a symbol and known to be >= 1; its product with the quotient is an opaque
/// column.
void System::define_symbolic(const Atom& atom) {
  symbolic_.push_back(atom);
  Dim self = make_dim(atom), lhs = atom.lhs(), rhs = atom.rhs();
  if (atom.kind() == AtomKind::mod) {
    Dim multiple = rhs * floor_div(lhs, rhs);
    add_sum({{&self, 1}}, 0, false);
    add_sum({{&rhs, 1}, {&self, -1}}, -1, false);
    add_sum({{&lhs, 1}, {&multiple, -1}, {&self, -1}}, 0, true);
  } else {
    Dim multiple = rhs * self;
    add_sum({{&lhs, 1}, {&multiple, -1}}, 0, false);
    add_sum({{&multiple, 1}, {&rhs, 1}, {&lhs, -1}}, -1, false);
  }
}

void System::define_waiting() {
  for (size_t i = 0; i < waiting_.size();) {
    Atom atom = waiting_[i];
    Range divisor = range(atom.rhs());
    if (!divisor.low || *divisor.low < 1) {
      ++i;
      continue;
    }
    waiting_.erase(waiting_.begin() + static_cast<std::ptrdiff_t>(i));
    define_symbolic(atom);
    changed_ = true;
  }
}

void System::decide(const Atom& atom, bool take_lhs) {
  std::erase(undecided_, atom);
  Dim self = make_dim(atom), lhs = atom.lhs(), rhs = atom.rhs();
  int64_t sign = (atom.kind() == AtomKind::min) == take_lhs ? 1 : -1;
  add_sum({{&self, 1}, {take_lhs ? &lhs : &rhs, -1}}, 0, true);
  add_sum({{&rhs, sign}, {&lhs, -sign}}, 0, false);
}

bool System::decide_quotient(const Atom& atom) {
  Dim self = make_dim(atom), rhs = atom.rhs();
  if (atom.kind() == AtomKind::floor_div && range(self).inside(0, 0)) return false;
  auto [quotient, rest] = divide_polynomial(atom.lhs(), rhs);
  if (!entails_nonnegative(rest) || !entails_nonnegative(rhs - rest - 1)) return false;
  add_sum({{&self, 1}, {atom.kind() == AtomKind::mod ? &rest : &quotient, -1}}, 0, true);
  return true;
}

/// Two products that differ in one factor: are those factors equal?
bool System::equate_factors(const Factors& a, const Factors& b) {
  if (a.size() != b.size() || a.size() < 2) return false;
  Factors left, right;
  auto less = [](const Atom& x, const Atom& y) { return compare(x, y) < 0; };
  std::set_difference(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(left), less);
  std::set_difference(b.begin(), b.end(), a.begin(), a.end(), std::back_inserter(right), less);
  if (left.size() != 1 || right.size() != 1) return false;
  Dim x = make_dim(left[0]), y = make_dim(right[0]);
  if (!entails_nonnegative(x - y) || !entails_nonnegative(y - x)) return false;
  Dim first = monomial(1, a), second = monomial(1, b);
  add_sum({{&x, 1}, {&y, -1}}, 0, true);
  add_sum({{&first, 1}, {&second, -1}}, 0, true);
  return true;
}

bool System::add_lemmas() {
  if (!spend_work(0)) return false;
  bool any = false;
  for (size_t i = 0; i < symbolic_.size(); ++i) any |= decide_quotient(Atom(symbolic_[i]));
  size_t columns = columns_.size(), tried = 0;
  for (size_t i = 0; i < columns; ++i)
    for (size_t j = i + 1; j < columns && tried < max_pairs; ++j) {
      const Factors a = columns_[i], b = columns_[j];
      if (a.size() < 2 || a.size() != b.size()) continue;
      ++tried;
      any |= equate_factors(a, b);
    }
  return any;
}

// ---- Ranges ----

/// What the ranges of its operands say of an atom.
Range System::forward(const Atom& atom) const {
  if (atom.kind() == AtomKind::var) return {};
  Range lhs = range(atom.lhs()), rhs = range(atom.rhs());
  if (lhs.empty() || rhs.empty()) return {};
  auto pick = [](std::optional<int64_t> a, std::optional<int64_t> b, bool least, bool need_both) {
    if (a && b) return std::optional(least ? std::min(*a, *b) : std::max(*a, *b));
    return need_both ? std::optional<int64_t>() : (a ? a : b);
  };
  if (atom.kind() == AtomKind::min)
    return {pick(lhs.low, rhs.low, true, true), pick(lhs.high, rhs.high, true, false)};
  if (atom.kind() == AtomKind::max)
    return {pick(lhs.low, rhs.low, false, false), pick(lhs.high, rhs.high, false, true)};
  if (!rhs.low || *rhs.low < 1) return {};
  if (atom.kind() == AtomKind::mod) {
    Range result{0, rhs.high ? std::optional(*rhs.high - 1) : std::nullopt};
    if (lhs.low && *lhs.low >= 0 && lhs.high) result = intersect(result, {0, lhs.high});
    return result;
  }
  Range result;  // a quotient is nearest to zero by the greatest divisor
  if (lhs.low) {
    if (*lhs.low < 0)
      result.low = floor_quotient(*lhs.low, *rhs.low);
    else
      result.low = rhs.high ? floor_quotient(*lhs.low, *rhs.high) : 0;
  }
  if (lhs.high) {
    if (*lhs.high >= 0)
      result.high = floor_quotient(*lhs.high, *rhs.low);
    else
      result.high = rhs.high ? floor_quotient(*lhs.high, *rhs.high) : -1;
  }
  return result;
}

Range System::range(const Atom& atom) const {
  auto at = find_column({atom});
  return at ? ranges_[*at] : forward(atom);
}

Range System::product_range(const Factors& factors) const {
  return range_of(monomial(1, factors), [&](const Atom& atom) { return range(atom); });
}

Range System::range(const Dim& dim) const {
  Range sum = range_of(dim, [&](const Atom& atom) { return range(atom); });
  if (dim.terms().size() == 1 && dim.terms()[0].coefficient == 1 && !dim.terms()[0].factors.empty())
    if (auto at = find_column(dim.terms()[0].factors)) sum = intersect(sum, ranges_[*at]);
  return sum;
}

bool System::tighten(uint32_t column, const Range& range) {
  Range both = intersect(ranges_[column], range);
  if (both.low != ranges_[column].low || both.high != ranges_[column].high) {
    ranges_[column] = both;
    changed_ = true;
  }
  if (both.empty()) contradiction_ = true;
  return !contradiction_;
}

/// Each column against the extreme of all others. An equality is used from both sides.
bool System::propagate_row(const Row& row) {
  for (int64_t sign : {1, -1}) {
    if (sign < 0 && !row.equality) break;
    __int128 most =
        static_cast<__int128>(row.constant) * sign;  // the greatest value of the row's finite part
    size_t infinite = 0, infinite_at = 0;
    auto term_high = [&](size_t i) -> std::optional<__int128> {
      const Range& range = ranges_[row.terms[i].first];
      __int128 coefficient = static_cast<__int128>(row.terms[i].second) * sign;
      auto end = coefficient > 0 ? range.high : range.low;
      if (!end) return std::nullopt;
      return coefficient * *end;
    };
    for (size_t i = 0; i < row.terms.size(); ++i) {
      if (auto high = term_high(i))
        most += *high;
      else
        ++infinite, infinite_at = i;
    }
    if (infinite > 1) continue;
    if (infinite == 0 && most < 0) return contradiction_ = true, false;
    for (size_t i = 0; i < row.terms.size(); ++i) {
      if (infinite == 1 && i != infinite_at) continue;
      __int128 others = most - (infinite == 1 ? 0 : *term_high(i));  // coefficient * x >= -others
      __int128 coefficient = static_cast<__int128>(row.terms[i].second) * sign, size = coefficient;
      if (size < 0) size = -size;
      __int128 bound = others / size;  // x >= -floor(others / size), or x <= floor(others / size)
      if (others % size != 0 && others < 0) --bound;
      if (bound > INT64_MAX / 2 || bound < INT64_MIN / 2) continue;
      auto end = static_cast<int64_t>(bound);
      if (!tighten(row.terms[i].first, coefficient > 0 ? Range{-end, {}} : Range{{}, end})) return false;
    }
  }
  return true;
}

/// What a product of factors >= 0 says of its factors: of n*m >= 1 neither is 0, and of n*m <= 6 neither is
/// more.
bool System::propagate_factors(uint32_t product) {
  const Factors& factors = columns_[product];
  const Range whole = ranges_[product];
  if (!whole.low || *whole.low < 1) return true;
  std::vector<uint32_t> columns;
  for (const Atom& atom : factors) {
    columns.push_back(*find_column({atom}));
    const Range& known = ranges_[columns.back()];
    if (!known.low || *known.low < 0) return true;
  }
  for (uint32_t column : columns)
    if (!tighten(column, {1, whole.high})) return false;
  return true;
}

bool System::propagate_ranges() {
  base::work(columns_.size() + rows_.size());
  changed_ = false;
  for (uint32_t i = 0; i < columns_.size(); ++i) {
    if (columns_[i].size() == 1 && columns_[i][0].kind() == AtomKind::var) continue;
    Range known = columns_[i].size() == 1 ? forward(columns_[i][0]) : product_range(columns_[i]);
    if (!tighten(i, known)) return false;
    if (through_products_ && columns_[i].size() > 1 && !propagate_factors(i)) return false;
  }
  return std::all_of(rows_.begin(), rows_.end(), [&](const Row& row) { return propagate_row(row); });
}

bool System::propagate() {
  for (int round = 0; round < max_rounds && !contradiction_; ++round) {
    if (!propagate_ranges()) return false;
    define_waiting();
    if (!changed_) break;
  }
  return !contradiction_;
}

// ---- Elimination ----

/// Rows times a product of non-negative atoms, where that yields a product which already occurs:
/// i < n and 0 <= m give i*m + m <= n*m once i*m or n*m is there.
std::vector<Row> System::product_rows() const {
  std::vector<Row> products;
  System extended = *this;
  size_t original_rows = rows_.size(), original_columns = columns_.size();
  for (uint32_t c = 0; c < original_columns && products.size() < max_products; ++c) {
    const Factors factors = columns_[c];
    for (size_t f = 0; f < factors.size() && factors.size() > 1; ++f) {
      if (f > 0 && factors[f] == factors[f - 1]) continue;
      Factors others = factors;
      others.erase(others.begin() + static_cast<std::ptrdiff_t>(f));
      bool nonnegative = std::all_of(others.begin(), others.end(), [&](const Atom& atom) {
        Range known = range(atom);
        return known.low && *known.low >= 0;
      });
      uint32_t single = *find_column({factors[f]});
      for (size_t r = 0; r < original_rows; ++r) {
        const Row& row = rows_[r];
        if ((!nonnegative && !row.equality) || row.terms.size() > max_row_terms) continue;
        bool mentions =
            std::any_of(row.terms.begin(), row.terms.end(), [&](auto& term) { return term.first == single; });
        if (!mentions) continue;
        Row product;
        product.equality = row.equality;
        for (auto [column, coefficient] : row.terms)
          product.terms.push_back({extended.column(multiply_factors(columns_[column], others)), coefficient});
        if (row.constant != 0) product.terms.push_back({extended.column(others), row.constant});
        bool exact = true;
        sort_and_merge(product.terms, exact);
        if (exact) products.push_back(std::move(product));
        if (products.size() >= max_products) break;
      }
    }
  }
  for (size_t c = original_columns; c < extended.columns_.size(); ++c) {
    Range known = product_range(extended.columns_[c]);
    auto index = static_cast<uint32_t>(c);
    if (known.low) products.push_back({{{index, 1}}, -*known.low, false});
    if (known.high) products.push_back({{{index, -1}}, *known.high, false});
  }
  return products;
}

std::vector<Row> System::all_rows() {
  std::vector<Row> rows = rows_;
  for (uint32_t i = 0; i < columns_.size(); ++i) {
    if (ranges_[i].low) rows.push_back({{{i, 1}}, -*ranges_[i].low, false});
    if (ranges_[i].high) rows.push_back({{{i, -1}}, *ranges_[i].high, false});
  }
  return rows;
}

bool System::consistent() {
  if (!propagate()) return false;
  if (!spend_work(0)) return true;
  std::vector<Row> rows = all_rows();
  if (!eliminate(rows)) return false;
  if (!spend_work(0)) return true;
  std::vector<Row> products = product_rows();
  if (products.empty()) return true;
  rows.insert(rows.end(), products.begin(), products.end());
  return eliminate(std::move(rows));
}

bool System::entails_nonnegative(const Dim& expr) const {
  if (overflowed(expr)) return false;
  if (Range known = range(expr); known.low && *known.low >= 0) return true;
  if (!spend_work(0)) return false;
  System denied = *this;
  denied.add(-expr - 1, false);
  return !denied.consistent();
}

// ---- For the model search ----

std::vector<Var> System::variables() const {
  std::vector<Var> vars;
  for (const Factors& factors : columns_)
    if (factors.size() == 1 && factors[0].kind() == AtomKind::var) vars.push_back(factors[0].var());
  return vars;
}

bool System::narrow(Var var, int64_t value) {
  auto at = find_column({Dim(var).terms()[0].factors[0]});
  if (!at || !tighten(*at, {value, value})) return false;
  for (int round = 0; round < max_rounds; ++round) {
    if (!propagate_ranges()) return false;
    if (!changed_) break;
  }
  return true;
}

}  // namespace axon::shape
