// Proves that data-dependent values, the exit conditions of loops and the data-dependent sizes, are published
// by the task that computes them, which is the only one of its grid, and that no step reads a size before
// that.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <set>

#include "plan/verify.h"
#include "task/facts.h"
#include "task/verify_time.h"

namespace axon::plan {

namespace {

using graph::Graph;
using graph::Node;
using graph::NodeId;
using task::LoopId;
using task::Program;
using task::TaskType;
using task::TaskTypeId;

class DataDependent {
 public:
  DataDependent(const Variant& v, task::Report& report)
      : v_(v), p_(v.program), g_(*p_.graph), time_(p_), report_(report) {
    for (uint32_t n = 0; n < g_.nodes.size(); ++n)
      if (g_.nodes[NodeId{n}].condition) conditional_.push_back({n});
  }

  void run() {
    check_loops();
    check_sizes();
    check_needs();
    if (!report_.all_proved()) return;  // numbers that name nothing
    each_segment(v_.steps, [&](const Segment& segment) { check(segment); });
    if (!report_.all_proved()) return;
    for (uint32_t n = 0; n < v_.data_sizes.size(); ++n)
      report_.add(fmt::format("{} is known before it is mentioned", size(n).name), is_known_in_time(n),
                  "compared");
  }

 private:
  const graph::Size& size(uint32_t number) const { return g_.sizes[v_.data_sizes[number].size]; }

  static void each_segment(const std::vector<Step>& steps, const std::function<void(const Segment&)>& f) {
    for (const Step& step : steps) {
      if (step.segment) f(*step.segment);
      each_segment(step.body, f);
    }
  }

  void check_loops() {
    std::set<LoopId> found;
    for (const ExitCondition& d : v_.exit_conditions) {
      if (d.loop.index >= p_.loops.size()) {
        report_.add("exit conditions are of loops", false, "compared");
        continue;
      }
      const auto at = std::find(conditional_.begin(), conditional_.end(), p_.loops[d.loop].node);
      const bool right = at != conditional_.end() && found.insert(d.loop).second &&
                         d.check == g_.checks.size() + static_cast<size_t>(at - conditional_.begin()) &&
                         d.left.has_value() == time_.is_nested_run(d.loop);
      report_.add(fmt::format("the loop over {}: its exit condition has one word",
                              shape::var_name(p_.loops[d.loop].index)),
                  right, "compared");
    }
    bool all = true;
    for (uint32_t l = 0; l < p_.loops.size(); ++l)
      all = all && (found.contains({l}) || !time_.has_condition({l}));
    report_.add("every loop with a condition publishes it", all, "compared");
  }

  void check_sizes() {
    std::set<uint32_t> found;
    for (uint32_t n = 0; n < v_.data_sizes.size(); ++n) {
      const DataSize& d = v_.data_sizes[n];
      const bool right = d.size < g_.sizes.size() && g_.sizes[d.size].from == graph::Size::From::data &&
                         found.insert(d.size).second && d.check == g_.checks.size() + conditional_.size() + n;
      report_.add(fmt::format("data-dependent size {} is one of the graph, with its check", n), right,
                  "compared");
    }
    bool all = true;
    for (uint32_t s = 0; s < g_.sizes.size(); ++s)
      all = all && (g_.sizes[s].from != graph::Size::From::data || found.contains(s));
    report_.add("every data-dependent size is published", all, "compared");
  }

  /// Every worker comes to the steps of the root, and to each of them once.
  void check_needs() {
    bool any = false, right = true;
    const auto exists = [&](uint32_t number) { return number < v_.data_sizes.size(); };
    const std::function<void(const std::vector<Step>&, bool)> look = [&](const auto& steps, bool root) {
      for (const Step& step : steps) {
        any = any || !step.needs.empty();
        right = right && (root || step.needs.empty()) &&
                std::all_of(step.needs.begin(), step.needs.end(), exists);
        look(step.body, false);
      }
    };
    look(v_.steps, true);
    if (any)
      report_.add("what steps need is a data-dependent size, and needed at the root", right, "compared");
  }

  /// It publishes just what its node computes, and then it is one task.
  void check(const Segment& segment) {
    const TaskType& type = p_.types[segment.type];
    std::set<uint32_t> loops, sizes;
    for (uint32_t n = 0; n < v_.exit_conditions.size(); ++n) {
      const Node& loop = g_.nodes[p_.loops[v_.exit_conditions[n].loop].node];
      const graph::Carried& condition = loop.carried.at(*loop.condition);
      if (type.node == condition.init.node || type.node == condition.result.node) loops.insert(n);
    }
    for (uint32_t n = 0; n < v_.data_sizes.size(); ++n)
      if (size(n).value.node == type.node) sizes.insert(n);
    const auto same = [](const std::set<uint32_t>& expected, const std::vector<uint32_t>& list) {
      return expected == std::set<uint32_t>(list.begin(), list.end()) && expected.size() == list.size();
    };
    const bool right = same(loops, segment.exit_conditions) && same(sizes, segment.data_sizes);
    if (right && loops.empty() && sizes.empty()) return;
    Dim tasks(1);
    for (const auto& c : type.coordinates) tasks = tasks * c.extent;
    report_.add(fmt::format("{}: publishes what it computes, by one task", type.name),
                right && holds(p_, p_.facts, shape::equal(tasks, Dim(1))), "prover");
  }

  /// The step that needs it is one of the root, behind the task that computes it; nothing before mentions it,
  /// but for what that task is computed from.
  bool is_known_in_time(uint32_t number) const {
    bool published = false, known = false;
    for (const Step& step : v_.steps) {
      if (std::count(step.needs.begin(), step.needs.end(), number) > 0) {
        if (!published) return false;
        known = true;
      }
      if (!known && mentions(step, number)) return false;
      published = published || (step.segment && std::count(step.segment->data_sizes.begin(),
                                                           step.segment->data_sizes.end(), number) > 0);
    }
    return published;
  }

  bool mentions(const Step& step, uint32_t number) const {
    if (step.segment) return mentions(*step.segment, number);
    return p_.loops[step.loop].extent.contains(size(number).var) ||
           std::any_of(step.body.begin(), step.body.end(),
                       [&](const Step& inner) { return mentions(inner, number); });
  }

  /// Everything that code is made from: the body, the grid, the line beside it, the waits, and the bounds of
  /// the other sizes that it computes.
  bool mentions(const Segment& segment, uint32_t number) const {
    const TaskType& type = p_.types[segment.type];
    std::vector<shape::Var> vars;
    collect(g_.nodes[type.node], vars);
    for (const auto& c : type.coordinates) c.extent.collect_vars(vars);
    for (const auto& access : type.accesses)
      for (const auto& i : access.box) collect(i.low, i.high, vars);
    for (const task::Wait& wait : p_.waits) {
      if (wait.consumer != segment.type) continue;
      for (const auto& range : wait.box) collect(range.first, range.last, vars);
      for (const Dim& index : wait.iteration) index.collect_vars(vars);
      for (const auto& c : p_.types[p_.events[wait.event].producer].coordinates) c.extent.collect_vars(vars);
    }
    if (segment.line) collect(segment.line->before, segment.line->whole, vars);
    for (uint32_t other : segment.data_sizes)
      if (other != number) size(other).equation.collect_vars(vars);
    return std::find(vars.begin(), vars.end(), size(number).var) != vars.end();
  }

  static void collect(const Dim& a, const Dim& b, std::vector<shape::Var>& vars) {
    a.collect_vars(vars);
    b.collect_vars(vars);
  }

  void collect(const Node& node, std::vector<shape::Var>& vars) const {
    const auto body = [&](graph::ScalarId root) {
      for (graph::ScalarId id : graph::scalars_in(g_, root)) {
        const graph::Scalar& scalar = g_.scalars[id];
        scalar.dim.collect_vars(vars);
        for (const auto& b : scalar.binders) b.extent.collect_vars(vars);
      }
    };
    for (const auto& axis : node.domain) axis.extent.collect_vars(vars);
    for (const auto& local : node.locals) {
      for (const auto& axis : local.domain) axis.extent.collect_vars(vars);
      body(local.body);
    }
    for (const auto& output : node.outputs) {
      for (const Dim& d : output.at) d.collect_vars(vars);
      body(output.body);
    }
  }

  const Variant& v_;
  const Program& p_;
  const Graph& g_;
  const task::Timeline time_;
  task::Report& report_;
  std::vector<NodeId> conditional_;
};

}  // namespace

void verify_data_dependent(const Variant& v, task::Report& report) { DataDependent(v, report).run(); }

}  // namespace axon::plan
