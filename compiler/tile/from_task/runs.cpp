// See runs.h.
#include "tile/from_task/runs.h"

#include <algorithm>

#include "task/facts.h"

namespace axon::tile {

using graph::Axis;
using shape::Dim;

namespace {

/// Has the type one box of the buffer, whole along all of the last `count` axes but the first?
bool has_whole_rows(const task::Program& p, const task::TaskType& type, task::BufferId buffer, size_t count) {
  const std::vector<Dim>& shape = p.buffers[buffer].shape;
  size_t boxes = 0;
  for (const task::Access& access : type.accesses) {
    if (access.buffer != buffer) continue;
    if (++boxes > 1 || access.write) return false;
    for (size_t a = shape.size() - count + 1; a < shape.size(); ++a)
      if (!access.box[a].low.is(0) || access.box[a].high != shape[a]) return false;
  }
  return boxes == 1;
}

}  // namespace

std::vector<Axis> run_of_binders(const task::Program& p, const task::TaskType& type, const graph::Graph& g,
                                 graph::ScalarId load, const std::vector<Axis>& binders) {
  const graph::Scalar& s = g.scalars[load];
  if (s.op != graph::Op::load || s.target.is_local()) return {};
  const task::Buffer& buffer = p.buffers[p.place(s.target).buffer];
  if (!buffer.placement.is_row_major()) return {};
  const auto& shape = g.type(s.target).shape;
  std::vector<Axis> run;
  for (size_t a = s.args.size(); a-- > 0;) {
    const auto index = graph::affine_index(g, s.args[a]);
    const auto binder = std::find_if(binders.begin(), binders.end(), [&](const Axis& b) {
      return index && *index == Dim(b.var) && b.extent == shape[a];
    });
    if (binder == binders.end()) break;
    run.insert(run.begin(), *binder);
  }
  const auto elsewhere = [&](const Axis& b) {
    return std::any_of(s.args.begin(), s.args.end() - static_cast<ptrdiff_t>(run.size()),
                       [&](graph::ScalarId arg) { return graph::depends_on(g, arg, b.var); });
  };
  const bool fits = run.size() > 1 && std::none_of(run.begin(), run.end(), elsewhere) &&
                    has_whole_rows(p, type, p.place(s.target).buffer, run.size());
  return fits ? run : std::vector<Axis>();
}

shape::Substitution split_run(const task::Program& p, const std::vector<Axis>& run, const Dim& index) {
  shape::Substitution out;
  // There are no elements where an extent is 0, but the code for such sizes divides as well.
  const auto divisor = [&](const Dim& d) {
    return task::holds(p, p.facts, shape::at_least(d, Dim(1))) ? d : shape::max(d, Dim(1));
  };
  Dim rest = index;
  for (size_t b = run.size(); b-- > 1;) {
    out[run[b].var] = shape::mod(rest, divisor(run[b].extent));
    rest = shape::floor_div(rest, divisor(run[b].extent));
  }
  out[run.front().var] = rest;
  return out;
}

}  // namespace axon::tile
