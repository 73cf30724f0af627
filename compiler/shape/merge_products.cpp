// See merge_products.h.
#include "shape/merge_products.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "shape/arena.h"

namespace axon::shape {

namespace {

using Vars = std::vector<Var>;  ///< of one term, sorted, with repetitions

Vars vars_of(const Term& term) {
  Vars vars;
  for (const Atom& factor : term.factors)
    if (factor.kind() == AtomKind::var) vars.push_back(factor.var());
  std::sort(vars.begin(), vars.end());
  return vars;
}

void each_term(const Dim& d, const std::function<void(const Term&)>& visit) {
  for (const Term& term : d.terms()) {
    visit(term);
    for (const Atom& factor : term.factors) {
      if (factor.kind() == AtomKind::var) continue;
      each_term(factor.lhs(), visit);
      each_term(factor.rhs(), visit);
    }
  }
}

/// The variable v when the fact is 0 <= v.
std::optional<Var> sign_of(const Fact& fact) {
  return fact.relation == Relation::le && fact.lhs.is(0) ? fact.rhs.as_var() : std::nullopt;
}

/// Products of different variables none of which occurs without the others.
std::vector<Vars> inseparable(const std::set<Vars>& products) {
  std::vector<Vars> found;
  for (const Vars& product : products) {
    const bool square = std::adjacent_find(product.begin(), product.end()) != product.end();
    if (product.size() < 2 || square) continue;
    const bool always = std::all_of(products.begin(), products.end(), [&](const Vars& other) {
      const auto times = [&](Var v) { return std::count(other.begin(), other.end(), v); };
      const auto first = times(product[0]);
      return first <= 1 &&
             std::all_of(product.begin(), product.end(), [&](Var v) { return times(v) == first; });
    });
    if (always) found.push_back(product);
  }
  return found;
}

/// The variable that stands for a product: the same one in every question.
struct ProductNames {
  std::map<Vars, Var> names;
};

class Merger {
 public:
  explicit Merger(const std::vector<Vars>& products) {
    auto& names = remembered_in_arena<ProductNames>().names;
    for (const Vars& product : products) {
      auto [it, added] = names.try_emplace(product);
      if (added) it->second = fresh_var(var_name(product[0]) + "*");
      for (Var v : product) merged_[v] = v == product[0] ? Dim(it->second) : Dim(1);
    }
  }

  Dim operator()(const Dim& d) const {
    Dim sum;
    for (const Term& term : d.terms()) {
      Dim product(term.coefficient);
      for (const Atom& factor : term.factors) product = product * of(factor);
      sum = sum + product;
    }
    return sum;
  }
  Fact operator()(const Fact& fact) const { return {(*this)(fact.lhs), fact.relation, (*this)(fact.rhs)}; }

  std::vector<Fact> signs(const std::set<Var>& nonnegative) const {
    std::vector<Fact> facts;
    for (const auto& [var, product] : merged_)
      if (!product.is(1) && nonnegative.contains(var)) facts.push_back(at_least(product, Dim(0)));
    return facts;
  }

 private:
  Dim of(const Atom& atom) const {
    switch (atom.kind()) {
      case AtomKind::var: {
        const auto it = merged_.find(atom.var());
        return it == merged_.end() ? Dim(atom.var()) : it->second;
      }
      case AtomKind::floor_div:
        return floor_div((*this)(atom.lhs()), (*this)(atom.rhs()));
      case AtomKind::mod:
        return mod((*this)(atom.lhs()), (*this)(atom.rhs()));
      case AtomKind::min:
        return min((*this)(atom.lhs()), (*this)(atom.rhs()));
      case AtomKind::max:
        return max((*this)(atom.lhs()), (*this)(atom.rhs()));
    }
    return Dim();
  }

  std::map<Var, Dim> merged_;  ///< the first factor stands for the product, the others for 1
};

}  // namespace

std::optional<Question> merge_products(const std::vector<Fact>& facts, const std::vector<Fact>& goals) {
  std::set<Var> nonnegative;
  std::set<Vars> products;
  for (const std::vector<Fact>* list : {&facts, &goals})
    for (const Fact& fact : *list) {
      const auto sign = list == &facts ? sign_of(fact) : std::nullopt;
      if (sign) nonnegative.insert(*sign);
      for (const Dim* side : {&fact.lhs, &fact.rhs})
        if (!sign) each_term(*side, [&](const Term& term) { products.insert(vars_of(term)); });
    }
  // A product is only known not to be negative when all of its factors are.
  std::vector<Vars> merged = inseparable(products);
  std::erase_if(merged, [&](const Vars& product) {
    return !std::all_of(product.begin(), product.end(), [&](Var v) { return nonnegative.contains(v); });
  });
  if (merged.empty()) return std::nullopt;
  const Merger merge(merged);
  Question question;
  for (const Fact& fact : facts)
    if (const auto sign = sign_of(fact); !sign || merge(*sign) == Dim(*sign))
      question.facts.push_back(merge(fact));
  for (const Fact& sign : merge.signs(nonnegative)) question.facts.push_back(sign);
  for (const Fact& goal : goals) question.goals.push_back(merge(goal));
  return question;
}

}  // namespace axon::shape
