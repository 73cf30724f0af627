// Element types: those of the runtime (host/elem.h), under the compiler's names.
#pragma once
#include "host/elem.h"

namespace axon::base {

using axon::accumulator;
using axon::all_elems;
using axon::computed_as;
using axon::Elem;
using axon::elem_bytes;
using axon::elem_from_name;
using axon::elem_name;
using axon::float_format;
using axon::FloatFormat;
using axon::is_float;
using axon::is_integer;
using axon::is_narrow;
using axon::is_signed;
using axon::range_of_integers;

}  // namespace axon::base
