// keep_rows: what is written of a row is computed where the row's statistics are.
//
// In: a reduction of rows of x (a mean, a maximum, an online softmax) and a pointwise node that alone reads
// it and writes a result along the same rows: softmax, a norm, x minus its maximum. Out: the statistic as a
// local of that node, whose tasks have whole rows: each reads its rows from memory once, and there is one
// wait less.
//
// Note: which rows. The reduction's domain are axes of the reader; all other axes of the reader, the columns,
// run through a tensor that the reduction reads along its binders, the last of them where elements lie next
// to each other, as they do in the reader. So a task has no more to do than the reduction had, and rows are
// pieces of memory. Products of matrices stay by themselves: their tiles are made for that. After
// split_reductions: a result of few rows is better computed in parts than by as many tasks as it has rows.
#include <algorithm>

#include "graph/contraction.h"
#include "graph/passes/absorb.h"
#include "graph/passes/order.h"
#include "graph/passes/passes.h"
#include "graph/prefix.h"

namespace axon::graph {

namespace {

/// The variable that an index is; nullopt where it is anything else.
std::optional<Var> variable(const Graph& g, ScalarId index) {
  const auto dim = affine_index(g, index);
  return dim ? dim->as_var() : std::nullopt;
}

/// For each axis of the statistic the variable by which a load of it goes along that axis; nullopt where an
/// index is no variable of the domain around, or is one for two axes. An axis of one element has none.
using Rows = std::vector<std::optional<Var>>;
std::optional<Rows> rows_of(const Graph& g, const Node& statistic, const Scalar& load,
                            const std::vector<Axis>& around) {
  Rows rows;
  for (size_t a = 0; a < load.args.size(); ++a) {
    if (statistic.domain[a].extent.is(1)) {
      rows.emplace_back();
      continue;
    }
    const auto v = variable(g, load.args[a]);
    const auto is_axis = [&](const Axis& axis) { return axis.var == v; };
    if (!v || std::none_of(around.begin(), around.end(), is_axis)) return std::nullopt;
    if (std::find(rows.begin(), rows.end(), v) != rows.end()) return std::nullopt;
    rows.push_back(v);
  }
  return rows;
}

/// Whether a statistic goes into a reader of rows.
class Fit {
 public:
  Fit(const Graph& g, NodeId statistic, NodeId reader)
      : g_(g), id_(statistic), statistic_(g.nodes[statistic]), reader_(g.nodes[reader]) {}

  bool holds() {
    if (!find_rows() || !products_stay()) return false;
    for (const Axis& a : reader_.domain)
      if (!a.extent.is(1) && !is_row(a.var)) columns_.insert(a.var);
    if (columns_.empty()) return false;
    std::set<Var> covered;
    for (const Output& output : statistic_.outputs) cover_by(output.body, statistic_.domain, rows_, covered);
    for (uint32_t l = 0; l < statistic_.locals.size(); ++l)
      if (const auto rows = rows_of_local(l))
        cover_by(statistic_.locals[l].body, statistic_.locals[l].domain, *rows, covered);
    return covered == columns_;
  }

 private:
  const Graph& g_;
  NodeId id_;
  const Node& statistic_;
  const Node& reader_;
  Rows rows_;
  std::set<Var> columns_;

  bool is_row(Var v) const { return std::find(rows_.begin(), rows_.end(), v) != rows_.end(); }

  /// All outputs read the statistic at one row; locals at points of their own, which are no more than rows.
  bool find_rows() {
    std::optional<Rows> found;
    bool fit = true;
    edit::each_body(reader_, [&](ScalarId body, const std::vector<Axis>& domain) {
      const bool in_output = &domain == &reader_.domain;
      for (ScalarId id : loads_in(g_, body)) {
        const Scalar& load = g_.scalars[id];
        if (load.target.is_local() || load.target.node != id_) continue;
        const auto rows = rows_of(g_, statistic_, load, domain);
        fit = fit && rows && (in_output ? !found || *found == *rows : domain.size() == rows->size());
        if (in_output) found = rows;
      }
    });
    if (!fit || !found) return false;
    rows_ = *found;
    return true;
  }

  /// The variables of the reader that go along the axes of a local of the statistic, which its outputs read
  /// at one row; nullopt where none does.
  std::optional<Rows> rows_of_local(uint32_t local) const {
    for (const Output& output : statistic_.outputs)
      for (ScalarId id : loads_in(g_, output.body)) {
        const Scalar& load = g_.scalars[id];
        if (!load.target.is_local() || load.target.output != local) continue;
        Rows rows;
        for (const ScalarId arg : load.args) {
          const auto v = variable(g_, arg);
          const auto axis = std::find_if(statistic_.domain.begin(), statistic_.domain.end(),
                                         [&](const Axis& a) { return a.var == v; });
          if (axis == statistic_.domain.end()) return std::nullopt;
          rows.push_back(rows_[static_cast<size_t>(axis - statistic_.domain.begin())]);
        }
        return rows;
      }
    return std::nullopt;
  }

  bool products_stay() const {
    const auto placed = contractions_of(g_, statistic_);
    return std::all_of(placed.begin(), placed.end(),
                       [](const auto& p) { return p.contraction.columns.empty(); });
  }

  /// Adds the columns along which the reader goes through what a reduction in the body reads by its binders.
  /// `rows`: the reader's variables that go along the axes of the domain.
  void cover_by(ScalarId body, const std::vector<Axis>& domain, const Rows& rows,
                std::set<Var>& covered) const {
    for (ScalarId id : edit::binders_in(g_, body)) {
      const std::vector<Axis>& binders = g_.scalars[id].binders;
      for (ScalarId l : loads_in(g_, body)) {
        const Scalar& load = g_.scalars[l];
        if (load.args.empty() || load.target.is_local()) continue;
        const auto along = variable(g_, load.args.back());
        if (std::any_of(binders.begin(), binders.end(), [&](const Axis& b) { return b.var == along; }))
          cover_by_load(load, domain, rows, binders, covered);
      }
    }
  }

  void cover_by_load(const Scalar& load, const std::vector<Axis>& domain, const Rows& rows,
                     const std::vector<Axis>& binders, std::set<Var>& covered) const {
    for (const Output& output : reader_.outputs)
      for (ScalarId l : loads_in(g_, output.body)) {
        const Scalar& other = g_.scalars[l];
        if (other.target == load.target && variable(g_, other.args.back()) == reader_.domain.back().var)
          for (Var v : columns_of(load, other, domain, rows, binders)) covered.insert(v);
      }
  }

  /// The columns of a load by the reader that reads the row which the statistic's load reads; none where it
  /// reads something else.
  std::vector<Var> columns_of(const Scalar& load, const Scalar& other, const std::vector<Axis>& domain,
                              const Rows& rows, const std::vector<Axis>& binders) const {
    std::vector<Var> columns;
    for (size_t a = 0; a < load.args.size(); ++a) {
      const auto mine = variable(g_, load.args[a]), theirs = variable(g_, other.args[a]);
      if (!mine) {
        if (load.args[a] != other.args[a]) return {};
        continue;
      }
      const auto is_mine = [&](const Axis& axis) { return axis.var == mine; };
      const auto row = std::find_if(domain.begin(), domain.end(), is_mine);
      const bool by_binder = std::any_of(binders.begin(), binders.end(), is_mine);
      if (row != domain.end()) {
        const auto axis = static_cast<size_t>(row - domain.begin());
        if (!row->extent.is(1) && rows[axis] != theirs) return {};
      } else if (by_binder && theirs && columns_.contains(*theirs)) {
        columns.push_back(*theirs);
      } else {
        return {};
      }
    }
    return columns;
  }
};

bool keep_one(Graph& g) {
  const std::map<Value, edit::Uses> uses = edit::uses_of(g);
  edit::Orders orders(g);
  std::vector<NodeId> nodes = all_nodes(g);
  for (auto it = nodes.rbegin(); it != nodes.rend(); ++it) {  // a statistic of a statistic comes after it
    const NodeId statistic = *it;
    const Node& node = g.nodes[statistic];
    if (node.op != NodeOp::compute || !edit::has_reduction(g, node) || !edit::all_plain(node)) continue;
    if (goes_through_rows(g, node)) continue;
    const std::set<NodeId> readers = edit::only_readers(uses, g, statistic);
    if (readers.size() != 1) continue;
    const NodeId reader = *readers.begin();
    if (g.nodes[reader].op != NodeOp::compute || !edit::has_pointwise_outputs(g, g.nodes[reader])) continue;
    if (!edit::can_move_into(g, orders, statistic, reader) || !Fit(g, statistic, reader).holds()) continue;
    Node candidate = edit::with_locals_of(g, g.nodes[reader], statistic);
    if (!edit::updates_in_place(g, candidate)) continue;
    edit::commit_merge(g, reader, statistic, std::move(candidate));
    return true;
  }
  return false;
}

}  // namespace

void keep_rows(Graph& g) {
  while (keep_one(g)) {
  }
}

}  // namespace axon::graph
