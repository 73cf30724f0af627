// From a syntax tree to a typed program: names, desugaring, inference.
//
// In: one parsed file and a loader for the library. Out: a Program in which everything that the file
// declares, and what of the library it reaches, is typed; errors are in Diagnostics, and declarations with
// errors say so (has_error). Library declarations are elaborated on demand, so the cost follows what is used.
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/elem.h"
#include "core/core.h"
#include "source/diagnostic.h"
#include "syntax/ast.h"

namespace axon::core {

/// The parsed file of a module: a path that ends in .axn, or the dotted name of a module of the library; null
/// when there is none. Every program asks for `prim`, `prelude` and what that imports. What it names must
/// live as long as the elaboration.
using Loader = std::function<const syntax::Text*(const std::string& module)>;

/// The paths that a module may have, of which the first that is a file counts: what a Loader is asked for, in
/// the directories of the library. Dots of a module's name are directories.
std::vector<std::string> places_of_module(const std::string& module,
                                          const std::vector<std::string>& directories);

/// Reads files, and looks for the modules of the library in directories; parses once.
class LibraryLoader {
 public:
  LibraryLoader(source::SourceManager& sources, source::Diagnostics& diagnostics,
                std::vector<std::string> directories);
  const syntax::Text* operator()(const std::string& module);
  /// Places that a module could have stood at, before the one that counted, where there was no file.
  const std::set<std::string>& absent() const { return absent_; }

 private:
  source::SourceManager& sources_;
  source::Diagnostics& diagnostics_;
  std::vector<std::string> directories_;
  struct Parsed {
    syntax::File file;
    syntax::Text text;
  };
  std::map<std::string, std::unique_ptr<Parsed>> files_;
  std::set<std::string> absent_;
};

struct Options {
  std::map<std::string, int64_t> sizes;     ///< -D n=1024: a named size of the file's entries, fixed
  std::map<std::string, base::Elem> elems;  ///< -D t=bf16: an element-type parameter of the file's entries
  std::string root;  ///< the directory that imports stay inside of; empty: that of the file
};

Program elaborate(const syntax::File& file, const source::SourceManager& sources, const Loader& loader,
                  source::Diagnostics& diagnostics, const Options& options = {});

}  // namespace axon::core
