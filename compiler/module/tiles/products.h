// Products by multiply-adds of vectors.
//
// In: a gemm without an instruction, its accumulators in registers. Out: its code. Invariant: each
// accumulator goes through the summed labels in ascending order.
//
// Where views fill what lies outside of their bounds, such steps are left out: rows past the last one have no
// code, and the depth ends where the operands do. How many rows there are may be known where the loop around
// begins (Context::rows).
#pragma once
#include "module/tiles/accesses.h"
#include "module/tiles/sweep.h"

namespace axon::module::tiles {

/// The bounds of a gemm's operands that views fill with 0. There are as many rows, and steps of the depth, as
/// the least of these say.
struct GemmLimits {
  std::optional<Var> row;                    ///< the label of the accumulators' first axis
  std::optional<Var> depth;                  ///< the last label that is summed
  std::vector<Var> outer;                    ///< the others that are
  std::map<Var, std::vector<Dim>> of_outer;  ///< how many steps of these there are
  std::vector<Dim> rows, steps;
  std::vector<Fact> of_steps;    ///< the facts that `steps` come from
  std::vector<Dim> columns;      ///< so many columns there are; those of a vector that has some are masked
  std::vector<Fact> of_columns;  ///< the facts that `columns` come from
  std::vector<Fact> others;      ///< bounds that are masks
};
GemmLimits limits_of(const tile::Program&, const Views&, const tile::Gemm&);

class Products {
 public:
  Products(Context& context, Registers& registers, Accesses& accesses)
      : c_(context), registers_(registers), accesses_(accesses) {}
  void emit(const tile::Op&, const tile::Gemm&);

 private:
  struct Accumulator {
    Lanes lanes;
    int64_t number = 0;  ///< of the register
    int64_t row = 0;
    int64_t vector = 0;  ///< of columns
  };
  void some_rows(const tile::Gemm&, const GemmLimits&, int64_t rows);
  void each_outer(const GemmLimits&, size_t number, const Substitution& at,
                  const std::function<void(const Substitution&)>& body);
  void along_depth(const tile::Gemm&, const GemmLimits&, int64_t rows, const Substitution& at);
  void multiply(const tile::Gemm&, const Substitution& at, int64_t rows);
  bool has(const Accumulator& a, int64_t rows) const {
    return a.row < rows && a.vector < c_.vectors.value_or(INT64_MAX);
  }
  bool is_whole(const std::vector<Fact>&, const std::map<Var, int64_t>& extents);
  int64_t registers_of(int64_t rows) const;

  Context& c_;
  Registers& registers_;
  Accesses& accesses_;
  std::vector<Accumulator> accumulators_;
  std::map<Var, int64_t> extents_;
  std::optional<Var> depth_;
  std::vector<const tile::Prefetch*> ahead_;  ///< is asked for step by step
};

}  // namespace axon::module::tiles
