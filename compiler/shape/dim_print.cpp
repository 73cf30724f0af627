// Dims in source syntax, with no more parentheses than the grammar needs: `2*n + m / 4`, `(n + 1) / 2 % k`.
// parse_dim() reads the text back to the same Dim. Rounding up is recognised and printed as cdiv.
#include <fmt/core.h>

#include "shape/dim_node.h"

namespace axon::shape {
namespace {

using NameOf = std::function<std::string(Var)>;

class Printer {
 public:
  explicit Printer(const NameOf& name) : name_(name) {}

  std::string sum(const Dim& dim) {
    const auto& terms = dim.terms();
    if (terms.empty()) return "0";
    size_t first = 0;  // a sum begins with a positive term where it has one
    while (first < terms.size() && terms[first].coefficient < 0) ++first;
    if (first == terms.size()) first = 0;
    const bool negative = terms[first].coefficient < 0;
    std::string text = negative ? "-" : "";
    text += product(terms[first], negative);
    for (size_t i = 0; i < terms.size(); ++i) {
      if (i == first) continue;
      text += terms[i].coefficient < 0 ? " - " : " + ";
      text += product(terms[i]);
    }
    return text;
  }

 private:
  /// A term without its sign. `negated`: behind a sign, which binds more tightly than a division.
  std::string product(const Term& term, bool negated = false) {
    uint64_t size = term.coefficient < 0 ? -static_cast<uint64_t>(term.coefficient) : term.coefficient;
    if (term.factors.empty()) return std::to_string(size);
    std::string text = size == 1 ? "" : std::to_string(size);
    for (const Atom& atom : term.factors) {
      bool first = text.empty();
      if (!first) text += '*';
      text += factor(atom, first && !negated);
    }
    return text;
  }

  /// `first`: the left-most factor of its product, where a division needs no parentheses.
  std::string factor(const Atom& atom, bool first) {
    switch (atom.kind()) {
      case AtomKind::var:
        return name_(atom.var());
      case AtomKind::min:
        return fmt::format("min({}, {})", sum(atom.lhs()), sum(atom.rhs()));
      case AtomKind::max:
        return fmt::format("max({}, {})", sum(atom.lhs()), sum(atom.rhs()));
      case AtomKind::floor_div:
        if (auto rounded = rounded_up(atom))
          return fmt::format("cdiv({}, {})", sum(*rounded), sum(atom.rhs()));
        break;
      case AtomKind::mod:
        break;
    }
    char sign = atom.kind() == AtomKind::mod ? '%' : '/';
    std::string text = fmt::format("{} {} {}", dividend(atom.lhs()), sign, divisor(atom.rhs()));
    return first ? text : fmt::format("({})", text);
  }

  /// n where the atom is floor((n + q - 1) / q).
  static std::optional<Dim> rounded_up(const Atom& atom) {
    Dim n = atom.lhs() - atom.rhs() + 1;
    if (n.terms().size() >= atom.lhs().terms().size() || n.constant()) return std::nullopt;
    if (!atom.rhs().constant() &&
        n.terms().size() + atom.rhs().terms().size() + 1 != atom.lhs().terms().size())
      return std::nullopt;
    return n;
  }

  std::string dividend(const Dim& dim) {
    const auto& terms = dim.terms();
    bool bare = terms.empty() || (terms.size() == 1 && terms[0].coefficient > 0);
    return bare ? sum(dim) : fmt::format("({})", sum(dim));
  }

  std::string divisor(const Dim& dim) {
    const auto& terms = dim.terms();
    bool bare = terms.empty();
    if (terms.size() == 1) {
      const Term& term = terms[0];
      if (term.factors.empty())
        bare = term.coefficient > 0;
      else if (term.coefficient == 1 && term.factors.size() == 1)
        return factor(term.factors[0], false);
    }
    return bare ? sum(dim) : fmt::format("({})", sum(dim));
  }

  const NameOf& name_;
};

}  // namespace

std::string Dim::str(const NameOf& name) const { return Printer(name).sum(*this); }
std::string Dim::str() const {
  return str([](Var var) { return var_name(var); });
}

}  // namespace axon::shape
