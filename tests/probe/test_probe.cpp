// What the machine can do: at every level that it has, with any number of threads, of buffers of any size.
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "probe/probe.h"
#include "target/machine.h"

namespace axon::probe {
namespace {

/// The levels of the compiler up to the best one of this machine.
std::vector<const Loops*> loops_of_this_machine() {
  std::vector<const Loops*> all;
  for (const target::Machine& level : target::machines()) {
    all.push_back(find_loops(level.name));
    EXPECT_NE(all.back(), nullptr) << level.name;
    if (level.name == target::native_machine().name) break;
  }
  return all;
}

TEST(Probe, KnowsTheLevelsOfTheCompiler) {
  for (const target::Machine& level : target::machines()) EXPECT_NE(find_loops(level.name), nullptr);
  for (const char* name : {"", "x86-64", "x86-64-v1", "x86-64-v5", "v3"})
    EXPECT_EQ(find_loops(name), nullptr) << name;
}

TEST(Probe, ARoundHasTheLanesOfTheLevel) {
  for (const target::Machine& level : target::machines())
    EXPECT_EQ(find_loops(level.name)->multiply_adds_of_a_round % (level.vector_bytes / 4), 0);
}

TEST(Probe, RatesAreThoseOfAMachine) {
  const Buffer buffer(size_t{1} << 20);
  for (const Loops* loops : loops_of_this_machine())
    for (int threads : {1, 2}) {
      const double peak = multiply_add_peak(*loops, threads);
      EXPECT_GT(peak, 1e8);
      EXPECT_LT(peak, 1e13);
      const double bandwidth = read_bandwidth(*loops, buffer, buffer.bytes(), threads);
      EXPECT_GT(bandwidth, 1e8);
      EXPECT_LT(bandwidth, 1e13);
    }
}

TEST(Probe, BuffersMayBeSmallerThanWhatThreadsRead) {
  const Buffer buffer(4 * 512);
  const Loops& loops = *loops_of_this_machine().front();
  for (size_t bytes : {size_t{0}, size_t{1}, size_t{511}, size_t{2048}, size_t{1} << 40}) {
    const double bandwidth = read_bandwidth(loops, buffer, bytes, 4);  // more threads than some machines have
    EXPECT_TRUE(std::isfinite(bandwidth) && bandwidth > 0) << bytes;
  }
}

TEST(Probe, ABufferHasWhatItWasAskedFor) {
  for (size_t bytes : {size_t{0}, size_t{512}, size_t{1000}, size_t{3} << 20}) {
    const Buffer buffer(bytes);
    EXPECT_GE(buffer.bytes(), bytes);
    EXPECT_EQ(buffer.data()[buffer.bytes() / sizeof(float) - 1], 1.0F);
  }
}

}  // namespace
}  // namespace axon::probe
