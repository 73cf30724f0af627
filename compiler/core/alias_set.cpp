// See alias_set.h.
#include "core/alias_set.h"

#include <algorithm>
#include <cctype>

namespace axon::core {

bool overlap(const Place& a, const Place& b) {
  if (a.local != b.local) return false;
  const auto& [shorter, longer] =
      a.path.size() <= b.path.size() ? std::pair(a.path, b.path) : std::pair(b.path, a.path);
  return longer.starts_with(shorter) && (longer.size() == shorter.size() || longer[shorter.size()] == '.');
}

std::vector<Place> AliasSet::all() const {
  std::vector<Place> out = places;
  for (const auto& [name, set] : parts) {
    const auto inner = set.all();
    out.insert(out.end(), inner.begin(), inner.end());
  }
  return out;
}

AliasSet AliasSet::part(const std::string& name) const {
  if (auto it = parts.find(name); it != parts.end()) return it->second;
  AliasSet out;
  out.mixed = mixed;
  for (const Place& p : places) out.places.push_back({p.local, mixed ? p.path : p.path + name});
  return out;
}

AliasSet AliasSet::renewed(ExprId by) const {
  AliasSet out = *this;
  for (Place& p : out.places) p.path += "@" + std::to_string(by.index);
  for (auto& [name, set] : out.parts) set = set.renewed(by);
  return out;
}

AliasSet AliasSet::renewed(ExprId by, const std::vector<Place>& which) const {
  AliasSet out = *this;
  for (Place& p : out.places) {
    const auto is_part = [&](const Place& whole) {
      return overlap(p, whole) && whole.path.size() <= p.path.size();
    };
    if (std::any_of(which.begin(), which.end(), is_part)) p.path += "@" + std::to_string(by.index);
  }
  for (auto& [name, set] : out.parts) set = set.renewed(by, which);
  return out;
}

void AliasSet::add(const AliasSet& other) {
  if (parts.empty() && places.empty()) {
    *this = other;
    return;
  }
  for (const auto& [name, set] : parts)
    if (!other.parts.count(name)) parts[name].add(other.part(name));
  for (const auto& [name, set] : other.parts) {
    if (!parts.count(name)) parts[name] = part(name);
    parts[name].add(set);
  }
  add(other.places);
  mixed |= other.mixed;
}

void AliasSet::add(const std::vector<Place>& more) {
  places.insert(places.end(), more.begin(), more.end());
  std::sort(places.begin(), places.end());
  places.erase(std::unique(places.begin(), places.end()), places.end());
}

AliasSet AliasSet::at_path(const std::string& path, ExprId by) const {
  AliasSet out = *this;
  for (size_t begin = 0; begin < path.size();) {
    const size_t end = std::min(path.find_first_of(".@", begin + 1), path.size());
    out = path[begin] == '@' ? out.renewed(by) : out.part(path.substr(begin, end - begin));
    begin = end;
  }
  return out;
}

void AliasSet::forget_changes() {
  for (Place& p : places) {
    bool in_change = false;
    std::erase_if(p.path, [&](char c) {
      const bool names_it = in_change && std::isdigit(static_cast<unsigned char>(c));
      in_change = c == '@' || names_it;
      return names_it;
    });
  }
  for (auto& [name, set] : parts) set.forget_changes();
}

}  // namespace axon::core
