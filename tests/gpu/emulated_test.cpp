// The modules that PTX is made of, run by the emulator: whole kernels of several blocks, whose tasks wait for
// each other, against the reference interpreter, and without a finding.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <llvm/Bitcode/BitcodeReader.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>

#include "compiled.h"
#include "device/abi.h"
#include "emulator/emulator.h"
#include "harness.h"

namespace axon::testing {
namespace {

using NamedSizes = std::map<std::string, int64_t>;

/// A launch in the memory of this process.
class Emulated {
 public:
  Emulated(const Compiled& compiled, LaunchImage& image) : compiled_(compiled), image_(image) {
    for (const auto& at : image.buffers) buffers_.push_back(image.memory[at.memory].bytes.data() + at.offset);
    events_.assign(image.event_words + 1, 0);
    context_.sizes = image.sizes.data();
    context_.buffers = buffers_.data();
    context_.events = events_.data();
    context_.event_offset = image.event_offset.data();
  }

  emulator::Report run(emulator::Program& program, int blocks, const emulator::Options& options) {
    context_.workers = static_cast<uint32_t>(blocks);
    const void* const context = &context_;
    emulator::Launch launch;
    launch.arguments = {&context};
    launch.blocks = blocks;
    launch.threads = compiled_.machine.lanes * compiled_.machine.warps;
    launch.shared_bytes = image_.shared_bytes;
    for (auto& m : image_.memory)
      launch.regions.push_back({m.name, m.bytes.data(), m.bytes.size(), m.is_written});
    const auto table = [&](const char* name, void* base, size_t bytes, bool writable) {
      launch.regions.push_back({name, base, bytes, writable});
    };
    table("context", &context_, sizeof context_, false);
    table("sizes", image_.sizes.data(), image_.sizes.size() * sizeof(int64_t), false);
    table("buffers", buffers_.data(), buffers_.size() * sizeof(void*), false);
    table("event offsets", image_.event_offset.data(), image_.event_offset.size() * sizeof(int64_t), false);
    table("events", events_.data(), events_.size() * sizeof(uint32_t), true);
    for (const task::TaskType& type : compiled_.variant().program.types)
      launch.task_types.push_back(type.name);
    launch.options = options;
    emulator::Report report = program.run(launch);
    context_.epoch += image_.epochs;
    return report;
  }

 private:
  const Compiled& compiled_;
  LaunchImage& image_;
  std::vector<void*> buffers_;
  std::vector<uint32_t> events_;
  axon_kernel_context context_{};
};

struct Sample {
  const char* entry;
  std::vector<NamedSizes> sizes;
  double tolerance;
};
void PrintTo(const Sample& sample, std::ostream* out) { *out << sample.entry; }

class EmulatedEntries : public ::testing::TestWithParam<Sample> {};

const std::vector<NamedSizes> of_rows{
    {{"m", 0}, {"n", 5}},    {{"m", 3}, {"n", 0}},    {{"m", 1}, {"n", 1}},   {{"m", 9}, {"n", 33}},
    {{"m", 5}, {"n", 1028}}, {{"m", 2}, {"n", 2048}}, {{"m", 33}, {"n", 100}}};
/// About the lengths up to which programs are for rows of a warp, and for rows that stay in registers, with
/// more rows than warps and with fewer.
std::vector<NamedSizes> at_edges(std::initializer_list<int64_t> of_warps,
                                 std::initializer_list<int64_t> of_blocks) {
  std::vector<NamedSizes> out = of_rows;
  for (const int64_t limit : of_warps)
    for (const int64_t n : {limit, limit + 1}) out.push_back({{"m", 17}, {"n", n}});
  for (const int64_t limit : of_blocks)
    for (const int64_t n : {limit, limit + 1}) out.push_back({{"m", 2}, {"n", n}});
  out.push_back({{"m", 7}, {"n", 509}});
  out.push_back({{"m", 8}, {"n", 509}});
  return out;
}
/// An argmax is of one element at least.
std::vector<NamedSizes> without_empty_rows(std::vector<NamedSizes> sizes) {
  std::erase_if(sizes, [](const NamedSizes& of) { return of.at("n") == 0; });
  return sizes;
}
const std::vector<NamedSizes> of_words = at_edges({64, 128, 512, 1024}, {64, 128, 2048, 4096, 8192});
const std::vector<NamedSizes> of_products{{{"m", 1}, {"k", 1}, {"n", 1}},
                                          {{"m", 5}, {"k", 0}, {"n", 8}},
                                          {{"m", 17}, {"k", 33}, {"n", 9}},
                                          {{"m", 128}, {"k", 64}, {"n", 128}},
                                          {{"m", 130}, {"k", 40}, {"n", 136}}};

INSTANTIATE_TEST_SUITE_P(
    All, EmulatedEntries,
    ::testing::Values(
        Sample{"chain", at_edges({1024}, {1024, 2048}), 1e-6}, Sample{"halves", at_edges({1024}, {}), 1e-2},
        Sample{"softmax_rows", of_words, 1e-5},
        Sample{"softmax_halves", at_edges({128, 256, 1024}, {2048, 8192}), 1e-2},
        Sample{"layer", of_words, 1e-4}, Sample{"wide", at_edges({32, 64, 256, 512}, {}), 1e-12},
        Sample{"softmax_doubles", at_edges({32, 64, 256, 512}, {1024, 4096}), 1e-12},
        Sample{"whole", of_words, 0}, Sample{"masked", of_words, 1e-5}, Sample{"scaled", of_words, 1e-5},
        Sample{"sevens", {{{"m", 0}}, {{"m", 1}}, {{"m", 511}}, {{"m", 1030}}}, 1e-5},
        Sample{"hundreds", {{{"m", 0}}, {{"m", 1}}, {{"m", 67}}}, 1e-2},
        Sample{"threes", {{{"m", 0}}, {{"m", 1}}, {{"m", 5471}}}, 1e-5},
        Sample{"total", {{{"n", 0}}, {{"n", 1}}, {{"n", 2047}}, {{"n", 20000}}}, 1e-4},
        Sample{"squares", {{{"n", 0}}, {{"n", 31}}, {{"n", 5000}}}, 0},
        Sample{"ranks", {{{"a", 2}, {"b", 3}, {"n", 65}}}, 1e-5}, Sample{"dependent", of_rows, 1e-4},
        Sample{"product", of_products, 1e-2}, Sample{"turned", of_products, 1e-2},
        Sample{"activated", of_products, 2e-2},
        Sample{"batched",
               {{{"b", 0}, {"m", 3}, {"k", 4}, {"n", 5}}, {{"b", 3}, {"m", 130}, {"k", 40}, {"n", 16}}},
               1e-2},
        Sample{"weighted", of_products, 1e-2}, Sample{"best", without_empty_rows(of_words), 0},
        Sample{"bytes", at_edges({256, 512, 1024}, {}), 0}, Sample{"tiny", at_edges({1024}, {}), 1e-1},
        Sample{"flags", {{{"a", 2}, {"b", 1}, {"c", 3}, {"n", 37}}}, 0},
        Sample{"two", {{{"m", 130}, {"k", 24}, {"n", 140}, {"l", 16}}}, 3e-2}),
    [](const auto& info) { return std::string(info.param.entry); });

std::unique_ptr<llvm::Module> module_of(const Compiled& compiled, llvm::LLVMContext& context) {
  auto module = llvm::parseBitcodeFile(llvm::MemoryBufferRef(compiled.code->bitcode, "gpu"), context);
  return module ? std::move(*module) : nullptr;
}

TEST_P(EmulatedEntries, AgreeWithTheInterpreter) {
  const Compiled& compiled = compiled_entry(GetParam().entry, "sm_80");
  ASSERT_TRUE(compiled.code) << compiled.error;
  llvm::LLVMContext context;
  const auto module = module_of(compiled, context);
  ASSERT_TRUE(module);
  emulator::Program program(*module, compiled.variant().symbol);
  for (const emulator::Finding& finding : program.findings()) FAIL() << finding.message;
  uint64_t seed = 1;
  for (const NamedSizes& sizes : GetParam().sizes) {
    const auto values = compiled.sizes(sizes);
    ASSERT_TRUE(values);
    const auto inputs = random_inputs(compiled.entry().graph, sizes, 7);
    const auto wanted = graph::interpret(compiled.entry().graph, inputs, *values, graph::Precision::storage);
    ASSERT_EQ(wanted.error, "");
    for (const int blocks : {1, 3}) {
      LaunchImage image =
          make_image(compiled.variant(), compiled.code->scratch_bytes.front(), *values, inputs);
      Emulated emulated(compiled, image);
      for (int launch = 0; launch < 2; ++launch) {
        const auto report = emulated.run(program, blocks, {.seed = seed++, .switch_every = 64});
        ASSERT_TRUE(report.ok()) << report.text();
      }
      const auto results = results_of(image);
      std::string where = fmt::format("{} with {} blocks,", GetParam().entry, blocks);
      for (const auto& [name, size] : sizes) where += fmt::format(" {}={}", name, size);
      for (size_t i = 0; i < results.size(); ++i)
        expect_close(results[i], wanted.results[i], GetParam().tolerance, GetParam().tolerance, where);
    }
  }
}

// ---- what is left out is found ----

/// The findings of five blocks when the module calls the function no longer.
emulator::Report without(const std::string& entry, const NamedSizes& sizes, const char* function) {
  const Compiled& compiled = compiled_entry(entry, "sm_80");
  llvm::LLVMContext context;
  const auto module = module_of(compiled, context);
  llvm::Function* const called = module->getFunction(function);
  EXPECT_TRUE(called) << function;
  if (!called) return {};
  for (llvm::User* user : llvm::make_early_inc_range(called->users()))
    llvm::cast<llvm::CallInst>(user)->eraseFromParent();
  emulator::Program program(*module, compiled.variant().symbol);
  const auto inputs = random_inputs(compiled.entry().graph, sizes, 7);
  LaunchImage image =
      make_image(compiled.variant(), compiled.code->scratch_bytes.front(), *compiled.sizes(sizes), inputs);
  return Emulated(compiled, image).run(program, 5, {.seed = 3, .switch_every = 64});
}

const NamedSizes of_dependent{{"m", 21}, {"n", 70}};

TEST(EmulatedMutants, WithoutWaitsTasksRace) {
  // Where rows alone meet rows, a block waits for itself.
  const auto report = without("two", {{"m", 130}, {"k", 24}, {"n", 140}, {"l", 16}}, "axon_gpu_wait");
  EXPECT_TRUE(report.has(emulator::Kind::race)) << report.text();
}
TEST(EmulatedMutants, WithoutNotificationsTasksWaitForEver) {
  const auto report = without("dependent", of_dependent, "axon_gpu_notify");
  EXPECT_TRUE(report.has(emulator::Kind::deadlock)) << report.text();
  EXPECT_NE(report.text().find("softmax"), std::string::npos) << report.text();
}
TEST(EmulatedMutants, WithoutBarriersWarpsRace) {
  for (const auto& [entry, sizes] : {std::pair("softmax_rows", NamedSizes{{"m", 3}, {"n", 200}}),
                                     std::pair("softmax_rows", NamedSizes{{"m", 20}, {"n", 1030}}),
                                     std::pair("softmax_rows", NamedSizes{{"m", 20}, {"n", 8200}}),
                                     std::pair("product", NamedSizes{{"m", 130}, {"k", 80}, {"n", 128}})}) {
    const auto report = without(entry, sizes, "llvm.nvvm.barrier0");
    EXPECT_TRUE(report.has(emulator::Kind::race)) << entry << report.text();
  }
}

}  // namespace
}  // namespace axon::testing
