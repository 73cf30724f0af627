// Dimension expressions in normal form.
//
// A Dim is an integer polynomial over atoms; an atom is a variable, floor(p / q), p mod q, min(p, q) or
// max(p, q) with p and q again Dims. Everything integer in the compiler is a Dim: sizes in types, extents of
// index variables, affine indices, task coordinates, buffer offsets, event maps. Dims are immutable, and
// interned in an arena (arena.h): equal normal forms are pointer-equal. `/` and `%` are floor division and
// its remainder. Nothing here knows ranges: facts (n >= 0, i < n, ...) are passed to prove() in prover.h and
// to simplify().
//
// Order of anything printed never depends on addresses: compare() is structural, by variable id.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace axon::shape {

/// A variable: identity is the number; the name is only for printing. Sizes, index variables, coordinates,
/// all alike.
struct Var {
  uint32_t id = 0xffffffffu;
  bool valid() const { return id != 0xffffffffu; }
  friend auto operator<=>(const Var&, const Var&) = default;
};
Var fresh_var(std::string name);
const std::string& var_name(Var);

class Dim;
using Substitution = std::map<Var, Dim>;
using Assignment = std::map<Var, int64_t>;
__extension__ typedef __int128 Wide;

enum class AtomKind : uint8_t { var, floor_div, mod, min, max };

struct DimNode;   // a polynomial
struct AtomNode;  // one atom

/// One monomial: coefficient times a product of atoms with positive powers. Powers are written as repeated
/// factors, sorted by compare().
struct Atom {
  const AtomNode* node = nullptr;
  AtomKind kind() const;
  Var var() const;  ///< kind() == var
  Dim lhs() const;  ///< the other kinds
  Dim rhs() const;
  friend bool operator==(const Atom&, const Atom&) = default;
};
struct Term {
  int64_t coefficient = 0;
  std::vector<Atom> factors;  ///< empty: the constant term
};

class Dim {
 public:
  Dim();                  ///< 0
  Dim(int64_t constant);  // NOLINT: implicit on purpose, `n + 1` must read so
  Dim(int constant) : Dim(static_cast<int64_t>(constant)) {}
  Dim(Var);  // NOLINT

  const std::vector<Term>& terms() const;   ///< normal form: sorted, no zero coefficient
  std::optional<int64_t> constant() const;  ///< the value, if it is one
  std::optional<Var> as_var() const;        ///< the variable, if it is just one
  bool is(int64_t value) const { return constant() == value; }
  bool contains(Var) const;                        ///< also inside atoms
  void collect_vars(std::vector<Var>& out) const;  ///< appends each variable once, in order of first use
  std::vector<Var> vars() const;

  Dim substitute(const Substitution&) const;
  /// The value under an assignment of every variable; nullopt on overflow, missing variable or division by
  /// zero.
  std::optional<int64_t> evaluate(const Assignment&) const;
  std::optional<int64_t> evaluate(const std::function<std::optional<int64_t>(Var)>&) const;
  /// The same with sums and products in 128 bits. The operands of the other operators still fit into 64.
  std::optional<Wide> evaluate_wide(const Assignment&) const;

  /// Splits into a * v + b with a and b free of v, when the expression is linear in v; nullopt otherwise.
  std::optional<std::pair<Dim, Dim>> linear_in(Var v) const;

  std::string str() const;  ///< source syntax, e.g. `2*n + m / 4`
  std::string str(const std::function<std::string(Var)>& name) const;

  friend bool operator==(const Dim& a, const Dim& b) { return a.node_ == b.node_; }
  friend bool operator!=(const Dim& a, const Dim& b) { return a.node_ != b.node_; }
  const DimNode* node() const { return node_; }

 private:
  friend struct DimAccess;
  explicit Dim(const DimNode* n) : node_(n) {}
  const DimNode* node_;
};

Dim operator+(const Dim&, const Dim&);
Dim operator-(const Dim&, const Dim&);
Dim operator*(const Dim&, const Dim&);
Dim operator-(const Dim&);
Dim floor_div(const Dim&, const Dim&);
Dim mod(const Dim&, const Dim&);
Dim min(const Dim&, const Dim&);
Dim max(const Dim&, const Dim&);
Dim cdiv(const Dim&, const Dim&);     ///< floor_div(a + b - 1, b)
int compare(const Dim&, const Dim&);  ///< a structural total order, stable between runs
struct DimLess {
  bool operator()(const Dim& a, const Dim& b) const { return compare(a, b) < 0; }
};
/// The same expression with these in place of its variables, made in the current arena: `d` may be of
/// another.
Dim rebuilt(const Dim& d, const std::function<Dim(Var)>& variable);
size_t hash(const Dim&);  ///< structural
/// A coefficient left 64 bits, or the expression outgrew the limits in dim_node.h. Such a Dim is a value
/// nobody knows: it equals only itself, evaluates to nothing, and every statement about it is answered
/// `unknown`.
bool overflowed(const Dim&);
Dim dim_of(const Term&);  ///< the term alone
/// The term without variables; 0 when there is none.
int64_t constant_part(const Dim&);
/// How many parts it is written with, those that occur in several places each time.
size_t parts(const Dim&);
/// More than what a type may say: over 256 terms, or a product of over 8 factors, anywhere in it; quotients,
/// remainders, min and max nested over 32 deep; over 4,096 parts; or overflowed.
bool too_complex(const Dim&);

}  // namespace axon::shape
