// What decides the range of a `for` stands in front of it.
//
// A binder takes its range from what it indexes. Where the data decides that, and what is indexed is computed
// in the body, the body cannot say how often it is to be evaluated: `for i => (f x)[i]` becomes
// `let t = f x in for i => t[i]`. In: the body of a checked declaration. Out: the same program, in which what
// evaluation finds before a `for` decides its ranges.
#pragma once
#include "core/core.h"

namespace axon::core {

void evaluate_ranges_first(Program& p, ExprId body);

}  // namespace axon::core
