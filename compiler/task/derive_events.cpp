// In: task types with boxes. Out: event tensors and waits such that every conflict is ordered.
//
// For each pair of accesses of one buffer, one of them a write, the earlier task type is the producer. Its coordinates
// are eliminated from "the boxes overlap" one axis at a time, which leaves for each coordinate a range over the
// consumer's coordinates: the wait map. Inside a loop, the producer may stand in an earlier iteration; the latest
// conflicting one is waited for, and since a task's slot only grows, all before it are covered.
// Conflicts that other waits already order get no wait of their own; events keep only the coordinates that some wait
// distinguishes, so each event is as coarse as its consumers allow.
#include <algorithm>
#include <functional>
#include <map>
#include "task/ordering.h"
#include "task/task.h"

namespace axon::task {

namespace {

/// Position of every type in program order.
std::map<TaskTypeId, uint32_t> program_order(const Program& p) {
  std::map<TaskTypeId, uint32_t> order;
  const std::function<void(const std::vector<Step>&)> walk = [&](const std::vector<Step>& steps) {
    for (const Step& s : steps) {
      if (s.task.valid()) order.emplace(s.task, static_cast<uint32_t>(order.size()));
      walk(s.body);
    }
  };
  walk(p.steps);
  return order;
}

struct Bound {
  std::optional<Dim> low, high;  ///< inclusive
};

/// Is the sign of e known to be >= 0 by its form: every term non-negative, given that all variables are?
bool plainly_positive(const Dim& e) {
  const auto c = e.constant();
  return c ? *c >= 1 : true;
}

/// Solves expr <= limit for v; nothing when the form is not understood (then v is unbounded by it).
std::optional<Dim> solve_at_most(const Dim& expr, Var v, const Dim& limit);
std::optional<Dim> solve_at_least(const Dim& expr, Var v, const Dim& limit);

/// The single atom of `expr` that contains v with coefficient 1, and the rest; nullopt otherwise.
std::optional<std::pair<shape::Atom, Dim>> isolate_atom(const Dim& expr, Var v) {
  std::optional<shape::Atom> found;
  Dim rest = expr;
  for (const auto& term : expr.terms()) {
    for (const auto& atom : term.factors) {
      const bool has = atom.kind() == shape::AtomKind::var ? atom.var() == v
                                                            : atom.lhs().contains(v) || atom.rhs().contains(v);
      if (!has) continue;
      if (found || term.factors.size() != 1 || term.coefficient != 1) return std::nullopt;
      found = atom;
    }
  }
  if (!found || found->kind() == shape::AtomKind::var) return std::nullopt;
  Dim atom_dim;
  switch (found->kind()) {
    case shape::AtomKind::floor_div: atom_dim = shape::floor_div(found->lhs(), found->rhs()); break;
    case shape::AtomKind::mod: atom_dim = shape::mod(found->lhs(), found->rhs()); break;
    case shape::AtomKind::min: atom_dim = shape::min(found->lhs(), found->rhs()); break;
    case shape::AtomKind::max: atom_dim = shape::max(found->lhs(), found->rhs()); break;
    case shape::AtomKind::var: break;
  }
  return std::pair{*found, rest - atom_dim};
}

std::optional<Dim> solve_at_most(const Dim& expr, Var v, const Dim& limit) {
  if (const auto linear = expr.linear_in(v)) {
    const auto& [a, b] = *linear;
    if (const auto c = a.constant(); c && *c > 0) return shape::floor_div(limit - b, a);
    return std::nullopt;
  }
  const auto atom = isolate_atom(expr, v);
  if (!atom) return std::nullopt;
  const Dim inner = limit - atom->second;
  const Dim lhs = atom->first.lhs(), rhs = atom->first.rhs();
  switch (atom->first.kind()) {
    case shape::AtomKind::floor_div:  // floor(e / d) <= L  iff  e <= L * d + d - 1, d >= 1
      if (rhs.contains(v) || !plainly_positive(rhs)) return std::nullopt;
      return solve_at_most(lhs, v, inner * rhs + rhs - Dim(1));
    case shape::AtomKind::max: {  // both sides are at most L; the side with v decides
      if (lhs.contains(v)) return solve_at_most(lhs, v, inner);
      return solve_at_most(rhs, v, inner);
    }
    case shape::AtomKind::min:
    case shape::AtomKind::mod:
    case shape::AtomKind::var: return std::nullopt;
  }
  return std::nullopt;
}

std::optional<Dim> solve_at_least(const Dim& expr, Var v, const Dim& limit) {
  if (const auto linear = expr.linear_in(v)) {
    const auto& [a, b] = *linear;
    if (const auto c = a.constant(); c && *c > 0) return shape::cdiv(limit - b, a);
    return std::nullopt;
  }
  const auto atom = isolate_atom(expr, v);
  if (!atom) return std::nullopt;
  const Dim inner = limit - atom->second;
  const Dim lhs = atom->first.lhs(), rhs = atom->first.rhs();
  switch (atom->first.kind()) {
    case shape::AtomKind::floor_div:  // floor(e / d) >= L  iff  e >= L * d, d >= 1
      if (rhs.contains(v) || !plainly_positive(rhs)) return std::nullopt;
      return solve_at_least(lhs, v, inner * rhs);
    case shape::AtomKind::min: {  // both sides are at least L; the side with v decides
      if (lhs.contains(v)) return solve_at_least(lhs, v, inner);
      return solve_at_least(rhs, v, inner);
    }
    case shape::AtomKind::max:
    case shape::AtomKind::mod:
    case shape::AtomKind::var: return std::nullopt;
  }
  return std::nullopt;
}

class Deriver {
 public:
  explicit Deriver(Program& p) : p_(p), order_(program_order(p)), ordering_(p) {}

  void run() {
    // Reads after writes first: they carry the program. The others are mostly implied by them.
    for (const Wait::Why why :
         {Wait::Why::read_after_write, Wait::Why::write_after_write, Wait::Why::write_after_read})
      for (uint32_t consumer = 0; consumer < p_.types.size(); ++consumer) consider_consumer({consumer}, why);
    drop_implied();
    coarsen_events();
  }

 private:
  void consider_consumer(TaskTypeId consumer, Wait::Why why) {
    // Nearest producers first, so that farther ones are seen to be implied.
    std::vector<TaskTypeId> producers;
    for (uint32_t t = 0; t < p_.types.size(); ++t) producers.push_back({t});
    std::sort(producers.begin(), producers.end(), [&](TaskTypeId a, TaskTypeId b) {
      const auto before = [&](TaskTypeId t) { return order_.at(t) < order_.at(consumer); };
      if (before(a) != before(b)) return before(a);
      return order_.at(a) > order_.at(b);
    });
    for (TaskTypeId producer : producers)
      for (const Access& own : p_.types[consumer].accesses)
        for (const Access& other : p_.types[producer].accesses) {
          if (own.buffer != other.buffer) continue;
          const bool wanted = why == Wait::Why::read_after_write    ? other.write && !own.write
                              : why == Wait::Why::write_after_write ? other.write && own.write
                                                                    : !other.write && own.write;
          if (wanted) consider_pair(producer, other, consumer, own, why);
        }
  }

  size_t common_loops(TaskTypeId a, TaskTypeId b) const {
    const auto &x = p_.types[a].loops, &y = p_.types[b].loops;
    size_t n = 0;
    while (n < x.size() && n < y.size() && x[n] == y[n]) ++n;
    return n;
  }

  void consider_pair(TaskTypeId producer, const Access& other, TaskTypeId consumer, const Access& own, Wait::Why why) {
    const size_t common = common_loops(producer, consumer);
    if (order_.at(producer) < order_.at(consumer) && producer != consumer)
      consider_distance(producer, other, consumer, own, why, common, 0);
    if (common == 0) return;
    // Earlier iterations of the innermost common loop: the latest one that conflicts.
    for (int distance = 1; distance <= 2; ++distance)
      if (consider_distance(producer, other, consumer, own, why, common, distance)) return;
  }

  /// True when the boxes may overlap at that distance (a wait exists or is implied afterwards).
  bool consider_distance(TaskTypeId producer, const Access& other, TaskTypeId consumer, const Access& own,
                         Wait::Why why, size_t common, int distance) {
    const TaskType& from = p_.types[producer];
    shape::Substitution rename;  // the producer's own names
    std::vector<Var> coordinates;
    for (const auto& c : from.coordinates) {
      coordinates.push_back(shape::fresh_var(shape::var_name(c.var) + "'"));
      rename[c.var] = coordinates.back();
    }
    std::vector<Fact> guard;
    std::vector<Dim> iteration;
    for (size_t i = 0; i < from.loops.size(); ++i) {
      const Loop& loop = p_.loops[from.loops[i]];
      if (i < common) {
        const bool innermost = i + 1 == common;
        const Dim at = Dim(loop.index) - Dim(innermost ? distance : 0);
        iteration.push_back(at);
        if (innermost && distance > 0) {
          rename[loop.index] = at;
          guard.push_back(shape::at_least(Dim(loop.index), Dim(distance)));
        }
      } else {
        iteration.push_back(loop.extent - Dim(1));
        rename[loop.index] = shape::fresh_var(shape::var_name(loop.index) + "'");
        guard.push_back(shape::at_least(loop.extent, Dim(1)));
      }
    }
    std::vector<Interval> box = other.box;
    for (auto& i : box) i = {i.low.substitute(rename), i.high.substitute(rename)};
    if (disjoint(producer, consumer, box, own.box, rename, guard)) return false;
    add_wait(producer, consumer, coordinates, box, own.box, iteration, guard, why, own.buffer);
    return true;
  }

  std::vector<Fact> ranges(TaskTypeId type, const shape::Substitution& rename) const {
    std::vector<Fact> facts = p_.facts;
    const auto add = [&](Var v, const Dim& extent) {
      const Dim d = Dim(v).substitute(rename);
      facts.push_back(shape::at_least(d, Dim(0)));
      facts.push_back(shape::less(d, extent));
    };
    for (const auto& c : p_.types[type].coordinates) add(c.var, c.extent);
    for (LoopId l : p_.types[type].loops) add(p_.loops[l].index, p_.loops[l].extent);
    return facts;
  }

  bool disjoint(TaskTypeId producer, TaskTypeId consumer, const std::vector<Interval>& theirs,
                const std::vector<Interval>& own, const shape::Substitution& rename,
                const std::vector<Fact>& guard) const {
    std::vector<Fact> facts = ranges(consumer, {});
    const auto more = ranges(producer, rename);
    facts.insert(facts.end(), more.begin(), more.end());
    facts.insert(facts.end(), guard.begin(), guard.end());
    // One axis on which they cannot meet is enough; trying axes one at a time keeps the questions small.
    shape::ProverLimits limits;
    limits.z3_rlimit = 0;
    for (size_t a = 0; a < own.size(); ++a) {
      if (theirs[a].low == own[a].low && theirs[a].high == own[a].high) continue;
      std::vector<Fact> overlap = facts;
      overlap.push_back(shape::less(theirs[a].low, own[a].high));
      overlap.push_back(shape::less(own[a].low, theirs[a].high));
      if (shape::prove_empty(overlap, limits).verdict == shape::Verdict::proved) return true;
    }
    return false;
  }

  void add_wait(TaskTypeId producer, TaskTypeId consumer, const std::vector<Var>& coordinates,
                const std::vector<Interval>& theirs, const std::vector<Interval>& own, std::vector<Dim> iteration,
                std::vector<Fact> guard, Wait::Why why, BufferId buffer) {
    Wait wait;
    wait.event = event_of(producer);
    wait.consumer = consumer;
    wait.iteration = std::move(iteration);
    wait.guard = std::move(guard);
    wait.why = why;
    wait.buffer = buffer;
    const auto facts = ranges(consumer, {});
    const auto& from = p_.types[producer];
    for (size_t c = 0; c < coordinates.size(); ++c) {
      Dim first(0), last = from.coordinates[c].extent - Dim(1);
      for (size_t a = 0; a < own.size(); ++a) {
        // theirs.low < own.high, that is theirs.low <= own.high - 1; and theirs.high >= own.low + 1
        if (const auto high = solve_at_most(theirs[a].low, coordinates[c], own[a].high - Dim(1));
            high && free_of(*high, coordinates))
          last = shape::min(last, *high);
        if (const auto low = solve_at_least(theirs[a].high, coordinates[c], own[a].low + Dim(1));
            low && free_of(*low, coordinates))
          first = shape::max(first, *low);
      }
      wait.box.push_back(clamp(shape::simplify(first, facts), shape::simplify(last, facts), from.coordinates[c].extent,
                               facts));
    }
    add_unless_implied(std::move(wait));
  }

  static bool free_of(const Dim& d, const std::vector<Var>& vars) {
    return std::none_of(vars.begin(), vars.end(), [&](Var v) { return d.contains(v); });
  }

  /// Keeps the box inside the event and never empty (a task that reads nothing waits for a little more than it needs,
  /// and orders compose), and recognises the whole range, so that coarse waits look coarse.
  Wait::Range clamp(Dim first, Dim last, const Dim& extent, const std::vector<Fact>& facts) const {
    shape::ProverLimits cheap;
    cheap.z3_rlimit = 0;
    const auto holds = [&](const Fact& f) { return shape::prove(facts, f, cheap).verdict == shape::Verdict::proved; };
    const Dim end = extent - Dim(1);
    if (holds(shape::at_most(first, Dim(0)))) first = Dim(0);
    else if (!holds(shape::at_most(first, end))) first = shape::min(first, end);
    if (last != first && holds(shape::at_most(last, first))) last = first;
    else last = shape::max(last, first);
    if (last == first) return {first, last};
    if (holds(shape::at_least(last, end))) last = end;
    else if (!holds(shape::at_most(last, end))) last = shape::min(last, end);
    return {first, last};
  }

  void add_unless_implied(Wait wait) {
    if (implied(p_, ordering_, wait)) return;
    ordering_.add(wait);
    p_.waits.push_back(std::move(wait));
  }

  /// Another wait of the same consumer for the same box in the same or a later iteration, or a chain of waits.
  static bool implied(const Program& p, const Ordering& ordering, const Wait& wait) {
    const auto relation = relation_of(p, wait);
    if (!relation) return false;
    const auto same = [](const Wait::Range& a, const Wait::Range& b) { return a.first == b.first && a.last == b.last; };
    for (const Wait& other : p.waits) {
      if (other.event != wait.event || other.consumer != wait.consumer) continue;
      const auto theirs = relation_of(p, other);
      if (theirs && theirs->distance <= relation->distance && theirs->leaves_loop == relation->leaves_loop &&
          std::equal(other.box.begin(), other.box.end(), wait.box.begin(), wait.box.end(), same))
        return true;
    }
    if (relation->leaves_loop) return false;
    return ordering.ordered(wait.consumer, p.events[wait.event].producer, relation->distance, coverage_of(p, wait));
  }

  EventId event_of(TaskTypeId producer) {
    for (uint32_t e = 0; e < p_.events.size(); ++e)
      if (p_.events[EventId{e}].producer == producer) return {e};
    Event event;
    event.name = "e" + std::to_string(p_.events.size());
    event.producer = producer;
    const auto& coordinates = p_.types[producer].coordinates;
    for (uint32_t c = 0; c < coordinates.size(); ++c) {
      event.kept.push_back(c);
      event.shape.push_back(coordinates[c].extent);
    }
    event.count = Dim(1);
    return p_.events.add(std::move(event));
  }

  /// A wait is dropped when the others imply it; the farthest producers are tried first.
  void drop_implied() {
    for (size_t w = p_.waits.size(); w-- > 0;) {
      const Wait wait = p_.waits[w];
      p_.waits.erase(p_.waits.begin() + static_cast<std::ptrdiff_t>(w));
      if (!implied(p_, Ordering(p_), wait)) p_.waits.insert(p_.waits.begin() + static_cast<std::ptrdiff_t>(w), wait);
    }
  }

  /// Projects away the coordinates that every wait takes whole.
  void coarsen_events() {
    for (uint32_t e = 0; e < p_.events.size(); ++e) {
      Event& event = p_.events[EventId{e}];
      std::vector<uint32_t> kept;
      std::vector<Dim> shape;
      std::vector<bool> keep(event.kept.size(), false);
      for (const Wait& wait : p_.waits)
        if (wait.event == EventId{e})
          for (size_t a = 0; a < keep.size(); ++a)
            keep[a] = keep[a] || !wait.box[a].first.is(0) || wait.box[a].last != event.shape[a] - Dim(1);
      for (size_t a = 0; a < keep.size(); ++a) {
        if (keep[a]) {
          kept.push_back(event.kept[a]);
          shape.push_back(event.shape[a]);
        } else {
          event.count = event.count * event.shape[a];
        }
      }
      for (Wait& wait : p_.waits) {
        if (wait.event != EventId{e}) continue;
        std::vector<Wait::Range> box;
        for (size_t a = 0; a < keep.size(); ++a)
          if (keep[a]) box.push_back(wait.box[a]);
        wait.box = std::move(box);
      }
      event.kept = std::move(kept);
      event.shape = std::move(shape);
    }
  }

  Program& p_;
  std::map<TaskTypeId, uint32_t> order_;
  Ordering ordering_;
};

}  // namespace

void derive_events(Program& program) { Deriver(program).run(); }

}  // namespace axon::task
