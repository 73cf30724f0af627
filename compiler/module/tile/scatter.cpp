// Reductions that scatter (task/scatter.h). Elements start as the unit. Then the binders run once, in the
// order that they are written in, so each element combines its terms as the plain loops would; a point of
// them finds the indices that its equations determine, and is passed over when those lie in another task's
// tile.
#include "module/task_emitter.h"

namespace axon::module {

using llvm::Value;

void TaskEmitter::emit_scatter(uint32_t local, const task::Scatter& scatter, const Overrides& overrides) {
  const auto& reduce = g_.scalars[body_.locals[local].body];
  const Elem elem = body_.scratch[local].elem;
  fill(local, [&] { return s_.monoid_unit(reduce.monoid, reduce.elem, elem); });
  Nest binders{reduce.binders, {}, {scatter.indices[0].value}, true, false, {}};
  for (const Axis& b : reduce.binders) binders.spans.push_back(span_of(b, local, overrides));
  const auto search = [&] {
    emit_nest(nest_of(local, scatter.outer),
              [&] { emit_nest(binders, [&] { find_elements(local, scatter, 0); }); });
  };
  // What the plain loops never evaluate must not fail a check.
  Value* some = f_.b.getTrue();
  for (const Span& span : body_.scratch[local].box)
    some = f_.b.CreateAnd(some, f_.b.CreateICmpSLT(f_.emit(span.low), f_.emit(span.end)));
  f_.when(some, search);
}

/// Emits the search for the indices from number `next` on, those before it being bound: computes that one,
/// and continues where it lies in the box.
void TaskEmitter::find_elements(uint32_t local, const task::Scatter& scatter, size_t next) {
  if (next == scatter.indices.size()) return combine_elements(local, scatter.inner);
  const task::ScatterIndex& found = scatter.indices[next];
  const Span& span = body_.scratch[local].box[found.axis];
  auto& b = f_.b;
  Value* value = s_.emit_as(found.value, Elem::i64, true);
  Value* rest = f_.emit(found.rest);
  Value* index = found.mirrored ? b.CreateSub(rest, value) : b.CreateSub(value, rest);
  Value* inside =
      b.CreateAnd(b.CreateICmpSGE(index, f_.emit(span.low)), b.CreateICmpSLT(index, f_.emit(span.end)));
  f_.when(inside, [&] {
    f_.with(body_.locals[local].domain[found.axis], index, [&] {
      s_.enter();
      find_elements(local, scatter, next + 1);
      s_.leave();
    });
  });
}

void TaskEmitter::combine_elements(uint32_t local, const std::vector<uint32_t>& axes) {
  const auto& reduce = g_.scalars[body_.locals[local].body];
  const Elem elem = body_.scratch[local].elem;
  Nest elements = nest_of(local, axes);
  elements.bodies = {reduce.args[0]};
  elements.stores = {local_offset(local)};
  order_axes(elements);
  emit_nest(elements, [&] {
    Value* next = s_.emit_as(reduce.args[0], elem, true);
    const auto at = local_element(local);
    s_.store_to(at, s_.combine(reduce.monoid, elem, s_.load_from(at), next));
  });
}

/// Over some axes of a local; its elements are apart.
TaskEmitter::Nest TaskEmitter::nest_of(uint32_t local, const std::vector<uint32_t>& axes) const {
  Nest nest{{}, {}, {}, true, true, {}};
  for (uint32_t a : axes) {
    nest.axes.push_back(body_.locals[local].domain[a]);
    nest.spans.push_back(body_.scratch[local].box[a]);
  }
  return nest;
}

}  // namespace axon::module
