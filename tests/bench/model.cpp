// The example model against the machine's ceilings, probed in the same run: pinned threads, the widest loads
// and multiply-adds of the level (AXON_LEVEL, or the best of the machine), huge pages, best of several; the
// model's figures are medians of interleaved rounds.
//
//   bench_model BUNDLE WEIGHTS [ROUNDS]
//
// decode    tokens per second with 1 and 2 workers; bytes per token = weights that a token reads; share of
// the
//           read bandwidth of as many threads
// rival     the same work as a plain C program with OpenMP does it (fork_join.h), with 1 and 2 threads
// prompt    8 tokens at once, which read the weights as one token does: share of the read bandwidth of 2
// threads prefill   512 tokens (or as many as the cache holds): share of the multiply-add peak of 2 threads
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <thread>
#include <vector>

#include "fork_join.h"
#include "host/weights/tensor_file.h"
#include "level.h"
#include "probe/probe.h"
#include "story.h"

namespace {

using Clock = std::chrono::steady_clock;

double seconds_of(const std::function<void()>& work) {
  const auto begin = Clock::now();
  work();
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

/// Bytes of the weights that one token reads, and multiply-adds per token of the layers and of the
/// classifier.
struct Work {
  double token_bytes = 0, layer_products = 0, classifier_products = 0;
  axon::bench::DecoderShape shape{};
};
Work work_of(const std::string& path) {
  Work work;
  auto file = axon::weights::open_tensors(path);
  if (!file) {
    fmt::print(stderr, "{}\n", file.error().message);
    std::exit(1);
  }
  const auto number = [&](const char* name) { return std::atoll(file->table.metadata[name].c_str()); };
  auto& shape = work.shape;
  shape.heads = number("h");
  shape.head = number("k");
  shape.positions = number("s");
  for (const auto& tensor : file->table.tensors) {
    if (tensor.name == "layers.wq") {
      shape.layers = tensor.shape[0];
      shape.width = tensor.shape[1];
      shape.groups = tensor.shape[2] / (shape.heads * shape.head);
    }
    if (tensor.name == "layers.w1") shape.hidden = tensor.shape[2];
    if (tensor.name == "classifier") shape.vocabulary = tensor.shape[0];
    if (tensor.name == "embed") continue;  // one row of it
    const double bytes = static_cast<double>(tensor.end - tensor.begin);
    work.token_bytes += bytes;
    const double elements = bytes / static_cast<double>(axon::elem_bytes(tensor.dtype));
    if (tensor.name == "classifier")
      work.classifier_products += elements;
    else if (tensor.shape.size() == 3)
      work.layer_products += elements;
  }
  return work;
}

}  // namespace

int main(int argc, char** argv) try {
  using axon::examples::Model;
  if (argc < 3) {
    fmt::print(stderr, "usage: bench_model BUNDLE WEIGHTS [ROUNDS]\n");
    return 2;
  }
  const int rounds = argc > 3 ? std::atoi(argv[3]) : 5;
  const Work work = work_of(argv[2]);
  Model one({argv[1], argv[2], "", 1}), two({argv[1], argv[2], "", 2}), chosen({argv[1], argv[2], "", 0});
  const int64_t length = std::min<int64_t>(512, one.positions());
  std::vector<int32_t> prompt;
  for (int64_t i = 0; i < length; ++i) prompt.push_back(static_cast<int32_t>(1 + i % (one.vocabulary() - 1)));
  const std::vector<int32_t> short_prompt(prompt.begin(), prompt.begin() + std::min<int64_t>(8, length));
  const bool large = work.token_bytes > 64e6;
  const int64_t steps = std::min<int64_t>(large ? 24 : 200, one.positions());
  const size_t probe_bytes = large ? size_t{1} << 30 : size_t{64} << 20;
  const axon::probe::Buffer buffer(size_t{1} << 30);
  const axon::probe::Loops& loops = axon::bench::probe_loops();

  const auto decode = [&](Model& model) {
    return static_cast<double>(steps) / seconds_of([&] {
             for (int64_t p = 0; p < steps; ++p) model.decode(1 + static_cast<int32_t>(p % 100), p);
           });
  };
#ifdef AXON_BENCH_RIVAL
  using axon::bench::ForkJoin;
  if (ForkJoin::weights_read(work.shape) * sizeof(float) > size_t{1} << 30) std::exit(2);
  ForkJoin plain1(work.shape, buffer.data(), 1), plain2(work.shape, buffer.data(), 2);
  std::vector<double> rival1, rival2, share;
  const auto decode_plainly = [&](ForkJoin& rival) {
    return static_cast<double>(steps) / seconds_of([&] {
             for (int64_t p = 0; p < steps; ++p) rival.decode(p);
           });
  };
#endif
  std::vector<double> rate1, rate2, rate, brief, prefill, bandwidth1, bandwidth2, peak2;
  for (int r = 0; r < rounds; ++r) {
    bandwidth1.push_back(read_bandwidth(loops, buffer, probe_bytes, 1));
    rate1.push_back(decode(one));
    bandwidth2.push_back(read_bandwidth(loops, buffer, probe_bytes, 2));
    rate2.push_back(decode(two));
    rate.push_back(decode(chosen));
#ifdef AXON_BENCH_RIVAL
    rival2.push_back(decode_plainly(plain2));  // next to it: the machine's state changes within seconds
    std::this_thread::sleep_for(std::chrono::milliseconds(100));  // its threads go on spinning for a while
    rival1.push_back(decode_plainly(plain1));
    share.push_back(rate.back() / std::max(rival1.back(), rival2.back()));
#endif
    brief.push_back(seconds_of([&] { two.prefill(short_prompt); }));
    peak2.push_back(2 * multiply_add_peak(loops, 2));  // a multiplication and an addition
    prefill.push_back(seconds_of([&] { two.prefill(prompt); }));
  }
  const double operations =
      2 * (work.layer_products * static_cast<double>(length) + work.classifier_products);
  fmt::print("probe: read {} MiB {:.1f} GB/s on 1 thread, {:.1f} on 2; multiply-add {:.0f} GFLOP/s on 2\n",
             probe_bytes >> 20, median(bandwidth1) / 1e9, median(bandwidth2) / 1e9, median(peak2) / 1e9);
  fmt::print("decode, 1 worker:  {:.0f} tokens/s, {:.1f} GB/s, {:.0f} % of the probe\n", median(rate1),
             median(rate1) * work.token_bytes / 1e9,
             100 * median(rate1) * work.token_bytes / median(bandwidth1));
  fmt::print("decode, 2 workers: {:.0f} tokens/s, {:.1f} GB/s, {:.0f} % of the probe\n", median(rate2),
             median(rate2) * work.token_bytes / 1e9,
             100 * median(rate2) * work.token_bytes / median(bandwidth2));
  fmt::print("decode, chosen:    {:.0f} tokens/s with {} workers, {:.0f} % of the better of the two\n",
             median(rate), chosen.statistics().workers,
             100 * median(rate) / std::max(median(rate1), median(rate2)));
#ifdef AXON_BENCH_RIVAL
  fmt::print(
      "rival, OpenMP:     {:.0f} tokens/s with 1 thread, {:.0f} with 2: chosen is {:.2f} times the better\n",
      median(rival1), median(rival2), median(share));
#endif
  fmt::print("prompt of {}:       {:.1f} ms, {:.1f} GB/s, {:.0f} % of the probe\n", short_prompt.size(),
             1e3 * median(brief), work.token_bytes / median(brief) / 1e9,
             100 * work.token_bytes / median(brief) / median(bandwidth2));
  fmt::print("prefill of {}:    {:.1f} ms, {:.0f} GFLOP/s, {:.0f} % of the probe\n", length,
             1e3 * median(prefill), operations / median(prefill) / 1e9,
             100 * operations / median(prefill) / median(peak2));
  return 0;
} catch (const axon::examples::Failure& failure) {
  fmt::print(stderr, "{}\n", failure.what());
  return failure.exit_status;
}
