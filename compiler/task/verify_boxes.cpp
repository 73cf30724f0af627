// Every element that a task touches lies in a box that it declares.
//
// How the boxes were declared plays no part. The bodies are walked from the outputs to the first local: a
// local is computed over the span of the indices that later bodies read it at, so its own reads are looked at
// under that. Each read and store is then put to the prover: is its index inside of a declared box of its
// buffer, for all points of the tile and of the binders around it, and all sizes?
//
// Assumed of the graph, and not proved here: what is read or stored lies inside of its tensor. `bounded`
// checks it where the data decides; such an index can be anything in its axis.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/work.h"
#include "layout/evaluate.h"
#include "layout/strided.h"
#include "task/facts.h"
#include "task/verify.h"
#include "task/verify_scope.h"

namespace axon::task {

namespace {

using graph::Axis;
using graph::Graph;
using graph::Node;
using graph::Op;
using graph::Scalar;
using graph::ScalarId;
using graph::Value;

/// What the proof of one task type's boxes may take. The most that a test takes is 30 million, where nested
/// conditions on an integer decide a size.
constexpr uint64_t steps_of_a_type = 40'000'000;

/// An index of a read or store; nullopt when it depends on data.
using Index = std::optional<Dim>;

class BoxChecks {
 public:
  BoxChecks(const Program& p, TaskTypeId id, Report& report)
      : p_(p), g_(*p.graph), id_(id), type_(p.types[id]), node_(g_.nodes[type_.node]), report_(report) {}

  void run() {
    const bool well_formed = are_well_formed();
    report_.add(fmt::format("{}: its boxes are over what its tasks know", type_.name), well_formed, "form");
    if (!well_formed) return;
    spans_.resize(node_.locals.size());
    const Scope tile = scope_of_tile(false);
    // An order is sorted in the memory of the whole row.
    const Scope stores = scope_of_tile(computed_order(g_, node_) != nullptr);
    std::set<ScalarId> seen;
    for (uint32_t o = 0; o < node_.outputs.size(); ++o) {
      const auto& output = node_.outputs[o];
      touch({type_.node, o}, {output.at.begin(), output.at.end()}, true, stores);
      walk(output.body, tile, seen);
    }
    for (uint32_t l = static_cast<uint32_t>(node_.locals.size()); l-- > 0;) {
      const auto scope = scope_of_local(l);
      seen.clear();
      if (scope) walk(node_.locals[l].body, *scope, seen);
    }
    for (const auto& [what, missing] : touched_)
      report_.add(fmt::format("{}: what it {} of {} lies in its boxes", type_.name,
                              what.second ? "stores" : "reads", p_.buffers[what.first].name),
                  missing.empty(), missing.empty() ? "prover" : "not shown of " + missing);
  }

 private:
  /// A read or store, over the variables of its scope.
  struct Touch {
    BufferId buffer;
    bool write;
    std::vector<Dim> point;
    std::vector<Fact> inside;  ///< of its tensor
    const Scope& scope;
  };
  /// Does what is known of a touch entail the fact? Dearer ones are asked later.
  using Prover = bool (*)(const Program&, const Touch&, const Fact&);
  static bool is_cheaply_shown(const Program& p, const Touch& touch, const Fact& goal) {
    return cheaply(p, both(touch.scope.facts(), touch.inside), goal);
  }
  static bool is_shown_at_ends(const Program&, const Touch& touch, const Fact& goal) {
    return touch.scope.shows_at_ends(goal);
  }
  static bool is_shown(const Program& p, const Touch& touch, const Fact& goal) {
    return holds(p, both(touch.scope.facts(), touch.inside), goal);
  }

  bool are_well_formed() const {
    const Scope scope(p_, id_);
    return std::all_of(type_.accesses.begin(), type_.accesses.end(), [&](const Access& access) {
      return access.buffer.index < p_.buffers.size() &&
             access.box.size() == p_.buffers[access.buffer].shape.size() &&
             std::all_of(access.box.begin(), access.box.end(), [&](const Interval& axis) {
               return scope.is_known(axis.low) && scope.is_known(axis.high);
             });
    });
  }

  // ---- which points a task computes ----

  std::vector<Coordinate>::const_iterator cut_of(uint32_t axis) const {
    return std::find_if(type_.coordinates.begin(), type_.coordinates.end(),
                        [&](const Coordinate& c) { return c.axis == axis; });
  }

  Scope scope_of_tile(bool whole_rows) const {
    Scope scope(p_, id_);
    for (uint32_t a = 0; a < node_.domain.size(); ++a) {
      const auto cut = cut_of(a);
      const bool is_whole = whole_rows && a + 1 == node_.domain.size();
      if (is_whole || cut == type_.coordinates.end()) {
        scope.add(node_.domain[a]);
      } else {
        const Dim begin = Dim(cut->var) * Dim(cut->tile);
        scope.add(node_.domain[a], Interval{begin, begin + Dim(cut->tile)});
      }
    }
    return scope;
  }

  /// Nothing when nobody reads it: then it is not computed, nor is it for a tile without a point.
  std::optional<Scope> scope_of_local(uint32_t l) const {
    if (!spans_[l]) return std::nullopt;
    Scope scope(p_, id_);
    for (uint32_t a = 0; a < node_.domain.size(); ++a) {
      const auto cut = cut_of(a);
      const Dim begin = cut == type_.coordinates.end() ? Dim(0) : Dim(cut->var) * Dim(cut->tile);
      if (scope.is_known(node_.domain[a].extent)) scope.assume(shape::less(begin, node_.domain[a].extent));
    }
    const auto& domain = node_.locals[l].domain;
    for (size_t a = 0; a < domain.size(); ++a) scope.add(domain[a], (*spans_[l])[a]);
    return scope;
  }

  // ---- what their bodies touch ----

  Index index_of(ScalarId id) const {
    const Scalar& s = g_.scalars[id];
    if (s.op == Op::index) return s.dim;
    if (s.op == Op::constant) return Dim(s.integer);
    return std::nullopt;
  }

  /// Every read under `root`, those under binders with the binders in scope.
  void walk(ScalarId root, const Scope& scope, std::set<ScalarId>& seen) {
    std::vector<ScalarId> stack{root};
    while (!stack.empty()) {
      const ScalarId id = stack.back();
      stack.pop_back();
      if (!seen.insert(id).second) continue;
      const Scalar& s = g_.scalars[id];
      if (!s.binders.empty()) {
        Scope inside = scope;
        for (const Axis& binder : s.binders) inside.add(binder);
        std::set<ScalarId> seen_inside;
        for (ScalarId arg : s.args) walk(arg, inside, seen_inside);
        continue;
      }
      if (s.op == Op::load) {
        std::vector<Index> at;
        for (ScalarId arg : s.args) at.push_back(index_of(arg));
        if (s.target.is_local())
          read_local(s.target.output, at, scope);
        else
          touch(s.target, at, false, scope);
      }
      stack.insert(stack.end(), s.args.begin(), s.args.end());
    }
  }

  void read_local(uint32_t l, const std::vector<Index>& at, const Scope& scope) {
    std::vector<Interval> read;
    for (size_t a = 0; a < at.size(); ++a) {
      const Dim& extent = node_.locals[l].domain[a].extent;
      read.push_back(at[a] ? scope.span_of(*at[a], extent) : Interval{Dim(0), extent});
    }
    if (!spans_[l]) {
      spans_[l] = std::move(read);
      return;
    }
    for (size_t a = 0; a < at.size(); ++a) {
      Interval& span = (*spans_[l])[a];
      span = {shape::min(span.low, read[a].low), shape::max(span.high, read[a].high)};
    }
  }

  void touch(Value value, const std::vector<Index>& at, bool write, const Scope& scope) {
    const Place& place = p_.place(value);
    std::string& missing = touched_[{place.buffer, write}];
    if (!missing.empty()) return;
    Touch touch{place.buffer, write, {}, {}, scope};
    if (place.slot) touch.point.push_back(*place.slot);
    for (size_t a = 0; a < at.size(); ++a) {
      const Dim index = at[a] ? *at[a] : Dim(shape::fresh_var("data"));
      touch.point.push_back(index);
      touch.inside.push_back(shape::at_least(index, Dim(0)));
      touch.inside.push_back(shape::less(index, g_.type(value).shape[a]));
    }
    for (const Prover& shown : {Prover(is_cheaply_shown), Prover(is_shown_at_ends), Prover(is_shown)})
      if (lies_in_a_box(touch, shown)) return;
    for (const Dim& d : touch.point) missing += (missing.empty() ? "[" : ", ") + d.str();
    missing = missing.empty() ? "[]" : missing + "]";
  }

  // ---- inside of a box ----

  bool lies_in_a_box(const Touch& touch, Prover shown) const {
    return std::any_of(type_.accesses.begin(), type_.accesses.end(), [&](const Access& access) {
      if (access.buffer != touch.buffer || access.write != touch.write) return false;
      for (size_t a = 0; a < touch.point.size(); ++a)
        if (!reaches(touch, touch.point[a], access.box[a].low, shown) ||
            !stays_below(touch, touch.point[a], access.box[a].high, shown))
          return false;
      return true;
    });
  }

  /// index >= low. A greater of two in it stands for both.
  bool reaches(const Touch& touch, const Dim& index, const Dim& low, Prover shown) const {
    if (const auto both = operands(low, shape::AtomKind::max))
      return reaches(touch, index, both->first, shown) && reaches(touch, index, both->second, shown);
    return follows(touch, shape::at_least(index, low), shown);
  }

  /// index < high. A lesser of two in it stands for both.
  bool stays_below(const Touch& touch, const Dim& index, const Dim& high, Prover shown) const {
    if (const auto both = operands(high, shape::AtomKind::min))
      return stays_below(touch, index, both->first, shown) && stays_below(touch, index, both->second, shown);
    return follows(touch, shape::less(index, high), shown);
  }

  /// What a sum is with either operand of a minimum or maximum that it adds.
  static std::optional<std::pair<Dim, Dim>> operands(const Dim& sum, shape::AtomKind kind) {
    for (const shape::Term& term : sum.terms()) {
      if (term.coefficient < 1 || term.factors.size() != 1 || term.factors[0].kind() != kind) continue;
      const shape::Atom& atom = term.factors[0];
      const Dim by(term.coefficient), lhs = atom.lhs(), rhs = atom.rhs();
      const Dim rest =
          sum - by * (kind == shape::AtomKind::min ? shape::min(lhs, rhs) : shape::max(lhs, rhs));
      if (rest.terms().size() >= sum.terms().size()) continue;
      return std::pair{rest + by * lhs, rest + by * rhs};
    }
    return std::nullopt;
  }

  bool follows(const Touch& touch, const Fact& goal, Prover shown) const {
    const auto same = [&](const Fact& f) {
      return f.relation == goal.relation && f.lhs == goal.lhs && f.rhs == goal.rhs;
    };
    return std::any_of(touch.inside.begin(), touch.inside.end(), same) || touch.scope.shows(goal) ||
           shown(p_, touch, goal);
  }

  const Program& p_;
  const Graph& g_;
  const TaskTypeId id_;
  const TaskType& type_;
  const Node& node_;
  Report& report_;
  std::vector<std::optional<std::vector<Interval>>> spans_;  ///< of each local that is read, per axis
  /// Per buffer, reads before stores: the first index that no box is shown to hold; "" when there is none.
  std::map<std::pair<BufferId, bool>, std::string> touched_;
};

/// Is it storage that the graph places so, with a place of its own for each element, none below the first?
bool is_storage(const Program& p, const Buffer& buffer) {
  layout::Layout place = *buffer.placement.stated;
  if (place.shards.size() > 1 && place.shards[0].extent.is(2) && !buffer.shape.empty() &&
      buffer.shape[0].is(2))
    place.shards.erase(place.shards.begin());  // the slots of a carried value
  const auto ends = layout::spans(*buffer.placement.stated, p.facts);
  const auto memory = ends.find(layout::Axis());
  const auto& nodes = p.graph->nodes;
  bool is_there = false;
  for (uint32_t n = 0; n < nodes.size(); ++n) {
    const graph::Node& node = nodes[graph::NodeId{n}];
    is_there |=
        node.op == graph::NodeOp::empty && (node.place == place || node.place == buffer.placement.stated);
  }
  return is_there && layout::injective(*buffer.placement.stated, p.facts) == true &&
         (memory == ends.end() || memory->second.low.is(0));
}

/// Is it the caller's memory, where the graph says that it lies so? Where it is written the host checks that
/// each element has a place of its own, before anything runs.
bool is_stated(const Program& p, const Buffer& buffer) {
  using Kind = Buffer::Kind;
  const auto& g = *p.graph;
  const auto lies = [&](const auto& all) {
    return buffer.index < all.size() && all[buffer.index].place == buffer.placement.stated;
  };
  if (buffer.kind == Kind::temporary) return is_storage(p, buffer);
  const bool fits = buffer.kind == Kind::result                                   ? lies(g.results)
                    : buffer.kind == Kind::argument || buffer.kind == Kind::state ? lies(g.inputs)
                                                                                  : false;
  return fits && buffer.placement.digits.empty() &&
         layout::strides_of(*buffer.placement.stated, buffer.shape).needs().empty();
}

/// What lies past a tensor in its placement is zero, which packing sees to, and kernels read it.
void verify_placements(const Program& p, Report& report) {
  for (uint32_t b = 0; b < p.buffers.size(); ++b) {
    const Buffer& buffer = p.buffers[BufferId{b}];
    if (buffer.placement.is_row_major()) continue;
    if (buffer.placement.stated) {
      report.add(fmt::format("{}: lies where the program states", buffer.name), is_stated(p, buffer),
                 "compared");
      continue;
    }
    const bool written = std::any_of(p.types.begin(), p.types.end(), [&](const TaskType& type) {
      return std::any_of(type.accesses.begin(), type.accesses.end(),
                         [&](const Access& a) { return a.write && a.buffer == BufferId{b}; });
    });
    report.add(fmt::format("{}: what is not row-major is a weight, which nothing writes", buffer.name),
               buffer.kind == Buffer::Kind::weight && !written &&
                   !layout::why_ill_formed(buffer.placement, buffer.shape.size()),
               "compared");
  }
}

/// The proof of one type may take a part of what its entry may: an index that is beyond the prover is refused
/// before the whole allowance is spent on it.
void verify_boxes(const Program& p, TaskTypeId type, Report& report) {
  const base::Allowance allowance(steps_of_a_type);
  try {
    BoxChecks(p, type, report).run();
  } catch (const base::TooMuchWork&) {
    report.add(fmt::format("{}: that its reads and stores lie in its boxes takes too much work to prove",
                           p.types[type].name),
               false, "limit");
  }
}

}  // namespace

void verify_boxes(const Program& p, Report& report) {
  for (uint32_t t = 0; t < p.types.size(); ++t) verify_boxes(p, {t}, report);
  verify_placements(p, report);
}

}  // namespace axon::task
