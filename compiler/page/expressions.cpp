// See expressions.h.
#include "page/expressions.h"

#include <algorithm>

#include "shape/solutions.h"

namespace axon::page {

namespace {

using shape::Assignment;
using shape::Dim;

const char* name_of(shape::AtomKind kind) {
  switch (kind) {
    case shape::AtomKind::floor_div:
      return "/";
    case shape::AtomKind::mod:
      return "%";
    case shape::AtomKind::min:
      return "min";
    case shape::AtomKind::max:
      return "max";
    case shape::AtomKind::var:
      break;
  }
  return "";
}

Json atom(const shape::Atom& a, const NameOf& name) {
  if (a.kind() == shape::AtomKind::var) return name(a.var());
  return Json::array({name_of(a.kind()), expression(a.lhs(), name), expression(a.rhs(), name)});
}

Json term(const shape::Term& t, const NameOf& name) {
  if (t.factors.empty()) return t.coefficient;
  Json product = Json::array({"*"});
  if (t.coefficient != 1) product.push_back(t.coefficient);
  for (const shape::Atom& a : t.factors) product.push_back(atom(a, name));
  return product.size() == 2 ? product[1] : product;
}

constexpr int64_t most_tasks = 4000;  ///< that a page shows at first

/// The tasks of all iterations; nullopt where that cannot be said.
std::optional<double> tasks_of(const plan::Variant& v, const Assignment& sizes) {
  double all = 0;
  for (const task::TaskType& type : v.program.types) {
    double tasks = 1;
    Assignment values = sizes;
    for (task::LoopId loop : type.loops) {
      const auto trips = v.program.loops[loop].extent.evaluate(values);
      if (!trips) return std::nullopt;
      tasks *= static_cast<double>(*trips);
      values[v.program.loops[loop].index] = *trips / 2;
    }
    for (const task::Coordinate& c : type.coordinates) {
      const auto extent = c.extent.evaluate(values);
      if (!extent) return std::nullopt;
      tasks *= static_cast<double>(*extent);
    }
    all += tasks;
  }
  return all;
}

/// The sizes of the entry that its host knows.
std::vector<shape::Var> sizes_of(const plan::Variant& v) {
  std::vector<shape::Var> out;
  for (const graph::Size& size : v.program.graph->sizes)
    if (size.from != graph::Size::From::data) out.push_back(size.var);
  return out;
}

}  // namespace

Json expression(const Dim& d, const NameOf& name) {
  if (shape::overflowed(d)) return nullptr;
  if (d.terms().empty()) return 0;
  if (d.terms().size() == 1) return term(d.terms()[0], name);
  Json sum = Json::array({"+"});
  for (const shape::Term& t : d.terms()) sum.push_back(term(t, name));
  return sum;
}

Json expressions(const std::vector<Dim>& all, const NameOf& name) {
  Json out = Json::array();
  for (const Dim& d : all) out.push_back(expression(d, name));
  return out;
}

Json fact(const shape::Fact& f, const NameOf& name) {
  return Json::array({shape::sign_of(f.relation), expression(f.lhs, name), expression(f.rhs, name)});
}

Json facts(const std::vector<shape::Fact>& all, const NameOf& name) {
  Json out = Json::array();
  for (const shape::Fact& f : all) out.push_back(fact(f, name));
  return out;
}

std::optional<Assignment> sizes_from(const plan::Variant& v, int64_t least) {
  const std::vector<shape::Var> order = sizes_of(v);
  std::vector<shape::Fact> facts;
  const auto is_of_sizes = [&](const shape::Fact& f) {
    for (const Dim& side : {f.lhs, f.rhs})
      for (shape::Var used : side.vars())
        if (std::find(order.begin(), order.end(), used) == order.end()) return false;
    return true;
  };
  for (const auto* all : {&v.program.facts, &v.program.guard})
    std::copy_if(all->begin(), all->end(), std::back_inserter(facts), is_of_sizes);
  for (shape::Var size : order) facts.push_back(shape::at_least(Dim(size), Dim(least)));
  const auto found = shape::solutions_of(facts, order, {1, 20000}).found;
  if (found.empty()) return std::nullopt;
  Assignment sizes;
  for (size_t i = 0; i < order.size(); ++i) sizes[order[i]] = found[0][i];
  return sizes;
}

Assignment first_sizes(const plan::Variant& v) {
  for (const int64_t least : {128, 64, 32, 16, 8, 4, 2, 1, 0}) {
    const auto sizes = sizes_from(v, least);
    if (!sizes) continue;
    const auto tasks = tasks_of(v, with_typical(v, *sizes));
    if (least == 0 || (tasks && *tasks <= most_tasks)) return *sizes;
  }
  Assignment zeros;
  for (shape::Var size : sizes_of(v)) zeros[size] = 0;
  return zeros;
}

Assignment with_typical(const plan::Variant& v, Assignment sizes) {
  for (const plan::DataSize& d : v.data_sizes) {
    const graph::Size& size = v.program.graph->sizes[d.size];
    const auto bound = size.is_unbounded() ? plan::typical_size : size.equation.evaluate(sizes).value_or(0);
    sizes.try_emplace(size.var, bound);
  }
  for (const plan::ExitCondition& d : v.exit_conditions)
    for (shape::Var steps : v.program.loops[d.loop].extent.vars())
      sizes.try_emplace(steps, plan::typical_steps);
  return sizes;
}

}  // namespace axon::page
