// Kernels on the emulator: right ones give right values without findings, however threads are interleaved;
// each planted bug is found under every seed.
#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <functional>
#include <map>

#include "emulator/floats.h"
#include "support.h"

namespace axon::emulator {
namespace {

struct Outcome {
  Report report;
  bool right = false;
};

using Run = std::function<Outcome(int bug, int blocks, const Options&)>;

bool close(float a, float b) { return std::fabs(a - b) <= 1e-4F * std::max(1.0F, std::fabs(b)); }

/// As chain.cpp, one task after the other.
std::vector<float> chain_values(std::vector<float> x, const std::vector<float>& weights, int layers,
                                int tasks) {
  const int width = 64, half = tasks * width;
  for (int layer = 0; layer < layers; ++layer) {
    const float* from = x.data() + layer % 2 * half;
    float* to = x.data() + (layer + 1) % 2 * half;
    for (int task = 0; task < tasks; ++task) {
      float sum = 0;
      for (int i = 0; i < width; ++i) sum += from[task * width + i];
      for (int i = 0; i < width; ++i)
        to[task * width + i] = 0.5F * from[task * width + width - 1 - i] +
                               weights[static_cast<size_t>(layer * width + i)] + sum / (4 * width);
    }
  }
  return x;
}

Outcome run_chain(int bug, int blocks, const Options& options) {
  const int layers = 4, tasks = 5, width = 64;
  std::vector<float> x(2 * tasks * width), weights(layers * width);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i % 17) - 8;
  for (size_t i = 0; i < weights.size(); ++i) weights[i] = static_cast<float>(i % 5);
  const std::vector<float> expected = chain_values(x, weights, layers, tasks);
  std::vector<uint32_t> events(tasks);
  float* x_at = x.data();
  float* weights_at = weights.data();
  uint32_t* events_at = events.data();
  Launch launch;
  launch.arguments = arguments(x_at, weights_at, events_at, layers, tasks);
  launch.blocks = blocks;
  launch.threads = width;
  launch.shared_bytes = tasks * width * sizeof(float);
  launch.regions = {region("x", x), region("weights", weights, /*writable=*/false), region("events", events)};
  launch.task_types = {"", "layer"};
  launch.options = options;
  Outcome outcome{compiled("chain", bug).run(launch)};
  outcome.right = std::equal(x.begin(), x.end(), expected.begin(), close);
  return outcome;
}

Outcome run_lanes(int bug, int blocks, const Options& options) {
  const int threads = 64;
  std::vector<float> in(static_cast<size_t>(blocks * threads)), out(in.size()), expected(in.size());
  for (size_t i = 0; i < in.size(); ++i) in[i] = static_cast<float>(i % 7);
  std::vector<float> sums(in.size());
  for (size_t i = 0; i < in.size(); ++i) sums[i] = in[i] + (i % (bug == 9 ? 16 : 32) == 0 ? 0 : sums[i - 1]);
  for (size_t i = 0; i < in.size(); ++i) expected[i] = sums[i] + 0.25F * (sums[i ^ 1] + 1);
  float *in_at = in.data(), *out_at = out.data();
  Launch launch;
  launch.arguments = arguments(out_at, in_at);
  launch.blocks = blocks;
  launch.threads = threads;
  launch.regions = {region("in", in, /*writable=*/false), region("out", out)};
  launch.options = options;
  Outcome outcome{compiled("lanes", bug).run(launch)};
  outcome.right = std::equal(out.begin(), out.end(), expected.begin(), close);
  return outcome;
}

Outcome run_halves(int bug, int blocks, const Options& options) {
  const int threads = 64;
  std::vector<float> in(static_cast<size_t>(blocks * threads));
  for (size_t i = 0; i < in.size(); ++i) in[i] = static_cast<float>(i) * 0.37F;
  std::vector<uint16_t> out(in.size());
  float* in_at = in.data();
  uint16_t* out_at = out.data();
  Launch launch;
  launch.arguments = arguments(out_at, in_at);
  launch.blocks = blocks;
  launch.threads = threads;
  launch.regions = {region("in", in, /*writable=*/false), region("out", out)};
  launch.options = options;
  Outcome outcome{compiled("halves", bug).run(launch), true};
  for (int i = 0; i < threads; ++i)
    for (int b = 0; b < blocks; ++b)
      outcome.right &=
          out[static_cast<size_t>(i * blocks + b)] == to_bf16(in[static_cast<size_t>((i ^ 63) * blocks + b)]);
  return outcome;
}

Outcome run_copies(int bug, int blocks, const Options& options) {
  const int threads = 32, rows = 6;
  std::vector<float> in(rows * 128);
  for (size_t i = 0; i < in.size(); ++i) in[i] = static_cast<float>(i % 23);
  std::vector<float> out(static_cast<size_t>(blocks * threads));
  float *in_at = in.data(), *out_at = out.data();
  Launch launch;
  launch.arguments = arguments(out_at, in_at, rows);
  launch.blocks = blocks;
  launch.threads = threads;
  launch.regions = {region("in", in, /*writable=*/false), region("out", out)};
  launch.options = options;
  Outcome outcome{compiled("copies", bug).run(launch), true};
  for (size_t i = 0; i < out.size(); ++i) {
    float sum = 0;
    for (size_t row = 0; row < rows; ++row)
      for (size_t k = 0; k < 4; ++k) sum += in[row * 128 + 127 - 4 * (i % threads) - k];
    outcome.right &= sum == out[i];
  }
  return outcome;
}

Outcome run_counter(int bug, int blocks, const Options& options) {
  const int threads = 64;
  std::vector<float> parts(static_cast<size_t>(blocks * threads)), out(threads);
  std::vector<uint32_t> count(1);
  float *parts_at = parts.data(), *out_at = out.data();
  uint32_t* count_at = count.data();
  Launch launch;
  launch.arguments = arguments(parts_at, out_at, count_at);
  launch.blocks = blocks;
  launch.threads = threads;
  launch.regions = {region("parts", parts), region("out", out), region("count", count)};
  launch.options = options;
  Outcome outcome{compiled("counter", bug).run(launch), true};
  for (int i = 0; i < threads; ++i)
    outcome.right &=
        out[static_cast<size_t>(i)] == static_cast<float>(blocks * i + threads * blocks * (blocks - 1) / 2);
  return outcome;
}

Outcome run_matmul(int bug, int blocks, const Options& options) {
  const int threads = 64;
  const size_t m = 16 * static_cast<size_t>(blocks);
  const size_t n = 32, k = 48;
  std::vector<uint16_t> a(m * k), b(k * n);
  for (size_t i = 0; i < a.size(); ++i)
    a[i] = to_bf16(static_cast<float>(i % 13) - 6 + static_cast<float>(i % 3) / 4);
  for (size_t i = 0; i < b.size(); ++i) b[i] = to_bf16(static_cast<float>(i % 11) / 8 - 0.5F);
  std::vector<float> c(m * n);
  float* c_at = c.data();
  uint16_t *a_at = a.data(), *b_at = b.data();
  const int n_of = n, k_of = k;
  Launch launch;
  launch.arguments = arguments(c_at, a_at, b_at, n_of, k_of);
  launch.blocks = blocks;
  launch.threads = threads;
  launch.regions = {region("a", a, /*writable=*/false), region("b", b, /*writable=*/false), region("c", c)};
  launch.options = options;
  Outcome outcome{compiled("matmul", bug).run(launch), true};
  for (size_t i = 0; i < m; ++i)
    for (size_t j = 0; j < n; ++j) {
      double sum = 0;
      for (size_t e = 0; e < k; ++e)
        sum += static_cast<double>(from_bf16(a[i * k + e])) * from_bf16(b[e * n + j]);
      outcome.right &= close(c[i * n + j], static_cast<float>(sum));
    }
  return outcome;
}

const std::map<std::string, Run> kernels = {{"chain", run_chain},     {"lanes", run_lanes},
                                            {"halves", run_halves},   {"copies", run_copies},
                                            {"counter", run_counter}, {"matmul", run_matmul}};

struct Right {
  const char* kernel;
  int bug = 0;
  std::vector<int> blocks = {1, 2, 5};
};

void expect_right(const Right& right) {
  const Run& run = kernels.at(right.kernel);
  uint64_t seed = 0;
  for (int blocks : right.blocks)
    for (int switch_every : {1, 7, 64})
      for (bool lockstep : {false, true})
        for (int again = 0; again < 6; ++again) {
          Options options;
          options.seed = ++seed;
          options.switch_every = switch_every;
          options.lockstep = lockstep;
          const Outcome outcome = run(right.bug, blocks, options);
          ASSERT_TRUE(outcome.report.ok()) << right.kernel << " seed " << seed << "\n"
                                           << outcome.report.text();
          ASSERT_TRUE(outcome.right) << right.kernel << " seed " << seed << ", " << blocks << " blocks";
        }
}

TEST(Kernels, ChainIsRight) { expect_right({"chain"}); }
TEST(Kernels, LanesAreRight) { expect_right({"lanes"}); }
TEST(Kernels, HalvesAreRight) { expect_right({"halves"}); }
TEST(Kernels, CopiesAreRight) { expect_right({"copies"}); }
TEST(Kernels, CounterIsRight) { expect_right({"counter"}); }
TEST(Kernels, CounterWithFencesIsRight) { expect_right({"counter", 5}); }
TEST(Kernels, MatmulIsRight) { expect_right({"matmul"}); }
TEST(Kernels, HalfWarpsAreRight) { expect_right({"lanes", 9}); }

struct Planted {
  const char* kernel;
  int bug;
  Kind kind;
  const char* says;  ///< part of the message
  int blocks = 2;
};

class Planting : public testing::TestWithParam<Planted> {};

TEST_P(Planting, IsFoundUnderEverySeed) {
  const Planted& planted = GetParam();
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    Options options;
    options.seed = seed;
    options.switch_every = seed % 2 == 0 ? 1 : 16;
    options.most_steps = 200'000;
    const Report report = kernels.at(planted.kernel)(planted.bug, planted.blocks, options).report;
    bool said = false;
    for (const Finding& finding : report.findings)
      said |= finding.kind == planted.kind && finding.message.find(planted.says) != std::string::npos;
    ASSERT_TRUE(said) << "seed " << seed << "\n" << report.text();
  }
}

INSTANTIATE_TEST_SUITE_P(
    Bugs, Planting,
    testing::Values(
        Planted{"chain", 1, Kind::race, "of x"},  // no wait
        Planted{"chain", 2, Kind::deadlock, "offset 0 of events to reach 2, which is 1"},
        Planted{"chain", 3, Kind::race, "task layer"},  // the target is too small
        Planted{"chain", 4, Kind::deadlock, "to reach 2, which is 1"},
        Planted{"chain", 5, Kind::race, "of shared staged of block"},  // no barrier
        Planted{"chain", 6, Kind::out_of_bounds, "past the end of shared staged of block"},
        Planted{"chain", 7, Kind::out_of_bounds, "past the end of x"},
        Planted{"chain", 8, Kind::read_only, "of weights"}, Planted{"chain", 9, Kind::divergence, "barrier"},
        Planted{"chain", 10, Kind::divergence, "has ended"}, Planted{"chain", 11, Kind::trap, "block 1"},
        Planted{"chain", 12, Kind::step_limit, "task layer"},
        Planted{"chain", 13, Kind::uninitialised, "shared sums"},
        Planted{"chain", 14, Kind::event, "of events"},  // stores an event as data
        Planted{"chain", 15, Kind::event, "goes back from 2 to 1"},
        Planted{"chain", 16, Kind::event, "do not name the same event words"},
        Planted{"chain", 17, Kind::race, "of x"},  // two tasks store one element
        Planted{"chain", 18, Kind::misaligned, "no multiple of 4"},
        Planted{"lanes", 1, Kind::divergence, "lane 9"},
        Planted{"lanes", 2, Kind::mask, "is not in the mask 0x0000ffff"},
        Planted{"lanes", 3, Kind::mask, "takes the value of lane"},
        Planted{"lanes", 4, Kind::divergence, "vote"}, Planted{"lanes", 5, Kind::race, "shared exchange"},
        Planted{"lanes", 6, Kind::divergence, "vote"}, Planted{"lanes", 7, Kind::divergence, "barrier"},
        Planted{"lanes", 8, Kind::divergence, "threads"}, Planted{"halves", 1, Kind::race, "2 bytes"},
        Planted{"copies", 1, Kind::race, "asynchronous copy"},
        Planted{"copies", 2, Kind::race, "asynchronous copy"},
        Planted{"copies", 3, Kind::race, "asynchronous copy"},
        Planted{"copies", 4, Kind::race, "shared slots"}, Planted{"copies", 5, Kind::race, "shared slots"},
        Planted{"counter", 1, Kind::race, "of parts"},  // does not release
        Planted{"counter", 2, Kind::race, "of parts"},  // does not acquire
        Planted{"counter", 3, Kind::race, "of parts"},  // other warps are not waited for
        Planted{"counter", 4, Kind::race, "of count"},  // not atomic
        Planted{"matmul", 1, Kind::race, "ldmatrix"},
        Planted{"matmul", 2, Kind::misaligned, "no multiple of 16"}),
    [](const auto& info) { return fmt::format("{}{}", info.param.kernel, info.param.bug); });

TEST(Kernels, LockstepHidesRacesInAWarp) {
  Options options;
  options.lockstep = true;
  EXPECT_TRUE(run_lanes(5, 2, options).report.ok());
}

TEST(Kernels, WithoutChecksValuesAreTheSame) {
  Options options;
  options.check = false;
  for (const auto& [name, run] : kernels) EXPECT_TRUE(run(0, 2, options).right) << name;
}

TEST(Kernels, CopiesMoveWhenTheyLike) {
  Options options;
  options.check = false;
  int right = 0;
  for (options.seed = 1; options.seed <= 20; ++options.seed) right += run_copies(1, 1, options).right ? 1 : 0;
  EXPECT_LT(right, 20);  // some come after they are read
  int right_with_wait = 0;
  for (options.seed = 1; options.seed <= 20; ++options.seed)
    right_with_wait += run_copies(0, 1, options).right ? 1 : 0;
  EXPECT_EQ(right_with_wait, 20);
}

TEST(Kernels, StandstillIsFoundWithoutChecks) {
  Options options;
  options.check = false;
  EXPECT_TRUE(run_chain(2, 2, options).report.has(Kind::deadlock));
  EXPECT_TRUE(run_chain(9, 2, options).report.has(Kind::divergence));
  EXPECT_TRUE(run_lanes(2, 1, options).report.has(Kind::divergence));
}

TEST(Kernels, SeedsFixRuns) {
  Options options;
  options.seed = 3;
  const Report first = run_chain(1, 2, options).report, second = run_chain(1, 2, options).report;
  EXPECT_EQ(first.steps, second.steps);
  EXPECT_EQ(first.switches, second.switches);
  EXPECT_EQ(first.text(), second.text());
}

}  // namespace
}  // namespace axon::emulator
