// Expressions: traversal, rebuilding, instantiation of a tensor's body at a point, cost.
#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "base/work.h"
#include "graph/passes/edit.h"

namespace axon::graph::edit {

ScalarId projection(Graph& g, Elem elem, uint32_t component, ScalarId online) {
  Scalar s;
  s.op = Op::proj;
  s.elem = elem;
  s.args = {online};
  s.component = component;
  return make_scalar(g, std::move(s));
}

std::vector<ScalarId> post_order(const Graph& g, ScalarId root) {
  std::vector<ScalarId> found{root};
  std::unordered_set<uint32_t> seen{root.index};
  for (size_t i = 0; i < found.size(); ++i)
    for (ScalarId a : g.scalars[found[i]].args)
      if (seen.insert(a.index).second) found.push_back(a);
  std::sort(found.begin(), found.end());
  base::work(found.size());
  return found;
}

ScalarId rebuild(Graph& g, ScalarId root, const std::function<ScalarId(Scalar)>& make) {
  std::unordered_map<uint32_t, ScalarId> done;
  for (ScalarId id : post_order(g, root)) {
    Scalar s = g.scalars[id];
    for (ScalarId& a : s.args) a = done.at(a.index);
    done[id.index] = make(std::move(s));
  }
  return done.at(root.index);
}

ScalarId rewrite_outside_binders(Graph& g, ScalarId root, const std::function<ScalarId(ScalarId)>& change) {
  std::unordered_map<uint32_t, ScalarId> done;
  std::vector<ScalarId> stack{root};
  while (!stack.empty()) {  // arguments first; a binder stays as it is
    ScalarId id = stack.back();
    if (done.count(id.index)) {
      stack.pop_back();
      continue;
    }
    Scalar s = g.scalars[id];
    bool waits = false;
    if (!binds(s.op))
      for (ScalarId a : s.args)
        if (!done.count(a.index)) {
          stack.push_back(a);
          waits = true;
        }
    if (waits) continue;
    stack.pop_back();
    if (binds(s.op)) {
      done[id.index] = id;
      continue;
    }
    for (ScalarId& a : s.args) a = done.at(a.index);
    bool is_load = s.op == Op::load;
    ScalarId now = fold(g, std::move(s));
    done[id.index] = is_load ? change(now) : now;
  }
  return done.at(root.index);
}

ScalarId fold(Graph& g, Scalar s) {
  if (s.op == Op::index) return index_of(g, s.dim);
  if (s.op == Op::cast) return cast(g, s.elem, s.args[0]);
  if (!is_pointwise_op(s.op)) return make_scalar(g, std::move(s));
  std::vector<Elem> elems;
  for (ScalarId a : s.args) elems.push_back(g.scalars[a].elem);
  if (result_elem(s.op, elems) != s.elem) return make_scalar(g, std::move(s));
  return apply(g, s.op, std::move(s.args));
}

std::vector<ScalarId> binders_in(const Graph& g, ScalarId root) {
  std::vector<ScalarId> found;
  for (ScalarId id : post_order(g, root))
    if (binds(g.scalars[id].op)) found.push_back(id);
  return found;
}

bool is_pointwise(const Graph& g, ScalarId root) { return binders_in(g, root).empty(); }

// ---- variables ----

shape::Substitution as_substitution(const Renaming& renaming) {
  shape::Substitution substitution;
  for (const auto& [from, to] : renaming) substitution[from] = Dim(to);
  return substitution;
}

std::vector<Axis> fresh_axes(const std::vector<Axis>& axes, Renaming& renaming) {
  std::vector<Axis> fresh;
  for (const Axis& a : axes) {
    Var v = shape::fresh_var(shape::var_name(a.var));
    renaming[a.var] = v;
    fresh.push_back({v, a.extent});
  }
  return fresh;
}

ScalarId rename(Graph& g, ScalarId root, const Renaming& renaming) {
  shape::Substitution substitution = as_substitution(renaming);
  return rebuild(g, root, [&](Scalar s) {
    if (s.op == Op::index || s.op == Op::bounded) s.dim = s.dim.substitute(substitution);
    for (Axis& b : s.binders) {
      b.extent = b.extent.substitute(substitution);
      auto found = renaming.find(b.var);
      if (found != renaming.end()) b.var = found->second;
    }
    return make_scalar(g, std::move(s));
  });
}

std::optional<ScalarId> instantiate(Graph& g, const std::vector<Axis>& domain, ScalarId body,
                                    const std::vector<ScalarId>& indices) {
  shape::Substitution dims;
  std::map<Var, ScalarId> data;
  for (size_t a = 0; a < domain.size(); ++a) {
    if (auto dim = affine_index(g, indices[a])) {
      dims[domain[a].var] = *dim;
    } else {
      data[domain[a].var] = indices[a];
    }
  }
  bool possible = true;
  auto at_point = [&](const Dim& dim) {
    for (const auto& [var, index] : data) possible &= !dim.contains(var);
    return dim.substitute(dims);
  };
  ScalarId result = rebuild(g, body, [&](Scalar s) {
    if (s.op == Op::index) {
      if (auto var = s.dim.as_var(); var && data.count(*var)) return data.at(*var);
      return index_of(g, at_point(s.dim));
    }
    if (s.op == Op::bounded) s.dim = at_point(s.dim);
    for (Axis& b : s.binders) b.extent = at_point(b.extent);
    return fold(g, std::move(s));
  });
  if (!possible) return std::nullopt;
  return result;
}

bool is_over_sizes(const Graph& g, const Dim& d) {
  const auto vars = d.vars();
  return std::all_of(vars.begin(), vars.end(), [&](Var v) {
    return std::any_of(g.sizes.begin(), g.sizes.end(), [&](const Size& s) { return s.var == v; });
  });
}

// ---- cost ----

/// Adds what the evaluation of the operator costs besides that of its operands.
static void add_cost(const Scalar& s, Cost& cost) {
  switch (class_of(s.op)) {
    case OpClass::arithmetic:
      s.op == Op::div&& base::is_float(s.elem) ? ++cost.heavy : ++cost.cheap;
      return;
    case OpClass::rounding:
      s.op == Op::floor ? ++cost.cheap : ++cost.heavy;
      return;
    case OpClass::function:
      ++cost.heavy;
      return;
    case OpClass::comparison:
    case OpClass::logic:
    case OpClass::choice:
      ++cost.cheap;
      return;
    case OpClass::structural:
      if (s.op == Op::load) ++cost.loads;
      if (binds(s.op)) ++cost.heavy;
      return;
  }
}

Cost cost_of(const Graph& g, ScalarId body) {
  Cost cost;
  for (ScalarId id : post_order(g, body)) add_cost(g.scalars[id], cost);
  return cost;
}

bool is_free(const Cost& cost) { return cost.cheap == 0 && cost.heavy == 0 && cost.loads <= 1; }
bool is_cheap(const Cost& cost) { return cost.heavy == 0 && cost.cheap <= 4 && cost.loads <= 5; }

}  // namespace axon::graph::edit
