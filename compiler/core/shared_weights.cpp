// See shared_weights.h.
#include "core/shared_weights.h"

#include <fmt/format.h>

#include <map>

namespace axon::core {
namespace {

using source::Code;

/// A tensor among the weights of one entry.
struct Leaf {
  std::string entry;
  base::Elem elem;
  size_t rank;
  source::Span at;
};

class SharedWeights {
 public:
  SharedWeights(Program& program, source::Diagnostics& diagnostics)
      : p_(program), diagnostics_(diagnostics) {}

  void add(GlobalId id) {
    Global& entry = p_.globals[id];
    const Type& function = p_.types.types[entry.scheme.type];
    for (size_t i = 0; i < entry.params.size(); ++i) {
      const Pattern& parameter = entry.params[i];
      if (!parameter.weights) continue;
      const Leaf leaf{entry.name, {}, 0, parameter.span};
      entry.has_error |= !agrees(function.items[i], parameter_path(p_, entry, i), 0, leaf);
    }
  }

 private:
  /// False at the first leaf of the type that another entry takes differently. `lead`: axes of stacks around
  /// it.
  bool agrees(TypeId id, const std::string& path, size_t lead, Leaf leaf) {
    const Type& type = p_.types.types[id];
    if (type.kind == Type::Kind::stack) return agrees(type.items[0], path, lead + 1, leaf);
    if (type.kind == Type::Kind::tensor && type.elem.elem) {
      leaf.elem = *type.elem.elem;
      leaf.rank = lead + type.shape.size();
      return agrees(path, leaf);
    }
    for (size_t i = 0; i < type.items.size(); ++i) {
      const std::string part = type.kind == Type::Kind::record ? type.fields[i] : std::to_string(i);
      if (!agrees(type.items[i], path + "." + part, lead, leaf)) return false;
    }
    return true;
  }
  bool agrees(const std::string& path, const Leaf& leaf) {
    const auto [first, is_new] = seen_.emplace(path, leaf);
    const Leaf& other = first->second;
    if (is_new || (other.elem == leaf.elem && other.rank == leaf.rank)) return true;
    const auto text = [](const Leaf& l) {
      return fmt::format("{} with {} {}", base::elem_name(l.elem), l.rank, l.rank == 1 ? "axis" : "axes");
    };
    diagnostics_.report(source::error(Code::E0331, leaf.at,
                                      fmt::format("`{}` of `{}` is {}, of `{}` it is {}", path, leaf.entry,
                                                  text(leaf), other.entry, text(other)))
                            .also(other.at, "here first")
                            .help("a weight is bound once for all entries: give one of them another name"));
    return false;
  }

  Program& p_;
  source::Diagnostics& diagnostics_;
  std::map<std::string, Leaf> seen_;  // by path
};

}  // namespace

void check_shared_weights(Program& program, source::Diagnostics& diagnostics) {
  SharedWeights weights(program, diagnostics);
  for (GlobalId id : program.own) {
    const Global& global = program.globals[id];
    if (global.kind == Global::Kind::entry && !global.has_error) weights.add(id);
  }
}

}  // namespace axon::core
