#include "harness.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <mutex>
#include <random>
#include <thread>

#include "device/abi.h"
#include "graph/round.h"
#include "task/placements.h"
#include "task/storage.h"

namespace axon::testing {

using base::Elem;
using graph::Tensor;

// ---- linking ----

std::unique_ptr<Library> Library::link(const std::vector<std::string>& objects, std::string& error) {
  char folder[] = "/tmp/axon-module-XXXXXX";
  if (!mkdtemp(folder)) {
    error = "no temporary folder";
    return nullptr;
  }
  const std::string base = folder, output = base + "/code.so";
  std::string command = "ld.lld-19 -shared --no-undefined -o " + output;
  std::vector<std::string> inputs;
  for (const std::string& object : objects) {
    inputs.push_back(base + "/code" + std::to_string(inputs.size()) + ".o");
    std::ofstream(inputs.back(), std::ios::binary)
        .write(object.data(), static_cast<std::streamsize>(object.size()));
    command += " " + inputs.back();
  }
  auto library = std::make_unique<Library>();
  if (std::system(command.c_str()) != 0)
    error = "the linker failed";
  else if (!(library->handle_ = dlopen(output.c_str(), RTLD_NOW | RTLD_LOCAL)))
    error = dlerror();
  if (!std::getenv("AXON_KEEP_IMAGES")) {  // kept, a profiler finds their symbols
    for (const std::string& input : inputs) unlink(input.c_str());
    unlink(output.c_str());
    rmdir(folder);
  }
  return error.empty() ? std::move(library) : nullptr;
}

Library::~Library() {
  if (handle_) dlclose(handle_);
}

void* Library::find(const std::string& symbol) const { return dlsym(handle_, symbol.c_str()); }

Memory::Memory(size_t bytes, size_t alignment, End end) {
  const size_t page = 4096;
  const size_t rounded = (bytes + alignment - 1) / alignment * alignment;
  mapped_ = (rounded + page - 1) / page * page + 2 * page;
  base_ = static_cast<uint8_t*>(
      mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  mprotect(base_, page, PROT_NONE);
  mprotect(base_ + mapped_ - page, page, PROT_NONE);
  start_ = end == End::last ? base_ + mapped_ - page - rounded : base_ + page;
  std::memset(start_, 0xff, rounded);
}

Memory::~Memory() { munmap(base_, mapped_); }

namespace {

// ---- narrow formats, by search in round_to's own terms ----

uint32_t narrow_bits(Elem e, double value) {
  const int fraction = e == Elem::f16 ? 10 : e == Elem::bf16 ? 7 : e == Elem::f8e4m3 ? 3 : 2;
  const int exponent_bits = e == Elem::f16 ? 5 : e == Elem::bf16 ? 8 : e == Elem::f8e4m3 ? 4 : 5;
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const uint32_t sign = std::signbit(value) ? 1u << (fraction + exponent_bits) : 0;
  const uint32_t top = ((1u << exponent_bits) - 1) << fraction;
  value = graph::round_to(e, value);
  if (std::isnan(value)) return sign | (e == Elem::f8e4m3 ? 0x7fu : top | 1u << (fraction - 1));
  if (std::isinf(value)) return sign | top;
  const double magnitude = std::fabs(value);
  if (magnitude == 0) return sign;
  const int exponent = std::max(std::ilogb(magnitude), 1 - bias);
  const auto mantissa = static_cast<uint32_t>(std::ldexp(magnitude, fraction - exponent));
  return sign | (mantissa + (static_cast<uint32_t>(exponent + bias - 1) << fraction));
}

double narrow_value(Elem e, uint32_t bits) {
  const int fraction = e == Elem::f16 ? 10 : e == Elem::bf16 ? 7 : e == Elem::f8e4m3 ? 3 : 2;
  const int exponent_bits = e == Elem::f16 ? 5 : e == Elem::bf16 ? 8 : e == Elem::f8e4m3 ? 4 : 5;
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const bool negative = bits >> (fraction + exponent_bits) & 1;
  const int exponent = static_cast<int>(bits >> fraction) & ((1 << exponent_bits) - 1);
  const uint32_t mantissa = bits & ((1u << fraction) - 1);
  double magnitude;
  if (e == Elem::f8e4m3 && exponent == 15 && mantissa == 7)
    magnitude = std::nan("");
  else if (e != Elem::f8e4m3 && exponent == (1 << exponent_bits) - 1)
    magnitude = mantissa ? std::nan("") : std::numeric_limits<double>::infinity();
  else if (exponent == 0)
    magnitude = std::ldexp(mantissa, 1 - bias - fraction);
  else
    magnitude = std::ldexp(mantissa + (1u << fraction), exponent - bias - fraction);
  return negative ? -magnitude : magnitude;
}

template <class T>
void put(uint8_t* at, T value) {
  std::memcpy(at, &value, sizeof(T));
}
template <class T>
T get(const uint8_t* at) {
  T value;
  std::memcpy(&value, at, sizeof(T));
  return value;
}

}  // namespace

void write_element(uint8_t* at, Elem e, const Tensor& t, size_t i) {
  switch (e) {
    case Elem::f64:
      return put(at, t.floats[i]);
    case Elem::f32:
      return put(at, static_cast<float>(t.floats[i]));
    case Elem::f16:
    case Elem::bf16:
      return put(at, static_cast<uint16_t>(narrow_bits(e, t.floats[i])));
    case Elem::f8e4m3:
    case Elem::f8e5m2:
      return put(at, static_cast<uint8_t>(narrow_bits(e, t.floats[i])));
#define INTEGER(name, number, stored, npy, safetensors) \
  case Elem::name:                                      \
    return put(at, static_cast<stored>(t.integers[i]));
#define TRUTH(name, number, text, stored, npy, safetensors) INTEGER(name, number, stored, npy, safetensors)
#include "host/elems.def"
  }
}

void read_element(const uint8_t* at, Elem e, Tensor& t) {
  switch (e) {
    case Elem::f64:
      t.floats.push_back(get<double>(at));
      break;
    case Elem::f32:
      t.floats.push_back(get<float>(at));
      break;
    case Elem::f16:
    case Elem::bf16:
      t.floats.push_back(narrow_value(e, get<uint16_t>(at)));
      break;
    case Elem::f8e4m3:
    case Elem::f8e5m2:
      t.floats.push_back(narrow_value(e, get<uint8_t>(at)));
      break;
#define INTEGER(name, number, stored, npy, safetensors) \
  case Elem::name:                                      \
    return t.integers.push_back(get<stored>(at));
#define TRUTH(name, number, text, stored, npy, safetensors) INTEGER(name, number, stored, npy, safetensors)
#include "host/elems.def"
  }
}

namespace {

int64_t count_of(const std::vector<int64_t>& shape) {
  int64_t n = 1;
  for (int64_t d : shape) n *= d;
  return n;
}

std::vector<shape::Dim> dims_of(const std::vector<int64_t>& shape) { return {shape.begin(), shape.end()}; }

/// The element number of flat index i of a tensor in a buffer's placement.
size_t stored_at(const task::Placement& placement, const std::vector<int64_t>& shape, size_t i) {
  if (placement.is_row_major()) return i;
  std::vector<shape::Dim> index(shape.size());
  for (size_t a = shape.size(), rest = i; a-- > 0; rest /= static_cast<size_t>(shape[a]))
    index[a] = static_cast<int64_t>(rest % static_cast<size_t>(shape[a]));
  return static_cast<size_t>(*layout::offset_of(placement, dims_of(shape), index).constant());
}

size_t stored_count(const task::Placement& placement, const std::vector<int64_t>& shape) {
  return static_cast<size_t>(*layout::elements_of(placement, dims_of(shape)).constant());
}

double processor_seconds() {
  timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

void wait_service(const axon_kernel_context*, const uint32_t*, uint32_t) { sched_yield(); }
void wake_service(const axon_kernel_context*, const uint32_t*) {}
void debug_service(const axon_kernel_context*, uint32_t) {}

std::atomic<uint64_t> clock_looks{0};
std::mutex notes_mutex;
std::vector<TaskNote> notes;
uint64_t now_service() { return ++clock_looks; }
uint64_t trace_service(const axon_kernel_context*, uint32_t worker, uint32_t kernel, int64_t first,
                       int64_t count, uint64_t begin) {
  const std::lock_guard lock(notes_mutex);
  notes.push_back({worker, kernel, first, count, begin, now_service()});
  return notes.back().end;
}

}  // namespace

// ---- compiling ----

Native::Native(const std::string& text, const RunOptions& options) : options_(options) {
  auto parsed = graph::parse(text, error_);
  if (!parsed) return;
  graph_ = std::make_unique<graph::Graph>(std::move(*parsed));
  build();
}

Native::Native(graph::Graph g, const RunOptions& options)
    : options_(options), graph_(std::make_unique<graph::Graph>(std::move(g))) {
  build();
}

void Native::build() {
  for (const std::string& fault : graph::verify(*graph_)) error_ += fault + "\n";
  if (!error_.empty()) return;
  task::insert_copies(*graph_);
  const auto chosen = task::choose_placements({graph_.get()}, options_.tiling.panel_columns);
  task::Program program =
      task::from_graph(*graph_, task::placements_of(*graph_, chosen), options_.guard, options_.tiling);
  task::derive_events(program);
  plan_.graph = graph_.get();
  plan_.variants.push_back(plan::from_task(std::move(program), "test_0", plan::Schedule::events));
  const target::Machine level =
      options_.level.empty() ? target::native_machine() : *target::find_machine(options_.level);
  const auto objects = module::emit_objects({&plan_}, {&level}, options_.emit, error_);
  if (!objects) return;
  scratch_bytes_ = objects->scratch_bytes.front();
  library_ = Library::link(objects->of_level.front(), error_);
}

// ---- running ----

NativeOutcome Native::run(const std::vector<Tensor>& inputs, const shape::Assignment& parameters) {
  NativeOutcome outcome;
  const auto sizes = graph::solve_sizes(*graph_, inputs, parameters, outcome.error);
  if (!sizes) return outcome;
  const plan::Variant& variant = plan_.variants[0];
  const task::Program& p = variant.program;
  const auto value = [&](const shape::Dim& d) { return d.evaluate(*sizes).value(); };

  std::vector<std::unique_ptr<Memory>> memory;
  std::vector<void*> buffers(p.buffers.size());
  std::vector<std::vector<int64_t>> shapes(p.buffers.size());
  for (uint32_t n = 0; n < p.buffers.size(); ++n) {
    const task::Buffer& buffer = p.buffers[task::BufferId{n}];
    for (const auto& d : buffer.shape) shapes[n].push_back(value(d));
    if (buffer.kind == task::Buffer::Kind::temporary) continue;
    const auto bytes = static_cast<size_t>(base::elem_bytes(buffer.elem));
    memory.push_back(std::make_unique<Memory>(stored_count(buffer.placement, shapes[n]) * bytes, bytes));
    buffers[n] = memory.back()->start();
    const bool given = buffer.kind != task::Buffer::Kind::result;
    if (!given) continue;
    auto* start = static_cast<uint8_t*>(buffers[n]);
    if (!buffer.placement.is_row_major())
      std::memset(start, 0, stored_count(buffer.placement, shapes[n]) * bytes);
    const Tensor& t = inputs[buffer.index];
    for (size_t i = 0; i < static_cast<size_t>(t.count()); ++i)
      write_element(start + stored_at(buffer.placement, shapes[n], i) * bytes, buffer.elem, t, i);
  }
  std::vector<size_t> slot_begin, slot_end;
  for (const auto& slot : variant.slots) {
    size_t begin = 0;
    for (const uint32_t below : slot.above) begin = std::max(begin, slot_end[below]);
    slot_begin.push_back(begin);
    slot_end.push_back(begin + (static_cast<size_t>(value(slot.bytes)) + 63) / 64 * 64);
  }
  const size_t arena = slot_end.empty() ? 0 : *std::max_element(slot_end.begin(), slot_end.end());
  memory.push_back(std::make_unique<Memory>(arena, 64));
  for (size_t s = 0; s < variant.slots.size(); ++s)
    buffers[variant.slots[s].buffer.index] = memory.back()->start() + slot_begin[s];
  std::vector<int64_t> size_table, event_offset;
  for (const auto& s : graph_->sizes) size_table.push_back(sizes->at(s.var));
  for (const auto& d : variant.event_offset) event_offset.push_back(value(d));
  std::vector<uint32_t> events(static_cast<size_t>(value(variant.event_words)) + 1, options_.epoch);
  const auto scratch_bytes = static_cast<size_t>(value(scratch_bytes_));
  std::vector<uint8_t*> scratch;
  for (int w = 0; w < options_.workers; ++w) {
    memory.push_back(std::make_unique<Memory>(scratch_bytes, 64));
    scratch.push_back(memory.back()->start());
  }
  uint32_t cancel = 0;
  const uint32_t sleepers = 0;
  const axon_services services{wait_service,  wake_service, &sleepers,
                               debug_service, now_service,  trace_service};
  notes.clear();
  axon_kernel_context context{};
  context.sizes = size_table.data();
  context.buffers = buffers.data();
  context.events = events.data();
  context.event_offset = event_offset.data();
  context.epoch = options_.epoch;
  context.workers = static_cast<uint32_t>(options_.workers);
  context.scratch = scratch.data();
  context.scratch_bytes = scratch_bytes;
  context.failed = &outcome.failed;
  context.failed_value = outcome.failed_value;
  context.cancel = &cancel;
  context.services = &services;
  const auto kernel = reinterpret_cast<axon_kernel>(library_->find(variant.symbol));
  for (int launch = 0; launch < options_.launches; ++launch) {
    const double begin = processor_seconds();
    std::vector<std::thread> threads;
    for (int w = 1; w < options_.workers; ++w)
      threads.emplace_back(kernel, &context, static_cast<uint32_t>(w));
    kernel(&context, 0);
    for (auto& t : threads) t.join();
    outcome.seconds = std::min(outcome.seconds, processor_seconds() - begin);
    context.epoch += static_cast<uint32_t>(value(variant.iterations)) + 1;
  }
  outcome.notes = notes;
  const auto read = [&](const task::Place& place) {
    const task::Buffer& buffer = p.buffers[place.buffer];
    Tensor t;
    t.elem = buffer.elem;
    t.shape = shapes[place.buffer.index];
    int64_t skipped = 0;
    if (place.slot) {
      t.shape.erase(t.shape.begin());
      skipped = value(*place.slot) * count_of(t.shape);
    }
    const auto* start = static_cast<const uint8_t*>(buffers[place.buffer.index]);
    for (int64_t i = 0; i < count_of(t.shape); ++i)
      read_element(start + stored_at(buffer.placement, t.shape, static_cast<size_t>(skipped + i)) *
                               static_cast<size_t>(base::elem_bytes(buffer.elem)),
                   buffer.elem, t);
    return t;
  };
  for (const auto& result : graph_->results) outcome.results.push_back(read(p.place(result.value)));
  for (uint32_t n = 0; n < p.buffers.size(); ++n)
    if (p.buffers[task::BufferId{n}].kind == task::Buffer::Kind::state)
      outcome.states.push_back(read({task::BufferId{n}, std::nullopt}));
  return outcome;
}

// ---- comparing ----

Tensor random_tensor(Elem elem, std::vector<int64_t> shape, uint32_t seed, int64_t limit) {
  Tensor t;
  t.elem = elem;
  t.shape = std::move(shape);
  std::mt19937 random(seed);
  for (int64_t i = 0; i < t.count(); ++i) {
    if (base::is_float(elem))
      t.floats.push_back(
          graph::round_to(elem, static_cast<double>(static_cast<int32_t>(random())) * 0x1p-31));
    else
      t.integers.push_back(
          elem == Elem::boolean
              ? random() & 1
              : static_cast<int64_t>(random() % static_cast<uint32_t>(std::max<int64_t>(limit, 1))));
  }
  return t;
}

std::vector<Tensor> random_inputs(const graph::Graph& g, const std::map<std::string, int64_t>& sizes,
                                  uint32_t seed) {
  shape::Assignment values;
  int64_t least = 100;
  for (const auto& s : g.sizes) {
    values[s.var] = sizes.at(s.name);
    if (sizes.at(s.name) > 0) least = std::min(least, sizes.at(s.name));
  }
  std::vector<Tensor> inputs;
  for (const auto& input : g.inputs) {
    std::vector<int64_t> shape;
    for (const auto& d : input.type.shape) shape.push_back(d.evaluate(values).value());
    inputs.push_back(random_tensor(input.type.elem, shape, ++seed, least));
    if (input.kind == graph::InputKind::scalar_size && input.size)
      inputs.back().integers = {values.at(*input.size)};
  }
  return inputs;
}

void expect_close(const Tensor& got, const Tensor& want, double relative, double absolute,
                  const std::string& where) {
  ASSERT_EQ(got.shape, want.shape) << where;
  for (size_t i = 0; i < static_cast<size_t>(want.count()); ++i) {
    if (want.floats.empty()) {
      ASSERT_EQ(got.integers[i], want.integers[i]) << where << " element " << i;
      continue;
    }
    const double a = got.floats[i], b = want.floats[i];
    if (std::isnan(b) || std::isinf(b)) {
      ASSERT_TRUE(std::isnan(b) ? std::isnan(a) : a == b)
          << where << " element " << i << ": " << a << " for " << b;
      continue;
    }
    ASSERT_LE(std::fabs(a - b), absolute + relative * std::fabs(b))
        << where << " element " << i << ": " << a << " for " << b;
  }
}

std::vector<RunOptions> every_level() {
  std::vector<RunOptions> ways;
  for (const auto& level : target::machines()) {
    const int workers = ways.size() % 2 == 0 ? 1 : 3;
    RunOptions& way = ways.emplace_back();
    way.level = level.name;
    way.workers = workers;
    if (level.name == target::native_machine().name) break;
  }
  return ways;
}

void check_program(const std::string& text, const Sizes& sizes, const std::vector<RunOptions>& ways,
                   double tolerance) {
  std::vector<std::unique_ptr<Native>> natives;
  for (const RunOptions& way : ways) {
    natives.push_back(std::make_unique<Native>(text, way));
    ASSERT_EQ(natives.back()->error(), "");
  }
  std::string error;
  const auto g = graph::parse(text, error);
  uint32_t seed = 1;
  for (const auto& assignment : sizes) {
    std::string at = "sizes";
    for (const auto& s : g->sizes) at += " " + s.name + "=" + std::to_string(assignment.at(s.name));
    const auto parameters = [&](const graph::Graph& of) {
      shape::Assignment values;
      for (const auto& s : of.sizes)
        if (s.from == graph::Size::From::parameter) values[s.var] = assignment.at(s.name);
      return values;
    };
    const auto inputs = random_inputs(*g, assignment, seed += 100);
    const auto solved = graph::solve_sizes(*g, inputs, parameters(*g), error);
    ASSERT_TRUE(solved) << at << ": " << error;
    const auto reference = graph::interpret(*g, inputs, *solved, graph::Precision::storage);
    ASSERT_EQ(reference.error, "") << at;
    for (size_t n = 0; n < natives.size(); ++n) {
      const std::string where = at + ", " + (ways[n].level.empty() ? "best level" : ways[n].level) +
                                ", workers " + std::to_string(ways[n].workers);
      const auto outcome = natives[n]->run(inputs, parameters(natives[n]->graph()));
      ASSERT_EQ(outcome.error, "") << where;
      ASSERT_EQ(outcome.failed, 0u) << where;
      ASSERT_EQ(outcome.results.size(), reference.results.size());
      for (size_t r = 0; r < reference.results.size(); ++r)
        expect_close(outcome.results[r], reference.results[r], tolerance, tolerance,
                     where + " result " + std::to_string(r));
      for (size_t s = 0; s < reference.states.size(); ++s)
        expect_close(outcome.states[s], reference.states[s], tolerance, tolerance,
                     where + " state " + std::to_string(s));
    }
  }
}

void check_everywhere(const std::string& text, const Sizes& sizes, double tolerance) {
  check_program(text, sizes, every_level(), tolerance);
}

}  // namespace axon::testing
