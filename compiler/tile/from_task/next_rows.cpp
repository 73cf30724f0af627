// Rows that go through memory and then through arithmetic, by turns: the next row is asked for meanwhile.
//
// In: a program of one thread. Out: the same, with prefetches. In a loop over rows whose body has loops over
// blocks, of which the first reduces, the second asks for what the first reads of the next row; where it is
// done before memory has delivered that, both ask for a half. Only of rows that the second cache holds beside
// this one: longer ones are read from memory again anyway.
#include <algorithm>

#include "base/pointwise.h"
#include "shape/prover.h"
#include "target/machine.h"
#include "tile/from_task/frame.h"
#include "tile/names.h"

namespace axon::tile {

namespace {

constexpr int64_t longest_row = 65536;  ///< in bytes
/// Instructions that take as long as memory for a line; a long function is so many alone.
constexpr int64_t instructions_of_line = 10;

class NextRows {
 public:
  explicit NextRows(Program& p) : p_(p) {}
  void run() { in(p_.body, {}); }

 private:
  const Loop& loop(OpId id) const { return std::get<Loop>(p_.ops[id]); }

  // Operations are added meanwhile: what is referred to may move.
  void in(const std::vector<OpId> body, OpId rows) {  // NOLINT(performance-unnecessary-value-param)
    std::vector<OpId> loops;
    for (const OpId id : body)
      if (std::holds_alternative<Loop>(p_.ops[id])) {
        in(loop(id).body, id);
        loops.push_back(id);
      }
    if (!rows.valid() || loop(rows).order || loops.size() < 2) return;
    const Loop first = loop(loops[0]), second = loop(loops[1]);
    if (first.carries.empty() || first.extent != second.extent || is_counted(first) || is_counted(second) ||
        first.order || second.order)
      return;
    const Var row = loop(rows).index;
    if (instructions(second) >= instructions_of_line) return ask(row, first, loops[1], {0, 1});
    ask(row, first, loops[0], {0, 2});
    ask(row, first, loops[1], {1, 2});
  }

  /// For a vector of each line, times the vectors in a line.
  int64_t instructions(const Loop& loop) const {
    int64_t count = 0;
    for (const OpId id : loop.body)
      if (const auto* map = std::get_if<Map>(&p_.ops[id]))
        for (const Expr& e : map->exprs)
          if (e.kind == Expr::Kind::apply) count += base::is_device_function(e.op) ? instructions_of_line : 1;
    return count * std::max<int64_t>(target::bytes_of_cache_line / p_.machine.register_bytes, 1);
  }

  struct Part {
    int64_t number, count;
  };
  /// A part of each block that the loop `first` copies of the next row, by a loop over the same blocks.
  void ask(Var row, const Loop& first, OpId by, const Part& part) {
    std::vector<OpId> made;
    for (const OpId id : first.body)
      if (auto prefetch = next(id, row, first, part, Dim(loop(by).index)))
        made.push_back(p_.ops.add(std::move(*prefetch)));
    auto& into = std::get<Loop>(p_.ops[by]).body;
    into.insert(into.begin(), made.begin(), made.end());
  }

  std::optional<Prefetch> next(OpId op, Var row, const Loop& blocks, const Part& part,
                               const Dim& block) const {
    const auto* copy = std::get_if<Copy>(&p_.ops[op]);
    if (!copy || !copy->from.tensor || copy->to.labels.empty()) return std::nullopt;
    const auto& at = copy->from.at;
    const bool has_row =
        std::any_of(at.begin(), at.end(), [&](const Index& index) { return index.dim.contains(row); });
    if (!has_row || std::any_of(at.begin(), at.end(), [](const Index& index) { return index.table; }))
      return std::nullopt;
    const Tile& to = p_.tiles[copy->to.tile];
    int64_t bytes = base::elem_bytes(p_.tensors[copy->from.tensor].elem);
    for (const int64_t extent : to.shape) bytes *= extent;
    std::vector<Fact> facts = p_.facts;
    facts.insert(facts.end(), p_.guard.begin(), p_.guard.end());
    const Fact fits = shape::at_most(blocks.extent, Dim(longest_row / bytes));
    Prefetch out;
    if (shape::prove(facts, fits).verdict != shape::Verdict::proved) out.facts.push_back(fits);
    out.tensor = copy->from.tensor;
    for (size_t a = 0; a < to.shape.size(); ++a) out.labels.push_back({copy->to.labels[a], to.shape[a]});
    auto& [label, extent] = out.labels.back();
    extent = std::max<int64_t>(extent / part.count, 1);
    const Dim first = Dim(label) + part.number * extent;
    for (const Index& index : at)
      out.at.push_back(index.dim.substitute({{row, Dim(row) + 1}, {blocks.index, block}, {label, first}}));
    return out;
  }

  Program& p_;
};

}  // namespace

void prefetch_next_rows(Program& p) {
  if (p.machine.threads() == 1) NextRows(p).run();
}

}  // namespace axon::tile
