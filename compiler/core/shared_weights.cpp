// See shared_weights.h.
#include "core/shared_weights.h"

#include <fmt/format.h>

#include <algorithm>

namespace axon::core {

using source::Code;

namespace {

/// `lead`: axes of stacks around the type.
void add_leaves(const TypeStore& types, TypeId id, const std::string& path, size_t lead,
                std::vector<WeightLeaf>& out) {
  const Type& type = types.types[id];
  if (type.kind == Type::Kind::stack) return add_leaves(types, type.items[0], path, lead + 1, out);
  if (type.kind == Type::Kind::tensor && type.elem.elem) {
    out.push_back({path, *type.elem.elem, lead + type.shape.size(), lead});
    return;
  }
  for (size_t i = 0; i < type.items.size(); ++i) {
    const std::string part = type.kind == Type::Kind::record ? type.fields[i] : std::to_string(i);
    add_leaves(types, type.items[i], path + "." + part, lead, out);
  }
}

}  // namespace

EntryWeights weights_of(const Program& program, GlobalId id) {
  const Global& entry = program.globals[id];
  const Type& function = program.types.types[entry.scheme.type];
  EntryWeights out{entry.name, {}};
  for (size_t i = 0; i < entry.params.size(); ++i) {
    if (!entry.params[i].weights) continue;
    out.parameters.push_back({entry.params[i].span, {}});
    add_leaves(program.types, function.items[i], parameter_path(program, entry, i), 0,
               out.parameters.back().leaves);
  }
  return out;
}

bool SharedWeights::add(const EntryWeights& entry) {
  bool all_agree = true;
  for (const EntryWeights::Parameter& parameter : entry.parameters) {
    const auto differs = [&](const WeightLeaf& leaf) { return !agrees({leaf, entry.entry, parameter.at}); };
    all_agree &= std::none_of(parameter.leaves.begin(), parameter.leaves.end(), differs);
  }
  return all_agree;
}

bool SharedWeights::agrees(const Taken& taken) {
  const auto [first, is_new] = seen_.emplace(taken.leaf.path, taken);
  const Taken& other = first->second;
  if (is_new || (other.leaf.elem == taken.leaf.elem && other.leaf.rank == taken.leaf.rank)) return true;
  const auto text = [](const WeightLeaf& l) {
    return fmt::format("{} with {} {}", base::elem_name(l.elem), l.rank, l.rank == 1 ? "axis" : "axes");
  };
  diagnostics_.report(source::error(Code::E0331, taken.at,
                                    fmt::format("`{}` of `{}` is {}, of `{}` it is {}", taken.leaf.path,
                                                taken.entry, text(taken.leaf), other.entry, text(other.leaf)))
                          .also(other.at, "here first")
                          .help("a weight is bound once for all entries: give one of them another name"));
  return false;
}

}  // namespace axon::core
