// Polynomial arithmetic, and the walks over a Dim (see dim.h and dim_node.h). Nodes are interned in
// arena.cpp; the rules for the operator atoms are in dim_atoms.cpp; printing is in dim_print.cpp.
//
// Terms are sorted by falling degree, then by their factors, the constant last: `n*m + 2*n + 1`.
#include "shape/dim.h"

#include <algorithm>

#include "base/bug.h"
#include "base/work.h"
#include "shape/dim_node.h"

namespace axon::shape {
namespace {

/// Sorted, merged terms to a Dim, with the limits and the recombination of quotients with remainders.
Dim finish(std::vector<Term> terms) {
  if (terms.empty()) return Dim();
  if (terms.size() > max_dim_terms || terms.front().factors.size() > max_dim_degree) return too_large();
  if (auto simpler = recombine(terms)) return *simpler;
  Dim result = DimAccess::wrap(intern_terms(std::move(terms)));
  const NodeSummary& summary = result.node()->summary;
  return summary.size > max_dim_size || summary.depth > max_dim_depth ? too_large() : result;
}

/// a + sign * b
Dim add_scaled(const Dim& a, const Dim& b, int64_t sign) {
  const auto &left = a.terms(), &right = b.terms();
  std::vector<Term> sum;
  sum.reserve(left.size() + right.size());
  size_t i = 0, j = 0;
  while (i < left.size() || j < right.size()) {
    int order = i == left.size()    ? 1
                : j == right.size() ? -1
                                    : compare_factors(left[i].factors, right[j].factors);
    if (order < 0) {
      sum.push_back(left[i++]);
      continue;
    }
    auto scaled = checked_multiply(right[j].coefficient, sign);
    if (scaled && order == 0) scaled = checked_add(*scaled, left[i++].coefficient);
    if (!scaled) return too_large();
    if (*scaled != 0) sum.push_back({*scaled, right[j].factors});
    ++j;
  }
  return finish(std::move(sum));
}

/// Sums and products in `Number`; the operands of the other operators, and what they give, fit into 64 bits.
template <class Number, class Lookup>
std::optional<Number> evaluate_node(const DimNode* node, const Lookup& lookup);

template <class Number, class Lookup>
std::optional<int64_t> evaluate_operand(const DimNode* node, const Lookup& lookup) {
  const std::optional<Number> value = evaluate_node<Number>(node, lookup);
  if (!value || *value < INT64_MIN || *value > INT64_MAX) return std::nullopt;
  return static_cast<int64_t>(*value);
}

template <class Number, class Lookup>
std::optional<int64_t> evaluate_atom(const AtomNode* atom, const Lookup& lookup) {
  if (atom->summary.overflowed) return std::nullopt;
  if (atom->kind == AtomKind::var) return lookup(atom->var);
  auto lhs = evaluate_operand<Number>(atom->lhs, lookup);
  if (!lhs) return std::nullopt;
  auto rhs = evaluate_operand<Number>(atom->rhs, lookup);
  if (!rhs) return std::nullopt;
  switch (atom->kind) {
    case AtomKind::var:
      break;
    case AtomKind::floor_div:
      if (*rhs == 0 || (*rhs == -1 && *lhs == INT64_MIN)) return std::nullopt;
      return floor_quotient(*lhs, *rhs);
    case AtomKind::mod:
      if (*rhs == 0) return std::nullopt;
      return floor_remainder(*lhs, *rhs);
    case AtomKind::min:
      return std::min(*lhs, *rhs);
    case AtomKind::max:
      return std::max(*lhs, *rhs);
  }
  return std::nullopt;
}

template <class Number, class Lookup>
std::optional<Number> evaluate_node(const DimNode* node, const Lookup& lookup) {
  Number sum = 0;
  for (const Term& term : node->terms) {
    Number product = term.coefficient;
    for (const Atom& atom : term.factors) {
      auto value = evaluate_atom<Number>(atom.node, lookup);
      if (!value || __builtin_mul_overflow(product, Number{*value}, &product)) return std::nullopt;
    }
    if (__builtin_add_overflow(sum, product, &sum)) return std::nullopt;
  }
  return sum;
}

bool may_contain(const NodeSummary& summary, Var var) { return summary.var_bits >> (var.id % 64) & 1; }

bool contains_var(const DimNode* node, Var var);
bool contains_var(const Atom& atom, Var var) {
  const AtomNode& node = *atom.node;
  if (!may_contain(node.summary, var)) return false;
  if (node.kind == AtomKind::var) return node.var == var;
  return contains_var(node.lhs, var) || contains_var(node.rhs, var);
}
bool contains_var(const DimNode* node, Var var) {
  if (!may_contain(node->summary, var)) return false;
  for (const Term& term : node->terms)
    for (const Atom& atom : term.factors)
      if (contains_var(atom, var)) return true;
  return false;
}

void collect_into(const DimNode* node, std::vector<Var>& out, uint64_t& seen_bits) {
  for (const Term& term : node->terms)
    for (const Atom& atom : term.factors) {
      const AtomNode& below = *atom.node;
      if (below.kind == AtomKind::var) {
        bool maybe_seen = seen_bits & below.summary.var_bits;
        if (maybe_seen && std::find(out.begin(), out.end(), below.var) != out.end()) continue;
        seen_bits |= below.summary.var_bits;
        out.push_back(below.var);
      } else {
        collect_into(below.lhs, out, seen_bits);
        collect_into(below.rhs, out, seen_bits);
      }
    }
}

uint64_t bits_of(const Substitution& substitution) {
  uint64_t bits = 0;
  for (const auto& [var, value] : substitution) bits |= uint64_t{1} << (var.id % 64);
  return bits;
}

Dim substitute_dim(const Dim& dim, const Substitution& substitution, uint64_t bits);
Dim substitute_atom(const Atom& atom, const Substitution& substitution, uint64_t bits) {
  if (!(atom.node->summary.var_bits & bits)) return make_dim(atom);
  if (atom.kind() == AtomKind::var) {
    auto found = substitution.find(atom.var());
    return found == substitution.end() ? make_dim(atom) : found->second;
  }
  Dim lhs = substitute_dim(atom.lhs(), substitution, bits),
      rhs = substitute_dim(atom.rhs(), substitution, bits);
  switch (atom.kind()) {
    case AtomKind::var:
      break;
    case AtomKind::floor_div:
      return floor_div(lhs, rhs);
    case AtomKind::mod:
      return mod(lhs, rhs);
    case AtomKind::min:
      return min(lhs, rhs);
    case AtomKind::max:
      return max(lhs, rhs);
  }
  return make_dim(atom);
}

Dim substitute_dim(const Dim& dim, const Substitution& substitution, uint64_t bits) {
  if (!(dim.node()->summary.var_bits & bits)) return dim;
  std::vector<Term> terms;
  for (const Term& term : dim.terms()) {
    Dim product = term.coefficient;
    for (const Atom& atom : term.factors) product = product * substitute_atom(atom, substitution, bits);
    terms.insert(terms.end(), product.terms().begin(), product.terms().end());
  }
  return make_dim(std::move(terms));
}

}  // namespace

// ---- Construction ----

Dim make_dim(std::vector<Term> terms) {
  std::sort(terms.begin(), terms.end(),
            [](const Term& a, const Term& b) { return compare_factors(a.factors, b.factors) < 0; });
  size_t kept = 0;
  for (size_t i = 0; i < terms.size();) {
    int64_t coefficient = 0;
    size_t same = i;
    for (; same < terms.size() && terms[same].factors == terms[i].factors; ++same)
      if (__builtin_add_overflow(coefficient, terms[same].coefficient, &coefficient)) return too_large();
    if (coefficient != 0) {
      if (kept != i) terms[kept].factors = std::move(terms[i].factors);
      terms[kept++].coefficient = coefficient;
    }
    i = same;
  }
  terms.resize(kept);
  return finish(std::move(terms));
}

Dim monomial(int64_t coefficient, std::vector<Atom> factors) {
  if (coefficient == 0) return Dim();
  std::vector<Term> terms;
  terms.push_back({coefficient, std::move(factors)});
  return finish(std::move(terms));
}

Dim dim_of(const Term& term) { return monomial(term.coefficient, term.factors); }
Dim make_dim(Atom atom) { return atom.kind() == AtomKind::var ? Dim(atom.var()) : monomial(1, {atom}); }

Atom make_atom(AtomKind kind, const Dim& lhs, const Dim& rhs) {
  AtomNode node;
  node.kind = kind;
  node.lhs = lhs.node();
  node.rhs = rhs.node();
  const NodeSummary &left = lhs.node()->summary, &right = rhs.node()->summary;
  node.summary.hash = mix(mix(static_cast<size_t>(kind), left.hash), right.hash);
  node.summary.var_bits = left.var_bits | right.var_bits;
  node.summary.depth = std::max(left.depth, right.depth) + 1;
  node.summary.size = std::min(left.size + right.size + 1, max_dim_size + 1);
  node.summary.overflowed = left.overflowed || right.overflowed;
  return {intern_atom(std::move(node))};
}

AtomKind Atom::kind() const { return node->kind; }
Var Atom::var() const { return node->var; }
Dim Atom::lhs() const { return DimAccess::wrap(node->lhs); }
Dim Atom::rhs() const { return DimAccess::wrap(node->rhs); }

// ---- Arithmetic ----

Dim operator+(const Dim& a, const Dim& b) {
  if (a.terms().empty()) return b;
  if (b.terms().empty()) return a;
  return add_scaled(a, b, 1);
}
Dim operator-(const Dim& a, const Dim& b) {
  if (a == b) return Dim();
  return b.terms().empty() ? a : add_scaled(a, b, -1);
}
Dim operator-(const Dim& a) { return add_scaled(Dim(), a, -1); }

std::vector<Atom> multiply_factors(const std::vector<Atom>& a, const std::vector<Atom>& b) {
  std::vector<Atom> product;
  product.reserve(a.size() + b.size());
  std::merge(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(product),
             [](const Atom& x, const Atom& y) { return compare(x, y) < 0; });
  return product;
}

Dim operator*(const Dim& a, const Dim& b) {
  if (a.terms().empty() || b.terms().empty()) return Dim();
  if (b.is(1)) return a;
  if (a.is(1)) return b;
  if (a.terms().size() * b.terms().size() > 4 * max_dim_terms) return too_large();
  std::vector<Term> terms;
  terms.reserve(a.terms().size() * b.terms().size());
  for (const Term& s : a.terms())
    for (const Term& t : b.terms()) {
      auto coefficient = checked_multiply(s.coefficient, t.coefficient);
      if (!coefficient) return too_large();
      terms.push_back({*coefficient, multiply_factors(s.factors, t.factors)});
    }
  return make_dim(std::move(terms));
}

Dim cdiv(const Dim& a, const Dim& b) {
  if (a.constant() > 0 && b.constant() > 0) return floor_div(a - 1, b) + 1;  // a + b may leave i64
  return floor_div(a + (b - 1), b);
}

// ---- Order and hash ----

int compare(const Atom& a, const Atom& b) {
  if (a == b) return 0;
  if (a.kind() != b.kind()) return a.kind() < b.kind() ? -1 : 1;
  if (a.kind() == AtomKind::var) return a.var() < b.var() ? -1 : 1;
  int order = compare(a.lhs(), b.lhs());
  return order != 0 ? order : compare(a.rhs(), b.rhs());
}

int compare_factors(const std::vector<Atom>& a, const std::vector<Atom>& b) {
  if (a.size() != b.size()) return a.size() > b.size() ? -1 : 1;
  for (size_t i = 0; i < a.size(); ++i)
    if (int order = compare(a[i], b[i])) return order;
  return 0;
}

int compare(const Dim& a, const Dim& b) {
  if (a == b) return 0;
  const auto &left = a.terms(), &right = b.terms();
  for (size_t i = 0; i < left.size() && i < right.size(); ++i) {
    if (int order = compare_factors(left[i].factors, right[i].factors)) return order;
    if (left[i].coefficient != right[i].coefficient)
      return left[i].coefficient < right[i].coefficient ? -1 : 1;
  }
  return left.size() < right.size() ? -1 : left.size() > right.size() ? 1 : 0;
}

size_t hash(const Dim& dim) { return dim.node()->summary.hash; }
bool overflowed(const Dim& dim) { return dim.node()->summary.overflowed; }

size_t parts(const Dim& dim) { return dim.node()->summary.size; }

static bool too_wide(const Dim& dim) {
  constexpr size_t most_terms = 256, most_factors = 8;
  if (dim.terms().size() > most_terms) return true;
  for (const Term& term : dim.terms()) {
    if (term.factors.size() > most_factors) return true;
    for (const Atom& atom : term.factors)
      if (atom.kind() != AtomKind::var && (too_wide(atom.lhs()) || too_wide(atom.rhs()))) return true;
  }
  return false;
}

bool too_complex(const Dim& dim) {
  constexpr uint32_t most_nested = 32, most_parts = 4096;
  constexpr uint32_t most_depth = 2 + 2 * most_nested;  // a variable is 2 deep, and each operator adds 2
  const NodeSummary& all = dim.node()->summary;
  return all.overflowed || all.depth > most_depth || all.size > most_parts || too_wide(dim);
}

// ---- Reading ----

const std::vector<Term>& Dim::terms() const { return node_->terms; }

std::optional<int64_t> Dim::constant() const {
  if (node_->terms.empty()) return 0;
  if (node_->terms.size() == 1 && node_->terms[0].factors.empty()) return node_->terms[0].coefficient;
  return std::nullopt;
}

std::optional<Var> Dim::as_var() const {
  if (node_->terms.size() != 1) return std::nullopt;
  const Term& term = node_->terms[0];
  if (term.coefficient != 1 || term.factors.size() != 1 || term.factors[0].kind() != AtomKind::var)
    return std::nullopt;
  return term.factors[0].var();
}

bool Dim::contains(Var var) const { return contains_var(node_, var); }

void Dim::collect_vars(std::vector<Var>& out) const {
  uint64_t seen = 0;
  for (Var var : out) seen |= uint64_t{1} << (var.id % 64);
  collect_into(node_, out, seen);
}

std::vector<Var> Dim::vars() const {
  std::vector<Var> out;
  collect_vars(out);
  return out;
}

Dim Dim::substitute(const Substitution& substitution) const {
  return substitute_dim(*this, substitution, bits_of(substitution));
}

namespace {

class Rebuild {
 public:
  explicit Rebuild(const std::function<Dim(Var)>& variable) : variable_(variable) {}

  Dim of(const Dim& d) {
    if (const auto known = done_.find(d.node()); known != done_.end()) return known->second;
    Dim sum;
    for (const Term& term : d.terms()) {
      Dim product(term.coefficient);
      for (const Atom& atom : term.factors) product = product * of(atom);
      sum = sum + product;
    }
    return done_.emplace(d.node(), sum).first->second;
  }

 private:
  Dim of(const Atom& atom) {
    switch (atom.kind()) {
      case AtomKind::var:
        return atom.node->summary.overflowed ? too_large() : variable_(atom.var());
      case AtomKind::floor_div:
        return floor_div(of(atom.lhs()), of(atom.rhs()));
      case AtomKind::mod:
        return mod(of(atom.lhs()), of(atom.rhs()));
      case AtomKind::min:
        return min(of(atom.lhs()), of(atom.rhs()));
      case AtomKind::max:
        return max(of(atom.lhs()), of(atom.rhs()));
    }
    return too_large();
  }

  const std::function<Dim(Var)>& variable_;
  std::unordered_map<const DimNode*, Dim> done_;
};

}  // namespace

Dim rebuilt(const Dim& d, const std::function<Dim(Var)>& variable) { return Rebuild(variable).of(d); }

namespace {

auto value_in(const Assignment& assignment) {
  return [&assignment](Var var) -> std::optional<int64_t> {
    auto found = assignment.find(var);
    if (found == assignment.end()) return std::nullopt;
    return found->second;
  };
}

}  // namespace

std::optional<int64_t> Dim::evaluate(const Assignment& assignment) const {
  return evaluate_node<int64_t>(node_, value_in(assignment));
}

std::optional<int64_t> Dim::evaluate(const std::function<std::optional<int64_t>(Var)>& lookup) const {
  return evaluate_node<int64_t>(node_, lookup);
}

std::optional<Wide> Dim::evaluate_wide(const Assignment& assignment) const {
  return evaluate_node<Wide>(node_, value_in(assignment));
}

std::optional<std::pair<Dim, Dim>> Dim::linear_in(Var var) const {
  std::vector<Term> slope, rest;
  for (const Term& term : terms()) {
    Term without{term.coefficient, {}};
    size_t power = 0;
    for (const Atom& atom : term.factors) {
      if (atom.kind() == AtomKind::var && atom.var() == var) {
        ++power;
      } else if (contains_var(atom, var)) {
        return std::nullopt;
      } else {
        without.factors.push_back(atom);
      }
    }
    if (power > 1) return std::nullopt;
    (power == 1 ? slope : rest).push_back(std::move(without));
  }
  return std::pair{make_dim(std::move(slope)), make_dim(std::move(rest))};
}

}  // namespace axon::shape
