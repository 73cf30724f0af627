// See lookup.h.
#include "host/weights/lookup.h"

#include <algorithm>
#include <charconv>
#include <numeric>

namespace axon::weights {
namespace {

/// The index values for which a pattern without `*` gives this name.
std::optional<std::vector<uint64_t>> match(const NamePattern& pattern, size_t indices,
                                           std::string_view name) {
  std::vector<std::optional<uint64_t>> values(indices);
  if (!name.starts_with(pattern.pieces[0])) return std::nullopt;
  name.remove_prefix(pattern.pieces[0].size());
  for (size_t i = 0; i < pattern.slots.size(); ++i) {
    uint64_t value = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), value);
    const auto digits = static_cast<size_t>(end - name.data());
    if (error != std::errc() || (name[0] == '0' && digits > 1)) return std::nullopt;
    name.remove_prefix(digits);
    auto& slot = values[pattern.slots[i]];
    if (slot && *slot != value) return std::nullopt;
    slot = value;
    const std::string& piece = pattern.pieces[i + 1];
    if (!name.starts_with(piece)) return std::nullopt;
    name.remove_prefix(piece.size());
  }
  if (!name.empty()) return std::nullopt;
  std::vector<uint64_t> out;
  for (const auto& value : values) out.push_back(*value);  // the parser saw every index used
  return out;
}

/// Tensors of the table whose names start like the pattern.
std::pair<uint32_t, uint32_t> candidates(const TensorTable& table, const std::string& prefix) {
  const auto begin =
      std::lower_bound(table.tensors.begin(), table.tensors.end(), prefix,
                       [](const Tensor& tensor, const std::string& key) { return tensor.name < key; });
  auto end = begin;
  while (end != table.tensors.end() && end->name.starts_with(prefix)) ++end;
  return {static_cast<uint32_t>(begin - table.tensors.begin()),
          static_cast<uint32_t>(end - table.tensors.begin())};
}

}  // namespace

Stack find_stack(const TensorTable& table, const NamePattern& pattern, size_t indices) {
  Stack out;
  out.extents.assign(indices, 0);
  const auto [begin, end] = candidates(table, pattern.pieces[0]);
  for (uint32_t i = begin; i < end; ++i) {
    const auto values = match(pattern, indices, table.tensors[i].name);
    if (!values) continue;
    out.tensors.emplace(*values, i);
    for (size_t k = 0; k < values->size(); ++k)
      out.extents[k] = std::max(out.extents[k], (*values)[k] == UINT64_MAX ? UINT64_MAX : (*values)[k] + 1);
  }
  return out;
}

std::string gaps_of(const Stack& stack, const NamePattern& pattern) {
  std::string missing;
  size_t count = 0, seen = 0;
  std::vector<uint64_t> at(stack.extents.size(), 0);
  while (seen < stack.tensors.size() && count < shown_missing) {
    if (stack.tensors.contains(at))
      ++seen;
    else
      missing += (count++ ? ", " : "") + printable(pattern.name(at));
    for (size_t k = at.size(); k-- > 0;) {
      if (++at[k] < stack.extents[k]) break;
      at[k] = 0;
    }
  }
  if (count > 0) return missing;
  // The values seen are a prefix in order; the last one must be the last of all.
  uint64_t product = 1;
  for (const uint64_t extent : stack.extents) product *= extent;  // at most the number of tensors here
  return product == stack.tensors.size() ? "" : printable(pattern.name(at));
}

std::string nearest_name(const TensorTable& table, const std::string& name) {
  constexpr size_t longest = 200, most_tensors = 20'000;
  if (name.size() > longest || table.tensors.size() > most_tensors) return "";
  size_t best = name.size() / 4 + 1;
  std::string out;
  std::vector<size_t> row(name.size() + 1);
  for (const Tensor& tensor : table.tensors) {
    if (tensor.name.size() > name.size() + best || name.size() > tensor.name.size() + best) continue;
    std::iota(row.begin(), row.end(), size_t{0});
    for (size_t i = 0; i < tensor.name.size(); ++i) {
      size_t diagonal = std::exchange(row[0], i + 1);
      for (size_t j = 0; j < name.size(); ++j)
        diagonal = std::exchange(
            row[j + 1], std::min({row[j] + 1, row[j + 1] + 1, diagonal + (tensor.name[i] != name[j])}));
    }
    if (row.back() < best) best = row.back(), out = tensor.name;
  }
  return out;
}

std::string common_prefix(const TensorTable& table, const std::vector<std::string>& missing) {
  constexpr size_t most_tensors = 100'000, most_tries = 100;
  if (missing.empty() || table.tensors.size() > most_tensors) return "";
  size_t tries = 0;
  for (const Tensor& tensor : table.tensors) {
    if (tensor.name.size() <= missing[0].size() || !tensor.name.ends_with(missing[0])) continue;
    std::string prefix = tensor.name.substr(0, tensor.name.size() - missing[0].size());
    const auto exists = [&](const std::string& name) { return table.find(prefix + name) != nullptr; };
    if (std::all_of(missing.begin(), missing.end(), exists)) return prefix;
    if (++tries == most_tries) break;
  }
  return "";
}

}  // namespace axon::weights
