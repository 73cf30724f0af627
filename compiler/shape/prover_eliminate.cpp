// Fourier-Motzkin elimination over the integers' rational hull, with each row tightened by the gcd of its
// coefficients. Rows that would overflow are dropped: fewer constraints only make a contradiction harder to
// find.
#include <algorithm>
#include <numeric>

#include "shape/prover_linear.h"
#include "shape/prover_session.h"

namespace axon::shape {
namespace {

constexpr size_t max_rows = 400;
constexpr size_t max_combinations = 6000;

enum class Tightened { kept, trivial, contradiction };

/// Divides by the gcd of the coefficients; an inequality's constant rounds down, which is where integers come
/// in.
Tightened tighten(Row& row) {
  if (row.terms.empty()) {
    bool holds = row.equality ? row.constant == 0 : row.constant >= 0;
    return holds ? Tightened::trivial : Tightened::contradiction;
  }
  int64_t divisor = 0;
  for (auto& [column, coefficient] : row.terms) {
    if (coefficient == INT64_MIN) return Tightened::kept;
    divisor = std::gcd(divisor, coefficient);
  }
  if (divisor == 1) return Tightened::kept;
  if (row.equality && row.constant % divisor != 0) return Tightened::contradiction;
  for (auto& [column, coefficient] : row.terms) coefficient /= divisor;
  row.constant = floor_quotient(row.constant, divisor);
  return Tightened::kept;
}

int64_t coefficient_of(const Row& row, uint32_t column) {
  auto at = std::lower_bound(row.terms.begin(), row.terms.end(), column,
                             [](const auto& term, uint32_t wanted) { return term.first < wanted; });
  return at != row.terms.end() && at->first == column ? at->second : 0;
}

/// a * x + b * y, or nothing on overflow.
std::optional<Row> combine(const Row& x, int64_t a, const Row& y, int64_t b) {
  Row sum;
  sum.terms.reserve(x.terms.size() + y.terms.size());
  size_t i = 0, j = 0;
  auto scaled_sum = [](int64_t s, int64_t u, int64_t t, int64_t v) -> std::optional<int64_t> {
    auto left = checked_multiply(s, u), right = checked_multiply(t, v);
    return left && right ? checked_add(*left, *right) : std::nullopt;
  };
  while (i < x.terms.size() || j < y.terms.size()) {
    bool left = j == y.terms.size() || (i < x.terms.size() && x.terms[i].first <= y.terms[j].first);
    bool right = i == x.terms.size() || (j < y.terms.size() && y.terms[j].first <= x.terms[i].first);
    uint32_t column = left ? x.terms[i].first : y.terms[j].first;
    auto value = scaled_sum(a, left ? x.terms[i].second : 0, b, right ? y.terms[j].second : 0);
    if (!value) return std::nullopt;
    if (*value != 0) sum.terms.push_back({column, *value});
    i += left;
    j += right;
  }
  auto constant = scaled_sum(a, x.constant, b, y.constant);
  if (!constant) return std::nullopt;
  sum.constant = *constant;
  return sum;
}

/// Keeps one inequality per left side, the tightest. False: two rows contradict.
bool deduplicate(std::vector<Row>& rows) {
  std::sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) {
    if (a.equality != b.equality) return a.equality;
    if (a.terms.size() != b.terms.size()) return a.terms.size() < b.terms.size();
    return a.terms != b.terms ? a.terms < b.terms : a.constant < b.constant;
  });
  size_t kept = 0;
  for (size_t i = 0; i < rows.size(); ++i) {
    if (kept > 0 && rows[kept - 1].terms == rows[i].terms && rows[kept - 1].equality == rows[i].equality) {
      if (rows[i].equality && rows[i].constant != rows[kept - 1].constant) return false;
      continue;
    }
    if (kept != i) rows[kept] = std::move(rows[i]);
    ++kept;
  }
  rows.resize(kept);
  return true;
}

bool tighten_all(std::vector<Row>& rows) {
  size_t kept = 0;
  for (size_t i = 0; i < rows.size(); ++i) {
    Tightened outcome = tighten(rows[i]);
    if (outcome == Tightened::contradiction) return false;
    if (outcome == Tightened::trivial) continue;
    if (kept != i) rows[kept] = std::move(rows[i]);
    ++kept;
  }
  rows.resize(kept);
  return deduplicate(rows);
}

/// The equality and column to substitute next: a unit coefficient where there is one, so that nothing is
/// lost, and of those the one that adds the fewest terms. Nothing when there is no equality.
std::optional<std::pair<size_t, size_t>> choose_equality(const std::vector<Row>& rows) {
  std::optional<std::pair<size_t, size_t>> best;
  int64_t best_size = INT64_MAX;
  const auto shorter = [&](const Row& row, const Row& other) {
    return row.terms.size() != other.terms.size() ? row.terms.size() < other.terms.size()
                                                  : row.terms < other.terms;
  };
  for (size_t i = 0; i < rows.size(); ++i)
    for (size_t t = 0; rows[i].equality && t < rows[i].terms.size(); ++t) {
      const int64_t coefficient = rows[i].terms[t].second;
      const int64_t size = coefficient == INT64_MIN ? INT64_MAX : std::abs(coefficient);
      if (best && (size > best_size || (size == best_size && !shorter(rows[i], rows[best->first])))) continue;
      best = {i, t};
      best_size = size;
    }
  return best;
}

size_t terms_of(const std::vector<Row>& rows) {
  size_t terms = rows.size();
  for (const Row& row : rows) terms += row.terms.size();
  return terms;
}

/// Removes all equalities by substitution, while there is work left. False: contradiction.
bool substitute_equalities(std::vector<Row>& rows) {
  if (!tighten_all(rows)) return false;
  while (const auto chosen = choose_equality(rows)) {
    if (!spend_work(terms_of(rows))) return true;
    const Row definition = std::move(rows[chosen->first]);
    const auto [column, pivot] = definition.terms[chosen->second];
    if (pivot == INT64_MIN) return true;
    rows.erase(rows.begin() + static_cast<std::ptrdiff_t>(chosen->first));
    std::vector<Row> next;
    for (Row& row : rows) {
      const int64_t here = coefficient_of(row, column);
      if (here == INT64_MIN) continue;
      if (here == 0) {
        next.push_back(std::move(row));
        continue;
      }
      auto sum = combine(row, std::abs(pivot), definition, pivot > 0 ? -here : here);
      if (!sum) continue;
      sum->equality = row.equality;
      const Tightened outcome = tighten(*sum);
      if (outcome == Tightened::contradiction) return false;
      if (outcome == Tightened::kept) next.push_back(std::move(*sum));
    }
    rows = std::move(next);
  }
  return tighten_all(rows);
}

/// Of inequalities: what mentions a column that others bound on the same side only, or not at all, says
/// nothing of the other columns.
void drop_what_is_unbounded(std::vector<Row>& rows) {
  std::unordered_map<uint32_t, std::pair<bool, bool>> signs;
  for (size_t before = rows.size() + 1; before != rows.size();) {
    before = rows.size();
    signs.clear();
    for (const Row& row : rows)
      for (const auto& [column, coefficient] : row.terms)
        (coefficient > 0 ? signs[column].first : signs[column].second) = true;
    std::erase_if(rows, [&](const Row& row) {
      return std::any_of(row.terms.begin(), row.terms.end(), [&](const auto& term) {
        const auto& [positive, negative] = signs.at(term.first);
        return !positive || !negative;
      });
    });
  }
}

/// The column whose elimination adds the fewest rows; nothing when no column is left.
std::optional<uint32_t> choose_column(const std::vector<Row>& rows, size_t& combinations) {
  std::unordered_map<uint32_t, std::pair<size_t, size_t>> signs;
  for (const Row& row : rows)
    for (auto [column, coefficient] : row.terms)
      ++(coefficient > 0 ? signs[column].first : signs[column].second);
  std::optional<uint32_t> best;
  int64_t best_growth = INT64_MAX;
  for (auto [column, count] : signs) {
    auto [positive, negative] = count;
    int64_t growth = static_cast<int64_t>(positive * negative) - static_cast<int64_t>(positive + negative);
    if (growth < best_growth || (growth == best_growth && column < *best)) {
      best = column, best_growth = growth;
      combinations = positive * negative;
    }
  }
  return best;
}

}  // namespace

bool eliminate(std::vector<Row> rows) {
  if (!substitute_equalities(rows)) return false;
  size_t spent = 0, combinations = 0;
  drop_what_is_unbounded(rows);
  while (auto column = choose_column(rows, combinations)) {
    spent += combinations;
    if (spent > max_combinations || !spend_work(terms_of(rows))) return true;
    std::vector<Row> next;
    std::vector<const Row*> positive, negative;
    for (Row& row : rows) {
      int64_t coefficient = coefficient_of(row, *column);
      if (coefficient == INT64_MIN) continue;
      if (coefficient == 0)
        next.push_back(row);
      else
        (coefficient > 0 ? positive : negative).push_back(&row);
    }
    for (const Row* up : positive)
      for (const Row* down : negative) {
        int64_t a = coefficient_of(*up, *column), b = -coefficient_of(*down, *column);
        int64_t common = std::gcd(a, b);
        if (auto sum = combine(*up, b / common, *down, a / common)) next.push_back(std::move(*sum));
      }
    rows = std::move(next);
    if (!tighten_all(rows)) return false;
    drop_what_is_unbounded(rows);
    if (rows.size() > max_rows) return true;
  }
  return true;
}

}  // namespace axon::shape
