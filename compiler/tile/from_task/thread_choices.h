// How programs for several threads are made of a form: which threads have a row together, and how much of it.
// Only from_task.cpp includes this.
//
// In: a form, and the machine. Out: choices in the order in which their programs are to be tried, the last
// for rows of any length and number. Invariant: they follow from the form, element types and the machine's
// row of machines.def.
#pragma once
#include "tile/from_task/frame.h"

namespace axon::tile {

/// `has_long_functions`: of some dozen instructions for each element.
std::vector<Choices> choices_for_threads(const Origin&, const Machine&, bool has_long_functions);

}  // namespace axon::tile
