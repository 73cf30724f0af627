// Whether a sum over a product is work for the contraction kernels, and how.
#pragma once
#include "module/body.h"

namespace axon::module {

/// `domain` with `spans`: of the local that `reduce` fills. `whole_depths`: the sum goes over all of each
/// binder, not block by block, so that several can be one depth. nullopt: plain loops do it.
std::optional<ContractPlan> plan_contraction(const Body&, ScalarId reduce, const std::vector<Axis>& domain,
                                             const std::vector<Span>& spans, bool whole_depths);

/// The element offset of a load, when every index is affine; in scratch memory relative to the box's first
/// element.
std::optional<Dim> affine_offset(const Body&, ScalarId load);
/// The offset but for indices that the data decides: how it moves along axes on which those do not depend.
Dim moving_offset(const Body&, ScalarId load);

}  // namespace axon::module
