// What is in the innermost loops of the native code of programs that the pipeline makes, at each level:
// products of one row, few and many, a softmax, a norm, attention. Where a loop computes with vectors,
// nothing in it is computed one by one, and hardly a vector is stored on the stack: none in products of few
// rows, which are as fast as memory, else one in 64 instructions with 512 bits, whose registers are twice as
// many, and one in twelve with fewer.
#include <gtest/gtest.h>

#include <algorithm>
#include <regex>
#include <sstream>

#include "module/tiles/emit_program.h"
#include "pipeline.h"
#include "source/render.h"
#include "target/machine.h"
#include "tile/from_task.h"

namespace axon {
namespace {

struct Form {
  const char* name;
  const char* program;
  bool few_rows = false;
  size_t enough = 0;  ///< blocks of so many operations on vectors are hot, too: loops that branch
};
const Form forms[] = {
    {"one_row", "entry f (p : weights {w : f32[k, n]}) (x : f32[1, k]) = x @ p.w\n", true},
    {"few_rows", "entry f (p : weights {w : f32[k, n]}) (x : f32[4, k]) = x @ p.w\n", true},
    {"many_rows", "entry f (p : weights {w : f32[k, n]}) (x : f32[m, k]) = x @ p.w\n"},
    {"softmax", "entry f (x : f32[m, n]) = softmax x\n"},
    {"norm", "entry f (x : f32[m, n]) (w : f32[n]) = rms_norm x w 0.00001\n", false, 8},
    {"attention",
     "import attention\n"
     "entry f (q : f32[h, m, d]) (k : f32[h, n, d]) (v : f32[h, n, d]) =\n"
     "  attention.scored (fn s => for p i j => if j <= i then s[p, i, j] else -inf) q k v\n"},
};

/// The code of each tile program of the entry.
std::vector<std::string> codes_of(const Form& form, const target::Machine& machine) {
  CompileOptions options;
  options.library = {AXON_SOURCE_DIR "/stdlib"};
  options.levels = {std::string(machine.name)};
  Compilation c(std::move(options));
  c.file = c.sources.add("test.axn", form.program, c.diagnostics);
  EXPECT_TRUE(run(c, "plan")) << source::render_short(c.diagnostics, c.sources);
  std::vector<std::string> out;
  for (const CompiledEntry& entry : c.entries)
    for (const plan::Variant& variant : entry.plan.variants) {
      graph::Graph graph = entry.graph;
      for (uint32_t t = 0; t < variant.program.types.size(); ++t)
        for (const auto& made :
             tile::programs_of(variant.program, task::TaskTypeId{t}, graph, *tile::find_machine(machine.name))
                 .list) {
          std::string error;
          const auto code = module::emit_task(made.program, machine, module::TaskForm::assembly, error);
          EXPECT_TRUE(code) << error;
          out.push_back(code.value_or(""));
        }
    }
  return out;
}

size_t count_in(const std::vector<std::string>& block, const std::regex& pattern) {
  return static_cast<size_t>(std::count_if(
      block.begin(), block.end(), [&](const std::string& line) { return std::regex_match(line, pattern); }));
}

/// Instructions between jumps that compute with vectors: those from a label to a jump back to it, and, where
/// `enough` is not 0, other ones with so many operations and no quotient or root of one sum.
std::vector<std::vector<std::string>> hot_blocks(const std::string& code, size_t enough) {
  static const std::regex label("^([.\\w]+):.*"), instruction("^\tv?[a-z].*"),
      statistic("^\tv?(r?sqrt|div)s[sd]\t.*"),
      computes("^\tv?(add|sub|mul|max|min|fn?m(add|sub)\\d+)p[sd]\t.*");
  std::vector<std::vector<std::string>> out;
  std::string at;
  std::vector<std::string> block;
  std::istringstream lines(code);
  std::smatch found;
  for (std::string line; std::getline(lines, line);) {
    if (std::regex_match(line, found, label)) {
      at = found[1];
      block.clear();
    } else if (std::regex_match(line, instruction)) {
      block.push_back(line);
    }
    if (!line.starts_with("\tj")) continue;
    const size_t count = count_in(block, computes);
    const bool is_loop = line.substr(line.rfind('\t') + 1) == at;
    const bool is_hot = is_loop || (enough > 0 && count >= enough && count_in(block, statistic) == 0);
    if (count > 0 && is_hot) out.push_back(block);
    at.clear();
    block.clear();
  }
  return out;
}

void expect_vectors(const Form& form, const target::Machine& machine) {
  static const std::regex one_by_one("^\tv?(add|sub|mul|div|min|max|sqrt|fn?m(add|sub)\\d+)s[sd]\t.*"),
      spilled("^\tv?mov.*mm\\d+, -?\\d*\\(%rsp\\).*");
  size_t blocks = 0;
  for (const std::string& code : codes_of(form, machine))
    for (const auto& block : hot_blocks(code, form.enough)) {
      ++blocks;
      std::string text;
      for (const std::string& line : block) text += line + "\n";
      EXPECT_EQ(count_in(block, one_by_one), 0u) << text;
      const size_t of_one_store = machine.name == "x86-64-v4" ? 64 : 12;
      EXPECT_LE(count_in(block, spilled), form.few_rows ? 0 : block.size() / of_one_store) << text;
    }
  EXPECT_GE(blocks, 2u);
}

class HotBlocks : public testing::TestWithParam<Form> {};

TEST_P(HotBlocks, AreVectors) {
  for (const char* level : {"x86-64-v2", "x86-64-v3", "x86-64-v4"}) {
    SCOPED_TRACE(level);
    expect_vectors(GetParam(), *target::find_machine(level));
  }
}
INSTANTIATE_TEST_SUITE_P(Forms, HotBlocks, testing::ValuesIn(forms),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace axon
