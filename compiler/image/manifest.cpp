// The manifest: everything the host needs to know of a plan, as JSON.
//
// In: plans with their graphs. Out: text that the runtime's manifest reader accepts (runtime/host/manifest.h
// says what each field means there). Dimensions become text over the entry's size names; nothing else of a
// Dim survives. Device checks are numbered as the graph's checks, since that is the number that a failing
// kernel reports.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/bug.h"
#include "base/elem.h"
#include "graph/interpret_expr.h"
#include "image/build.h"
#include "layout/strided.h"

namespace axon::image {

namespace {

using graph::Graph;
using graph::InputKind;
using graph::NodeOp;
using graph::Value;
using nlohmann::ordered_json;
using shape::Dim;
using shape::Fact;
using shape::Relation;
using task::Buffer;
using task::BufferId;

constexpr const char* compiler = "axon " AXON_VERSION;
constexpr int manifest_format = 4, kernel_abi = 1;

const char* relation_text(Relation relation) {
  switch (relation) {
    case Relation::eq:
      return "==";
    case Relation::ne:
      return "!=";
    case Relation::le:
      return "<=";
    case Relation::lt:
      return "<";
  }
  base::bug("manifest_json", "unknown relation");
}

const char* kind_text(InputKind kind) {
  switch (kind) {
    case InputKind::weight:
      return "weight";
    case InputKind::argument:
      return "argument";
    case InputKind::state:
      return "state";
    case InputKind::scalar_size:
      return "size";
  }
  base::bug("manifest_json", "unknown kind of input");
}

bool same(const Fact& a, const Fact& b) {
  return a.lhs == b.lhs && a.relation == b.relation && a.rhs == b.rhs;
}

/// The weights of all entries; the same path is the same weight.
class Weights {
 public:
  uint32_t add(ordered_json weight) {
    for (uint32_t i = 0; i < list_.size(); ++i)
      if (list_[i]["path"] == weight["path"]) {
        if (list_[i]["placement"] != weight["placement"] || list_[i]["elem"] != weight["elem"])
          base::bug("manifest_json", "entries disagree on weight " + weight["path"].get<std::string>());
        return i;
      }
    list_.push_back(std::move(weight));
    return static_cast<uint32_t>(list_.size() - 1);
  }
  const ordered_json& json() const { return list_; }

 private:
  ordered_json list_ = ordered_json::array();
};

class EntryWriter {
 public:
  EntryWriter(const Entry& entry, Weights& weights)
      : entry_(entry), graph_(*entry.plan->graph), weights_(weights) {}

  ordered_json run() {
    ordered_json out = {{"name", graph_.name}, {"sizes", sizes()},
                        {"checks", checks()},  {"device_checks", device_checks()},
                        {"inputs", inputs()},  {"results", results()},
                        {"debugs", debugs()},  {"variants", variants()}};
    if (entry_.traced) out["traced"] = true;
    if (!entry_.doc.empty()) out["doc"] = entry_.doc;
    return out;
  }

 private:
  // ---- dimensions ----
  bool is_size(shape::Var var) const {
    return std::any_of(graph_.sizes.begin(), graph_.sizes.end(),
                       [&](const auto& size) { return size.var == var; });
  }
  std::string dim(const Dim& d) const {
    return d.str([&](shape::Var var) {
      for (const graph::Size& size : graph_.sizes)
        if (size.var == var) return size.name;
      base::bug("manifest_json",
                "a dimension of " + graph_.name + " reads `" + shape::var_name(var) + "`, which is no size");
    });
  }
  /// What is laid out before the launch decides: for the most that there can be.
  std::string room(const Dim& d) const {
    const auto most = graph::at_most_before_data(graph_, d);
    if (!most) base::bug("manifest_json", "nothing bounds " + dim(d));
    return dim(*most);
  }
  ordered_json dims(const std::vector<Dim>& list) const {
    ordered_json out = ordered_json::array();
    for (const Dim& d : list) out.push_back(dim(d));
    return out;
  }
  ordered_json fact(const Fact& f) const {
    return {{"lhs", dim(f.lhs)}, {"relation", relation_text(f.relation)}, {"rhs", dim(f.rhs)}};
  }

  // ---- sizes and checks ----
  ordered_json sizes() const {
    ordered_json out = ordered_json::array();
    for (const graph::Size& size : graph_.sizes) {
      ordered_json item{{"name", size.name}};
      switch (size.from) {
        case graph::Size::From::parameter:
          item["from"] = "parameter";
          break;
        case graph::Size::From::scalar:
          item["from"] = "scalar";
          item["input"] = size.input;
          if (size.is_integer()) item["integer"] = true;
          break;
        case graph::Size::From::data:
          item["from"] = "data";
          item["bound"] = dim(size.equation);
          break;
        case graph::Size::From::axis:
        case graph::Size::From::stride:
          item["from"] = size.from == graph::Size::From::axis ? "axis" : "stride";
          item["input"] = size.input;
          item["axis"] = size.axis;
          item["equation"] = dim(size.equation);
          if (size.power != 1) item["power"] = size.power;
          break;
      }
      out.push_back(std::move(item));
    }
    return out;
  }

  ordered_json checks() const {
    ordered_json out = ordered_json::array();
    for (const graph::Check& check : graph_.checks) {
      ordered_json item = check.fact ? fact(*check.fact) : ordered_json::object();
      if (!check.fact) {
        const auto input = graph::input_checked_by_host(graph_, check);
        if (!input) continue;
        item["input"] = *input;
        item["bound"] = dim(check.bound);
      }
      item["message"] = check.message;
      out.push_back(std::move(item));
    }
    for (const Fact& f : graph_.facts) {
      if (!must_be_checked(f)) continue;
      ordered_json item = fact(f);
      item["message"] = "`" + dim(f.lhs) + " " + relation_text(f.relation) + " " + dim(f.rhs) + "` must hold";
      out.push_back(std::move(item));
    }
    return out;
  }
  /// The compiler relies on it, no check says it, and it does not follow from how sizes are found.
  bool must_be_checked(const Fact& f) const {
    for (const Dim* side : {&f.lhs, &f.rhs})
      for (const shape::Var var : side->vars())
        if (!is_size(var)) return false;
    if (reads_data(graph_, f.lhs) || reads_data(graph_, f.rhs))
      return false;  // the launch decides so, or fails
    for (const graph::Check& check : graph_.checks)
      if (check.fact && same(*check.fact, f)) return false;
    const bool not_negative = f.relation == Relation::le && f.lhs.is(0);
    const auto var = f.rhs.as_var();
    for (const graph::Size& size : graph_.sizes)
      if (not_negative && var == size.var && size.from != graph::Size::From::scalar) return false;
    return true;
  }
  ordered_json device_checks() const {
    ordered_json out = ordered_json::array();
    for (const graph::Check& check : graph_.checks) out.push_back(graph::words_of(check));
    for (graph::NodeId loop : graph::conditional_loops(graph_)) out.push_back(graph_.nodes[loop].unending);
    for (uint32_t s : graph::data_sizes(graph_)) out.push_back(graph_.sizes[s].message);
    return out;
  }

  // ---- inputs and results ----
  ordered_json port(const std::string& path, const graph::TensorType& type,
                    const std::optional<layout::Layout>& place) const {
    ordered_json out{{"path", path}, {"elem", base::elem_name(type.elem)}, {"shape", dims(type.shape)}};
    if (!place || layout::is_row_major(*place, type.shape)) return out;
    out["strides"] = ordered_json::array();
    for (const layout::Iter& axis : place->shards) out["strides"].push_back(dim(axis.stride));
    return out;
  }
  ordered_json inputs() {
    ordered_json out = ordered_json::array();
    for (size_t i = 0; i < graph_.inputs.size(); ++i) {
      const graph::Input& input = graph_.inputs[i];
      ordered_json item = port(input.path, input.type, input.place);
      if (input.kind == InputKind::weight) {
        ordered_json weight = item;
        const bool is_placed = !entry_.plan->variants.empty();
        weight["placement"] = is_placed ? placement(entry_.placements.at(i)) : ordered_json::array();
        item["weight"] = weights_.add(std::move(weight));
      }
      item["kind"] = kind_text(input.kind);
      out.push_back(std::move(item));
    }
    return out;
  }
  static ordered_json placement(const task::Placement& placement) {
    ordered_json out = ordered_json::array();
    for (const auto& digit : placement.digits)
      out.push_back({{"axis", digit.axis}, {"extent", digit.extent}});
    return out;
  }

  static const task::Place* find_place(const task::Program& program, Value value) {
    for (const auto& [placed, place] : program.places)
      if (placed == value) return &place;
    return nullptr;
  }
  /// The state whose memory a result is; all variants agree.
  static std::optional<uint32_t> state_of_result(const task::Program& program, size_t result) {
    const Graph& graph = *program.graph;
    const Value value = graph.results[result].value;
    if (const task::Place* place = find_place(program, value)) {
      const Buffer& buffer = program.buffers[place->buffer];
      if (buffer.kind == Buffer::Kind::state) return buffer.index;
      return std::nullopt;
    }
    const graph::Node& node =
        graph.nodes[value.node];  // untouched by any task: a state that is just handed back
    if (node.op == NodeOp::input && graph.inputs[node.input].kind == InputKind::state) return node.input;
    return std::nullopt;
  }
  ordered_json results() const {
    ordered_json out = ordered_json::array();
    for (size_t r = 0; r < graph_.results.size(); ++r) {
      const graph::TensorType& type = graph_.type(graph_.results[r].value);
      std::optional<uint32_t> state;
      if (!entry_.plan->variants.empty()) state = state_of_result(entry_.plan->variants.front().program, r);
      ordered_json item =
          port(graph_.results[r].path, type, state ? graph_.inputs[*state].place : graph_.results[r].place);
      const bool later = std::any_of(type.shape.begin(), type.shape.end(),
                                     [&](const Dim& d) { return reads_data(graph_, d); });
      if (later)
        for (const Dim& d : type.shape) item["room"].push_back(room(d));
      for (const plan::Variant& variant : entry_.plan->variants)
        if (state_of_result(variant.program, r) != state)
          base::bug("manifest_json", "variants place a result differently");
      if (state) item["state"] = *state;
      out.push_back(std::move(item));
    }
    return out;
  }
  ordered_json debugs() const {
    ordered_json out = ordered_json::array();
    for (const graph::Debug& debug : graph_.debugs) {
      const graph::TensorType& type = graph_.type(debug.value);
      ordered_json item{
          {"name", debug.name}, {"elem", base::elem_name(type.elem)}, {"shape", dims(type.shape)}};
      if (debug.is_condition) item["condition"] = true;
      out.push_back(std::move(item));
    }
    return out;
  }

  // ---- variants ----
  ordered_json buffers(const plan::Variant& variant) const {
    ordered_json out = ordered_json::array();
    for (uint32_t b = 0; b < variant.program.buffers.size(); ++b) {
      const Buffer& buffer = variant.program.buffers[BufferId{b}];
      switch (buffer.kind) {
        case Buffer::Kind::weight:
          out.push_back({{"kind", "weight"}, {"index", buffer.index}});
          break;
        case Buffer::Kind::argument:
          out.push_back({{"kind", "argument"}, {"index", buffer.index}});
          break;
        case Buffer::Kind::state:
          out.push_back({{"kind", "state"}, {"index", buffer.index}});
          break;
        case Buffer::Kind::result:
          out.push_back({{"kind", "result"}, {"index", buffer.index}});
          break;
        case Buffer::Kind::temporary:
          out.push_back({{"kind", "slot"}, {"index", slot_of(variant, BufferId{b})}});
          break;
      }
    }
    return out;
  }
  static uint32_t slot_of(const plan::Variant& variant, BufferId buffer) {
    for (uint32_t s = 0; s < variant.slots.size(); ++s)
      if (variant.slots[s].buffer == buffer) return s;
    base::bug("manifest_json", "temporary " + variant.program.buffers[buffer].name + " has no slot");
  }
  ordered_json debug_buffers(const plan::Variant& variant) const {
    ordered_json out = ordered_json::array();
    for (const graph::Debug& debug : variant.program.graph->debugs) {
      const task::Place* const place = find_place(variant.program, debug.value);
      out.push_back(place ? static_cast<int64_t>(place->buffer.index) : -1);
    }
    return out;
  }
  ordered_json variants() const {
    ordered_json out = ordered_json::array();
    for (size_t v = 0; v < entry_.plan->variants.size(); ++v) {
      const plan::Variant& variant = entry_.plan->variants[v];
      ordered_json guard = ordered_json::array(), slots = ordered_json::array(),
                   names = ordered_json::array(), offsets = ordered_json::array(),
                   kernels = ordered_json::array();
      for (uint32_t t = 0; t < variant.program.types.size(); ++t) {
        const task::TaskType& type = variant.program.types[task::TaskTypeId{t}];
        kernels.push_back({{"symbol", plan::kernel_symbol(variant, task::TaskTypeId{t})},
                           {"name", type.name},
                           {"work", room(plan::work_of(variant.program, type))}});
      }
      for (const Fact& f : variant.program.guard) guard.push_back(fact(f));
      for (const plan::Slot& slot : variant.slots)
        slots.push_back({{"bytes", room(slot.bytes)}, {"above", slot.above}});
      for (const task::Event& event : variant.program.events) names.push_back(event.name);
      for (const Dim& offset : variant.event_offset) offsets.push_back(room(offset));
      for (const plan::ExitCondition& d : variant.exit_conditions)
        names.push_back("steps of loop " + std::to_string(d.loop.index));
      for (const plan::DataSize& d : variant.data_sizes) names.push_back("size " + graph_.sizes[d.size].name);
      for (const plan::ExitCondition& d : variant.exit_conditions)
        if (d.left) names.push_back("workers that left loop " + std::to_string(d.loop.index));
      out.push_back({{"symbol", variant.symbol},
                     {"guard", std::move(guard)},
                     {"buffers", buffers(variant)},
                     {"debug_buffers", debug_buffers(variant)},
                     {"slots", std::move(slots)},
                     {"event_offset", std::move(offsets)},
                     {"event_names", std::move(names)},
                     {"event_words", room(variant.event_words)},
                     {"scratch", room(entry_.scratch.at(v))},
                     {"iterations", room(variant.iterations)},
                     {"work", room(variant.work)},
                     {"handoffs", room(variant.handoffs)},
                     {"kernels", std::move(kernels)}});
    }
    return out;
  }

  const Entry& entry_;
  const Graph& graph_;
  Weights& weights_;
};

}  // namespace

std::string manifest_json(const Bundle& bundle, const std::vector<std::string>& levels) {
  Weights weights;
  ordered_json entries = ordered_json::array();
  for (const Entry& entry : bundle.entries) entries.push_back(EntryWriter(entry, weights).run());
  ordered_json manifest{{"format", manifest_format},    {"abi", kernel_abi}, {"compiler", compiler},
                        {"source", bundle.source},      {"levels", levels},  {"weights", weights.json()},
                        {"entries", std::move(entries)}};
  if (!bundle.other_weights.empty()) manifest["other_weights"] = bundle.other_weights;
  return manifest.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

std::string build_interface(const Bundle& bundle) {
  return make_container({{"manifest", manifest_json(bundle, {})}});
}

}  // namespace axon::image
