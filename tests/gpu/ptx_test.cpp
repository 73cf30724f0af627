// What ptxas says of the PTX, where the CUDA Toolkit is installed, and what the PTX is made of.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <fstream>
#include <map>
#include <sstream>

#include "compiled.h"

namespace axon::testing {
namespace {

std::vector<std::string> entries() {
  std::ifstream file(AXON_SOURCE_DIR "/tests/gpu/entries.axn");
  std::vector<std::string> names;
  for (std::string word; file >> word;)
    if (word == "entry" && file >> word) names.push_back(word);
  return names;
}

class Ptx : public ::testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Entries, Ptx, ::testing::ValuesIn(entries()),
                         [](const auto& info) { return info.param; });

/// What ptxas prints of the text, its status behind it.
std::string assembled(const std::string& ptx, const std::string& machine) {
  char path[] = "/tmp/axon-XXXXXX";
  const int file = mkstemp(path);
  close(file);
  std::ofstream(path) << ptx;
  const std::string command =
      fmt::format("{} -v -arch={} {} -o /dev/null 2>&1; echo status $?", AXON_PTXAS, machine, path);
  std::string said;
  std::FILE* const pipe = popen(command.c_str(), "r");
  std::array<char, 4096> part{};
  while (std::fgets(part.data(), part.size(), pipe)) said += part.data();
  pclose(pipe);
  unlink(path);
  return said;
}

/// The machines that the entry is assembled for. Those whose texts differ in their names alone have as many
/// registers, so that one says for all what becomes of the text: each of them in turn, from entry to entry.
std::vector<std::string> machines_for(const std::string& entry) {
  std::map<std::string, std::vector<std::string>> by_text;
  for (const target::Machine& gpu : target::gpus()) {
    const Compiled& compiled = compiled_entry(entry, std::string(gpu.name));
    EXPECT_TRUE(compiled.code) << compiled.error;
    if (!compiled.code) continue;
    const std::string& ptx = compiled.code->ptx;
    by_text[ptx.substr(std::min(ptx.find(".address_size"), ptx.size()))].emplace_back(gpu.name);
  }
  const std::vector<std::string> all = entries();
  const auto turn = static_cast<size_t>(std::find(all.begin(), all.end(), entry) - all.begin());
  std::vector<std::string> chosen;
  for (const auto& [text, machines] : by_text) chosen.push_back(machines[turn % machines.size()]);
  return chosen;
}

TEST_P(Ptx, IsTakenWithoutSpillsAndFrames) {
  if (std::string(AXON_PTXAS).empty()) GTEST_SKIP() << "there is no ptxas";
  for (const std::string& machine : machines_for(GetParam())) {
    const std::string said = assembled(compiled_entry(GetParam(), machine).code->ptx, machine);
    EXPECT_NE(said.find("status 0"), std::string::npos) << said;
    EXPECT_EQ(said.find("C7508"), std::string::npos) << said;
    std::stringstream lines(said);
    for (std::string line; std::getline(lines, line);)
      if (line.find("bytes stack frame") != std::string::npos)
        EXPECT_NE(line.find(" 0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads"),
                  std::string::npos)
            << machine << ": " << said;
  }
}

/// Where rows begin at a multiple of 16 bytes, a thread loads and stores so many at once.
TEST(PtxOf, RowsAreLoadedByWholeVectors) {
  for (const auto& [entry, load, store] : {std::tuple("softmax_rows", "ld.global.v4.f32", "st.global.v4.f32"),
                                           std::tuple("softmax_halves", "ld.global.v4.", "st.global.v4."),
                                           std::tuple("scaled", "ld.global.v4.f32", "st.global.v4.f32")}) {
    const Compiled& compiled = compiled_entry(entry, "sm_90a");
    ASSERT_TRUE(compiled.code) << compiled.error;
    for (const char* part : {load, store})
      EXPECT_NE(compiled.code->ptx.find(part), std::string::npos) << entry << " " << part;
  }
}

/// Waits acquire, notifications release.
TEST(PtxOf, EventsAcquireAndRelease) {
  const Compiled& compiled = compiled_entry("two", "sm_90a");
  ASSERT_TRUE(compiled.code) << compiled.error;
  for (const char* part : {".visible .entry two_0", ".maxntid 256", "ld.acquire.gpu.global.u32",
                           "st.release.gpu.global.u32", "mma.sync.aligned.m16n8k16", "ldmatrix.sync"})
    EXPECT_NE(compiled.code->ptx.find(part), std::string::npos) << part;
}

}  // namespace
}  // namespace axon::testing
