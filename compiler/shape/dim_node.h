// The interned nodes behind Dim, and the constructors the normal form is made of. Only shape/ includes this.
//
// In: terms or operands in any order. Out: the one node of that normal form. Invariant: nodes never change,
// and live as long as their arena; an arena has no two nodes of one content, so equality is pointer equality.
// Every node is bounded in depth, tree size, terms and degree: walks over a Dim may recurse and need no
// budget of their own. What would be larger becomes a fresh unknown (see overflowed()).
#pragma once
#include "shape/dim.h"
#include "shape/floor.h"

namespace axon::shape {

constexpr size_t max_dim_terms = 1024;
constexpr size_t max_dim_degree = 32;
constexpr uint32_t max_dim_depth = 256;
constexpr uint32_t max_dim_size = 20000;  ///< nodes of the tree, shared ones counted each time

/// What every node knows of everything below it.
struct NodeSummary {
  size_t hash = 0;
  uint64_t var_bits = 0;  ///< bit (id % 64) of each variable: a clear bit says that the variable is not there
  uint32_t depth = 1;
  uint32_t size = 1;
  bool overflowed = false;
};

struct AtomNode {
  AtomKind kind = AtomKind::var;
  Var var;
  const DimNode* lhs = nullptr;
  const DimNode* rhs = nullptr;
  NodeSummary summary;
};

struct DimNode {
  std::vector<Term> terms;
  NodeSummary summary;
};

struct DimAccess {
  static Dim wrap(const DimNode* node) { return Dim(node); }
};

size_t mix(size_t seed, size_t value);           ///< of hashes
const DimNode* intern_terms(std::vector<Term>);  ///< of terms in normal form (arena.cpp)
const AtomNode* intern_atom(AtomNode);           ///< with its summary (arena.cpp)
Dim too_large();                                 ///< a fresh unknown
Dim make_dim(std::vector<Term> terms);  ///< their sum; any order, repeats and zero coefficients allowed
Dim make_dim(Atom);
Atom make_atom(AtomKind, const Dim& lhs,
               const Dim& rhs);  ///< as it is: the rules are in floor_div(), mod(), ...
int compare(const Atom&, const Atom&);
int compare_factors(const std::vector<Atom>&, const std::vector<Atom>&);
std::vector<Atom> multiply_factors(const std::vector<Atom>&, const std::vector<Atom>&);
Dim monomial(int64_t coefficient, std::vector<Atom> factors);
/// `k*(p % q) + k*q*(p / q)` becomes `k*p`, and the like for digits; called by make_dim. (dim_atoms.cpp)
std::optional<Dim> recombine(const std::vector<Term>& terms);
/// a - b when that is a constant, found without making the difference.
std::optional<int64_t> constant_difference(const Dim& a, const Dim& b);
/// factors / divisor as multisets, when every factor of the divisor is there.
std::optional<std::vector<Atom>> divide_factors(std::vector<Atom> factors, const std::vector<Atom>& divisor);
/// p = quotient * q + rest by the leading term of q, which is no constant.
struct Division {
  Dim quotient, rest;
};
Division divide_polynomial(const Dim& p, const Dim& q);
/// The only operator atom of `p`, when p is that atom plus a constant.
struct AtomPlusConstant {
  Atom atom;
  int64_t constant = 0;
};
std::optional<AtomPlusConstant> as_atom_plus_constant(const Dim& p);
AtomKind dual(AtomKind kind);  ///< min for max and max for min
/// The operands when `dim` is written as one min (or max) of several; else `dim` itself.
void collect_operands(AtomKind, const Dim&, std::vector<Dim>& out);

/// An inclusive range; a missing end is infinite.
struct Range {
  std::optional<int64_t> low, high;
  bool empty() const { return low && high && *low > *high; }
  bool inside(int64_t from, int64_t to) const { return low && high && *low >= from && *high <= to; }
};
using AtomRange = std::function<Range(const Atom&)>;
Range range_of(const Dim&, const AtomRange&);
/// Division and remainder by a constant > 0 with what `range` knows; nullopt when it adds nothing.
/// (dim_atoms.cpp)
std::optional<Dim> floor_div_by_range(const Dim& p, int64_t divisor, const AtomRange& range);
std::optional<Dim> mod_by_range(const Dim& p, int64_t divisor, const AtomRange& range);

inline std::optional<int64_t> checked_add(int64_t a, int64_t b) {
  int64_t result;
  if (__builtin_add_overflow(a, b, &result)) return std::nullopt;
  return result;
}
inline std::optional<int64_t> checked_multiply(int64_t a, int64_t b) {
  int64_t result;
  if (__builtin_mul_overflow(a, b, &result)) return std::nullopt;
  return result;
}

}  // namespace axon::shape
