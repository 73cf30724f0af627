// What an import may name: files beside a program, and those of the library.
//
// In: directories. Out: names of modules in them, in order, and what a module that nobody has imported
// declares. Invariants: hidden files are not there, nor more than a limit of a directory; what lies outside
// of the directory of the program is not looked at.
#pragma once
#include <string>
#include <vector>

#include "session/session.h"
#include "syntax/ast.h"

namespace axon::query {

struct OnDisk {
  std::string name;  ///< of a file without its ending
  bool directory = false;
};

/// What lies in `below` of the directory of the file and, if `library`, of those of the library. The file
/// itself is left out.
std::vector<OnDisk> on_disk(const session::Session& session, const std::string& path,
                            const std::string& below, bool library);

/// A module of the library that can be imported by this name.
struct LibraryModule {
  std::string file;                 ///< empty where there is none
  std::vector<core::DeclKey> keys;  ///< what it declares for others, values and types
};
LibraryModule library_module(const session::Session& session, const std::string& name);
/// Their names, without those that need no import.
std::vector<std::string> library_modules(const session::Session& session);

}  // namespace axon::query
