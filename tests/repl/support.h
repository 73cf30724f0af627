// A REPL over the library, without evaluation.
#pragma once
#include "repl/repl.h"

namespace axon::repl {

struct Typing : Repl {
  Typing() : Repl({std::string(AXON_SOURCE_DIR) + "/stdlib"}, nullptr) {}
  std::string text(const std::string& phrase) { return answer(phrase).text; }
};

}  // namespace axon::repl
