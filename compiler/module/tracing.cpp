// See tracing.h.
#include "module/tracing.h"

#include <cstddef>

#include "device/abi.h"

namespace axon::module {

using llvm::Value;

void Tracing::begin() {
  if (!traced_) return;
  auto& b = f_.b;
  if (!begun_) {
    begun_ = f_.variable(b.getInt64Ty(), "begun");
    first_ = f_.variable(b.getInt64Ty(), "first");
  }
  b.CreateStore(f_.call_service(offsetof(axon_services, now), b.getInt64Ty(), {}), begun_);
}

void Tracing::open(task::TaskTypeId type, Value* first) {
  if (!traced_) return;
  f_.b.CreateStore(first, first_);
  type_ = type;
}

void Tracing::next(Value* task) { next_ = task; }

void Tracing::pause() {
  if (!traced_ || !next_) return;
  auto& b = f_.b;
  f_.when(b.CreateICmpSLT(b.CreateLoad(b.getInt64Ty(), first_), next_), [&] { note(next_); });
  b.CreateStore(next_, first_);
}

void Tracing::close(Value* end) {
  if (traced_) note(end);
  next_ = nullptr;
}

void Tracing::note(Value* end) {
  auto& b = f_.b;
  Value* first = b.CreateLoad(b.getInt64Ty(), first_);
  Value* now = f_.call_service(offsetof(axon_services, trace), b.getInt64Ty(),
                               {f_.context(), f_.function->getArg(1), b.getInt32(type_.index), first,
                                b.CreateSub(end, first), b.CreateLoad(b.getInt64Ty(), begun_)});
  b.CreateStore(now, begun_);
}

}  // namespace axon::module
