// The user's folder of compiled code: bytes under names, as many as there is room for.
//
// In: names, and bytes to keep. Out: the bytes that were kept under a name, as long as they have not made
// room for others. Invariant: what is read was written by this user, since nobody else can write to the
// folder, and as a whole, since files get their names when they are complete. Processes share it without
// asking each other: the last that writes a name counts, and a file that is open stays readable when another
// process lets go of it.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "host/weights/file.h"

namespace axon::tools {

class CacheFolder {
 public:
  /// $XDG_CACHE_HOME/axon, else ~/.cache/axon; made where it is missing. nullopt, with the reason, where
  /// there is none, or others than the user could have written to it.
  static std::optional<CacheFolder> open(std::string& why);

  std::string path_of(const std::string& name) const { return folder_ + "/" + name + ".code"; }
  /// What is kept under the name, which counts as just used; null where nothing is.
  std::shared_ptr<weights::File> find(const std::string& name) const;
  /// Keeps the bytes, in place of what had the name. What has not been used for longest goes, until all is
  /// within the limit. False, with the reason, where they are not kept.
  bool put(const std::string& name, std::string_view bytes, std::string& why) const;

 private:
  CacheFolder(std::string folder, uint64_t limit) : folder_(std::move(folder)), limit_(limit) {}
  void make_room() const;

  std::string folder_;
  uint64_t limit_;  ///< bytes of all files
};

/// A number of bytes, `500M`: K, M and G stand for powers of 1024. nullopt for anything else.
std::optional<uint64_t> bytes_from_text(std::string_view text);

}  // namespace axon::tools
