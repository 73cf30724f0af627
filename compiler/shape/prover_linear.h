// A conjunction of linear constraints over monomials, with what is known of each operator atom added by
// itself.
//
// In: Dims that are >= 0 or == 0. Every distinct product of atoms is one opaque column; floor, mod, min and
// max bring the rows that define them. Out: a contradiction (sound over the integers), ranges of atoms, and
// enumeration of small models. Three engines, in rising cost: range propagation, Fourier-Motzkin elimination
// with integer tightening, and products of rows with non-negative monomials. Everything is bounded by counts,
// never by a clock, and the order of work depends on the order of the input alone.
#pragma once
#include <unordered_map>

#include "shape/dim_node.h"

namespace axon::shape {

/// Sum of coefficient * column, plus constant: >= 0, or == 0.
struct Row {
  std::vector<std::pair<uint32_t, int64_t>> terms;  ///< sorted by column
  int64_t constant = 0;
  bool equality = false;
};

class System {
 public:
  /// From here on ranges also go from a product to its factors. Proofs want that; regions that are read off
  /// bounds do not: they would be cut at quotients by sizes.
  void look_through_products() { through_products_ = true; }
  void add(const Dim& expr, bool equality);              ///< expr >= 0, or expr == 0
  void mention(const Dim& expr) { (void)row_of(expr); }  ///< so that its atoms are known
  /// Propagates ranges to a fixed point (or a round limit); false: contradiction.
  bool propagate();
  /// propagate(), then elimination; false when the rows contradict each other.
  bool consistent();
  /// A cheap proof that expr >= 0: by range, then by elimination.
  bool entails_nonnegative(const Dim& expr) const;

  Range range(const Atom&) const;
  Range range(const Dim&) const;
  /// min and max atoms that no branch has decided yet, in order of appearance.
  const std::vector<Atom>& undecided() const { return undecided_; }
  /// This branch takes `side` for the atom: atom == side.
  void decide(const Atom&, bool take_lhs);
  /// For divisions p/d by symbols: where p = q*d + r with 0 <= r < d follows, adds p/d = q and p%d = r; where
  /// x*m and y*m occur and x = y follows, adds that. True when anything was added.
  bool add_lemmas();

  /// For the model search: all variables among the columns; ranges as a value that can be saved and narrowed.
  std::vector<Var> variables() const;
  using Ranges = std::vector<Range>;
  const Ranges& ranges() const { return ranges_; }
  void restore(const Ranges& ranges) {
    ranges_ = ranges;
    contradiction_ = false;
  }
  bool narrow(Var, int64_t value);  ///< sets it and propagates, adding no rows; false: contradiction

 private:
  using Factors = std::vector<Atom>;
  struct FactorsHash {
    size_t operator()(const Factors& factors) const;
  };
  uint32_t column(const Factors&);
  std::optional<uint32_t> find_column(const Factors&) const;
  Row row_of(const Dim& expr);
  void accumulate(const Dim& expr, int64_t scale, std::vector<std::pair<uint32_t, int64_t>>& terms,
                  int64_t& constant, bool& exact);
  /// sum of scale_i * dim_i (compared to zero), added term by term so that the normal form cannot fold it to
  /// 0 == 0.
  void add_sum(std::initializer_list<std::pair<const Dim*, int64_t>> parts, int64_t constant, bool equality);
  void define(const Atom&);
  void define_symbolic(const Atom&);
  void define_waiting();
  bool propagate_ranges();  ///< one round over all columns and rows
  bool propagate_factors(uint32_t product);
  bool tighten(uint32_t column, const Range&);
  bool propagate_row(const Row&);
  bool decide_quotient(const Atom&);
  bool equate_factors(const Factors&, const Factors&);
  Range forward(const Atom&) const;
  Range product_range(const Factors&) const;
  std::vector<Row> product_rows() const;
  std::vector<Row> all_rows();

  std::vector<Factors> columns_;
  std::unordered_map<Factors, uint32_t, FactorsHash> column_of_;
  Ranges ranges_;
  std::vector<Row> rows_;
  std::vector<Atom> undecided_;
  std::vector<Atom> waiting_;   ///< division atoms whose symbolic divisor is not known to be positive yet
  std::vector<Atom> symbolic_;  ///< division atoms by symbols that are positive
  bool contradiction_ = false;
  bool changed_ = false;
  bool through_products_ = false;
};

/// Fourier-Motzkin on a copy of the rows; false: contradictory. Gives up (true) when the rows grow too many.
bool eliminate(std::vector<Row> rows);

}  // namespace axon::shape
