// Whether a sum over a product is work for the contraction kernels, and how.
#pragma once
#include "module/body.h"

namespace axon::module {

/// `domain` with `spans`: of the local that `reduce` fills. `reads(local)`: the scratch tensor of a local
/// that operands may read (strides are final by then). nullopt: plain loops do it.
std::optional<ContractPlan> plan_contraction(const Body&, ScalarId reduce, const std::vector<Axis>& domain,
                                             const std::vector<Span>& spans);

/// The element offset of a load, when every index is affine; in scratch memory relative to the box's first
/// element.
std::optional<Dim> affine_offset(const Body&, ScalarId load);

}  // namespace axon::module
