// See kept.h.
#include "repl/kept.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/contains.h"

namespace axon::repl {

Item made(const std::string& name, const std::string& before, const std::string& text) {
  Item item;
  item.name = name;
  item.text = before + text;
  item.made = before.size();
  return item;
}

std::string joined(const std::vector<Kept>& all, KeptRanges* ranges) {
  std::string text;
  for (const Kept& kept : all) {
    if (ranges) ranges->push_back({text.size(), text.size() + kept.item.text.size(), &kept});
    text += kept.item.text + "\n";
  }
  return text;
}

bool is_value_of(const std::vector<Kept>& all, const std::string& name) {
  return std::any_of(all.begin(), all.end(),
                     [&](const Kept& kept) { return kept.hidden && kept.item.name == name; });
}

/// Whether the definition uses itself through others.
static bool is_in_circle(const std::vector<Kept>& all, const std::string& name) {
  std::vector<std::string> reached = {name};
  for (size_t i = 0; i < reached.size(); ++i)
    for (const Kept& user : all)
      for (const Kept& used : all) {
        const bool uses = user.item.name == reached[i] && used.item.name != reached[i] &&
                          !places_of(user.item.text, used.item.name).empty();
        if (uses && used.item.name == name) return true;
        if (uses && !base::contains(reached, used.item.name)) reached.push_back(used.item.name);
      }
  return false;
}

size_t blamed(source::Diagnostic& d, size_t item, const std::vector<Kept>& wanted, size_t fresh,
              const KeptRanges& ranges) {
  if (d.code != source::Code::E0317 || item >= fresh) return item;
  for (size_t i = fresh; i < wanted.size(); ++i) {
    const std::string& name = wanted[i].item.name;
    if (!is_in_circle(wanted, name)) continue;
    const auto begin = static_cast<uint32_t>(ranges[i].begin + places_of(wanted[i].item.text, name).at(0));
    d.primary.span = {d.primary.span.file, begin, begin + static_cast<uint32_t>(name.size())};
    const std::string quoted = fmt::format("`{}`", wanted[item].item.name);
    if (const size_t at = d.message.find(quoted); at != std::string::npos)
      d.message.replace(at, quoted.size(), fmt::format("`{}`", name));
    return i;
  }
  return item;
}

std::set<std::string> with_users_of_values(std::set<std::string> names, const std::vector<Kept>& all) {
  std::vector<std::string> values;
  const auto add = [&](const std::string& name) {
    names.insert(name);
    if (is_value_of(all, name)) values.push_back(name);
  };
  for (const std::string& name : std::set<std::string>(names)) add(name);
  for (size_t i = 0; i < values.size(); ++i)
    for (const Kept& kept : all)
      if (!names.contains(kept.item.name) && !places_of(kept.item.text, values[i]).empty())
        add(kept.item.name);
  return names;
}

}  // namespace axon::repl
