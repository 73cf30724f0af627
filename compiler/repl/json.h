// The REPL as a program speaks to it: one JSON object a line in, one a line out.
//
// In: {"code": text}, {"split": text}, {"complete": text}, {"inspect": name} or {"is_complete": text}; an
// "id" is given back. Out: the answer. Invariant: every line in has one line out, whatever it holds.
#pragma once
#include <string>

#include "repl/repl.h"

namespace axon::repl {

/// The answer to a line, without its end. `quit` is set by a phrase that ends the REPL.
std::string answer_json(Repl& repl, const std::string& line, bool& quit);

}  // namespace axon::repl
