// Bundles: objects and plans in, one file out that runs without the compiler.
//
// A bundle is a container of named sections: the manifest (JSON: what entries expect and how the host
// launches them) and one shared object per instruction-set level. The same plans and objects give the same
// bytes: no time, no path, no address gets in. The reader is runtime/host; what the two share is the format
// described here and in container.cpp.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "plan/plan.h"

namespace axon::image {

/// One entry of the bundle.
struct Entry {
  const plan::Plan* plan = nullptr;
  std::vector<task::Placement> placements;  ///< per graph input, agreed by all entries
  std::vector<shape::Dim> scratch;          ///< per variant: bytes of scratch memory per worker
  bool traced = false;                      ///< its objects note when tasks run
  std::string doc = {};                     ///< the program's `--|` comment before it
};

struct Bundle {
  std::string source;  ///< the source file's name, without folders
  std::vector<Entry> entries;
  std::map<std::string, std::vector<std::string>>
      objects;  ///< level ("x86-64-v3") -> relocatable ELF objects, linked into one image
  std::vector<std::string> other_weights =
      {};  ///< paths of weights that only other entries of the program take
};

/// Links every object and puts all into a container. nullopt and `error` when an object does not link.
std::optional<std::string> build_bundle(const Bundle&, std::string& error);
/// A bundle without code: what the entries take and give, by which the runtime checks arguments. Of each
/// entry nothing is needed but a plan with its graph; what follows from more than that is left out: where
/// weights lie, and which results are states.
std::string build_interface(const Bundle&);

// ---- the parts ----

/// manifest.cpp. `levels`: the images that the container will have.
std::string manifest_json(const Bundle&, const std::vector<std::string>& levels);

/// link.cpp: relocatable objects to a position-independent shared object without undefined symbols.
std::optional<std::string> link_image(const std::vector<std::string>& objects, std::string& error);

/// container.cpp
std::string make_container(const std::vector<std::pair<std::string, std::string>>& sections);

}  // namespace axon::image
