#include "executors.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <limits>
#include <set>

#include "source/render.h"
#include "target/machine.h"
#include "task/simulate.h"
#include "tile_programs.h"

namespace axon::differential {

using base::Elem;

// ---- compiling ----

Compiled::Compiled(const std::string& source, CompileOptions options, const std::string& last,
                   const std::string& name) {
  options.library = {AXON_SOURCE_DIR "/stdlib"};
  compilation_ = std::make_unique<Compilation>(std::move(options));
  Compilation& c = *compilation_;
  c.file = c.sources.add(name, source, c.diagnostics);
  for (const Stage& stage : stages()) {
    try {
      stage.run(c);
    } catch (const std::exception& internal) {  // reported like an error, with the program
      error_ = internal.what();
      return;
    }
    if (c.diagnostics.has_errors()) break;
    if (std::string_view(stage.name) == "graph")
      for (const CompiledEntry& e : c.entries) meanings_.emplace(e.name, e.graph);
    if (last == stage.name) break;
  }
  if (c.diagnostics.has_errors()) error_ = source::render_short(c.diagnostics, c.sources);
}

Compiled::~Compiled() = default;

const CompiledEntry& Compiled::entry(const std::string& name) const {
  for (const CompiledEntry& e : compilation_->entries)
    if (e.name == name) return e;
  std::abort();
}

namespace {

using Shape = std::vector<shape::Dim>;

/// The shapes of the tensors of a type, from left to right. `lead`: the axes of the stacks around.
void shapes_of(const core::TypeStore& types, core::TypeId id, Shape lead, std::vector<Shape>& found) {
  const core::Type& type = types.types[id];
  if (type.kind == core::Type::Kind::tensor) {
    for (const core::ShapeItem& item : type.shape) lead.push_back(item.dim);
    return found.push_back(std::move(lead));
  }
  if (type.kind == core::Type::Kind::stack) lead.push_back(type.count);
  for (core::TypeId item : type.items) shapes_of(types, item, lead, found);
}

}  // namespace

std::string Compiled::shape_difference(const std::string& name, const Inputs& inputs,
                                       const Outcome& outcome) const {
  const core::Program& program = *compilation_->core;
  const core::Scheme& scheme = program.globals[program.find(name)].scheme;
  const core::Type& fn = program.types.types[scheme.type];
  std::vector<Shape> stated;
  shapes_of(program.types, fn.kind == core::Type::Kind::function ? fn.items.back() : scheme.type, {}, stated);
  if (stated.size() != outcome.results.size()) return "has another number of results than its type";
  std::string error;
  const auto solved = graph::solve_sizes(meaning(name), inputs, {}, error);
  if (!solved) return "";
  shape::Assignment sizes;
  for (shape::Var v : scheme.dims)
    for (const graph::Size& s : meaning(name).sizes)
      if (s.from != graph::Size::From::data && s.name == shape::var_name(v)) sizes[v] = solved->at(s.var);
  for (size_t r = 0; r < stated.size(); ++r) {
    const std::vector<int64_t>& shape = outcome.results[r].shape;
    if (stated[r].size() != shape.size()) return fmt::format("result {} has another rank than its type", r);
    for (size_t a = 0; a < shape.size(); ++a)
      if (const auto size = stated[r][a].evaluate(sizes); size.value_or(shape[a]) != shape[a])
        return fmt::format("result {} has {} elements on axis {}, its type says {} = {}", r, shape[a], a,
                           stated[r][a].str(), *size);
  }
  return "";
}

Outcome Compiled::interpret(const std::string& entry, const Inputs& inputs,
                            graph::Precision precision) const {
  return graph::interpret(meaning(entry), inputs, {}, precision);
}

Outcome Compiled::simulate(const std::string& name, const Inputs& inputs, uint64_t seed) const {
  const CompiledEntry& compiled = entry(name);
  Outcome failed;
  const auto sizes = graph::solve_sizes(compiled.graph, inputs, {}, failed.error);
  if (!sizes) return failed;
  const auto& variants = compiled.plan.variants;
  const plan::Variant& variant = *std::find_if(variants.begin(), variants.end(), [&](const plan::Variant& v) {
    return std::all_of(v.program.guard.begin(), v.program.guard.end(),
                       [&](const shape::Fact& f) { return holds(f, *sizes).value(); });
  });
  task::SimulateOptions options;
  options.seed = seed;
  for (const plan::Slot& slot : variant.slots) options.arena.push_back({slot.buffer, slot.above});
  TilePrograms& tiles = tiles_of(compiled, variant, seed);
  options.body = [&](task::TaskTypeId type, const shape::Assignment& values, task::BodyMemory& memory) {
    return tiles.run(type, values, memory);
  };
  Outcome outcome = task::simulate(variant.program, inputs, {}, options);
  if (outcome.error.empty()) outcome.error = tiles.unproved();
  return outcome;
}

TilePrograms& Compiled::tiles_of(const CompiledEntry& compiled, const plan::Variant& variant,
                                 uint64_t seed) const {
  const tile::Machine machine = machine_of(seed);
  auto& tiles = tiles_[{variant.symbol, machine.name}];
  if (!tiles) tiles = std::make_unique<TilePrograms>(variant.program, compiled.graph, machine);
  return *tiles;
}

uint64_t Compiled::tile_tasks() const {
  uint64_t sum = 0;
  for (const auto& [key, tiles] : tiles_) sum += tiles->tasks();
  return sum;
}

// ---- tensors in memory ----

namespace {

/// Bytes of one value; floats are already rounded to their type, so no conversion here rounds.
class Bytes {
 public:
  explicit Bytes(const graph::Tensor& t) : shape_(t.shape), elem_(t.elem) {
    data_.resize(static_cast<size_t>(t.count()) * static_cast<size_t>(base::elem_bytes(elem_)) + 1);
    for (size_t i = 0; i < static_cast<size_t>(t.count()); ++i) put(t, i);
  }
  axon_view view() {
    return {data_.data(), elem_of(elem_), static_cast<int32_t>(shape_.size()), shape_.data()};
  }

  static graph::Tensor read(const axon_view& view) {
    graph::Tensor t;
    t.elem = *base::elem_from_name(axon_elem_name(view.elem));
    t.shape.assign(view.shape, view.shape + view.rank);
    for (size_t i = 0; i < static_cast<size_t>(t.count()); ++i) get(view.data, i, t);
    return t;
  }

 private:
  static axon_elem elem_of(Elem e) {
    int n = 0;
    while (base::elem_name(e) != axon_elem_name(static_cast<axon_elem>(n))) ++n;
    return static_cast<axon_elem>(n);
  }
  template <class T, class V>
  void store(size_t i, V value) {
    const T converted = static_cast<T>(value);
    std::memcpy(data_.data() + i * sizeof(T), &converted, sizeof(T));
  }
  template <class T>
  static T load(const void* data, size_t i) {
    T value;
    std::memcpy(&value, static_cast<const uint8_t*>(data) + i * sizeof(T), sizeof(T));
    return value;
  }
  void put(const graph::Tensor& t, size_t i) {
    switch (elem_) {
      case Elem::f64:
        return store<double>(i, t.floats[i]);
      case Elem::f32:
        return store<float>(i, t.floats[i]);
      case Elem::f16:
        return store<_Float16>(i, t.floats[i]);
      case Elem::bf16: {
        const float wide = static_cast<float>(t.floats[i]);
        uint32_t bits;
        std::memcpy(&bits, &wide, sizeof bits);
        return store<uint16_t>(i, bits >> 16);
      }
      case Elem::f8e4m3:
      case Elem::f8e5m2:
        std::abort();  // no generated program has them
#define INTEGER(name, number, stored, npy, safetensors) \
  case Elem::name:                                      \
    return store<stored>(i, t.integers[i]);
#define TRUTH(name, number, text, stored, npy, safetensors) INTEGER(name, number, stored, npy, safetensors)
#include "host/elems.def"
    }
  }
  static void get(const void* data, size_t i, graph::Tensor& t) {
    switch (t.elem) {
      case Elem::f64:
        t.floats.push_back(load<double>(data, i));
        break;
      case Elem::f32:
        t.floats.push_back(load<float>(data, i));
        break;
      case Elem::f16:
        t.floats.push_back(static_cast<double>(load<_Float16>(data, i)));
        break;
      case Elem::bf16: {
        const uint32_t bits = static_cast<uint32_t>(load<uint16_t>(data, i)) << 16;
        float wide;
        std::memcpy(&wide, &bits, sizeof wide);
        t.floats.push_back(wide);
        break;
      }
      case Elem::f8e4m3:
      case Elem::f8e5m2:
        std::abort();
#define INTEGER(name, number, stored, npy, safetensors) \
  case Elem::name:                                      \
    return t.integers.push_back(load<stored>(data, i));
#define TRUTH(name, number, text, stored, npy, safetensors) INTEGER(name, number, stored, npy, safetensors)
#include "host/elems.def"
    }
  }

  std::vector<uint8_t> data_;
  std::vector<int64_t> shape_;
  Elem elem_;
};

/// The memory of a tensor as a caller has it: with the strides that it states, and other bytes in the gaps,
/// which have to be there after a run.
class Memory {
 public:
  explicit Memory(const graph::Tensor& t) : dense_(t), shape_(t.shape), strides_(t.strides) {
    if (strides_.empty()) return;
    view_ = dense_.view();
    bytes_ = axon_elem_bytes(view_.elem);
    int64_t low = 0, high = 0;
    for (size_t a = 0; a < shape_.size(); ++a)
      (strides_[a] < 0 ? low : high) += std::max<int64_t>(shape_[a] - 1, 0) * strides_[a];
    const size_t before = bytes_ * static_cast<size_t>(margin - low);
    memory_.assign(before + bytes_ * static_cast<size_t>(high + 1 + margin), gap);
    first_ = memory_.data() + before;
    each(t.count(), [&](size_t i, int64_t at) {
      std::memcpy(element(at), static_cast<const uint8_t*>(view_.data) + i * bytes_, bytes_);
    });
    view_.data = first_;
  }
  axon_view view() { return strides_.empty() ? dense_.view() : view_; }
  const int64_t* strides() const { return strides_.empty() ? nullptr : strides_.data(); }

  /// What is there now; `changed`: whether a byte is other than it was that is no element's.
  graph::Tensor read(bool& changed) {
    if (strides_.empty()) return Bytes::read(dense_.view());
    axon_view rows = dense_.view();
    int64_t count = 1;
    for (const int64_t extent : shape_) count *= extent;
    std::vector<uint8_t> gaps = memory_;
    each(count, [&](size_t i, int64_t at) {
      std::memcpy(static_cast<uint8_t*>(rows.data) + i * bytes_, element(at), bytes_);
      std::memset(gaps.data() + (element(at) - memory_.data()), gap, bytes_);
    });
    changed = std::any_of(gaps.begin(), gaps.end(), [](uint8_t byte) { return byte != gap; });
    return Bytes::read(rows);
  }

  /// A result with strides.
  static graph::Tensor read(const axon_view& view, const std::vector<int64_t>& strides) {
    graph::Tensor shape;
    shape.shape.assign(view.shape, view.shape + view.rank);
    const size_t bytes = axon_elem_bytes(view.elem);
    std::vector<uint8_t> dense(bytes * static_cast<size_t>(shape.count()) + 1);
    for (int64_t i = 0; i < shape.count(); ++i)
      std::memcpy(dense.data() + static_cast<size_t>(i) * bytes,
                  static_cast<const uint8_t*>(view.data) +
                      offset(shape.shape, strides, i) * static_cast<int64_t>(bytes),
                  bytes);
    axon_view rows = view;
    rows.data = dense.data();
    return Bytes::read(rows);
  }

 private:
  static constexpr uint8_t gap = 0x5a;
  static constexpr int64_t margin = 3;  ///< elements around it
  static int64_t offset(const std::vector<int64_t>& shape, const std::vector<int64_t>& strides, int64_t i) {
    int64_t sum = 0;
    for (size_t a = shape.size(); a-- > 0; i /= shape[a]) sum += i % shape[a] * strides[a];
    return sum;
  }
  template <class Function>
  void each(int64_t count, const Function& f) const {
    for (int64_t i = 0; i < count; ++i) f(static_cast<size_t>(i), offset(shape_, strides_, i));
  }
  uint8_t* element(int64_t at) const { return first_ + at * static_cast<int64_t>(bytes_); }

  Bytes dense_;
  std::vector<int64_t> shape_, strides_;
  std::vector<uint8_t> memory_;
  uint8_t* first_ = nullptr;
  size_t bytes_ = 0;
  axon_view view_{};
};

/// Runtimes are kept: making threads costs more than most of the programs.
axon_runtime* runtime_with(uint32_t workers) {
  static std::map<uint32_t, std::unique_ptr<axon_runtime, decltype(&axon_runtime_destroy)>> made;
  if (const auto found = made.find(workers); found != made.end()) return found->second.get();
  axon_runtime* runtime = nullptr;
  axon_runtime_create(workers, &runtime, nullptr);
  axon_runtime_set_watchdog(runtime, 60);
  made.emplace(workers,
               std::unique_ptr<axon_runtime, decltype(&axon_runtime_destroy)>(runtime, axon_runtime_destroy));
  return runtime;
}

}  // namespace

// ---- native ----

Loaded::Loaded(const Compiled& compiled, const std::map<std::string, Inputs>& inputs,
               const std::string& level)
    : compiled_(compiled), failure_(axon_error_create()) {
  if (level.empty())
    unsetenv("AXON_LEVEL");
  else
    setenv("AXON_LEVEL", level.c_str(), 1);
  const std::string& bytes = compiled.compilation().bundle;
  if (axon_open_memory(bytes.data(), bytes.size(), &bundle_, failure_) != AXON_OK) {
    error_ = axon_error_text(failure_);
    return;
  }
  std::vector<const char*> names;
  std::vector<Bytes> arrays;
  std::set<std::string> bound;  // entries share weights by path
  for (const auto& [entry, tensors] : inputs) {
    const auto& declared = compiled.entry(entry).graph.inputs;
    for (size_t i = 0; i < declared.size(); ++i) {
      if (declared[i].kind != graph::InputKind::weight || !bound.insert(declared[i].path).second) continue;
      names.push_back(declared[i].path.c_str());
      arrays.emplace_back(tensors[i]);
    }
  }
  std::vector<axon_view> views;
  for (Bytes& array : arrays) views.push_back(array.view());
  if (axon_bind_arrays(bundle_, names.data(), views.data(), views.size(), nullptr, &parameters_, failure_) !=
      AXON_OK)
    error_ = axon_error_text(failure_);
}

Loaded::~Loaded() {
  axon_parameters_destroy(parameters_);
  axon_bundle_destroy(bundle_);
  axon_error_destroy(failure_);
}

/// One call of an entry: inputs set once, states given anew before each launch.
class Call {
 public:
  Call(axon_bundle* bundle, const graph::Graph& graph, axon_parameters* parameters, uint32_t workers,
       axon_error* failure)
      : graph_(graph), failure_(failure) {
    made_ = check(
        axon_call_create(bundle, graph.name.c_str(), parameters, runtime_with(workers), &call_, failure));
  }
  ~Call() { axon_call_destroy(call_); }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  /// A launch that fails says so, and another may follow it.
  Outcome launch(const Inputs& inputs) {
    error_ = made_ ? "" : error_;
    std::deque<Memory> memory;
    for (size_t i = 0; i < inputs.size(); ++i) {
      memory.emplace_back(inputs[i]);
      if (error_.empty()) set(i, inputs[i], memory[i]);
    }
    Outcome outcome;
    if (error_.empty()) check(axon_call_run(call_, failure_));
    for (size_t r = 0; error_.empty() && r < graph_.results.size(); ++r) {
      axon_view view{};
      std::vector<int64_t> strides(AXON_MAX_RANK);
      if (check(axon_call_result(call_, r, &view, failure_)) &&
          check(axon_call_result_strides(call_, r, strides.data(), failure_)))
        outcome.results.push_back(Memory::read(view, strides));
    }
    for (size_t i = 0; error_.empty() && i < inputs.size(); ++i) {
      bool changed = false;
      graph::Tensor now = memory[i].read(changed);
      if (graph_.inputs[i].kind == graph::InputKind::state) outcome.states.push_back(std::move(now));
      if (changed)
        error_ = fmt::format("memory between the elements of `{}` was written", graph_.inputs[i].path);
    }
    outcome.error = error_;
    return outcome;
  }

 private:
  bool check(axon_status status) {
    if (status != AXON_OK && error_.empty()) error_ = axon_error_text(failure_);
    return status == AXON_OK;
  }
  void set(size_t i, const graph::Tensor& value, Memory& memory) {
    const axon_view view = memory.view();
    const char* path = graph_.inputs[i].path.c_str();
    switch (graph_.inputs[i].kind) {
      case graph::InputKind::weight:
        return;  // bound to the bundle
      case graph::InputKind::scalar_size:
        check(axon_call_set_int(call_, path, value.integers[0], failure_));
        return;
      case graph::InputKind::argument:
      case graph::InputKind::state:
        check(memory.strides() ? axon_call_set_strided(call_, path, &view, memory.strides(), failure_)
                               : axon_call_set(call_, path, &view, failure_));
        return;
    }
  }

  const graph::Graph& graph_;
  axon_error* failure_;
  axon_call* call_ = nullptr;
  bool made_ = false;
  std::string error_;
};

Outcome Loaded::run(const std::string& entry, const Inputs& inputs, uint32_t workers, int launches) const {
  Call call(bundle_, compiled_.entry(entry).graph, parameters_, workers, failure_);
  Outcome first = call.launch(inputs);
  for (int n = 1; n < launches && first.error.empty(); ++n)
    if (const std::string d = first_bit_difference(call.launch(inputs), first); !d.empty())
      first.error = fmt::format("launch {} differs from the first: {}", n + 1, d);
  return first;
}

std::string Loaded::difference_in_turn(const std::string& entry, const std::vector<Inputs>& all,
                                       uint32_t workers, bool may_fail) const {
  Call call(bundle_, compiled_.entry(entry).graph, parameters_, workers, failure_);
  for (size_t n = 0; n < 2 * all.size(); ++n) {
    const Inputs& inputs = all[n % all.size()];
    const Outcome fresh = run(entry, inputs, 1), later = call.launch(inputs);
    if (!fresh.error.empty() && !may_fail) return fresh.error;
    const std::string d = first_bit_difference(later, fresh);
    if (!d.empty()) return fmt::format("launch {}: {}", n + 1, d);
    if (later.error != fresh.error)
      return fmt::format("launch {}: the error is `{}`, not `{}`", n + 1, later.error, fresh.error);
  }
  return "";
}

std::vector<std::string> levels_of_this_machine() {
  std::vector<std::string> names;
  for (const target::Machine& level : target::machines()) {
    names.emplace_back(level.name);
    if (level.name == target::native_machine().name) break;
  }
  return names;
}

CompileOptions for_levels(std::vector<std::string> levels) {
  CompileOptions options;
  options.levels = levels.empty() ? std::vector{levels_of_this_machine().back()} : std::move(levels);
  return options;
}

// ---- comparing ----

namespace {

double unit_roundoff(Elem e) {
  switch (e) {
    case Elem::f64:
      return 0x1p-49;  // see first_difference
    case Elem::f16:
      return 0x1p-11;
    case Elem::bf16:
      return 0x1p-8;
    default:
      return 0x1p-24;
  }
}

std::string place_of(const graph::Tensor& t, size_t flat) {
  std::vector<int64_t> index(t.shape.size());
  for (size_t a = t.shape.size(); a-- > 0;) {
    index[a] = static_cast<int64_t>(flat) % t.shape[a];
    flat /= static_cast<size_t>(t.shape[a]);
  }
  std::string text = "[";
  for (size_t a = 0; a < index.size(); ++a) text += (a ? ", " : "") + std::to_string(index[a]);
  return text + "]";
}

std::string shape_of(const graph::Tensor& t) {
  std::string text = std::string(base::elem_name(t.elem)) + "[";
  for (size_t a = 0; a < t.shape.size(); ++a) text += (a ? ", " : "") + std::to_string(t.shape[a]);
  return text + "]";
}

bool same_kind(double a, double b) {
  return std::isnan(b) ? std::isnan(a) : std::isinf(b) ? a == b : std::isfinite(a);
}

std::string difference(const graph::Tensor& got, const graph::Tensor& meaning, const graph::Tensor& storage) {
  if (got.elem != meaning.elem || got.shape != meaning.shape)
    return fmt::format("is {}, not {}", shape_of(got), shape_of(meaning));
  for (size_t i = 0; i < meaning.integers.size(); ++i)
    if (got.integers[i] != meaning.integers[i])
      return fmt::format("at {} is {}, not {}", place_of(got, i), got.integers[i], meaning.integers[i]);
  double error = 0;
  for (size_t i = 0; i < meaning.floats.size(); ++i)
    if (std::isfinite(meaning.floats[i]) && std::isfinite(storage.floats[i]))
      error = std::max(error, std::fabs(storage.floats[i] - meaning.floats[i]));
  const double unit = unit_roundoff(got.elem);
  for (size_t i = 0; i < meaning.floats.size(); ++i) {
    const double a = got.floats[i], b = meaning.floats[i];
    if (!same_kind(storage.floats[i], b)) continue;
    const double allowed = std::isfinite(b) ? unit * (64 + 64 * std::fabs(b)) + 8 * error : 0;
    if (!same_kind(a, b) || (std::isfinite(b) && std::fabs(a - b) > allowed))
      return fmt::format("{} at {} is {}, not {} (storage {}, allowed {:.3g})", shape_of(got),
                         place_of(got, i), a, b, storage.floats[i], allowed);
  }
  return "";
}

template <class Compare>
std::string over_results(const Outcome& a, const Outcome& b, const Compare& compare) {
  // Of several checks that fail, which one is told is the executor's choice.
  if (a.error.empty() != b.error.empty()) return fmt::format("ended with `{}`, not `{}`", a.error, b.error);
  if (!a.error.empty()) return "";
  if (a.results.size() != b.results.size() || a.states.size() != b.states.size())
    return "the number of results differs";
  for (size_t r = 0; r < a.results.size(); ++r)
    if (const std::string d = compare(r, false); !d.empty()) return fmt::format("result {} {}", r, d);
  for (size_t s = 0; s < a.states.size(); ++s)
    if (const std::string d = compare(s, true); !d.empty()) return fmt::format("state {} {}", s, d);
  return "";
}

}  // namespace

std::string first_difference(const Outcome& got, const Outcome& meaning, const Outcome& storage) {
  return over_results(got, meaning, [&](size_t i, bool state) {
    return state ? difference(got.states[i], meaning.states[i], storage.states[i])
                 : difference(got.results[i], meaning.results[i], storage.results[i]);
  });
}

std::string first_bit_difference(const Outcome& a, const Outcome& b) {
  return over_results(a, b, [&](size_t i, bool state) -> std::string {
    const graph::Tensor &x = state ? a.states[i] : a.results[i], &y = state ? b.states[i] : b.results[i];
    if (x.shape != y.shape || x.integers != y.integers) return "differs";
    for (size_t e = 0; e < x.floats.size(); ++e) {
      if (std::isnan(x.floats[e]) && std::isnan(y.floats[e])) continue;
      if (x.floats[e] != y.floats[e] || std::signbit(x.floats[e]) != std::signbit(y.floats[e]))
        return fmt::format("at {} is {:a}, not {:a}", place_of(x, e), x.floats[e], y.floats[e]);
    }
    return "";
  });
}

std::string disagreement(const Compiled& compiled, const std::vector<const Loaded*>& loaded,
                         const std::string& entry, const Inputs& inputs, uint64_t seed, bool may_fail) {
  const Outcome meaning = compiled.interpret(entry, inputs, graph::Precision::f64);
  if (!meaning.error.empty() && !may_fail) return "meaning: " + meaning.error;
  if (meaning.error.empty())
    if (const auto d = compiled.shape_difference(entry, inputs, meaning); !d.empty()) return d;
  const Outcome storage = compiled.interpret(entry, inputs, graph::Precision::storage);
  if (const auto d = first_difference(storage, meaning, storage); !d.empty()) return "storage: " + d;
  for (uint64_t order : {seed, seed + 1000})
    if (const auto d = first_difference(compiled.simulate(entry, inputs, order), meaning, storage);
        !d.empty())
      return fmt::format("simulated in order {}: {}", order, d);
  for (const Loaded* native : loaded) {
    const Outcome one = native->run(entry, inputs, 1);
    if (const auto d = first_difference(one, meaning, storage); !d.empty())
      return fmt::format("native {}: {}", native->level(), d);
    for (uint32_t workers : {2, 5})
      if (const auto d = first_bit_difference(native->run(entry, inputs, workers, 2), one); !d.empty())
        return fmt::format("native {} with {} workers against one: {}", native->level(), workers, d);
  }
  return "";
}

}  // namespace axon::differential
