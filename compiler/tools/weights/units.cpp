// See units.h.
#include "tools/weights/units.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <set>

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

/// Tensors of one pattern become stacks along the numbers that count from 0; along the others each value is
/// taken alone.
class Stacker {
 public:
  Stacker(const weights::TensorTable& table, std::vector<Unit>& out) : table_(table), out_(out) {}

  void run(const std::vector<std::string>& pieces, std::vector<Member> members) {
    for (size_t slot = 0; slot + 1 < pieces.size(); ++slot) {
      std::map<uint64_t, std::vector<Member>> by_value;
      for (const Member& member : members) by_value[member.numbers[slot]].push_back(member);
      if (by_value.rbegin()->first + 1 == by_value.size()) continue;
      // Not an index: the number is a part of the name.
      for (const auto& [value, some] : by_value) run(merged(pieces, slot, value), without(some, slot));
      return;
    }
    if (pieces.size() > 1) add(pieces, members);
  }

 private:
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
    unit.pattern = pieces[0];
    for (size_t i = 0; i + 1 < pieces.size(); ++i)
      unit.pattern += "{" + std::to_string(i) + "}" + pieces[i + 1];
    unit.shape = first.shape;
    unit.dtype = first.dtype;
    unit.converted = first.packing != Packing::none;
    unit.words = words_of(unit.pattern);
    out_.push_back(std::move(unit));
  }

  const weights::TensorTable& table_;
  std::vector<Unit>& out_;
};

bool can_be_bound(const Tensor& tensor) {
  return (tensor.packing == Packing::none || tensor.packing == Packing::q8_0) &&
         tensor.name.find_first_of("\"{}*") == std::string::npos && !tensor.name.empty() &&
         std::none_of(tensor.name.begin(), tensor.name.end(), [](char c) { return c >= 0 && c < ' '; });
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
  std::map<std::vector<std::string>, std::vector<Member>> groups;
  for (uint32_t i = 0; i < table.tensors.size(); ++i) {
    const Tensor& tensor = table.tensors[i];
    if (!can_be_bound(tensor)) continue;
    Numbered name = numbers_in(tensor.name);
    if (!name.numbers.empty()) groups[name.pieces].push_back({name.numbers, i});
    out.push_back({tensor.name,
                   {},
                   tensor.shape,
                   {i},
                   words_of(tensor.name),
                   tensor.dtype,
                   tensor.packing != Packing::none});
  }
  Stacker stacker(table, out);
  for (auto& [pieces, members] : groups) stacker.run(pieces, std::move(members));
  std::stable_sort(out.begin(), out.end(),
                   [](const Unit& a, const Unit& b) { return a.pattern < b.pattern; });
  return out;
}

}  // namespace axon::tools
