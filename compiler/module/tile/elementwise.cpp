// Loop nests with one value per point: pointwise locals and the outputs of every task.
#include <algorithm>
#include <cstdlib>

#include "module/contract_plan.h"
#include "module/task_emitter.h"

namespace axon::module {

using llvm::Value;

ScalarEmitter::Address TaskEmitter::local_element(uint32_t local) {
  std::vector<Dim> index;
  for (const Axis& a : body_.locals[local].domain) index.push_back(Dim(a.var));
  return s_.scratch_address(local, index);
}

/// Of the element that local_element addresses, up to a constant.
Dim TaskEmitter::local_offset(uint32_t local) const {
  const auto& domain = body_.locals[local].domain;
  Dim offset;
  for (size_t a = 0; a < domain.size(); ++a)
    offset = offset + Dim(domain[a].var) * body_.scratch[local].stride[a];
  return offset;
}

/// Unit stride counts most, no movement a little, anything else nothing. Stores count double.
int TaskEmitter::stride_score(Var v, const std::vector<ScalarId>& bodies,
                              const std::vector<Dim>& stores) const {
  const auto score = [&](const std::optional<Dim>& offset) {
    if (!offset) return 0;
    const auto by = offset->linear_in(v);
    return !by ? 0 : by->first.is(1) ? 4 : by->first.is(0) ? 1 : 0;
  };
  int total = 0;
  for (ScalarId body : bodies)
    for (ScalarId load : graph::loads_in(g_, body)) total += score(affine_offset(body_, load));
  for (const Dim& store : stores) total += 2 * score(store);
  return total;
}

void TaskEmitter::order_axes(Nest& nest) const {
  if (nest.axes.size() < 2) return;
  size_t best = nest.axes.size() - 1;
  int best_score = -1;
  for (size_t a = nest.axes.size(); a-- > 0;) {
    const int score =
        nest.spans[a].bound.is(1) ? -1 : stride_score(nest.axes[a].var, nest.bodies, nest.stores);
    if (score > best_score) best = a, best_score = score;
  }
  std::rotate(nest.axes.begin() + static_cast<std::ptrdiff_t>(best),
              nest.axes.begin() + static_cast<std::ptrdiff_t>(best) + 1, nest.axes.end());
  std::rotate(nest.spans.begin() + static_cast<std::ptrdiff_t>(best),
              nest.spans.begin() + static_cast<std::ptrdiff_t>(best) + 1, nest.spans.end());
}

/// Compares by the number of sizes in a stride, then by its factor: of a row-major tensor that is exact.
void TaskEmitter::order_by_distance(Nest& nest) const {
  using Distance = std::pair<size_t, int64_t>;
  std::vector<std::pair<Distance, size_t>> order;
  for (size_t a = 0; a < nest.axes.size(); ++a) {
    Distance farthest{0, 0};
    for (ScalarId body : nest.bodies)
      for (ScalarId load : graph::loads_in(g_, body)) {
        const auto offset = affine_offset(body_, load);
        const auto by = offset ? offset->linear_in(nest.axes[a].var) : std::nullopt;
        if (!by) continue;
        for (const auto& term : by->first.terms())
          farthest = std::max(farthest, {term.factors.size(), std::abs(term.coefficient)});
      }
    order.emplace_back(farthest, a);
  }
  std::stable_sort(order.begin(), order.end(),
                   [](const auto& x, const auto& y) { return x.first > y.first; });
  Nest sorted = nest;
  for (size_t a = 0; a < order.size(); ++a) {
    sorted.axes[a] = nest.axes[order[a].second];
    sorted.spans[a] = nest.spans[order[a].second];
  }
  nest = std::move(sorted);
}

void TaskEmitter::emit_nest(const Nest& nest, const std::function<void()>& body) {
  const std::function<void(size_t)> level = [&](size_t a) {
    if (a == nest.axes.size()) return body();
    const bool innermost = a + 1 == nest.axes.size();
    Value* low = f_.emit(nest.spans[a].low);
    Value* end = f_.emit(nest.spans[a].end);
    const auto body_of_loop = [&] {
      s_.enter();
      level(a + 1);
      s_.leave();
    };
    const auto loop = [&] {
      s_.enter();
      if (!innermost) {
        f_.loop(nest.axes[a], low, end, LoopKind::plain, body_of_loop);
      } else {
        std::vector<Frame::Division> divisions;
        for (ScalarId id : nest.bodies) s_.collect_divisions(id, divisions);
        for (const Dim& store : nest.stores) s_.collect_divisions(store, divisions);
        const LoopKind kind = nest.parallel ? LoopKind::parallel : LoopKind::plain;
        emit_innermost({nest.axes[a], kind, nest.bodies, nest.widened, divisions}, low, end, body_of_loop);
      }
      s_.leave();
    };
    if (a < nest.facts.size() && !nest.facts[a].empty())
      f_.supposing(nest.facts[a], loop);
    else
      loop();
  };
  level(0);
}

/// Where a choice holds for one run of the iterations, that run is a loop without the condition, between two
/// loops for what lies before and after: vectors take no branches.
void TaskEmitter::emit_innermost(const Innermost& loop, Value* low, Value* end,
                                 const std::function<void()>& body) {
  constexpr size_t most_choices = 3;  // each adds two loops
  constexpr int64_t shortest = 16;    // iterations that two more loops pay for
  const auto usable = [&](Var v) { return f_.find(v) && !f_.may_be_negative(v); };
  const auto decided = s_.decided();
  std::optional<Interior> interior;
  if (decided.size() < most_choices && loop.axis.extent.constant().value_or(INT64_MAX) > shortest)
    interior = find_interior(g_, loop.bodies, loop.axis.var, decided, usable);
  if (!interior)
    return f_.loop_in_runs(loop.axis, low, end, loop.kind, loop.divisions, body, [&] {
      for (ScalarId id : loop.bodies) s_.hoist(id, loop.axis.var, loop.widened);
    });
  const auto [first, last] = interior_of(*interior, loop.axis.var, low, end);
  const auto outside = [&](Value* from, Value* to) {
    s_.deciding(interior->condition, false, [&] {
      f_.loop_in_runs(loop.axis, from, to, loop.kind, loop.divisions, body, [&] {
        for (ScalarId id : loop.bodies) s_.hoist(id, loop.axis.var, loop.widened);
      });
    });
  };
  outside(low, first);
  std::vector<Fact> facts = body_.program->facts;
  for (const Dim& d : interior->nonnegative) facts.push_back(shape::at_least(d, Dim(0)));
  s_.deciding(interior->condition, true, [&, first = first, last = last] {
    f_.supposing(facts, [&] { emit_innermost(loop, first, last, body); });
  });
  outside(last, end);
}

/// The iterations of low .. end for which the condition holds: first .. last with low <= first <= last <=
/// end.
std::pair<Value*, Value*> TaskEmitter::interior_of(const Interior& interior, Var v, Value* low, Value* end) {
  auto& b = f_.b;
  const auto smaller = [&](Value* x, Value* y) {
    return b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, x, y);
  };
  const auto larger = [&](Value* x, Value* y) {
    return b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, x, y);
  };
  Value *first = low, *last = end, *possible = b.getTrue();
  for (const Dim& d : interior.nonnegative) {  // by * v + rest >= 0
    const auto [step, rest] = *d.linear_in(v);
    const int64_t by = *step.constant();
    if (by > 0) {
      first = larger(first, f_.emit(-shape::floor_div(rest, Dim(by))));
    } else if (by < 0) {
      last = smaller(last, f_.emit(shape::floor_div(rest, Dim(-by)) + Dim(1)));
    } else {
      possible = b.CreateAnd(possible, b.CreateICmpSGE(f_.emit(rest), f_.i64(0)));
    }
  }
  first = smaller(first, end);
  last = b.CreateSelect(possible, larger(last, first), first);
  return {first, last};
}

void TaskEmitter::emit_points(uint32_t local, bool widened) {
  const auto& l = body_.locals[local];
  Nest nest{l.domain, body_.scratch[local].box, {l.body}, widened, true, {local_offset(local)}};
  order_axes(nest);
  emit_nest(nest, [&] {
    Value* value = s_.emit_as(l.body, body_.scratch[local].elem, widened);
    s_.store_to(local_element(local), value);
  });
}

void TaskEmitter::fill(uint32_t local, const std::function<Value*()>& value) {
  const Nest nest{body_.locals[local].domain, body_.scratch[local].box, {}, false, true, {}};
  emit_nest(nest, [&] { s_.store_to(local_element(local), value()); });
}

/// All outputs in one nest: they share the domain, and often most of their work.
void TaskEmitter::emit_outputs() {
  Nest nest{body_.domain, body_.spans, {}, false, true, {}};
  for (uint32_t o = 0; o < body_.outputs.size(); ++o) {
    nest.bodies.push_back(body_.outputs[o].body);
    const task::Place& place = body_.program->place({body_.type->node, o});
    std::vector<Dim> index = body_.outputs[o].at;
    if (place.slot) index.insert(index.begin(), *place.slot);
    nest.stores.push_back(offset_of(body_.program->buffers[place.buffer], index));
  }
  order_axes(nest);
  s_.enter();
  emit_nest(nest, [&] {
    // All values before any store: an output may read the element that another one updates.
    std::vector<Value*> values;
    for (const auto& output : body_.outputs)
      values.push_back(s_.emit_as(output.body, output.type.elem, false));
    for (uint32_t o = 0; o < body_.outputs.size(); ++o)
      s_.store_to(s_.buffer_address({body_.type->node, o}, body_.outputs[o].at), values[o]);
  });
  s_.leave();
}

}  // namespace axon::module
