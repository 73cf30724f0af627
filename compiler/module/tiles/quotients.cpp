// See quotients.h.
#include "module/tiles/quotients.h"

namespace axon::module::tiles {

using shape::Atom;
using shape::AtomKind;
using shape::Dim;
using shape::Var;

namespace {

class Rewriter {
 public:
  Rewriter(Var index, int64_t first, int64_t last) : index_(index), first_(first), last_(last) {}

  /// nullopt where an atom with the index cannot be had so.
  std::optional<Dim> rewritten(const Dim& d) {
    if (!d.contains(index_)) return d;
    Dim sum(0);
    for (const shape::Term& term : d.terms()) {
      Dim product(term.coefficient);
      for (const Atom& atom : term.factors) {
        const auto one = rewritten(atom);
        if (!one) return std::nullopt;
        product = product * *one;
      }
      sum = sum + product;
    }
    return sum;
  }
  std::vector<Dim> conditions() const { return conditions_; }

 private:
  std::optional<Dim> rewritten(const Atom& atom) {
    if (atom.kind() == AtomKind::var) return Dim(atom.var());
    const Dim by = atom.rhs();
    const bool is_quotient = atom.kind() == AtomKind::floor_div;
    const auto of = rewritten(atom.lhs());
    if (!of || by.contains(index_) || (!is_quotient && atom.kind() != AtomKind::mod)) return std::nullopt;
    if (by.constant() || !of->contains(index_)) return is_quotient ? floor_div(*of, by) : mod(*of, by);
    const auto linear = of->linear_in(index_);
    const auto step = linear ? linear->first.constant() : std::nullopt;
    if (!step || *step < 0) return std::nullopt;
    const Dim first = of->substitute({{index_, Dim(first_)}}), rest = mod(first, by);
    conditions_.push_back(by - 1 - Dim(*step * (last_ - first_)) - rest);
    return is_quotient ? floor_div(first, by) : rest + Dim(*step) * (Dim(index_) - Dim(first_));
  }

  const Var index_;
  const int64_t first_, last_;
  std::vector<Dim> conditions_;
};

}  // namespace

std::optional<LaneOffsets> within_quotients(const Dim& offset, Var index,
                                            const std::vector<int64_t>& indices) {
  Rewriter rewriter(index, indices.front(), indices.back());
  const auto moved = rewriter.rewritten(offset);
  if (!moved || rewriter.conditions().empty()) return std::nullopt;
  LaneOffsets out{{}, rewriter.conditions()};
  for (const int64_t i : indices) out.offsets.push_back(moved->substitute({{index, Dim(i)}}));
  return out;
}

}  // namespace axon::module::tiles
