// Traversal and rewriting of scalar expressions: substitution, loads, free variables.
//
// An argument's id is always smaller than its user's, so ids in ascending order are an order of evaluation:
// expressions of any depth are rebuilt without recursion. Only binders recurse, and those nest a few levels
// at most. Substitution renames a binder whose variable would be captured.
#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "base/bug.h"
#include "base/work.h"
#include "graph/graph.h"

namespace axon::graph {

namespace {

/// Everything below `root` that is not under a binder (binding nodes are included, their arguments are not),
/// arguments first: ids grow from arguments to users.
std::vector<ScalarId> scope_of(const Graph& g, ScalarId root) {
  std::vector<ScalarId> found{root};
  std::unordered_set<uint32_t> seen{root.index};
  for (size_t i = 0; i < found.size(); ++i) {
    const Scalar& s = g.scalars[found[i]];
    if (binds(s.op)) continue;
    for (ScalarId a : s.args)
      if (seen.insert(a.index).second) found.push_back(a);
  }
  std::sort(found.begin(), found.end());
  base::work(found.size());
  return found;
}

/// Rebuilds expressions bottom-up with a substitution and a function for loads. Recursive only in binders.
struct Rewriter {
  Graph& g;
  const std::function<ScalarId(ScalarId)>* on_load = nullptr;
  const std::map<Var, ScalarId>* scalars = nullptr;

  ScalarId run(ScalarId root, const shape::Substitution& substitution) {
    std::unordered_map<uint32_t, ScalarId> done;
    for (ScalarId id : scope_of(g, root)) done[id.index] = rebuild(id, substitution, done);
    return done.at(root.index);
  }

 private:
  ScalarId rebuild(ScalarId id, const shape::Substitution& substitution,
                   const std::unordered_map<uint32_t, ScalarId>& done) {
    Scalar s = g.scalars[id];
    if (binds(s.op)) return rebuild_binder(std::move(s), substitution);
    bool changed = false;
    for (ScalarId& a : s.args) {
      ScalarId now = done.at(a.index);
      changed |= now != a;
      a = now;
    }
    if (s.op == Op::index) {
      Dim dim = s.dim.substitute(substitution);
      return scalars ? as_scalar(dim) : index_of(g, dim);
    }
    if (s.op == Op::bounded) s.dim = s.dim.substitute(substitution);
    if (s.op == Op::load) {
      ScalarId now = changed ? make_scalar(g, std::move(s)) : id;
      return on_load ? (*on_load)(now) : now;
    }
    if (s.op == Op::bounded || s.op == Op::require || s.op == Op::proj) return make_scalar(g, std::move(s));
    if (!changed) return id;
    if (s.op == Op::cast) return cast(g, s.elem, s.args[0]);
    Elem elem = s.elem;
    ScalarId now = apply(g, s.op, std::move(s.args));
    return g.scalars[now].elem == elem ? now : cast(g, elem, now);
  }

  /// A dimension over variables some of which stand for scalars, as arithmetic on i64.
  ScalarId as_scalar(const Dim& dim) {
    auto is_scalar = [&](Var v) { return scalars->count(v) != 0; };
    std::vector<Var> vars = dim.vars();
    if (std::none_of(vars.begin(), vars.end(), is_scalar)) return index_of(g, dim);
    ScalarId sum = constant_int(g, Elem::i64, 0);
    for (const shape::Term& term : dim.terms()) {
      ScalarId product = constant_int(g, Elem::i64, term.coefficient);
      for (const shape::Atom& atom : term.factors)
        product = apply(g, Op::mul, {product, atom_as_scalar(atom)});
      sum = apply(g, Op::add, {sum, product});
    }
    return sum;
  }
  ScalarId atom_as_scalar(const shape::Atom& atom) {
    if (atom.kind() == shape::AtomKind::var) {
      auto it = scalars->find(atom.var());
      return it == scalars->end() ? index_of(g, Dim(atom.var())) : it->second;
    }
    Op op = atom.kind() == shape::AtomKind::floor_div ? Op::div
            : atom.kind() == shape::AtomKind::mod     ? Op::mod
            : atom.kind() == shape::AtomKind::min     ? Op::min
                                                      : Op::max;
    ScalarId lhs = as_scalar(atom.lhs()), rhs = as_scalar(atom.rhs());
    return apply(g, op, {lhs, rhs});
  }

  ScalarId rebuild_binder(Scalar s, const shape::Substitution& substitution) {
    shape::Substitution inner = substitution;
    for (Axis& b : s.binders) b.extent = b.extent.substitute(substitution);
    for (Axis& b : s.binders) {
      auto renamed = substitution.find(b.var);
      bool captured = std::any_of(substitution.begin(), substitution.end(), [&](const auto& entry) {
        return entry.first != b.var && entry.second.contains(b.var);
      });
      if (renamed != substitution.end()) {
        auto var = renamed->second.as_var();
        if (!var) base::bug("graph::substitute", "a bound variable is replaced by an expression");
        b.var = *var;
      } else if (captured) {
        shape::Var fresh = shape::fresh_var(shape::var_name(b.var));
        inner[b.var] = Dim(fresh);
        b.var = fresh;
      }
    }
    for (ScalarId& a : s.args) a = run(a, inner);
    return make_scalar(g, std::move(s));
  }
};

}  // namespace

ScalarId substitute(Graph& g, ScalarId root, const shape::Substitution& substitution) {
  if (substitution.empty()) return root;
  return Rewriter{g, nullptr, nullptr}.run(root, substitution);
}

ScalarId substitute(Graph& g, ScalarId root, const std::map<Var, ScalarId>& scalars) {
  if (scalars.empty()) return root;
  return Rewriter{g, nullptr, &scalars}.run(root, {});
}

ScalarId rewrite_loads(Graph& g, ScalarId root, const std::function<ScalarId(ScalarId)>& f) {
  return Rewriter{g, &f, nullptr}.run(root, {});
}

std::vector<ScalarId> scalars_in(const Graph& g, ScalarId root) {
  std::vector<ScalarId> found;
  std::unordered_set<uint32_t> seen;
  std::vector<ScalarId> stack{root};
  while (!stack.empty()) {
    ScalarId id = stack.back();
    stack.pop_back();
    if (!seen.insert(id.index).second) continue;
    base::work();
    found.push_back(id);
    const auto& args = g.scalars[id].args;
    for (size_t i = args.size(); i-- > 0;) stack.push_back(args[i]);
  }
  return found;
}

std::vector<ScalarId> factors_of(const Graph& g, ScalarId root) {
  std::vector<ScalarId> factors;
  std::vector<ScalarId> stack{root};
  while (!stack.empty()) {
    const ScalarId id = stack.back();
    stack.pop_back();
    const Scalar& s = g.scalars[id];
    if (s.op == Op::mul && factors.size() + stack.size() + 2 <= max_factors)
      stack.insert(stack.end(), {s.args[1], s.args[0]});
    else
      factors.push_back(id);
  }
  return factors;
}

std::vector<ScalarId> loads_in(const Graph& g, ScalarId root) {
  std::vector<ScalarId> loads = scalars_in(g, root);
  std::erase_if(loads, [&](ScalarId id) { return g.scalars[id].op != Op::load; });
  return loads;
}

namespace {

void collect_free(const Graph& g, ScalarId root, const std::vector<Var>& bound, std::vector<Var>& out) {
  auto note = [&](const Dim& dim) {
    for (Var v : dim.vars())
      if (std::find(bound.begin(), bound.end(), v) == bound.end() &&
          std::find(out.begin(), out.end(), v) == out.end())
        out.push_back(v);
  };
  std::unordered_set<uint32_t> seen;
  std::vector<ScalarId> stack{root};
  while (!stack.empty()) {
    ScalarId id = stack.back();
    stack.pop_back();
    if (!seen.insert(id.index).second) continue;
    base::work();
    const Scalar& s = g.scalars[id];
    note(s.dim);
    if (binds(s.op)) {
      std::vector<Var> inner = bound;
      for (const Axis& b : s.binders) {
        note(b.extent);
        inner.push_back(b.var);
      }
      for (ScalarId a : s.args) collect_free(g, a, inner, out);
      continue;
    }
    for (size_t i = s.args.size(); i-- > 0;) stack.push_back(s.args[i]);
  }
}

}  // namespace

std::vector<Var> free_vars(const Graph& g, ScalarId root) {
  std::vector<Var> out;
  collect_free(g, root, {}, out);
  return out;
}

bool depends_on(const Graph& g, ScalarId id, Var v) {
  const std::vector<Var> vars = free_vars(g, id);
  return std::find(vars.begin(), vars.end(), v) != vars.end();
}

}  // namespace axon::graph
