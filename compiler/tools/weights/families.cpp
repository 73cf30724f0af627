// See families.h.
#include "tools/weights/families.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>

#include "tools/weights/names.h"

namespace axon::tools {

namespace {

struct Order {
  std::vector<std::vector<std::string>> parts;  ///< the words for each
  bool gates, has_sum;
};

/// Those of PyTorch, which Keras has, too, for four gates. PyTorch resets one summand of the candidate of
/// three gates, so that its two biases are not one.
const std::array<Order, 4>& usual_orders() {
  static const std::array<Order, 4> orders = {{
      {{{"i", "in", "input"}, {"f", "forget"}, {"g", "c", "cell", "candidate"}, {"o", "out", "output"}},
       true,
       true},
      {{{"r", "reset"}, {"z", "update"}, {"n", "new", "candidate", "h"}}, true, false},
      {{{"q", "query", "queries"}, {"k", "key", "keys"}, {"v", "value", "values"}}, false, false},
      {{{"gate"}, {"up"}}, false, false},
  }};
  return orders;
}

/// Names that differ in one word, and those words.
struct Differing {
  std::vector<size_t> parameters;
  std::vector<std::string> endings;

  /// The only parameter that has one of the words; nullopt for none or several.
  std::optional<size_t> member_of(const std::vector<std::string>& part) const {
    std::optional<size_t> out;
    for (size_t i = 0; i < endings.size(); ++i) {
      if (std::find(part.begin(), part.end(), endings[i]) == part.end()) continue;
      if (out) return std::nullopt;
      out = parameters[i];
    }
    return out;
  }
  /// The first order that has a name for each of its parts.
  std::optional<UsualOrder> order() const {
    for (const Order& order : usual_orders()) {
      UsualOrder out{{}, order.parts, order.gates, order.has_sum};
      for (const auto& part : order.parts)
        if (const auto member = member_of(part)) out.members.push_back(*member);
      if (out.members.size() == order.parts.size()) return out;
    }
    return std::nullopt;
  }
};

}  // namespace

std::vector<Family> families_of(const std::vector<OpenName>& names) {
  std::map<std::string, Differing> by_rest;  // what is left without the word
  const auto add = [&](const OpenName& one, std::string_view component, const auto& key_of) {
    std::vector<std::string> words = words_of(component);
    const std::string ending = words.empty() ? "" : words.back();
    if (!words.empty()) words.pop_back();
    Differing& differing =
        by_rest[fmt::format("{} {}", key_of(fmt::format("{}", fmt::join(words, "_"))), one.rank)];
    differing.parameters.push_back(one.parameter);
    differing.endings.push_back(ending);
  };
  for (const OpenName& one : names) {
    const std::string_view parent = parent_of(one.name), leaf = leaf_of(one.name);
    add(one, leaf, [&](const std::string& words) { return fmt::format("{}.?{}", parent, words); });
    if (!parent.empty())
      add(one, leaf_of(parent),
          [&](const std::string& words) { return fmt::format("{}.?{}.{}", parent_of(parent), words, leaf); });
  }
  std::vector<Family> out;
  for (const auto& [rest, differing] : by_rest)
    if (differing.parameters.size() > 1) out.push_back({differing.parameters, differing.order()});
  return out;
}

bool is_recurrent_of_pytorch(std::string_view tensor) {
  return tensor.find("_ih_l") != tensor.npos || tensor.find("_hh_l") != tensor.npos;
}

std::string added_to(const std::string& tensor) {
  for (const auto& [one, other] : {std::pair("_ih", "_hh"), std::pair("_hh", "_ih")})
    if (const size_t at = tensor.rfind(one); at != tensor.npos)
      return tensor.substr(0, at) + other + tensor.substr(at + 3);
  return "";
}

}  // namespace axon::tools
