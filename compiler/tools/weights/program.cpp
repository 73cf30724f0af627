// See program.h.
#include "tools/weights/program.h"

#include <map>

#include "core/shared_weights.h"

namespace axon::tools {

namespace {

using graph::InputKind;

axon_kind port_kind(InputKind kind) {
  switch (kind) {
    case InputKind::weight:
      return AXON_WEIGHT;
    case InputKind::argument:
      return AXON_ARGUMENT;
    case InputKind::state:
      return AXON_STATE;
    case InputKind::scalar_size:
      return AXON_SIZE;
  }
  return AXON_ARGUMENT;
}

axon_size_from size_origin(graph::Size::From from) {
  switch (from) {
    case graph::Size::From::parameter:
      return AXON_FROM_PARAMETER;
    case graph::Size::From::axis:
      return AXON_FROM_AXIS;
    case graph::Size::From::stride:
      return AXON_FROM_STRIDE;
    case graph::Size::From::scalar:
      return AXON_FROM_SCALAR;
    case graph::Size::From::data:
      return AXON_FROM_DATA;
  }
  return AXON_FROM_PARAMETER;
}

/// One entry of the manifest, from its graph.
class EntryReader {
 public:
  EntryReader(const graph::Graph& graph, std::vector<host::Weight>& weights)
      : graph_(graph), weights_(weights) {}

  host::Result<host::Entry> run() {
    out_.name = graph_.name;
    for (const graph::Size& size : graph_.sizes) out_.size_names.push_back(size.name);
    for (const graph::Size& size : graph_.sizes)
      if (auto failure = add_size(size)) return *failure;
    for (const graph::Input& input : graph_.inputs)
      if (auto failure = add_input(input)) return *failure;
    return std::move(out_);
  }

 private:
  host::Result<host::Dim> dim(const shape::Dim& d) const {
    const std::string text = d.str([&](shape::Var var) {
      for (const graph::Size& size : graph_.sizes)
        if (size.var == var) return size.name;
      return shape::var_name(var);
    });
    return host::Dim::parse(text, out_.size_names);
  }

  host::Status add_size(const graph::Size& size) {
    host::Size out;
    out.name = size.name;
    out.from = size_origin(size.from);
    out.input = size.input;
    out.axis = size.axis;
    out.power = static_cast<uint32_t>(size.power);
    if (size.from == graph::Size::From::axis || size.from == graph::Size::From::stride) {
      auto equation = dim(size.equation);
      if (!equation) return equation.failure();
      out.equation = std::move(*equation);
    }
    out_.sizes.push_back(std::move(out));
    return std::nullopt;
  }

  host::Status add_input(const graph::Input& input) {
    host::Port port;
    port.path = input.path;
    port.kind = port_kind(input.kind);
    port.elem = static_cast<axon_elem>(input.type.elem);
    for (const shape::Dim& extent : input.type.shape) {
      auto parsed = dim(extent);
      if (!parsed) return parsed.failure();
      port.shape.push_back(std::move(*parsed));
    }
    if (input.kind == InputKind::weight) port.weight = weight(port);
    out_.inputs.push_back(std::move(port));
    return std::nullopt;
  }

  /// The number of a weight among those of all entries.
  uint32_t weight(const host::Port& port) {
    for (uint32_t i = 0; i < weights_.size(); ++i)
      if (weights_[i].path == port.path) return i;
    weights_.push_back({port.path, port.elem, static_cast<uint32_t>(port.shape.size()), {}});
    return static_cast<uint32_t>(weights_.size() - 1);
  }

  const graph::Graph& graph_;
  std::vector<host::Weight>& weights_;
  host::Entry out_;
};

}  // namespace

host::Result<host::Manifest> weights_of(const Compilation& c) {
  host::Manifest out;
  for (const CompiledEntry& compiled : c.entries) {
    auto entry = EntryReader(compiled.graph, out.weights).run();
    if (!entry) return entry.failure();
    out.entries.push_back(std::move(*entry));
  }
  out.other_weights = other_weights(c);
  return out;
}

std::vector<size_t> stacks_of(const Compilation& c, const std::vector<host::Weight>& weights) {
  std::map<std::string, size_t> by_path;
  for (const core::GlobalId id : c.core->own)
    if (c.core->globals[id].kind == core::Global::Kind::entry)
      for (const core::EntryWeights::Parameter& parameter : core::weights_of(*c.core, id).parameters)
        for (const core::WeightLeaf& leaf : parameter.leaves) by_path.emplace(leaf.path, leaf.stacks);
  std::vector<size_t> out;
  for (const host::Weight& weight : weights) out.push_back(by_path[weight.path]);
  return out;
}

}  // namespace axon::tools
