// Which names a value may share storage with: what aliases.h finds out, as data.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "base/ids.h"

namespace axon::core {

using ExprId = base::Id<struct ExprTag>;
using LocalId = base::Id<struct LocalTag>;

/// What storage belongs to: a name, or a part of it. `p.cache.k` is {p, ".cache.k"}; what the update or call
/// that is expression 12 made of it in place is {p, ".cache.k@12"}: it has the same owner, and shares nothing
/// with what was before.
struct Place {
  LocalId local;
  std::string path;
  auto operator<=>(const Place&) const = default;
};
/// One is the other, or a part of it.
bool overlap(const Place& a, const Place& b);

struct AliasSet {
  std::vector<Place> places;  ///< each once: of the value as a whole, or of parts that `parts` does not name
  std::map<std::string, AliasSet> parts;  ///< fields and items: ".k", ".0"
  bool mixed = false;                     ///< any part of the value may be any part of `places`
  std::vector<Place> all() const;
  AliasSet part(const std::string& name) const;
  AliasSet renewed(ExprId by) const;
  AliasSet renewed(ExprId by, const std::vector<Place>& which) const;  ///< these places, and parts of them
  /// The part that the path leads to; renewed at each `@` in it.
  AliasSet at_path(const std::string& path, ExprId by) const;
  void forget_changes();  ///< every change becomes `@`, whichever expression made it
  void add(const AliasSet& other);
  void add(const std::vector<Place>& more);
};

/// What the result of a function may share with its arguments: a place is in the argument of that number, and
/// `@` in it stands for any change.
struct CallAliases {
  size_t arguments = 0;  ///< how many it has, with those of a function that it gives
  AliasSet result;
};

}  // namespace axon::core
