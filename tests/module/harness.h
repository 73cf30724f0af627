// Runs a graph, given as text, as native code: plan, emit, link, load, launch; and beside it the reference
// interpreter.
//
// Every buffer ends at an unreadable page, and starts filled with NaN patterns, so that a stray access or a
// read of something never written shows.
#pragma once
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "graph/interpret.h"
#include "module/module.h"

namespace axon::testing {

/// A shared object in memory, linked from ELF objects.
class Library {
 public:
  static std::unique_ptr<Library> link(const std::vector<std::string>& objects, std::string& error);
  ~Library();
  void* find(const std::string& symbol) const;

 private:
  void* handle_ = nullptr;
};

/// Memory between pages that cannot be touched: its last byte, or its first one, is next to one. It is filled
/// with NaN patterns.
class Memory {
 public:
  enum class End : uint8_t { first, last };
  explicit Memory(size_t bytes, size_t alignment, End end = End::last);
  Memory(const Memory&) = delete;
  ~Memory();
  uint8_t* start() const { return start_; }

 private:
  uint8_t *base_ = nullptr, *start_ = nullptr;
  size_t mapped_ = 0;
};

/// Element number i of the tensor as its type is stored, and back: at its end.
void write_element(uint8_t* at, base::Elem, const graph::Tensor&, size_t i);
void read_element(const uint8_t* at, base::Elem, graph::Tensor&);

struct RunOptions {
  int workers = 1;
  std::string level;  ///< "" for the best of this machine
  module::EmitOptions emit;
  target::Class tiling = target::x86_64();
  std::vector<shape::Fact> guard;
  uint32_t epoch = 0;
  int launches = 1;
};

/// What a traced kernel has noted (runtime/device/abi.h). Its clock counts the looks at it.
struct TaskNote {
  uint32_t worker, kernel;
  int64_t first, count;
  uint64_t begin, end;
};

struct NativeOutcome {
  std::string error;
  std::vector<graph::Tensor> results;
  std::vector<graph::Tensor> states;
  uint32_t failed = 0;               ///< as in the context
  int64_t failed_value[2] = {0, 0};  ///< the offending value, and what it was held against
  std::vector<TaskNote> notes;       ///< of all launches, in order of time
  double seconds = 1e30;             ///< of processor time, summed over workers, of the fastest launch
};

/// A graph compiled once, run for any sizes.
class Native {
 public:
  Native(const std::string& text, const RunOptions& options);
  Native(graph::Graph graph, const RunOptions& options);
  NativeOutcome run(const std::vector<graph::Tensor>& inputs, const shape::Assignment& parameters = {});
  const graph::Graph& graph() const { return *graph_; }
  const std::string& error() const { return error_; }

 private:
  void build();
  RunOptions options_;
  std::unique_ptr<graph::Graph> graph_;
  plan::Plan plan_;
  shape::Dim scratch_bytes_;
  std::unique_ptr<Library> library_;
  std::string error_;
};

/// Random contents: floats in [-1, 1], integers in [0, 100) or below `limit`.
graph::Tensor random_tensor(base::Elem, std::vector<int64_t> shape, uint32_t seed, int64_t limit = 100);

/// Inputs for every input of the graph under concrete sizes, by name of the size.
std::vector<graph::Tensor> random_inputs(const graph::Graph&, const std::map<std::string, int64_t>& sizes,
                                         uint32_t seed);

/// |a - b| <= absolute + relative * |b|, with NaN and infinity in the same places.
void expect_close(const graph::Tensor& got, const graph::Tensor& want, double relative, double absolute,
                  const std::string& where);

/// A way for each instruction-set level that this machine has, by turns with one worker and with three.
std::vector<RunOptions> every_level();

using Sizes = std::vector<std::map<std::string, int64_t>>;

/// Compiles the text once per way, and for each assignment of sizes compares every way's results with the
/// interpreter's.
void check_program(const std::string& text, const Sizes& sizes, const std::vector<RunOptions>& ways,
                   double tolerance = 2e-5);
/// At every level.
void check_everywhere(const std::string& text, const Sizes& sizes, double tolerance = 2e-5);

/// Grouped-query attention over a cache, as graph text.
inline const char* const attention = R"(graph "f"
  size h = axis 0 of 0 where h
  size g = axis 1 of 0 where g
  size m = axis 2 of 0 where m
  size d = axis 3 of 0 where d
  size n = axis 1 of 1 where n
  size e = axis 2 of 2 where e
  input "q" argument f32[h, g, m, d]
  input "k" argument f32[h, n, d]
  input "v" argument f32[h, n, e]
  %0 = input 0
  %1 = input 1
  %2 = input 2
  %3 = compute [a < h, b < g, i < m, c < e] {
    local $0 "s" [a < h, b < g, i < m, j < n] f32 = sum(x < d; %0[a, b, i, x] * %1[a, j, x])
    out f32[h, g, m, e] = proj(2, (t0 := online(j < n; e, 0.125;
      select({j} <= {i} + {n} - {m}, $0[a, b, i, j], -inf), %2[a, j, c]))) / proj(1, t0)
  }
  result "" %3
)";

}  // namespace axon::testing
