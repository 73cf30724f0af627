// What the compiler found in a program that another process compiled.
//
// In: diagnostics there. Out: the same here, in places of the same texts. Invariant: what is no such text
// gives no diagnostics.
#pragma once
#include <string>
#include <vector>

#include "source/diagnostic.h"

namespace axon::repl {

struct Found {
  struct File {
    std::string name, text;
  };
  std::vector<source::Diagnostic> diagnostics;
  std::vector<File> files;  ///< that these mention, by their ids
};

std::string found_json(const source::Diagnostics& diagnostics, const source::SourceManager& sources);
Found read_found(const std::string& json);

}  // namespace axon::repl
