// Contraction kernels of this machine's level against its ceilings, one thread: multiply-add peak and read
// bandwidth are probed between the measurements, in the same process, because both change with what else the
// machine does. AXON_LEVEL names another level.
//
//   bench_kernels [ROUNDS]
//
//   product  rows x depth x columns in tiles of 64 x 256, as tasks run it: share of the multiply-add peak
//   vector   one row: share of what reading the right operand alone would take
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <random>
#include <vector>

#include "device/contract.h"
#include "harness.h"
#include "level.h"

namespace {

using namespace axon;

int rounds = 10;  ///< of every measurement; the best counts

/// Processor time of this thread: what other programs take does not count.
double now() {
  timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

double best_of(int times, const std::function<void()>& work) {
  double best = 1e30;
  for (int i = 0; i < times; ++i) {
    const double begin = now();
    work();
    best = std::min(best, now() - begin);
  }
  return best;
}

double peak() {
  constexpr int64_t count = 2000000;
  const probe::Loops& loops = bench::probe_loops();
  const double seconds = best_of(5, [&] { loops.multiply_adds(count); });
  return 2 * static_cast<double>(count * loops.multiply_adds_of_a_round) / seconds / 1e9;
}

using Kernel = void(const ContractShape*, float*, const float*, const float*);

struct Operands {
  std::vector<float> a, c;
  float* b;
  size_t b_count;
  Operands(int64_t rows, int64_t columns, int64_t depth) {
    const int64_t padded = (columns + panel_columns - 1) / panel_columns * panel_columns;
    std::mt19937 random(1);
    a.resize(static_cast<size_t>(rows * depth));
    for (float& x : a) x = static_cast<float>(random() % 1000) / 1000.0f;
    c.resize(static_cast<size_t>(rows * padded));
    b_count = static_cast<size_t>(padded * depth);
    b = static_cast<float*>(std::aligned_alloc(64, (b_count * 4 + 63) / 64 * 64));
    std::generate(b, b + b_count, [&] { return static_cast<float>(random() % 1000) / 1000.0f; });
  }
  Operands(const Operands&) = delete;
  ~Operands() { std::free(b); }
};

void run_tiles(Kernel* kernel, Operands& o, int64_t rows, int64_t columns, int64_t depth) {
  const int64_t width = (columns + panel_columns - 1) / panel_columns * panel_columns;
  for (int64_t r = 0; r < rows; r += 64)
    for (int64_t c = 0; c < columns; c += 256) {
      const ContractShape shape{std::min<int64_t>(64, rows - r),
                                std::min<int64_t>(256, columns - c),
                                depth,
                                width,
                                depth,
                                1,
                                panel_columns,
                                1,
                                depth * panel_columns,
                                1,
                                0,
                                0,
                                0};
      kernel(&shape, o.c.data() + r * width + c, o.a.data() + r * depth, o.b + c * depth);
    }
}

void product(Kernel* kernel, int64_t rows, int64_t depth, int64_t columns) {
  Operands o(rows, columns, depth);
  const double ceiling = peak();
  const double seconds = best_of(rounds, [&] { run_tiles(kernel, o, rows, columns, depth); });
  const double rate = 2.0 * static_cast<double>(rows * depth * columns) / seconds / 1e9;
  fmt::print("product {:4}x{:4}x{:5}  {:7.1f} GFLOP/s of {:6.1f}  {:3.0f} %\n", rows, depth, columns, rate,
             ceiling, 100 * rate / ceiling);
}

void vector(Kernel* kernel, int64_t depth, int64_t columns) {
  Operands o(1, columns, depth);
  const double bytes = static_cast<double>(o.b_count) * 4;
  double reading = 1e30, multiplying = 1e30;
  for (int i = 0; i < rounds; ++i) {  // in turns: the ceiling moves
    reading = std::min(reading, best_of(2, [&] { bench::probe_loops().read_all[0](o.b, o.b_count); }));
    multiplying = std::min(multiplying, best_of(2, [&] { run_tiles(kernel, o, 1, columns, depth); }));
  }
  fmt::print("vector     1x{:4}x{:5}  {:7.1f} GB/s of {:6.1f}  {:3.0f} %\n", depth, columns,
             bytes / multiplying / 1e9, bytes / reading / 1e9, 100 * reading / multiplying);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1) rounds = std::max(1, std::atoi(argv[1]));
  const target::Machine level = *target::find_machine(fmt::format("x86-64-v{}", bench::level()));
  std::string error;
  const auto object = module::emit_device_object(level, error);
  const auto library = object ? axon::testing::Library::link({*object}, error) : nullptr;
  if (!library) {
    fmt::print(stderr, "{}\n", error);
    return 1;
  }
  auto* kernel = reinterpret_cast<Kernel*>(library->find("axon_contract_f32_" + std::string(level.suffix)));
  product(kernel, 512, 768, 768);
  product(kernel, 512, 768, 3072);
  product(kernel, 512, 2048, 768);
  product(kernel, 64, 4096, 4096);
  vector(kernel, 768, 768);
  vector(kernel, 768, 32000);
  vector(kernel, 4096, 4096);
  vector(kernel, 288, 768);
  return 0;
}
