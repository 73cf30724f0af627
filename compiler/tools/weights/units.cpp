// See units.h.
#include "tools/weights/units.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <set>

#include "host/weights/binding.h"
#include "host/weights/limits.h"
#include "tools/weights/names.h"

namespace axon::tools {

namespace {

using weights::Packing;
using weights::Tensor;

bool is_in_number(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool parts_words(char c) { return c == '.' || c == '_' || c == '/' || c == '-'; }

/// A name as text between numbers; a number stands alone between dots, underscores or the like, or behind
/// letters, as in `weight_l0`.
struct Numbered {
  std::vector<std::string> pieces;  ///< one more than numbers
  std::vector<uint64_t> numbers;
};

Numbered numbers_in(const std::string& name) {
  Numbered out{{""}, {}};
  for (size_t i = 0; i < name.size();) {
    size_t end = i;
    while (end < name.size() && is_in_number(name[end])) ++end;
    const bool alone = end > i && (i == 0 || parts_words(name[i - 1]) || is_letter(name[i - 1])) &&
                       (end == name.size() || parts_words(name[end])) && (name[i] != '0' || end == i + 1);
    uint64_t number = 0;
    if (alone && std::from_chars(name.data() + i, name.data() + end, number).ec == std::errc() &&
        out.numbers.size() < weights::limits::map_indices) {
      out.numbers.push_back(number);
      out.pieces.emplace_back();
      i = end;
      continue;
    }
    end = std::max(end, i + 1);
    out.pieces.back().append(name, i, end - i);
    i = end;
  }
  return out;
}

struct Member {
  std::vector<uint64_t> numbers;
  uint32_t tensor;
};

/// Which numbers are indices: what has one number in a place is much like what has the next one there. In
/// `block.1.layer.0.norm` the first is, where all blocks are alike, and the second is not, where layer 0 of
/// each has an attention and layer 1 has none.
class Indices {
 public:
  void add(const Numbered& name) {
    std::string front;
    for (size_t slot = 0; slot < name.numbers.size(); ++slot) {
      front += name.pieces[slot] + "#";
      std::string back;
      for (size_t i = slot + 1; i < name.pieces.size(); ++i) back += name.pieces[i] + "#";
      names_[front][name.numbers[slot]].insert(std::move(back));
    }
  }
  /// The number behind the piece `slot`.
  bool are_alike(const std::vector<std::string>& pieces, size_t slot) const {
    constexpr double least = 0.5;
    std::string front;
    for (size_t i = 0; i <= slot; ++i) front += pieces[i] + "#";
    const auto found = names_.find(front);
    if (found == names_.end() || found->second.size() < 2) return true;
    double sum = 0;
    const std::set<std::string>* before = nullptr;
    for (const auto& [number, names] : found->second) {
      if (before) sum += in_common(*before, names);
      before = &names;
    }
    return sum >= least * static_cast<double>(found->second.size() - 1);
  }

 private:
  static double in_common(const std::set<std::string>& a, const std::set<std::string>& b) {
    const auto both =
        std::count_if(a.begin(), a.end(), [&](const std::string& name) { return b.contains(name); });
    return static_cast<double>(both) / static_cast<double>(a.size() + b.size() - static_cast<size_t>(both));
  }

  std::map<std::string, std::map<uint64_t, std::set<std::string>>>
      names_;  ///< by what stands before, and number
};

/// Tensors of one pattern become stacks along the numbers that are indices and count from 0; along the others
/// each value is taken alone.
class Stacker {
 public:
  Stacker(const weights::TensorTable& table, const Indices& indices, std::vector<Unit>& out)
      : table_(table), indices_(indices), out_(out) {}

  void run(const std::vector<std::string>& pieces, const std::vector<Member>& members) {
    std::vector<size_t> slots(pieces.size() - 1);
    for (size_t i = 0; i < slots.size(); ++i) slots[i] = i;
    run(pieces, members, pieces, slots);
  }

 private:
  void run(const std::vector<std::string>& pieces, const std::vector<Member>& members,
           const std::vector<std::string>& all, const std::vector<size_t>& slots) {
    for (size_t slot = 0; slot + 1 < pieces.size(); ++slot) {
      std::map<uint64_t, std::vector<Member>> by_value;
      for (const Member& member : members) by_value[member.numbers[slot]].push_back(member);
      if (by_value.rbegin()->first + 1 == by_value.size() && indices_.are_alike(all, slots[slot])) continue;
      // Not an index: the number is a part of the name.
      std::vector<size_t> others = slots;
      others.erase(others.begin() + static_cast<ptrdiff_t>(slot));
      for (const auto& [value, some] : by_value)
        run(merged(pieces, slot, value), without(some, slot), all, others);
      return;
    }
    if (pieces.size() > 1) add(pieces, members);
  }

  static std::vector<std::string> merged(std::vector<std::string> pieces, size_t slot, uint64_t value) {
    pieces[slot] += std::to_string(value) + pieces[slot + 1];
    pieces.erase(pieces.begin() + static_cast<ptrdiff_t>(slot) + 1);
    return pieces;
  }
  static std::vector<Member> without(std::vector<Member> members, size_t slot) {
    for (Member& member : members)
      member.numbers.erase(member.numbers.begin() + static_cast<ptrdiff_t>(slot));
    return members;
  }

  void add(const std::vector<std::string>& pieces, std::vector<Member> members) {
    std::sort(members.begin(), members.end(),
              [](const Member& a, const Member& b) { return a.numbers < b.numbers; });
    const Tensor& first = table_.tensors[members[0].tensor];
    Unit unit;
    unit.extents.assign(pieces.size() - 1, 0);
    uint64_t product = 1;
    for (const Member& member : members) {
      const Tensor& tensor = table_.tensors[member.tensor];
      if (tensor.shape != first.shape || tensor.dtype != first.dtype || tensor.packing != first.packing)
        return;
      for (size_t i = 0; i < unit.extents.size(); ++i)
        unit.extents[i] = std::max(unit.extents[i], member.numbers[i] + 1);
      unit.tensors.push_back(member.tensor);
    }
    for (const uint64_t extent : unit.extents)
      if (__builtin_mul_overflow(product, extent, &product)) return;
    if (product != members.size()) return;  // a grid with gaps
    unit.pattern = weights::map_name(pieces[0]);
    for (size_t i = 0; i + 1 < pieces.size(); ++i)
      unit.pattern += "{" + std::to_string(i) + "}" + weights::map_name(pieces[i + 1]);
    unit.shape = first.shape;
    unit.dtype = first.dtype;
    unit.converted = first.packing != Packing::none;
    unit.words = words_of(unit.pattern);
    out_.push_back(std::move(unit));
  }

  const weights::TensorTable& table_;
  const Indices& indices_;
  std::vector<Unit>& out_;
};

bool can_be_bound(const Tensor& tensor) {
  return (tensor.packing == Packing::none || tensor.packing == Packing::q8_0) && !tensor.name.empty();
}

}  // namespace

std::string pretty(const std::string& pattern) { return "`" + pattern + "`"; }

std::vector<size_t> units_by_letters(const std::vector<std::string>& words, const std::vector<size_t>& among,
                                     const std::vector<Unit>& units) {
  for (const std::string& word : words) {
    std::vector<size_t> out;
    for (const char letter : word)
      for (const size_t u : among) {
        const std::vector<std::string> others = words_of(leaf_of(parent_of(units[u].pattern)));
        const bool begins =
            std::any_of(others.begin(), others.end(), [&](const auto& w) { return w[0] == letter; });
        if (begins && std::find(out.begin(), out.end(), u) == out.end()) {
          out.push_back(u);
          break;
        }
      }
    if (out.size() == word.size() && out.size() > 1) return out;
  }
  return {};
}

std::vector<Unit> units_of(const weights::TensorTable& table) {
  std::vector<Unit> out;
  Indices indices;
  std::map<std::vector<std::string>, std::vector<Member>> groups;
  for (uint32_t i = 0; i < table.tensors.size(); ++i) {
    const Tensor& tensor = table.tensors[i];
    if (!can_be_bound(tensor)) continue;
    Numbered name = numbers_in(tensor.name);
    indices.add(name);
    if (!name.numbers.empty()) groups[name.pieces].push_back({name.numbers, i});
    out.push_back({weights::map_name(tensor.name),
                   {},
                   tensor.shape,
                   {i},
                   words_of(tensor.name),
                   tensor.dtype,
                   tensor.packing != Packing::none});
  }
  Stacker stacker(table, indices, out);
  for (const auto& [pieces, members] : groups) stacker.run(pieces, members);
  std::vector<bool> stacked(table.tensors.size(), false);
  for (const Unit& unit : out)
    for (const uint32_t t : unit.tensors) stacked[t] = stacked[t] || unit.tensors.size() > 1;
  for (Unit& unit : out) unit.in_stack = unit.tensors.size() == 1 && stacked[unit.tensors[0]];
  std::stable_sort(out.begin(), out.end(),
                   [](const Unit& a, const Unit& b) { return a.pattern < b.pattern; });
  std::vector<std::string> patterns;
  for (const Unit& unit : out) patterns.push_back(unit.pattern);
  const auto series = series_in(patterns);
  for (size_t i = 0; i < out.size(); ++i) out[i].series = series[i];
  return out;
}

}  // namespace axon::tools
