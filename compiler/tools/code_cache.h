// A compilation whose code is kept: compiled once, then found again as long as nothing that it depends on
// changes.
//
// In: a compilation that has read its file, and nothing else. Out: its bundle. What is kept is found by a
// key: the options, the name and the bytes of the file, and the build of the compiler. With it stand the
// digests of all other files that were read, imports and library, and the places where one was looked for and
// none was: where one of these is another now, the code is made anew. Invariant: the bundle is the one that
// compiling would give, and warnings are shown as compiling shows them. Errors are not kept.
#pragma once
#include <functional>
#include <optional>
#include <string>

#include "pipeline.h"
#include "tools/cache_folder.h"
#include "tools/common.h"

namespace axon::tools {

class CodeCache {
 public:
  /// `wanted` false: the cache of nobody, where nothing is found and nothing kept. That is so, too, where
  /// there is no folder for it; --verbose says why.
  CodeCache(const Compilation&, const CommonOptions&, bool wanted);

  /// Takes the bundle of the compilation from the cache, or makes it; `before_code` then runs as soon as it
  /// is known what the entries take, and may throw. False where errors were reported.
  bool compile(
      Compilation&, const std::function<void()>& before_code = [] {});

 private:
  bool find(Compilation&) const;
  bool take(Compilation&, const weights::File&) const;
  void keep(const Compilation&) const;
  void say(const std::string& what) const;

  bool verbose_;
  std::string key_, name_;  ///< name_: its digest
  std::optional<CacheFolder> folder_;
};

}  // namespace axon::tools
