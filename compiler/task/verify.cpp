// In: a task program with events. Out: its proof obligations, for all sizes, each proved or not.
//
// What is shown, and how:
//   tiles      every domain point belongs to a task, no grid is empty                      prover
//   boxes      declared boxes are those of the bodies                                      recomputed from the graph
//   memory     values that share a buffer are versions of one value; slots alternate       recomputed from the graph
//   injective  no two domain points of an output are stored at one element                 mixed-radix argument below
//   events     counts are the producers per element; wait boxes lie inside, not empty      prover
//   exact      no wait box names a producer that surely touches nothing of its buffer      prover, counter-example refuses
//   ascending  every wait points to an earlier time: no schedule can deadlock              step order
//   ordered    for every two accesses of a buffer, one a write: the boxes are disjoint, or the earlier task is covered by
//              a wait of the later one or by a chain of waits                              prover, ordering.h
// Time is (position in the step tree with loop indices, coordinates). The waits are the only order assumed, apart from
// one task's iterations following each other; so any number of workers will do.
#include <algorithm>
#include <fmt/format.h>
#include <functional>
#include <map>
#include <set>
#include "task/ordering.h"
#include "task/storage.h"
#include "task/task.h"

namespace axon::task {

namespace {

using shape::Verdict;

bool same_box(const std::vector<Interval>& a, const std::vector<Interval>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const Interval& x, const Interval& y) { return x.low == y.low && x.high == y.high; });
}

class Verifier {
 public:
  explicit Verifier(const Program& p) : p_(p), g_(*p.graph), ordering_(p) {
    uint32_t next = 0;
    const std::function<void(const std::vector<Step>&, std::vector<LoopId>)> walk = [&](const auto& steps, auto loops) {
      for (const Step& s : steps) {
        if (s.task.valid()) {
          steps_well_formed_ = steps_well_formed_ && order_.emplace(s.task, next++).second &&
                               p_.types[s.task].loops == loops;
          continue;
        }
        auto inner = loops;
        inner.push_back(s.loop);
        walk(s.body, inner);
      }
    };
    walk(p.steps, {});
  }

  std::vector<Obligation> run() {
    if (order_.size() != p_.types.size() || !steps_well_formed_) {
      record("every task type stands once in the steps, under its own loops", false, "step tree");
      return out_;
    }
    check_memory();
    for (uint32_t t = 0; t < p_.types.size(); ++t) check_type({t});
    if (std::any_of(out_.begin(), out_.end(), [](const Obligation& o) { return !o.proved; })) return out_;
    for (uint32_t e = 0; e < p_.events.size(); ++e) check_event({e});
    for (const Wait& wait : p_.waits) check_wait(wait);
    if (std::any_of(out_.begin(), out_.end(), [](const Obligation& o) { return !o.proved; })) return out_;
    for (uint32_t a = 0; a < p_.types.size(); ++a)
      for (uint32_t b = 0; b < p_.types.size(); ++b) check_pair({a}, {b});
    return out_;
  }

 private:
  void record(std::string what, bool proved, std::string by) { out_.push_back({std::move(what), proved, std::move(by)}); }
  void record(std::string what, const shape::Answer& answer) {
    record(std::move(what), answer.verdict == Verdict::proved, answer.by);
  }
  const std::string& name(TaskTypeId t) const { return p_.types[t].name; }
  const std::string& name(BufferId b) const { return p_.buffers[b].name; }

  // ---- memory ----

  /// Values in one buffer belong to one storage class; carried values alternate between two slots as they must.
  void check_memory() {
    const Storage storage(g_);
    std::map<BufferId, std::set<graph::Value>> classes;
    std::map<graph::Value, std::pair<graph::NodeId, uint32_t>> carried_by;  // members of two-slot groups
    bool slots_alternate = true, shapes_fit = true;
    for (uint32_t n = 0; n < g_.nodes.size(); ++n) {
      const graph::Node& loop = g_.nodes[graph::NodeId{n}];
      if (loop.op != graph::NodeOp::loop) continue;
      for (uint32_t c = 0; c < loop.carried.size(); ++c) {
        if (storage.carried_in_place({n}, c)) continue;
        const auto& carried = loop.carried[c];
        const Dim l = loop.index.var;
        const std::pair<graph::Value, Dim> members[] = {{carried.init, Dim(0)},
                                                        {carried.param, shape::mod(l, Dim(2))},
                                                        {carried.result, shape::mod(l + Dim(1), Dim(2))},
                                                        {{graph::NodeId{n}, c}, shape::mod(loop.index.extent, Dim(2))}};
        for (const auto& [value, slot] : members) {
          carried_by[value] = {graph::NodeId{n}, c};
          const Place* place = find_place(value);
          slots_alternate = slots_alternate && place && place->slot && *place->slot == slot &&
                            place->buffer == find_place(carried.init)->buffer;
        }
      }
    }
    for (const auto& [value, place] : p_.places) {
      const auto group = carried_by.find(value);
      classes[place.buffer].insert(group == carried_by.end() ? storage.root(value)
                                                             : graph::Value{group->second.first, group->second.second});
      const Buffer& buffer = p_.buffers[place.buffer];
      std::vector<Dim> shape = g_.type(value).shape;
      if (place.slot) shape.insert(shape.begin(), Dim(2));
      shapes_fit = shapes_fit && shape == buffer.shape && buffer.elem == g_.type(value).elem &&
                   place.slot.has_value() == carried_by.contains(value);
    }
    const bool apart = std::all_of(classes.begin(), classes.end(), [](const auto& c) { return c.second.size() == 1; });
    record("values in one buffer are versions of one value", apart, "storage classes");
    record("carried values alternate between two slots", slots_alternate, "storage classes");
    record("buffers have the shapes of their values", shapes_fit, "types");
  }

  const Place* find_place(graph::Value v) const {
    for (const auto& [value, place] : p_.places)
      if (value == v) return &place;
    return nullptr;
  }

  // ---- one task type ----

  void check_type(TaskTypeId id) {
    const TaskType& type = p_.types[id];
    const graph::Node& node = g_.nodes[type.node];
    std::set<uint32_t> cut;
    for (const Coordinate& c : type.coordinates) {
      const bool fresh = c.axis < node.domain.size() && cut.insert(c.axis).second && c.tile >= 1;
      record(fmt::format("{}: coordinate {} cuts an axis of its own", name(id), shape::var_name(c.var)), fresh, "form");
      if (!fresh) return;
      record(fmt::format("{}: the grid along axis {} is not empty", name(id), c.axis),
             shape::prove(p_.facts, shape::at_least(c.extent, Dim(1))));
      const Dim& points = node.domain[c.axis].extent;
      record(fmt::format("{}: tiles cover axis {}", name(id), c.axis),
             shape::prove(p_.facts, shape::at_least(c.extent * Dim(c.tile), points)));
      auto used = p_.facts;
      used.push_back(shape::at_least(points, Dim(1)));
      record(fmt::format("{}: the last tile of axis {} is used", name(id), c.axis),
             shape::prove(used, shape::less((c.extent - Dim(1)) * Dim(c.tile), points)));
    }
    const auto boxes = accesses_of(p_, type);
    bool equal = boxes.size() == type.accesses.size();
    for (size_t i = 0; equal && i < boxes.size(); ++i)
      equal = boxes[i].buffer == type.accesses[i].buffer && boxes[i].write == type.accesses[i].write &&
              same_box(boxes[i].box, type.accesses[i].box);
    record(fmt::format("{}: declared boxes are those of its body", name(id)), equal, "recomputed");
    for (uint32_t o = 0; o < node.outputs.size(); ++o)
      record(fmt::format("{}: output {} stores no element twice", name(id), o), injective(node, o), "mixed radix");
  }

  /// Do the stored positions determine the domain point? From a quotient and a remainder by the same divisor follows the
  /// dividend; from a linear expression whose other variables are known follows its variable.
  bool injective(const graph::Node& node, uint32_t output) const {
    std::vector<Dim> known = node.outputs[output].at;
    std::set<Var> fixed;
    const auto is_open = [&](Var v) {
      return !fixed.contains(v) && std::any_of(node.domain.begin(), node.domain.end(),
                                               [&](const graph::Axis& a) { return a.var == v; });
    };
    for (bool changed = true; changed;) {
      changed = false;
      for (size_t i = 0; i < known.size(); ++i) {
        const auto vars = known[i].vars();
        if (std::count_if(vars.begin(), vars.end(), is_open) == 1) {
          const Var v = *std::find_if(vars.begin(), vars.end(), is_open);
          const auto linear = known[i].linear_in(v);
          if (linear && shape::prove(p_.facts, {linear->first, shape::Relation::ne, Dim(0)}).verdict == Verdict::proved) {
            fixed.insert(v);
            changed = true;
          }
        }
        for (size_t j = 0; j < known.size(); ++j)
          if (const auto whole = dividend(known[i], known[j]);
              whole && std::find(known.begin(), known.end(), *whole) == known.end()) {
            known.push_back(*whole);
            changed = true;
          }
      }
    }
    return std::all_of(node.domain.begin(), node.domain.end(),
                       [&](const graph::Axis& a) { return fixed.contains(a.var) || at_most_one_point(a.extent); });
  }

  bool at_most_one_point(const Dim& extent) const {
    return shape::prove(p_.facts, shape::at_most(extent, Dim(1))).verdict == Verdict::proved;
  }

  /// E when quotient is E / d and remainder is E % d.
  static std::optional<Dim> dividend(const Dim& quotient, const Dim& remainder) {
    const auto atom = [](const Dim& d, shape::AtomKind kind) -> std::optional<shape::Atom> {
      const auto& terms = d.terms();
      if (terms.size() != 1 || terms[0].coefficient != 1 || terms[0].factors.size() != 1) return std::nullopt;
      if (terms[0].factors[0].kind() != kind) return std::nullopt;
      return terms[0].factors[0];
    };
    const auto q = atom(quotient, shape::AtomKind::floor_div), r = atom(remainder, shape::AtomKind::mod);
    if (q && r && q->lhs() == r->lhs() && q->rhs() == r->rhs()) return q->lhs();
    // The normal form pulls common factors out: floor((2*E) / (2*d)) is floor(E / d), but the remainder keeps them.
    if (r && quotient == shape::floor_div(r->lhs(), r->rhs())) return r->lhs();
    return std::nullopt;
  }

  // ---- events and waits ----

  void check_event(EventId id) {
    const Event& event = p_.events[id];
    const TaskType& producer = p_.types[event.producer];
    Dim count(1);
    bool shape_ok = true;
    for (uint32_t c = 0; c < producer.coordinates.size(); ++c) {
      const auto kept = std::find(event.kept.begin(), event.kept.end(), c);
      if (kept == event.kept.end()) count = count * producer.coordinates[c].extent;
      else shape_ok = shape_ok && event.shape[static_cast<size_t>(kept - event.kept.begin())] == producer.coordinates[c].extent;
    }
    record(fmt::format("{}: each element counts its producers", event.name), count == event.count, "normal form");
    record(fmt::format("{}: its shape is the producer's grid", event.name),
           shape_ok && event.kept.size() == event.shape.size(), "normal form");
  }

  std::vector<Fact> ranges(TaskTypeId id, const shape::Substitution& rename) const {
    std::vector<Fact> facts;
    const auto add = [&](Var v, const Dim& extent) {
      const Dim d = Dim(v).substitute(rename);
      facts.push_back(shape::at_least(d, Dim(0)));
      facts.push_back(shape::less(d, extent));
    };
    for (const auto& c : p_.types[id].coordinates) add(c.var, c.extent);
    for (LoopId l : p_.types[id].loops) add(p_.loops[l].index, p_.loops[l].extent);
    return facts;
  }

  static std::vector<Fact> both(std::vector<Fact> a, const std::vector<Fact>& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
  }

  void check_wait(const Wait& wait) {
    const Event& event = p_.events[wait.event];
    const std::string what = fmt::format("{} waits on {}", name(wait.consumer), event.name);
    const auto relation = relation_of(p_, wait);
    const bool before = relation && (relation->distance > 0 || order_.at(event.producer) < order_.at(wait.consumer));
    record(what + ": the producer is earlier in time", before, "step order");
    if (!relation || wait.box.size() != event.shape.size()) return record(what + ": form", false, "form");
    const auto facts = both(both(p_.facts, ranges(wait.consumer, {})), wait.guard);
    for (size_t a = 0; a < wait.box.size(); ++a) {
      record(fmt::format("{}: axis {} lies inside the event", what, a),
             shape::prove(facts, shape::at_least(wait.box[a].first, Dim(0))));
      record(fmt::format("{}: axis {} ends inside the event", what, a),
             shape::prove(facts, shape::less(wait.box[a].last, event.shape[a])));
      record(fmt::format("{}: axis {} names some producer", what, a),
             shape::prove(facts, shape::at_most(wait.box[a].first, wait.box[a].last)));
    }
    const bool guarded_by_distance = guard_is_needed(wait, *relation);
    record(what + ": skipped only when there is no such iteration", guarded_by_distance, "form");
    check_exact(wait, what);
  }

  /// A guard may only say that the producer's iteration exists.
  bool guard_is_needed(const Wait& wait, const Relation& relation) const {
    const TaskType& producer = p_.types[p_.events[wait.event].producer];
    std::vector<Fact> exists = p_.facts;
    for (size_t i = 0; i < wait.iteration.size(); ++i) {
      exists.push_back(shape::at_least(wait.iteration[i], Dim(0)));
      exists.push_back(shape::less(wait.iteration[i], p_.loops[producer.loops[i]].extent));
    }
    (void)relation;
    return std::all_of(wait.guard.begin(), wait.guard.end(), [&](const Fact& f) {
      return shape::prove(exists, f).verdict == Verdict::proved;
    });
  }

  /// The first and the last producer named must be able to touch what the wait is about.
  void check_exact(const Wait& wait, const std::string& what) {
    const Event& event = p_.events[wait.event];
    const TaskType& producer = p_.types[event.producer];
    const bool producer_writes = wait.why != Wait::Why::write_after_read;
    const bool consumer_writes = wait.why != Wait::Why::read_after_write;
    for (size_t a = 0; a < wait.box.size(); ++a)
      for (const Dim& end : {wait.box[a].first, wait.box[a].last}) {
        bool possible = false, conflict = false;
        for (const Access& theirs : producer.accesses)
          for (const Access& own : p_.types[wait.consumer].accesses) {
            if (theirs.buffer != wait.buffer || own.buffer != wait.buffer) continue;
            if (theirs.write != producer_writes || own.write != consumer_writes) continue;
            conflict = true;
            shape::Substitution rename;
            for (uint32_t c = 0; c < producer.coordinates.size(); ++c)
              rename[producer.coordinates[c].var] =
                  c == event.kept[a] ? end : Dim(shape::fresh_var(shape::var_name(producer.coordinates[c].var) + "'"));
            for (size_t i = 0; i < producer.loops.size(); ++i)
              rename[p_.loops[producer.loops[i]].index] = wait.iteration[i];
            std::vector<Fact> facts = both(both(p_.facts, ranges(wait.consumer, {})), wait.guard);
            for (const auto& size : g_.sizes) facts.push_back(shape::at_least(Dim(size.var), Dim(1)));
            for (const auto& i : own.box) facts.push_back(shape::less(i.low, i.high));
            possible = possible || !surely_disjoint(facts, theirs, own, rename);
          }
        record(fmt::format("{}: axis {} names no idle producer", what, a), conflict && possible, "overlap");
      }
  }

  /// Some axis on which the boxes never meet, for any values.
  bool surely_disjoint(const std::vector<Fact>& facts, const Access& theirs, const Access& own,
                       const shape::Substitution& rename) const {
    shape::ProverLimits limits;
    limits.z3_rlimit = 0;
    for (size_t a = 0; a < own.box.size(); ++a) {
      auto meet = facts;
      meet.push_back(shape::less(theirs.box[a].low.substitute(rename), own.box[a].high));
      meet.push_back(shape::less(own.box[a].low, theirs.box[a].high.substitute(rename)));
      if (shape::prove_empty(meet, limits).verdict == Verdict::proved) return true;
    }
    return false;
  }

  // ---- pairs ----

  size_t common_loops(TaskTypeId a, TaskTypeId b) const {
    const auto &x = p_.types[a].loops, &y = p_.types[b].loops;
    size_t n = 0;
    while (n < x.size() && n < y.size() && x[n] == y[n]) ++n;
    return n;
  }

  void check_pair(TaskTypeId producer, TaskTypeId consumer) {
    const auto &from = p_.types[producer].accesses, &to = p_.types[consumer].accesses;
    for (const Access& theirs : from)
      for (const Access& own : to) {
        if (theirs.buffer != own.buffer || (!theirs.write && !own.write)) continue;
        if (producer == consumer) check_siblings(producer, theirs, own);
        else if (order_.at(producer) < order_.at(consumer)) check_order(producer, theirs, consumer, own, 0, false);
        if (common_loops(producer, consumer) == 0) continue;
        // Earlier iterations: the one before, and then all before that with the same waits.
        check_order(producer, theirs, consumer, own, 1, false);
        check_order(producer, theirs, consumer, own, 2, true);
      }
  }

  /// Two tasks of one type in one iteration.
  void check_siblings(TaskTypeId id, const Access& theirs, const Access& own) {
    if (theirs.write && own.write) return;  // stores are injective, so different points never meet
    const TaskType& type = p_.types[id];
    const std::string what = fmt::format("{}: tasks of one iteration do not touch each other's {}", type.name, name(own.buffer));
    shape::Substitution rename;
    for (const auto& c : type.coordinates) rename[c.var] = shape::fresh_var(shape::var_name(c.var) + "'");
    const auto facts = both(both(p_.facts, ranges(id, {})), ranges(id, rename));
    for (const auto& c : type.coordinates) {
      const Dim other = rename.at(c.var);
      for (const Fact& differ : {shape::less(Dim(c.var), other), shape::less(other, Dim(c.var))})
        if (!disjoint(both(facts, {differ}), theirs, own, rename)) return record(what, false, "overlap not excluded");
    }
    record(what, true, "disjoint");
  }

  bool disjoint(const std::vector<Fact>& facts, const Access& theirs, const Access& own,
                const shape::Substitution& rename) const {
    for (const unsigned rlimit : {0u, 100000u}) {
      shape::ProverLimits limits;
      limits.z3_rlimit = rlimit;
      for (size_t a = 0; a < own.box.size(); ++a) {
        const Interval i{theirs.box[a].low.substitute(rename), theirs.box[a].high.substitute(rename)};
        if (i.low == own.box[a].low && i.high == own.box[a].high) continue;
        if (shape::prove_empty(both(facts, {shape::less(i.low, own.box[a].high), shape::less(own.box[a].low, i.high)}),
                               limits).verdict == Verdict::proved)
          return true;
      }
    }
    return false;
  }

  /// `producer` is `distance` iterations before (`or_more`: at least that many) of the innermost common loop.
  void check_order(TaskTypeId producer, const Access& theirs, TaskTypeId consumer, const Access& own, int distance,
                   bool or_more) {
    const TaskType& from = p_.types[producer];
    const size_t common = common_loops(producer, consumer);
    shape::Substitution rename;
    for (const auto& c : from.coordinates) rename[c.var] = shape::fresh_var(shape::var_name(c.var) + "'");
    std::vector<Fact> facts = both(p_.facts, ranges(consumer, {}));
    for (size_t i = 0; i < from.loops.size(); ++i) {
      const Var l = p_.loops[from.loops[i]].index;
      if (i + 1 == common && distance > 0) {
        const Dim before = or_more ? Dim(shape::fresh_var(shape::var_name(l) + "'")) : Dim(l) - Dim(distance);
        if (or_more) facts.push_back(shape::at_most(before, Dim(l) - Dim(distance)));
        rename[l] = before;
      } else if (i >= common) {
        rename[l] = shape::fresh_var(shape::var_name(l) + "'");
      }
    }
    facts = both(std::move(facts), ranges(producer, rename));
    const std::string what = fmt::format(
        "{} {} {} of {}{}", name(consumer), own.write ? "writes" : "reads", theirs.write ? "after the write" : "after the read",
        name(producer), distance == 0 ? "" : or_more ? " in earlier iterations" : " in the iteration before");
    const std::string about = what + " (" + name(own.buffer) + ")";
    if (disjoint(facts, theirs, own, rename)) return record(about, true, "disjoint");
    std::vector<Fact> overlap = facts;
    for (size_t a = 0; a < own.box.size(); ++a) {
      overlap.push_back(shape::less(theirs.box[a].low.substitute(rename), own.box[a].high));
      overlap.push_back(shape::less(own.box[a].low, theirs.box[a].high.substitute(rename)));
    }
    if (producer == consumer && covers(self_coverage(consumer), producer, consumer, overlap, rename))
      return record(about, true, "a task follows itself");
    for (const Wait& wait : p_.waits)
      if (waits_for(wait, producer, consumer, distance, overlap, rename)) return record(about, true, "a wait");
    for (const auto& coverage : ordering_.coverages(consumer, producer, distance))
      if (covers(coverage, producer, consumer, overlap, rename)) return record(about, true, "a chain of waits");
    record(about, false, "not ordered");
  }

  std::vector<Coverage> self_coverage(TaskTypeId id) const {
    std::vector<Coverage> coverage;
    for (uint32_t c = 0; c < p_.types[id].coordinates.size(); ++c) coverage.push_back({Coverage::Kind::same, c});
    return coverage;
  }

  /// Under overlap, is the producer's task among those covered?
  bool covers(const std::vector<Coverage>& coverage, TaskTypeId producer, TaskTypeId consumer,
              const std::vector<Fact>& overlap, const shape::Substitution& rename) const {
    const auto& theirs = p_.types[producer].coordinates;
    for (size_t c = 0; c < coverage.size(); ++c) {
      if (coverage[c].kind == Coverage::Kind::whole) continue;
      if (coverage[c].kind == Coverage::Kind::some) return false;
      const Dim ours = p_.types[consumer].coordinates[coverage[c].coordinate].var;
      if (!holds(overlap, shape::equal(rename.at(theirs[c].var), ours))) return false;
    }
    return true;
  }

  /// Does this wait alone cover the producer's overlapping tasks?
  bool waits_for(const Wait& wait, TaskTypeId producer, TaskTypeId consumer, int distance,
                 const std::vector<Fact>& overlap, const shape::Substitution& rename) const {
    const Event& event = p_.events[wait.event];
    if (wait.consumer != consumer || event.producer != producer) return false;
    const auto relation = relation_of(p_, wait);
    if (!relation || relation->distance > distance) return false;
    for (size_t a = 0; a < event.kept.size(); ++a) {
      const Dim p = rename.at(p_.types[producer].coordinates[event.kept[a]].var);
      if (!holds(overlap, shape::at_least(p, wait.box[a].first))) return false;
      if (!holds(overlap, shape::at_most(p, wait.box[a].last))) return false;
    }
    return true;
  }

  static bool holds(const std::vector<Fact>& facts, const Fact& goal) {
    for (const unsigned rlimit : {0u, 100000u}) {
      shape::ProverLimits limits;
      limits.z3_rlimit = rlimit;
      if (shape::prove(facts, goal, limits).verdict == Verdict::proved) return true;
    }
    return false;
  }

  const Program& p_;
  const graph::Graph& g_;
  Ordering ordering_;
  std::map<TaskTypeId, uint32_t> order_;
  bool steps_well_formed_ = true;
  std::vector<Obligation> out_;
};

}  // namespace

std::vector<Obligation> verify(const Program& program) { return Verifier(program).run(); }

}  // namespace axon::task
