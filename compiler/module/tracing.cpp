// See tracing.h.
#include "module/tracing.h"

#include <cstddef>

#include "device/abi.h"

namespace axon::module {

Tracing::Grain Tracing::grain_of(const plan::Segment& segment) const {
  if (!traced_) return Grain::nothing;
  const bool as_a_whole =
      segment.per_task.empty() && segment.exit_conditions.empty() && segment.data_sizes.empty();
  return as_a_whole ? Grain::share : Grain::task;
}

void Tracing::begin() {
  auto& b = f_.b;
  if (!begun_) begun_ = f_.variable(b.getInt64Ty(), "begun");
  b.CreateStore(f_.call_service(offsetof(axon_services, now), b.getInt64Ty(), {}), begun_);
}

void Tracing::end(task::TaskTypeId type, llvm::Value* first, llvm::Value* end) {
  auto& b = f_.b;
  f_.when(b.CreateICmpSLT(first, end), [&] {
    f_.call_service(offsetof(axon_services, trace), b.getVoidTy(),
                    {f_.context(), f_.function->getArg(1), b.getInt32(type.index), first,
                     b.CreateSub(end, first), b.CreateLoad(b.getInt64Ty(), begun_)});
  });
}

}  // namespace axon::module
