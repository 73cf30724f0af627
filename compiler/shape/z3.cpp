// Dims to Z3 terms and models back (see z3.h).
#include "shape/z3.h"

#include <fmt/core.h>
#include <z3++.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>

#include "base/outside.h"
#include "shape/dim_node.h"

namespace axon::shape {
namespace {

constexpr uint32_t max_z3_depth = 200;

/// What Z3 is told of a product of unknowns: what it is, or only that it is an integer.
enum class Products : uint8_t { exact, opaque };

class Translator {
 public:
  Translator(z3::context& context, z3::solver& solver, Products products)
      : context_(context), solver_(solver), products_(products) {}

  z3::expr term(const Dim& dim) {
    z3::expr_vector sum(context_);
    for (const Term& part : dim.terms()) sum.push_back(term(part));
    return sum.empty() ? context_.int_val(0) : z3::sum(sum);
  }

  z3::expr constraint(const Fact& fact) {
    z3::expr lhs = term(fact.lhs), rhs = term(fact.rhs);
    switch (fact.relation) {
      case Relation::eq:
        return lhs == rhs;
      case Relation::ne:
        return lhs != rhs;
      case Relation::le:
        return lhs <= rhs;
      case Relation::lt:
        break;
    }
    return lhs < rhs;
  }

  const std::vector<std::pair<Var, z3::expr>>& variables() const { return variables_; }

 private:
  /// Names go by number of use, so that equal questions look equal to Z3.
  z3::expr fresh(char kind) { return context_.int_const(fmt::format("{}{}", kind, count_++).c_str()); }

  z3::expr term(const Term& part) {
    z3::expr_vector product(context_);
    if (part.coefficient != 1 || part.factors.empty()) product.push_back(context_.int_val(part.coefficient));
    if (products_ == Products::opaque && part.factors.size() > 1)
      product.push_back(opaque(part.factors));
    else
      for (const Atom& atom : part.factors) product.push_back(value_of(atom));
    z3::expr first = product[0];
    for (unsigned i = 1; i < product.size(); ++i) first = first * product[i];
    return first;
  }

  /// Of a product that is not told it is known that it is not negative, where no factor is.
  z3::expr opaque(const std::vector<Atom>& factors) {
    std::vector<const AtomNode*> key;
    for (const Atom& atom : factors) key.push_back(atom.node);
    if (auto found = opaque_.find(key); found != opaque_.end()) return found->second;
    z3::expr value = fresh('p'), positive = context_.bool_val(true);
    for (const Atom& atom : factors) positive = positive && value_of(atom) >= 0;
    solver_.add(z3::implies(positive, value >= 0));
    opaque_.emplace(key, value);
    return value;
  }

  z3::expr value_of(const Atom& atom) {
    if (auto found = known_.find(atom.node); found != known_.end()) return found->second;
    z3::expr value = define(atom);
    known_.emplace(atom.node, value);
    return value;
  }

  z3::expr define(const Atom& atom) {
    if (atom.kind() == AtomKind::var) {
      z3::expr value = fresh('v');
      variables_.emplace_back(atom.var(), value);
      return value;
    }
    z3::expr lhs = term(atom.lhs()), rhs = term(atom.rhs());
    if (atom.kind() == AtomKind::min) return z3::ite(lhs <= rhs, lhs, rhs);
    if (atom.kind() == AtomKind::max) return z3::ite(lhs >= rhs, lhs, rhs);
    auto& [quotient, remainder] = division(atom, lhs, rhs);
    return atom.kind() == AtomKind::floor_div ? quotient : remainder;
  }

  /// Quotient and remainder of one pair are shared by `/` and `%`.
  std::pair<z3::expr, z3::expr>& division(const Atom& atom, const z3::expr& lhs, const z3::expr& rhs) {
    for (auto& [operands, parts] : divisions_)
      if (operands.first == atom.lhs() && operands.second == atom.rhs()) return parts;
    z3::expr quotient = fresh('q'), remainder = fresh('r');
    const auto divisor = atom.rhs().constant();
    if (divisor && *divisor > 0) {
      solver_.add(lhs == rhs * quotient + remainder && remainder >= 0 && remainder < rhs);
    } else if (products_ == Products::opaque) {
      solver_.add(z3::implies(rhs > 0, remainder >= 0 && remainder < rhs));
      solver_.add(z3::implies(rhs > 0 && lhs >= 0, quotient >= 0 && quotient <= lhs));
    } else {
      solver_.add(z3::implies(rhs != 0, lhs == rhs * quotient + remainder));
      solver_.add(z3::implies(rhs > 0, remainder >= 0 && remainder < rhs));
      solver_.add(z3::implies(rhs < 0, remainder <= 0 && remainder > rhs));
    }
    divisions_.push_back({{atom.lhs(), atom.rhs()}, {quotient, remainder}});
    return divisions_.back().second;
  }

  z3::context& context_;
  z3::solver& solver_;
  const Products products_;
  unsigned count_ = 0;
  std::unordered_map<const AtomNode*, z3::expr> known_;
  std::map<std::vector<const AtomNode*>, z3::expr> opaque_;
  std::vector<std::pair<Var, z3::expr>> variables_;
  std::vector<std::pair<std::pair<Dim, Dim>, std::pair<z3::expr, z3::expr>>> divisions_;
};

bool small_enough(const std::vector<Fact>& conjunction, unsigned max_terms) {
  uint64_t size = 0;
  for (const Fact& fact : conjunction)
    for (const Dim* dim : {&fact.lhs, &fact.rhs}) {
      const NodeSummary& summary = dim->node()->summary;
      if (summary.overflowed || summary.depth > max_z3_depth) return false;
      size += summary.size;
    }
  return size <= max_terms;
}

bool has_product(const Dim& dim) {
  for (const Term& term : dim.terms()) {
    if (term.factors.size() > 1) return true;
    for (const Atom& atom : term.factors) {
      if (atom.kind() == AtomKind::var) continue;
      const bool divides = atom.kind() == AtomKind::floor_div || atom.kind() == AtomKind::mod;
      if ((divides && !atom.rhs().constant()) || has_product(atom.lhs()) || has_product(atom.rhs()))
        return true;
    }
  }
  return false;
}

bool has_product(const std::vector<Fact>& conjunction) {
  return std::any_of(conjunction.begin(), conjunction.end(),
                     [](const Fact& fact) { return has_product(fact.lhs) || has_product(fact.rhs); });
}

/// Products of variables go to the older of Z3's two arithmetics: the newer one may spend many seconds on
/// multiplying huge numbers within one step, which the resource limit does not see.
void choose_arithmetic(z3::context& context, z3::solver& solver, const std::vector<Fact>& conjunction) {
  if (!has_product(conjunction)) return;
  z3::params params(context);
  params.set("arith.solver", 2u);
  solver.set(params);
}

void limit(z3::context& context, z3::solver& solver, unsigned rlimit) {
  z3::params params(context);
  params.set("rlimit", rlimit);
  params.set("random_seed", 0u);
  params.set("ctrl_c", false);  // Ctrl-C is our own caller's to handle
  solver.set(params);
}

unsigned resource_count(const z3::solver& solver) {
  z3::stats stats = solver.statistics();
  for (unsigned i = 0; i < stats.size(); ++i)
    if (stats.key(i) == "rlimit count") return stats.is_uint(i) ? stats.uint_value(i) : 0;
  return 0;
}

Satisfiable check(z3::solver& solver, unsigned& resource) {
  z3::check_result result = z3::unknown;
  // Where the solver was stopped, its answer is none, and the poll ends the question.
  base::outside([&] { solver.ctx().interrupt(); }, [&] { result = solver.check(); });
  resource = resource_count(solver);
  if (result == z3::unsat) return Satisfiable::no;
  return result == z3::sat ? Satisfiable::yes : Satisfiable::unknown;
}

/// A conjunction without variables of its own: they go by number of use, as Z3 sees them. Conjunctions with
/// one text are one question, and get one answer.
class Z3Question {
 public:
  Z3Question(const std::vector<Fact>& conjunction, unsigned rlimit) {
    add(rlimit);
    for (const Fact& fact : conjunction) {
      add(static_cast<int64_t>(fact.relation));
      add(fact.lhs);
      add(fact.rhs);
    }
  }
  const std::string& text() const { return text_; }
  const std::vector<Var>& variables() const { return variables_; }

 private:
  void add(int64_t number) { text_ += fmt::format("{} ", number); }
  void add(const Dim& dim) {
    add(static_cast<int64_t>(dim.terms().size()));
    for (const Term& term : dim.terms()) {
      add(term.coefficient);
      add(static_cast<int64_t>(term.factors.size()));
      for (const Atom& atom : term.factors) add(atom);
    }
  }
  void add(const Atom& atom) {
    add(static_cast<int64_t>(atom.kind()));
    if (atom.kind() == AtomKind::var) {
      const auto [number, is_new] = numbers_.emplace(atom.var(), variables_.size());
      if (is_new) variables_.push_back(atom.var());
      return add(static_cast<int64_t>(number->second));
    }
    add(atom.lhs());
    add(atom.rhs());
  }

  std::string text_;
  std::map<Var, size_t> numbers_;
  std::vector<Var> variables_;
};

/// Answers of this thread, up to a number of bytes. An answer says what Z3 used for it, so who counts that
/// counts the same for a remembered one: what is proved does not depend on what was asked before.
class Answers {
 public:
  std::optional<Z3Answer> find(const Z3Question& question) const {
    const auto known = answers_.find(question.text());
    if (known == answers_.end()) return std::nullopt;
    Z3Answer answer = known->second.answer;
    for (const auto& [number, value] : known->second.model)
      answer.model[question.variables()[number]] = value;
    return answer;
  }
  void keep(const Z3Question& question, const Z3Answer& answer) {
    constexpr size_t most_bytes = 32u << 20;
    bytes_ += question.text().size() + 256;
    if (bytes_ > most_bytes) return;
    Known& known = answers_[question.text()];
    known.answer = answer;
    known.answer.model.clear();
    for (size_t i = 0; i < question.variables().size(); ++i)
      if (const auto value = answer.model.find(question.variables()[i]); value != answer.model.end())
        known.model.emplace_back(i, value->second);
  }

 private:
  struct Known {
    Z3Answer answer;
    std::vector<std::pair<size_t, int64_t>> model;  ///< by number of the variable
  };
  std::unordered_map<std::string, Known> answers_;
  size_t bytes_ = 0;
};

Z3Answer ask(const std::vector<Fact>& conjunction, unsigned rlimit, Products products) {
  Z3Answer answer;
  try {
    z3::context context;
    z3::solver solver(context);
    limit(context, solver, rlimit);
    if (products == Products::exact) choose_arithmetic(context, solver, conjunction);
    Translator translate(context, solver, products);
    for (const Fact& fact : conjunction) solver.add(translate.constraint(fact));
    answer.satisfiable = check(solver, answer.resource);
    if (answer.satisfiable != Satisfiable::yes) return answer;
    z3::model model = solver.get_model();
    for (const auto& [var, term] : translate.variables()) {
      int64_t value = 0;
      z3::expr number = model.eval(term, true);
      if (number.is_numeral_i64(value)) answer.model[var] = value;
    }
  } catch (const z3::exception&) {
    answer.satisfiable = Satisfiable::unknown;
  }
  return answer;
}

/// What nothing satisfies whatever the products are, nothing satisfies: that is a linear question, and quick.
/// It gets half of the limit, and leaves the rest to the whole question.
Z3Answer solve(const std::vector<Fact>& conjunction, unsigned rlimit) {
  if (!has_product(conjunction)) return ask(conjunction, rlimit, Products::exact);
  const Z3Answer linear = ask(conjunction, std::max(1u, rlimit / 2), Products::opaque);
  if (linear.satisfiable == Satisfiable::no) return linear;
  Z3Answer answer = ask(conjunction, rlimit - std::min(rlimit - 1, linear.resource), Products::exact);
  answer.resource += linear.resource;
  return answer;
}

}  // namespace

Z3Answer z3_solve(const std::vector<Fact>& conjunction, const ProverLimits& limits) {
  if (!small_enough(conjunction, limits.max_terms)) {
    Z3Answer answer;
    answer.too_large = true;
    return answer;
  }
  thread_local Answers answers;
  const Z3Question question(conjunction, limits.z3_rlimit);
  if (const auto known = answers.find(question)) return *known;
  const Z3Answer answer = solve(conjunction, limits.z3_rlimit);
  answers.keep(question, answer);
  return answer;
}

Z3Answer z3_solve_text(const std::string& smt_lib, unsigned rlimit) {
  Z3Answer answer;
  try {
    z3::context context;
    z3::solver solver(context);
    limit(context, solver, rlimit);
    solver.from_string(smt_lib.c_str());
    answer.satisfiable = check(solver, answer.resource);
  } catch (const z3::exception&) {
    answer.satisfiable = Satisfiable::unknown;
  }
  return answer;
}

}  // namespace axon::shape
