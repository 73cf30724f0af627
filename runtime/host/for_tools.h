// What the compiler's tools ask of the runtime beside the C interface, which has no part of this.
#pragma once
#include "axon/axon.h"

namespace axon::host {

/// The bundle with one entry alone: weights that others need are then none of it.
axon_status open_entry(const axon_bundle* bundle, const axon_entry* entry, axon_bundle** out,
                       axon_error* error);

/// What axon_call_run checks before it launches (Call::check). Also where the bundle has no code yet.
axon_status check_call(axon_call* call, axon_error* error);

}  // namespace axon::host
