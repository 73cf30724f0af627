// Matching parameters with tensors (binding.h): every misfit is found before any data is touched.
#include "host/weights/binding.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <numeric>
#include <set>

#include "host/weights/limits.h"

namespace axon::weights {
namespace {

constexpr size_t shown_missing = 3;

/// The index values for which a pattern gives this name.
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

/// A tensor name within a few letters, to suggest.
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

class Binder {
 public:
  Binder(const TensorTable& table, const BindingMap& map) : table_(table), map_(map) {}

  Binding run(std::span<const Field> fields) {
    std::set<std::string_view> known;
    for (const Field& field : fields) {
      known.insert(field.path);
      bind_field(field);
    }
    for (const Rule& rule : map_.rules)
      if (!known.contains(rule.field))
        misfit(text("line ", rule.line, " of the binding map: the program has no parameter ",
                    printable(rule.field)));
    return std::move(out_);
  }

 private:
  void misfit(std::string message) { out_.misfits.push_back({code::binding, std::move(message)}); }

  void bind_field(const Field& field) {
    Source source;
    source.field = field;
    const Rule* const rule = map_.find(field.path);
    std::vector<uint64_t> stack;
    const bool found = rule && !rule->indices.empty() ? find_stack(field, *rule, source, stack)
                                                      : find_single(field, rule, source);
    if (!found) return;
    source.transposed = rule && rule->transposed;
    const bool shape_fits = check_shape(field, source, stack);
    const bool dtype_fits = check_dtype(field, rule, source);
    if (shape_fits && dtype_fits) out_.sources.push_back(std::move(source));
  }

  bool find_single(const Field& field, const Rule* rule, Source& source) {
    const std::string name = rule ? rule->tensor.pieces[0] : field.path;
    const Tensor* const tensor = table_.find(name);
    if (!tensor) {
      std::string message =
          text("parameter ", printable(field.path), ": the weights have no tensor ", printable(name));
      if (const std::string near = nearest_name(table_, name); !near.empty())
        message += text("; there is ", printable(near));
      else if (!rule && field.stack > 0)
        message += text("; to stack one tensor per layer, write `", field.path,
                        "[l] <- ...{l}...` in a binding map");
      misfit(message);
      return false;
    }
    source.tensors.push_back(static_cast<uint32_t>(tensor - table_.tensors.data()));
    return true;
  }

  /// Finds all tensors of a stack; `extents` become its leading axes.
  bool find_stack(const Field& field, const Rule& rule, Source& source, std::vector<uint64_t>& extents) {
    std::map<std::vector<uint64_t>, uint32_t> found;
    extents.assign(rule.indices.size(), 0);
    const auto [begin, end] = candidates(table_, rule.tensor.pieces[0]);
    for (uint32_t i = begin; i < end; ++i) {
      const auto values = match(rule.tensor, rule.indices.size(), table_.tensors[i].name);
      if (!values) continue;
      found.emplace(*values, i);
      for (size_t k = 0; k < values->size(); ++k)
        extents[k] = std::max(extents[k], (*values)[k] == UINT64_MAX ? UINT64_MAX : (*values)[k] + 1);
    }
    if (found.empty()) {
      const std::vector<uint64_t> zeros(rule.indices.size(), 0);
      misfit(text("parameter ", printable(field.path), ": the weights have no tensor ",
                  printable(rule.tensor.name(zeros)), " to begin the stack"));
      return false;
    }
    for (const auto& entry : found) source.tensors.push_back(entry.second);
    return check_gaps(field, rule, found, extents);
  }

  /// Counts through all index values in order; the walk ends soon after the first gaps, however large an
  /// index is.
  bool check_gaps(const Field& field, const Rule& rule,
                  const std::map<std::vector<uint64_t>, uint32_t>& found,
                  const std::vector<uint64_t>& extents) {
    std::string missing;
    size_t count = 0, seen = 0;
    std::vector<uint64_t> at(extents.size(), 0);
    while (seen < found.size() && count < shown_missing) {
      if (found.contains(at))
        ++seen;
      else
        missing += (count++ ? ", " : "") + printable(rule.tensor.name(at));
      for (size_t k = at.size(); k-- > 0;) {
        if (++at[k] < extents[k]) break;
        at[k] = 0;
      }
    }
    if (count == 0) {
      // The values seen are a prefix in order; the last one must be the last of all.
      uint64_t product = 1;
      for (const uint64_t extent : extents) product *= extent;  // at most found.size() here
      if (product == found.size()) return true;
      missing = printable(rule.tensor.name(at));
    }
    misfit(text("parameter ", printable(field.path), ": the stack has gaps; missing ", missing));
    return false;
  }

  bool check_shape(const Field& field, Source& source, const std::vector<uint64_t>& stack) {
    const Tensor& first = table_.tensors[source.tensors[0]];
    for (const uint32_t position : source.tensors) {
      const Tensor& other = table_.tensors[position];
      if (other.shape == first.shape && other.dtype == first.dtype) continue;
      misfit(text("parameter ", printable(field.path), ": ", printable(first.name), " is ",
                  elem_name(first.dtype), shape_text(first.shape), " but ", printable(other.name), " is ",
                  elem_name(other.dtype), shape_text(other.shape), "; a stack needs equal ones"));
      return false;
    }
    source.shape = stack;
    source.shape.insert(source.shape.end(), first.shape.begin(), first.shape.end());
    if (source.transposed) {
      if (first.shape.size() < 2) {
        misfit(text("parameter ", printable(field.path), ": ", printable(first.name), " is ",
                    shape_text(first.shape), ", too few axes to be transposed"));
        return false;
      }
      std::swap(source.shape[source.shape.size() - 1], source.shape[source.shape.size() - 2]);
    }
    if (source.shape.size() != field.rank) {
      misfit(text("parameter ", printable(field.path), " has ", field.rank,
                  field.rank == 1 ? " axis, " : " axes, ", printable(first.name),
                  stack.empty() ? " is " : " stacked is ", shape_text(source.shape)));
      return false;
    }
    if (const auto size = byte_count(source.shape, field.dtype); !size) {
      misfit(text("parameter ", printable(field.path), ": ", size.error().message));
      return false;
    }
    return true;
  }

  bool check_dtype(const Field& field, const Rule* rule, Source& source) {
    const Tensor& first = table_.tensors[source.tensors[0]];
    source.file_dtype = first.dtype;
    const auto name = [](Elem type) { return elem_name(type); };
    if (rule && rule->as && *rule->as != field.dtype) {
      misfit(text("parameter ", printable(field.path), " is ", name(field.dtype), ", but line ", rule->line,
                  " of the binding map says `as ", name(*rule->as), "`"));
      return false;
    }
    if (first.dtype == field.dtype || (rule && rule->as && convertible(first.dtype, field.dtype)))
      return true;
    std::string message = text("parameter ", printable(field.path), " is ", name(field.dtype), ", ",
                               printable(first.name), " is ", name(first.dtype));
    if (convertible(first.dtype, field.dtype))
      message += text("; write `, as ", name(field.dtype), "` in a binding map to convert it");
    misfit(message);
    return false;
  }

  const TensorTable& table_;
  const BindingMap& map_;
  Binding out_;
};

}  // namespace

Binding bind_parameters(const TensorTable& table, const BindingMap& map, std::span<const Field> fields) {
  return Binder(table, map).run(fields);
}

}  // namespace axon::weights
