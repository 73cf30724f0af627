// See boxes.h. Index expressions are bounded under the ranges that one task gives to the domain variables,
// the binders and the locals' variables. An index of the data, of a remainder of sizes, of a product of
// indices, or of many axes that are merged touches its whole axis.
#include "task/boxes.h"

#include <algorithm>
#include <functional>
#include <map>

#include "base/rule.h"
#include "task/facts.h"

namespace axon::task {

using graph::Axis;
using graph::Graph;
using graph::Node;
using graph::ScalarId;
using graph::Value;

namespace {

/// Does it hold of a term of the expression, or of one inside of its atoms?
template <class Condition>
bool any_term(const Dim& dim, const Condition& holds) {
  const auto inside = [&](const shape::Atom& atom) {
    return atom.kind() != shape::AtomKind::var &&
           (any_term(atom.lhs(), holds) || any_term(atom.rhs(), holds));
  };
  const auto& terms = dim.terms();
  return std::any_of(terms.begin(), terms.end(), [&](const shape::Term& term) {
    return holds(term) || std::any_of(term.factors.begin(), term.factors.end(), inside);
  });
}

bool mentions(const shape::Atom& atom, const std::vector<Var>& any) {
  const bool is_var = atom.kind() == shape::AtomKind::var;
  return std::any_of(any.begin(), any.end(), [&](Var v) {
    return is_var ? atom.var() == v : atom.lhs().contains(v) || atom.rhs().contains(v);
  });
}

/// Is there a remainder of a size in it? Such an index returns to 0 within its axis. A box that told how far
/// it comes would hold what is divided as well, at more cost to the proof than it spares in waiting.
bool wraps_around(const Dim& index) {
  return any_term(index, [](const shape::Term& term) {
    return std::any_of(term.factors.begin(), term.factors.end(), [](const shape::Atom& atom) {
      return atom.kind() == shape::AtomKind::mod && !atom.rhs().constant();
    });
  });
}

/// Is there a minimum or maximum, of one of these variables, that something else multiplies? Its bounds are
/// products of choices, more than what the proofs can follow is worth.
bool multiplies_a_choice(const Dim& index, const std::vector<Var>& of) {
  const auto is_choice = [&](const shape::Atom& atom) {
    return (atom.kind() == shape::AtomKind::min || atom.kind() == shape::AtomKind::max) && mentions(atom, of);
  };
  return any_term(index, [&](const shape::Term& term) {
    return term.factors.size() > 1 && std::any_of(term.factors.begin(), term.factors.end(), is_choice);
  });
}

/// Is there a product of two of these variables? How far it comes within a tile is a product of sums, which
/// the proofs follow in few forms only.
bool multiplies_indices(const Dim& index, const std::vector<Var>& of) {
  const auto varies = [&](const shape::Atom& atom) { return mentions(atom, of); };
  return any_term(index, [&](const shape::Term& term) {
    return std::count_if(term.factors.begin(), term.factors.end(), varies) > 1;
  });
}

/// Is it made of more digits than this many whose strides are sizes, as where axes are merged? Each of them
/// ends with its tile or with its axis: the bound is the least of all these ways, twice as many with each
/// digit.
bool has_many_digits(const Dim& index, const std::vector<Var>& of) {
  constexpr int most_digits = 2;
  return std::count_if(of.begin(), of.end(), [&](Var v) {
           const auto linear = index.contains(v) ? index.linear_in(v) : std::nullopt;
           return linear && !linear->first.constant();
         }) > most_digits;
}

/// Bounds of index expressions inside one task.
class Boxes {
 public:
  Boxes(const Program& p, const TaskType& type)
      : program_(p), g_(*p.graph), node_(g_.nodes[type.node]), facts_(p.facts) {
    for (LoopId l : type.loops) add_range(p.loops[l].index, Dim(0), p.loops[l].extent);
    for (const auto& c : type.coordinates) add_range(c.var, Dim(0), c.extent);
    for (uint32_t a = 0; a < node_.domain.size(); ++a) {
      const Axis& axis = node_.domain[a];
      internal_.push_back(axis.var);
      add_range(axis.var, Dim(0), axis.extent);
      for (const auto& c : type.coordinates)
        if (AXON_RULE(box_own_axis, c.axis == a)) {
          const Dim begin = Dim(c.tile) * Dim(c.var);
          facts_.push_back(shape::at_least(Dim(axis.var), begin));
          facts_.push_back(
              shape::less(Dim(axis.var), begin + Dim(AXON_RULE(box_whole_tile, true) ? c.tile : 1)));
        }
    }
    find_local_ranges();
  }

  /// One interval per index; `shape` where no bound is found or the index depends on data.
  std::vector<Interval> of_load(ScalarId load, const std::vector<Dim>& shape) const {
    std::vector<Interval> box;
    const auto& scalar = g_.scalars[load];
    for (size_t a = 0; a < scalar.args.size(); ++a) {
      const auto index = followed_index(scalar.args[a]);
      box.push_back(AXON_RULE(box_of_data, !index) ? Interval{Dim(0), shape[a]} : bounded(*index, shape[a]));
    }
    return box;
  }

  /// The index, where it does not depend on data and its bounds are worth to be proved.
  std::optional<Dim> followed_index(ScalarId id) const {
    const auto index = affine_index(g_, id);
    const bool follows = index && !wraps_around(*index) && !multiplies_a_choice(*index, internal_) &&
                         !multiplies_indices(*index, internal_);
    return follows ? index : std::nullopt;
  }

  Interval bounded(const Dim& index, const Dim& extent) const {
    const auto keep = [&](Var v) {
      return std::find(internal_.begin(), internal_.end(), v) == internal_.end();
    };
    const auto vars = index.vars();
    if (AXON_RULE(box_point, std::all_of(vars.begin(), vars.end(), keep))) return {index, index + Dim(1)};
    if (has_many_digits(index, internal_)) return {Dim(0), extent};
    auto it = bounds_.find(index);
    if (it == bounds_.end()) {
      const auto facts = relevant(program_, facts_, {index});
      const auto bounds = shape::bounds_of(index, facts, keep);
      it = bounds_.emplace(index, shape::Bounds{}).first;
      if (AXON_RULE(box_low_found, bounds.low)) it->second.low = shape::simplify(*bounds.low, facts);
      const Dim past(AXON_RULE(box_past_last, true) ? 1 : 0);
      if (AXON_RULE(box_high_found, bounds.high))
        it->second.high = shape::simplify(*bounds.high + past, facts);
    }
    return {it->second.low.value_or(Dim(0)), it->second.high.value_or(extent)};
  }

  /// Every load of a value outside the node, under the ranges in force where it stands.
  void for_each_load(const std::function<void(ScalarId)>& f) const {
    for (const auto& local : node_.locals)
      if (AXON_RULE(box_loads_of_locals, true)) visit(local.body, f);
    for (const auto& output : node_.outputs) visit(output.body, f);
  }

 private:
  void add_range(Var v, const Dim& low, const Dim& high) {
    facts_.push_back(shape::at_least(Dim(v), low));
    facts_.push_back(shape::less(Dim(v), high));
  }

  void visit(ScalarId id, const std::function<void(ScalarId)>& f) const {
    for (ScalarId l : loads_in(g_, id)) f(l);
  }

  void add_binders(ScalarId body) {
    for (ScalarId id : scalars_in(g_, body))
      for (const Axis& b : g_.scalars[id].binders) {
        const bool known = std::find(internal_.begin(), internal_.end(), b.var) != internal_.end();
        if (AXON_RULE(box_known_binder, known)) continue;
        internal_.push_back(b.var);
        add_range(b.var, Dim(0), b.extent);
      }
  }

  static Interval joined(const Interval& a, const Interval& b) {
    return {AXON_RULE(box_join_low, true) ? shape::min(a.low, b.low) : b.low,
            AXON_RULE(box_join_high, true) ? shape::max(a.high, b.high) : b.high};
  }

  /// Locals are computed over the box that later bodies read; from last to first, so each sees all its
  /// readers.
  void find_local_ranges() {
    for (const auto& output : node_.outputs) add_binders(output.body);
    for (const auto& local : node_.locals) add_binders(local.body);
    for (uint32_t l = static_cast<uint32_t>(node_.locals.size()); l-- > 0;) {
      const auto& local = node_.locals[l];
      std::vector<std::optional<Interval>> needed(local.domain.size());
      const auto read = [&](ScalarId id) {
        const auto& load = g_.scalars[id];
        if (AXON_RULE(box_no_local, !load.target.is_local()) ||
            AXON_RULE(box_other_local, load.target.output != l))
          return;
        for (size_t a = 0; a < load.args.size(); ++a) {
          const auto index = followed_index(load.args[a]);
          const Dim extent = local.domain[a].extent;
          const Interval i =
              AXON_RULE(box_local_by_data, !index) ? Interval{Dim(0), extent} : bounded(*index, extent);
          needed[a] = AXON_RULE(box_first_read, !needed[a]) ? i : joined(*needed[a], i);
        }
      };
      for (uint32_t later = l + 1; later < node_.locals.size(); ++later)
        if (AXON_RULE(box_read_by_locals, true)) visit(node_.locals[later].body, read);
      for (const auto& output : node_.outputs)
        if (AXON_RULE(box_read_by_outputs, true)) visit(output.body, read);
      for (size_t a = 0; a < local.domain.size(); ++a) {
        const Interval range = needed[a].value_or(Interval{Dim(0), local.domain[a].extent});
        internal_.push_back(local.domain[a].var);
        add_range(local.domain[a].var, range.low, range.high);
        add_range(local.domain[a].var, Dim(0), local.domain[a].extent);
      }
    }
  }

  const Program& program_;
  const Graph& g_;
  const Node& node_;
  std::vector<Fact> facts_;
  std::vector<Var> internal_;  ///< variables that must not appear in a box
  mutable std::map<Dim, shape::Bounds, shape::DimLess>
      bounds_;  ///< [low, high) found; a local's range adds facts about
                ///< its own variables only, so these stay true
};

void add_access(const Program& p, std::vector<Access>& accesses, Value v, std::vector<Interval> box,
                bool write) {
  const Place& place = p.place(v);
  if (AXON_RULE(box_slot, place.slot)) box.insert(box.begin(), {*place.slot, *place.slot + Dim(1)});
  for (const Access& other : accesses) {
    const auto same = [](const Interval& a, const Interval& b) {
      return AXON_RULE(box_same_low, a.low == b.low) && AXON_RULE(box_same_high, a.high == b.high);
    };
    if (AXON_RULE(box_same_buffer, other.buffer == place.buffer) &&
        AXON_RULE(box_same_kind, other.write == write) &&
        std::equal(box.begin(), box.end(), other.box.begin(), other.box.end(), same))
      return;
  }
  accesses.push_back({place.buffer, std::move(box), write});
}

}  // namespace

std::vector<Access> accesses_of(const Program& p, const TaskType& type) {
  const Graph& g = *p.graph;
  const Node& node = g.nodes[type.node];
  std::vector<Access> accesses;
  const Boxes boxes(p, type);
  boxes.for_each_load([&](ScalarId l) {
    const Value target = g.scalars[l].target;
    if (AXON_RULE(box_of_buffer, !target.is_local()))
      add_access(p, accesses, target, boxes.of_load(l, g.type(target).shape), false);
  });
  for (uint32_t o = 0; o < node.outputs.size(); ++o) {
    std::vector<Interval> box;
    const auto& output = node.outputs[o];
    for (size_t a = 0; a < output.at.size(); ++a)
      box.push_back(boxes.bounded(output.at[a], output.type.shape[a]));
    add_access(p, accesses, {type.node, o}, std::move(box), true);
  }
  return accesses;
}

}  // namespace axon::task
