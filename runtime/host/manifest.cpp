// Reading the manifest (manifest.h): JSON to structs. The reader keeps the first problem and goes on with
// harmless values, so that the code below reads like the format.
#include "host/manifest.h"

#include <initializer_list>
#include <nlohmann/json.hpp>
#include <set>

#include "host/limits.h"
#include "host/versions.h"
#include "host/weights/elements.h"

namespace axon::host {
namespace {

using nlohmann::json;

/// Parses with duplicate keys and deep nesting refused; the library itself does not recurse.
Result<json> parse_json(weights::Bytes bytes) {
  const auto bad = [](std::string what) {
    return Failure{AXON_BAD_BUNDLE, code::manifest, "manifest: " + what};
  };
  if (bytes.size() > limits::manifest_bytes) return bad("too large");
  std::vector<std::set<std::string>> keys;
  std::string problem;
  const auto watch = [&](int depth, json::parse_event_t event, json& value) {
    if (depth > limits::manifest_depth) problem = "nested too deeply";
    if (event == json::parse_event_t::object_start) keys.emplace_back();
    if (event == json::parse_event_t::object_end) keys.pop_back();
    if (event == json::parse_event_t::key && !keys.back().insert(value.get<std::string>()).second)
      problem = text("key ", printable(value.get<std::string>()), " twice in one object");
    return problem.empty();
  };
  json out = json::parse(bytes.data(), bytes.data() + bytes.size(), watch, /*allow_exceptions=*/false);
  if (!problem.empty()) return bad(problem);
  if (!out.is_object()) return bad("not a JSON object");
  return out;
}

/// A JSON value and the words for where it stands.
struct Node {
  const json* value;
  std::string where;
};

class Reader {
 public:
  Result<Manifest> run(const json& root) {
    const Node top{&root, "manifest"};
    versions(top);
    out_.compiler = string(top, "compiler");
    out_.source = string(top, "source");
    for (const Node& item : list(top, "levels")) out_.levels.push_back(string(item));
    for (const Node& item : list(top, "weights")) out_.weights.push_back(weight(item));
    for (const Node& item : list(top, "entries")) entry(item);
    for (const Node& item : list(top, "other_weights")) out_.other_weights.push_back(string(item));
    if (failure_) return std::move(*failure_);
    return std::move(out_);
  }

 private:
  // ---- values ----
  void fail(const std::string& where, std::string what, const char* which = code::manifest) {
    if (!failure_) failure_ = Failure{AXON_BAD_BUNDLE, which, text(where, ": ", std::move(what))};
  }
  const Node* find(const Node& object, const char* key) {
    if (!object.value->is_object()) return nullptr;
    const auto found = object.value->find(key);
    if (found == object.value->end()) return nullptr;
    node_ = {&*found, text(object.where, ".", key)};
    return &node_;
  }
  Node field(const Node& object, const char* key) {
    static const json nothing;
    if (const Node* found = find(object, key)) return *found;
    fail(object.where, text("lacks ", printable(key)));
    return {&nothing, object.where};
  }
  std::string string(const Node& node) {
    if (node.value->is_string() && node.value->get_ref<const std::string&>().find('\0') == std::string::npos)
      return node.value->get<std::string>();
    fail(node.where, "not a string");
    return "";
  }
  std::string string(const Node& object, const char* key) { return string(field(object, key)); }
  /// An integer in [0, end).
  uint32_t number(const Node& node, uint64_t end) {
    if (node.value->is_number_unsigned() && node.value->get<uint64_t>() < end)
      return static_cast<uint32_t>(node.value->get<uint64_t>());
    fail(node.where, text("not an integer below ", end));
    return 0;
  }
  uint32_t number(const Node& object, const char* key, uint64_t end) {
    return number(field(object, key), end);
  }
  static bool truth(const Node& node) { return node.value->is_boolean() && node.value->get<bool>(); }
  /// Empty when the key is absent.
  std::vector<Node> list(const Node& object, const char* key) {
    std::vector<Node> out;
    const Node* const found = find(object, key);
    if (!found) return out;
    const Node node = *found;
    if (!node.value->is_array() || node.value->size() > limits::list) {
      fail(node.where, "not a list, or too long");
      return out;
    }
    for (size_t i = 0; i < node.value->size(); ++i)
      out.push_back({&(*node.value)[i], text(node.where, "[", i, "]")});
    return out;
  }
  /// The position of a word in a list of words.
  uint32_t word(const Node& node, std::initializer_list<const char*> words) {
    const std::string value = string(node);
    uint32_t position = 0;
    for (const char* candidate : words) {
      if (value == candidate) return position;
      ++position;
    }
    fail(node.where, text("unknown word ", printable(value)));
    return 0;
  }
  axon_elem elem(const Node& object) {
    const Node node = field(object, "elem");
    const auto found = elem_from_name(string(node));
    if (!found) fail(node.where, "not an element type");
    return static_cast<axon_elem>(found.value_or(Elem::f32));
  }
  Dim dim(const Node& node) {
    auto parsed = Dim::parse(string(node), names_);
    if (parsed) return std::move(*parsed);
    fail(node.where, parsed.failure().text);
    return {};
  }
  Dim dim(const Node& object, const char* key) { return dim(field(object, key)); }
  std::vector<Dim> dims(const Node& object, const char* key) {
    std::vector<Dim> out;
    for (const Node& item : list(object, key)) out.push_back(dim(item));
    return out;
  }
  std::vector<Dim> shape(const Node& object) {
    auto out = dims(object, "shape");
    if (out.size() > limits::rank) fail(object.where, text("more than ", limits::rank, " axes"));
    return out;
  }

  void version(const char* what, uint32_t found, VersionRange reads) {
    if (auto failure = check_version(what, found, reads); failure && !failure_) failure_ = std::move(failure);
  }

  // ---- the format ----
  void versions(const Node& top) {
    version("a manifest of format", number(top, "format", UINT32_MAX), manifest_formats);
    version("kernels of interface", number(top, "abi", UINT32_MAX), kernel_interfaces);
  }

  Placement placement(const Node& weight, uint32_t rank) {
    Placement out;
    for (const Node& digit : list(weight, "placement"))
      out.digits.push_back(
          {number(digit, "axis", limits::rank), number(digit, "extent", limits::multiple + 1)});
    if (const char* const why = why_bad(out, rank)) fail(weight.where, why);
    return out;
  }

  Weight weight(const Node& node) {
    Weight out;
    out.path = string(node, "path");
    out.elem = elem(node);
    out.rank = static_cast<uint32_t>(list(node, "shape").size());
    if (out.rank > limits::rank) fail(node.where, text("more than ", limits::rank, " axes"));
    out.placement = placement(node, out.rank);
    for (const Weight& other : out_.weights)
      if (other.path == out.path) fail(node.where, text("weight ", printable(out.path), " twice"));
    return out;
  }

  void entry(const Node& node) {
    Entry out;
    out.name = string(node, "name");
    if (const Node* doc = find(node, "doc")) out.doc = string(*doc);
    for (const Entry& other : out_.entries)
      if (other.name == out.name) fail(node.where, text("entry ", printable(out.name), " twice"));
    for (const Node& item : list(node, "sizes")) out.size_names.push_back(string(item, "name"));
    if (out.size_names.size() > limits::sizes)
      return fail(node.where, text("more than ", limits::sizes, " sizes"));
    names_ = out.size_names;
    for (const Node& item : list(node, "inputs")) out.inputs.push_back(input(item, out));
    uint64_t known = 0;
    for (const Node& item : list(node, "sizes")) out.sizes.push_back(size(item, out, known));
    for (const Node& item : list(node, "checks")) out.checks.push_back(check(item, out));
    for (const Node& item : list(node, "device_checks")) out.device_checks.push_back(string(item));
    for (const Node& item : list(node, "results")) out.results.push_back(result(item, out));
    for (const Node& item : list(node, "debugs"))
      out.debugs.push_back(
          {string(item, "name"), elem(item), shape(item), find(item, "condition") != nullptr});
    check_conditions(node, out.debugs);
    for (const Node& item : list(node, "variants")) out.variants.push_back(variant(item, out));
    if (const Node* traced = find(node, "traced")) out.traced = truth(*traced);
    if (out_.levels.empty() != out.variants.empty())
      fail(node.where, "has to have variants where there is code, and nowhere else");
    if (!out.variants.empty() && !out.variants.back().guard.empty())
      fail(node.where, "the last variant has to be without a guard");
    out_.entries.push_back(std::move(out));
  }

  void check_conditions(const Node& node, const std::vector<Debug>& debugs) {
    for (size_t d = 0; d < debugs.size(); ++d) {
      if (!debugs[d].is_condition) continue;
      const bool fits = debugs[d].elem == AXON_BOOL && d + 1 < debugs.size() && !debugs[d + 1].is_condition &&
                        debugs[d].shape.size() <= debugs[d + 1].shape.size();
      if (!fits) fail(node.where, "the condition of a debug does not fit");
    }
  }

  Port port(const Node& node) {
    Port out;
    out.path = string(node, "path");
    out.elem = elem(node);
    out.shape = shape(node);
    out.strides = dims(node, "strides");
    if (!out.strides.empty() && out.strides.size() != out.shape.size())
      fail(node.where, "has strides of another rank");
    return out;
  }
  Port input(const Node& node, Entry& entry) {
    Port out = port(node);
    out.kind = static_cast<axon_kind>(word(field(node, "kind"), {"weight", "argument", "state", "size"}));
    for (const Port& other : entry.inputs)
      if (other.path == out.path) fail(node.where, text("input ", printable(out.path), " twice"));
    if (out.kind == AXON_SIZE && (out.elem != AXON_I64 || !out.shape.empty()))
      fail(node.where, "a size is a scalar i64");
    if (out.kind != AXON_WEIGHT) return out;
    if (!out.strides.empty()) fail(node.where, "the strides of a weight are chosen by its placement");
    entry.has_weights = true;
    out.weight = number(node, "weight", out_.weights.size());
    if (out.weight >= out_.weights.size()) return out;
    const Weight& weight = out_.weights[out.weight];
    if (weight.elem != out.elem || weight.rank != out.shape.size())
      fail(node.where, "does not agree with its weight");
    return out;
  }
  Port result(const Node& node, const Entry& entry) {
    Port out = port(node);
    out.kind = AXON_RESULT;
    out.room = find(node, "room") ? dims(node, "room") : out.shape;
    if (out.room.size() != out.shape.size()) fail(node.where, "has room for another rank");
    if (!find(node, "state")) return out;
    const uint32_t state = number(node, "state", entry.inputs.size());
    if (state >= entry.inputs.size()) return out;
    out.state = static_cast<int32_t>(state);
    const Port& input = entry.inputs[state];
    if (input.kind != AXON_STATE || input.elem != out.elem || input.shape.size() != out.shape.size())
      fail(node.where, "does not agree with its state");
    return out;
  }

  Size size(const Node& node, const Entry& entry, uint64_t& known) {
    Size out;
    out.name = string(node, "name");
    const size_t position = entry.sizes.size();
    if (known >> position & 1) fail(node.where, text("size ", printable(out.name), " twice"));
    out.from = static_cast<axon_size_from>(
        word(field(node, "from"), {"parameter", "axis", "scalar", "data", "stride"}));
    if (const Node* integer = find(node, "integer")) {
      out.integer = truth(*integer);
      if (out.integer && out.from != AXON_FROM_SCALAR) fail(node.where, "only a scalar is no size");
    }
    if (out.from == AXON_FROM_DATA) {
      out.equation = dim(node, "bound");
      out.unbounded = out.equation.str() == out.name;
      if (!out.unbounded && (out.equation.mask() & ~known))
        fail(node.where, "the bound of a size must read earlier ones only");
    } else if (out.from != AXON_FROM_PARAMETER) {
      out.input = number(node, "input", entry.inputs.size());
    }
    if (!failure_ && out.from == AXON_FROM_SCALAR && entry.inputs[out.input].kind != AXON_SIZE)
      fail(node.where, "does not come from a size");
    if (!failure_ && out.from == AXON_FROM_STRIDE && entry.inputs[out.input].strides.empty())
      fail(node.where, "comes from an input without strides");
    if (!failure_ && (out.from == AXON_FROM_AXIS || out.from == AXON_FROM_STRIDE)) {
      out.axis = number(node, "axis", entry.inputs[out.input].shape.size());
      out.equation = dim(node, "equation");
      if (find(node, "power")) out.power = number(node, "power", limits::power + 1);
      if (out.power == 0) fail(node.where, "the power of a size is at least 1");
      if (!out.equation.reads(position) || (out.equation.mask() & ~known & ~(uint64_t{1} << position)))
        fail(node.where, "the equation must read this size and earlier ones only");
    }
    known |= uint64_t{1} << position;
    return out;
  }

  Fact fact(const Node& node) {
    static constexpr Relation relations[] = {Relation::equal, Relation::not_equal, Relation::at_most,
                                             Relation::less};
    return {dim(node, "lhs"), relations[word(field(node, "relation"), {"==", "!=", "<=", "<"})],
            dim(node, "rhs")};
  }
  Check check(const Node& node, const Entry& entry) {
    Check out;
    out.message = string(node, "message");
    if (!find(node, "input")) {
      out.fact = fact(node);
      return out;
    }
    out.input = number(node, "input", entry.inputs.size());
    out.bound = dim(node, "bound");
    if (failure_) return out;
    const Port& input = entry.inputs[out.input];
    if (input.kind == AXON_WEIGHT || !is_integer(static_cast<Elem>(input.elem)))
      fail(node.where, "only integer arguments have their elements checked");
    return out;
  }

  Buffer buffer(const Node& node, const Entry& entry, size_t slots) {
    static constexpr axon_kind kinds[] = {AXON_WEIGHT, AXON_ARGUMENT, AXON_STATE};
    const uint32_t kind = word(field(node, "kind"), {"weight", "argument", "state", "result", "slot"});
    if (kind == 4) return {Buffer::Kind::slot, number(node, "index", slots)};
    if (kind == 3) {
      const uint32_t index = number(node, "index", entry.results.size());
      if (index < entry.results.size() && entry.results[index].state >= 0) fail(node.where, "is a state");
      return {Buffer::Kind::result, index};
    }
    const uint32_t index = number(node, "index", entry.inputs.size());
    if (index >= entry.inputs.size()) return {};
    const axon_kind actual = entry.inputs[index].kind;
    if (actual != kinds[kind] && !(actual == AXON_SIZE && kinds[kind] == AXON_ARGUMENT))
      fail(node.where, "is not of that kind");
    return {Buffer::Kind::input, index};
  }

  Variant variant(const Node& node, const Entry& entry) {
    Variant out;
    out.symbol = string(node, "symbol");
    for (const Node& item : list(node, "guard")) out.guard.push_back(fact(item));
    for (const Node& item : list(node, "slots")) {
      Slot slot{dim(item, "bytes"), {}};
      for (const Node& below : list(item, "above")) slot.above.push_back(number(below, out.slots.size()));
      out.slots.push_back(std::move(slot));
    }
    for (const Node& item : list(node, "buffers"))
      out.buffers.push_back(buffer(item, entry, out.slots.size()));
    out.event_offset = dims(node, "event_offset");
    for (const Node& item : list(node, "event_names")) out.event_names.push_back(string(item));
    if (!out.event_names.empty() && out.event_names.size() != out.event_offset.size())
      fail(node.where, "event names and offsets differ in number");
    for (const Node& item : list(node, "debug_buffers")) {
      const bool none = item.value->is_number_integer() && *item.value == -1;
      out.debug_buffers.push_back(none ? -1 : static_cast<int32_t>(number(item, out.buffers.size())));
    }
    if (out.debug_buffers.size() != entry.debugs.size())
      fail(node.where, "one debug buffer per debug is needed");
    out.event_words = dim(node, "event_words");
    out.scratch = dim(node, "scratch");
    out.iterations = dim(node, "iterations");
    out.work = dim(node, "work");
    out.handoffs = dim(node, "handoffs");
    for (const Node& item : list(node, "kernels"))
      out.kernels.push_back({string(item, "symbol"), string(item, "name"), dim(item, "work")});
    return out;
  }

  Manifest out_;
  Node node_;  ///< what find() found last
  std::vector<std::string> names_;
  Status failure_;
};

}  // namespace

const char* relation_text(Relation relation) {
  switch (relation) {
    case Relation::equal:
      return "==";
    case Relation::not_equal:
      return "!=";
    case Relation::at_most:
      return "<=";
    case Relation::less:
      return "<";
  }
  return "?";
}

bool holds(Wide lhs, Relation relation, Wide rhs) {
  switch (relation) {
    case Relation::equal:
      return lhs == rhs;
    case Relation::not_equal:
      return lhs != rhs;
    case Relation::at_most:
      return lhs <= rhs;
    case Relation::less:
      return lhs < rhs;
  }
  return false;
}

Result<Manifest> read_manifest(weights::Bytes bytes) {
  auto root = parse_json(bytes);
  if (!root) return root.failure();
  return Reader().run(*root);
}

void point_to_shapes(Manifest& manifest) {
  for (Entry& entry : manifest.entries)
    for (auto* ports : {&entry.inputs, &entry.results})
      for (Port& port : *ports) {
        port.shape_text.clear();
        for (const Dim& dim : port.shape) port.shape_text.push_back(dim.str().c_str());
        port.stride_text.clear();
        for (const Dim& dim : port.strides) port.stride_text.push_back(dim.str().c_str());
      }
}

}  // namespace axon::host
