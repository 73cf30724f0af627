// write_launch FILE ENTRY TARGET OUT [--bare] [name=size ...]: one launch as files that run_launch takes to a
// GPU.
//
// OUT.ptx is the code, OUT.launch says what the launch finds in memory, OUT.data has the inputs and then the
// results that the reference interpreter computes. With --bare there are no data: inputs are random there,
// and only the time is of interest.
#include <fmt/format.h>

#include <cstdio>
#include <fstream>
#include <map>
#include <numeric>
#include <tuple>

#include "compiled.h"
#include "harness.h"
#include "launch_image.h"

namespace {

using namespace axon;

int fail(const std::string& why) {
  fmt::print(stderr, "write_launch: {}\n", why);
  return 1;
}

void write(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary).write(text.data(), static_cast<std::streamsize>(text.size()));
}

std::string describe(const axon::testing::LaunchImage& image, const target::Machine& machine, bool bare) {
  std::string text = fmt::format("kernel {}\nthreads {}\nshared {}\n", image.kernel,
                                 machine.lanes * machine.warps, image.shared_bytes);
  text += fmt::format("sizes {} {}\n", image.sizes.size(), fmt::join(image.sizes, " "));
  text += fmt::format("events {} offsets {} {}\n", image.event_words, image.event_offset.size(),
                      fmt::join(image.event_offset, " "));
  text += fmt::format("epochs {}\ndata {}\n", image.epochs, bare ? 0 : 1);
  text += fmt::format("memory {}\n", image.memory.size());
  for (const auto& m : image.memory) text += fmt::format("{} {}\n", m.bytes.size(), m.is_written ? 1 : 0);
  text += fmt::format("buffers {}\n", image.buffers.size());
  for (const auto& b : image.buffers) text += fmt::format("{} {}\n", b.memory, b.offset);
  text += fmt::format("results {}\n", image.results.size());
  for (const auto& r : image.results)
    text += fmt::format("{} {} {} {}\n", r.at.memory, r.at.offset,
                        std::accumulate(r.shape.begin(), r.shape.end(), int64_t{1}, std::multiplies<>()),
                        base::elem_name(r.elem));
  return text;
}

int write_all(const std::vector<std::string>& args) {
  const bool bare = args.size() > 4 && args[4] == "--bare";
  const auto compiled = axon::testing::compile(args[0], args[1], args[2]);
  if (!compiled.code) return fail(compiled.error);
  const auto& [entry, variant, code, machine] =
      std::tie(compiled.entry(), compiled.variant(), *compiled.code, compiled.machine);
  std::map<std::string, int64_t> sizes;
  for (size_t i = bare ? 5 : 4; i < args.size(); ++i) {
    const size_t equals = args[i].find('=');
    sizes[args[i].substr(0, equals)] = std::stoll(args[i].substr(equals + 1));
  }
  const auto values = compiled.sizes(sizes);
  if (!values) return fail("a size is missing");
  std::vector<graph::Tensor> inputs;
  if (!bare) inputs = axon::testing::random_inputs(entry.graph, sizes, 1);
  const auto image = axon::testing::make_image(variant, code.scratch_bytes.front(), *values, inputs);
  write(args[3] + ".ptx", code.ptx);
  write(args[3] + ".launch", describe(image, machine, bare));
  if (bare) return 0;
  std::string data;
  for (const auto& m : image.memory)
    data.append(reinterpret_cast<const char*>(m.bytes.data()), m.bytes.size());
  write(args[3] + ".data", data);
  const auto outcome = graph::interpret(entry.graph, inputs, *values, graph::Precision::storage);
  if (!outcome.error.empty()) return fail(outcome.error);
  std::string want;
  for (const auto& t : outcome.results)
    for (size_t i = 0; i < static_cast<size_t>(t.count()); ++i) {
      const double number = t.floats.empty() ? static_cast<double>(t.integers[i]) : t.floats[i];
      want.append(reinterpret_cast<const char*>(&number), sizeof number);
    }
  write(args[3] + ".want", want);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> args(argv + 1, argv + argc);
  if (args.size() < 4) return fail("write_launch FILE ENTRY TARGET OUT [--bare] [name=size ...]");
  return write_all(args);
}
