// See describe_tasks.h.
#include "page/describe_tasks.h"

#include "page/cost.h"
#include "page/describe_graph.h"

namespace axon::page {

namespace {

using task::Program;

class Variant {
 public:
  Variant(const plan::Variant& v, const std::map<graph::NodeId, int>& numbers, const source::SourceFile& file,
          const NameOf& name)
      : v_(v), p_(v.program), numbers_(numbers), file_(file), name_(name) {}

  Json describe() const {
    const Cost least = least_cost(p_);
    Json out = {
        {"guard", facts(p_.guard, name_)},
        {"types", each(p_.types, &Variant::type)},
        {"buffers", each(p_.buffers, &Variant::buffer)},
        {"loops", each(p_.loops, &Variant::loop)},
        {"events", each(p_.events, &Variant::event)},
        {"waits", each(p_.waits, &Variant::wait)},
        {"steps", steps(v_.steps)},
        {"slots", each(v_.slots, &Variant::slot)},
        {"data_values", data_values()},
        {"first", Json::object()},
        {"cost",
         {{"operations", expression(least.operations, name_)}, {"bytes", expression(least.bytes, name_)}}}};
    for (const auto& [size, value] : first_sizes(v_)) out["first"][name_(size)] = value;
    return out;
  }

 private:
  template <class All, class One>
  Json each(const All& all, Json (Variant::*describe)(const One&) const) const {
    Json out = Json::array();
    for (const One& one : all) out.push_back((this->*describe)(one));
    return out;
  }
  template <class Id>
  static Json indices(const std::vector<Id>& ids) {
    Json out = Json::array();
    for (const Id& id : ids) out.push_back(id.index);
    return out;
  }
  Json of(const shape::Dim& d) const { return expression(d, name_); }

  Json type(const task::TaskType& t) const {
    const task::TaskTypeId id{static_cast<uint32_t>(&t - &p_.types[task::TaskTypeId{0}])};
    const graph::Node& node = p_.graph->nodes[t.node];
    const auto number = numbers_.find(t.node);
    const Cost cost = cost_of(p_, id);
    Json coordinates = Json::array(), accesses = Json::array();
    for (const task::Coordinate& c : t.coordinates)
      coordinates.push_back(
          {{"name", name_(c.var)}, {"extent", of(c.extent)}, {"axis", c.axis}, {"tile", c.tile}});
    for (const task::Access& a : t.accesses) {
      Json box = Json::array();
      for (const task::Interval& i : a.box) box.push_back(Json::array({of(i.low), of(i.high)}));
      accesses.push_back({{"buffer", a.buffer.index}, {"write", a.write}, {"box", std::move(box)}});
    }
    return {{"name", t.name},
            {"node", number == numbers_.end() ? Json(nullptr) : Json(number->second)},
            {"family", task::family_name(t.family)},
            {"place", place_of(node, file_)},
            {"loops", indices(t.loops)},
            {"coordinates", std::move(coordinates)},
            {"accesses", std::move(accesses)},
            {"work", of(t.work)},
            {"runs", of(runs_of(p_, id))},
            {"operations", of(cost.operations)},
            {"bytes", of(cost.bytes)}};
  }

  Json buffer(const task::Buffer& b) const {
    static constexpr const char* kinds[] = {"weight", "argument", "state", "result", "temporary"};
    return {{"name", b.name},
            {"elem", base::elem_name(b.elem)},
            {"shape", expressions(b.shape, name_)},
            {"kind", kinds[static_cast<int>(b.kind)]}};
  }

  Json loop(const task::Loop& l) const { return {{"index", name_(l.index)}, {"extent", of(l.extent)}}; }

  Json event(const task::Event& e) const {
    return {{"name", e.name},
            {"producer", e.producer.index},
            {"kept", e.kept},
            {"shape", expressions(e.shape, name_)},
            {"count", of(e.count)}};
  }

  Json wait(const task::Wait& w) const {
    static constexpr const char* whys[] = {"reads", "overwrites what it read", "overwrites",
                                           "takes the memory of"};
    Json box = Json::array();
    for (const task::Wait::Range& r : w.box) box.push_back(Json::array({of(r.first), of(r.last)}));
    return {{"event", w.event.index},         {"consumer", w.consumer.index},
            {"box", std::move(box)},          {"iteration", expressions(w.iteration, name_)},
            {"guard", facts(w.guard, name_)}, {"why", whys[static_cast<int>(w.why)]},
            {"buffer", w.buffer.index}};
  }

  Json slot(const plan::Slot& s) const {
    return {{"buffer", s.buffer.index}, {"bytes", of(s.bytes)}, {"above", s.above}};
  }

  Json steps(const std::vector<plan::Step>& all) const {
    Json out = Json::array();
    for (const plan::Step& step : all) {
      if (!step.segment) {
        out.push_back({{"loop", step.loop.index}, {"body", steps(step.body)}});
        continue;
      }
      const plan::Segment& s = *step.segment;
      out.push_back({{"type", s.type.index},
                     {"hoisted", s.hoisted},
                     {"waits", s.per_task},
                     {"barrier", s.barrier_after}});
      if (s.folded) out.back()["folded"] = *s.folded;
      if (s.line)
        out.back()["line"] = {
            {"before", of(s.line->before)}, {"whole", of(s.line->whole)}, {"from_end", s.line->from_end}};
    }
    return out;
  }

  /// What the model takes for data-dependent sizes and trip counts, in an order in which they can be
  /// computed.
  Json data_values() const {
    Json out = Json::array();
    const auto add = [&](shape::Var v, Json value) {
      out.push_back({{"name", name_(v)}, {"value", std::move(value)}});
    };
    for (const plan::DataSize& d : v_.data_sizes) {
      const graph::Size& size = p_.graph->sizes[d.size];
      add(size.var, size.is_unbounded() ? Json(plan::typical_size) : of(size.equation));
    }
    for (const plan::ExitCondition& d : v_.exit_conditions)
      for (shape::Var steps : p_.loops[d.loop].extent.vars()) add(steps, plan::typical_steps);
    return out;
  }

  const plan::Variant& v_;
  const Program& p_;
  const std::map<graph::NodeId, int>& numbers_;
  const source::SourceFile& file_;
  const NameOf& name_;
};

}  // namespace

Json describe_variant(const plan::Variant& v, const std::map<graph::NodeId, int>& numbers,
                      const source::SourceFile& file, const NameOf& name) {
  return Variant(v, numbers, file, name).describe();
}

}  // namespace axon::page
