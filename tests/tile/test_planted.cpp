// One thing that is wrong, and who says so: the proofs name the obligation, the interpreter operation,
// coordinates and element, where a run shows it.
#include <algorithm>
#include <cstdlib>

#include "support.h"

namespace axon::tile {
namespace {

/// The text of a program with lines exchanged.
struct Planted {
  const char* name;
  const char* program;
  const char* line;        ///< a part of the text
  const char* other;       ///< what is there instead
  const char* obligation;  ///< a part of one that fails
  const char* error;       ///< a part of what a run says; empty: some order of tasks would show it
};
const Planted all_planted[] = {
    {"NothingWroteIt", "gemm", "  map acc[r, c] = f32(0)\n", "", "acc is written before", "nothing wrote it"},
    // Where one operand is filled, the step is left out.
    {"NoFill", "gemm",
     "k fill 0\n    view b[d, c] = w[32*s + d, 16*j + c] if 32*s + d < k and 16*j + c < n fill 0",
     "k\n    view b[d, c] = w[32*s + d, 16*j + c] if 32*s + d < k and 16*j + c < n", "neutral in the sum",
     "its bounds do not hold, and there is no fill"},
    {"WrongFill", "softmax", "fill -inf", "fill 200", "neutral in the sum", "y: element"},
    {"OutOfBounds", "pointwise", "if 64*i + r < n", "", "inside of x", "reaches index"},
    {"OutOfItsBox", "pointwise", "reads [64*i : min(n, 64*i + 64)]", "reads [64*i : min(n, 64*i + 63)]",
     "in the box that is declared of x", "lies outside of what the task reads"},
    {"StoredBeyond", "pointwise", "to y[64*i + r] if 64*i + r < n", "to y[64*i + r] if 64*i + r <= n",
     "inside of y", "reaches index"},
    {"NotAllStored", "pointwise", "to y[64*i + r] if 64*i + r < n", "to y[64*i + r] if 64*i + r < n - 1",
     "each element once", "announces an element that the task did not write"},
    {"StoredTwice", "pointwise", "  notify 0", "  copy t[r] to y[64*i + r] if 64*i + r < n\n  notify 0",
     "each element once", "is stored where the task has stored before"},
    {"AnotherLane", "transpose", "copy u[r, c] to", "map u[r, c] = t[r, c]\n  copy u[r, c] to",
     "every lane has its operands", "another thread or lane has it"},
    {"Overwritten", "rms_norm", "scratch weight f32[4096] as line at 16384",
     "scratch weight f32[4096] as line at 0", "row is written before", "another tile was written over it"},
    {"WithoutWait", "chain", "  wait 0\n", "", "a wait that guards it is before", ""},
    {"NotifyTooEarly", "softmax", "  copy row[j] to y[i, j] if i < m and j < n\n  notify 0",
     "  notify 0\n  copy row[j] to y[i, j] if i < m and j < n", "y is stored before",
     "announces an element that the task did not write"},
    {"NotCarried", "gemm", " carry acc", "", "carries what its iterations read", ""},
    {"NoFence", "softmax_long", "  fence\n", "", "streaming stores have a fence", "no fence before it"},
    {"NoBarrier", "chain", "    barrier\n    acquire a", "    acquire a",
     "a barrier is between what wrote b and this", "no barrier orders the accesses"},
    {"NoBarrierAtTheEnd", "chain", "  barrier\n  notify 0", "  notify 0", "stores have a barrier before it",
     "have no barrier before it"},
    {"FilledFromWhatIsWritten", "chain",
     "= w[i, 16*j + r, 256*s + 32*u + z] if 16*j + r < n and 256*s + 32*u + z < n",
     "= x[i, 256*s + 32*u + z] if 256*s + 32*u + z < n", "a fill reads what the task does not write", ""},
    {"TouchedByTwoRoles", "chain",
     "= w[i, 16*j + r, 256*s + 32*u + z] if 16*j + r < n and 256*s + 32*u + z < n",
     "= x[i, 256*s + 32*u + z] if 256*s + 32*u + z < n", "each tensor that is written is one role's", ""},
    {"ReadBehindAStore", "chain", "  barrier\n  notify 0",
     "  copy b[u, z] = x[i, 32*u + z] if 32*u + z < n fill 0\n  barrier\n  notify 0",
     "a barrier is between stores and this read of x", ""},
    {"NotAcquired", "chain", "    acquire a\n", "", "a slot that is acquired", "no slot is acquired"},
    {"ReleasedTooEarly", "attention", "    settle 0\n    release values", "    release values\n    settle 0",
     "no gemm that is running reads the slot", "its slot was released"},
    {"ReadTooEarly", "attention", "    settle 0\n    release keys", "    release keys",
     "read when its gemms are done", "it has not arrived"},
    {"TooFewSlots", "gemm_rings", "at 65536 depth 4", "at 65536 depth 1", "a slot more than are held",
     "nothing can go on"},
    {"FillsInAnotherOrder", "gemm_rings", "    acquire b\n    acquire a", "    acquire a\n    acquire b",
     "fills and drains are one sequence", ""},
    {"OneFillTooFew", "gemm_rings", "for s < max(cdiv(k, 64), 1) - 1", "for s < max(cdiv(k, 64), 1) - 2",
     "fills and drains are one sequence", "nothing can go on"},
    {"TooMuchScratch", "attention", "scratch 232448", "scratch 65536", "scratch: 81920 of 65536 bytes", ""},
    {"TooManyRegisters", "attention", "registers 232", "registers 100", "registers: ", ""},
    {"RingsOverlap", "attention", "as rows at 49152", "as rows at 32768", "nothing else is in its memory",
     "another tile was written over it"},
    {"NotATiling", "attention", "operand = S[(2,4,2,8,8,2,4,2):(1@warpgroup,1@warp,1,4@lane,4,2,1@lane,1@v)]",
     "operand = S[(2,4,2,8,8,2,4,2):(1@warpgroup,1@warp,2,4@lane,4,1,1@lane,1@v)]",
     "tilings of the instruction", ""},
    {"ReadBehindItsStore", "update", "if 8*c + e < n\n  notify 0",
     "if 8*c + e < n\n      copy s[e] = x[4*i + r, 8*c + e] if 8*c + e < n\n  notify 0",
     "what it reads of x is not stored before", ""},
    {"ReadOfAnEarlierRow", "update", "copy t[e] = x[4*i + r, 8*c + e]", "copy t[e] = x[4*i, 8*c + e]",
     "what it reads of x is not stored before", "x: element"},
    {"ReadOfAnEarlierBlock", "update", "copy t[e] = x[4*i + r, 8*c + e] if 8*c + e < n",
     "copy t[e] = x[4*i + r, e] if e < n", "what it reads of x is not stored before", "x: element"},
    {"CheckedBeyond", "checked", "below v if 4*i + r < n", "below v", "what is checked is defined",
     "what is checked is not defined"},
    {"CheckedMore", "checked", "r + 100 if 4*i + r < n", "r + 100 if 4*i + r <= n",
     "what it shows is defined", "is not defined"},
    {"AnyElement", "checked", " checked\n", "\n", "only elements inside of bounds are stored", ""},
    {"KeysBeyond", "order", "if 8*b + e < n", "if 8*b + e + 1 < n", "the keys are defined", "is not defined"},
    {"TooFewKeys", "order", "cdiv(n, 8) order", "n / 8 order", "all elements have keys", "not all elements"},
    {"OrderedInTheNextRow", "order", "y[i + r]", "y[i + 1]", "its indices are inside of y", "lies outside"},
    {"OrderedAgain", "order", "  notify 0",
     "  for b < cdiv(n, 8) order key of n to y[i] of k\n    copy key[e] = x[i, 8*b + e] if 8*b + e < n\n"
     "  notify 0",
     "each element once", "stored before"},
    {"ReadBehindTheOrder", "order", "  notify 0", "  map key[e] = t[e]\n  notify 0", "t is written before",
     ""},
    {"OrderedAsItIsRead", "order", "align 8 writes", "align 8 reads [0 : m, 0 : k] writes",
     "nothing reads the row", ""},
};

class PlantedErrors : public testing::TestWithParam<Planted> {};
INSTANTIATE_TEST_SUITE_P(All, PlantedErrors, testing::ValuesIn(all_planted),
                         [](const auto& p) { return p.param.name; });

std::string planted(const Planted& p) {
  std::string text = text_of(p.program);
  const size_t at = text.find(p.line);
  EXPECT_NE(at, std::string::npos) << p.line << "\n" << text;
  return at == std::string::npos ? text : text.replace(at, std::string(p.line).size(), p.other);
}

TEST_P(PlantedErrors, TheProofsNameTheObligation) {
  std::string failed;
  for (const Obligation& o : verify(program_of(planted(GetParam()))))
    if (!o.proved) failed += o.what + "\n";
  EXPECT_NE(failed.find(GetParam().obligation), std::string::npos) << failed;
}

TEST_P(PlantedErrors, ARunShowsIt) {
  const std::string wanted = GetParam().error;
  if (wanted.empty()) return;
  const Program p = program_of(planted(GetParam()));
  std::string seen;
  for (const Sizes& sizes : sizes_of(GetParam().program)) {
    const std::string why = difference(p, sizes, sample_of(GetParam().program, sizes, 1), {.seed = 1});
    if (why.find(wanted) != std::string::npos) return;
    if (!why.empty()) seen += why + "\n";
  }
  ADD_FAILURE() << "no run says " << wanted << ", but\n" << seen;
}

/// Without its wait, the chain reads what other tasks have not announced, in some order of tasks.
TEST(PlantedOrders, SomeOrderShowsAMissingWait) {
  std::string text = text_of("chain");
  text.erase(text.find("  wait 0\n"), 9);
  const Program p = program_of(text);
  const Sizes sizes = {{"l", 3}, {"n", 33}};
  int shown = 0;
  for (uint64_t seed = 0; seed < 8; ++seed)
    shown += !difference(p, sizes, sample_of("chain", sizes, 1), {.seed = seed, .workers = 3}).empty();
  EXPECT_GT(shown, 0);
}

/// One number of workers or another, in any order that waits allow: the same bits.
TEST(Orders, GiveTheSameBits) {
  const Program p = program_of(text_of("chain"));
  const Sizes sizes = {{"l", 3}, {"n", 257}};
  const Sample sample = sample_of("chain", sizes, 1);
  const RunResult first = interpret(p, sizes, sample.given, {.seed = 0, .workers = 1});
  ASSERT_EQ(first.error, "");
  for (uint64_t seed = 1; seed < 6; ++seed) {
    const RunResult other =
        interpret(p, sizes, sample.given, {.seed = seed, .workers = static_cast<int>(seed)});
    ASSERT_EQ(other.error, "");
    EXPECT_TRUE(std::equal(first.tensors[1].values.begin(), first.tensors[1].values.end(),
                           other.tensors[1].values.begin()));
  }
}

TEST(Errors, NameOperationCoordinatesAndElement) {
  std::string text = text_of("gemm");
  text.erase(text.find("  map acc[r, c] = f32(0)\n"), 25);
  const Sizes sizes = {{"m", 13}, {"n", 33}, {"k", 1}};
  const RunResult run =
      interpret(program_of(text), sizes, sample_of("gemm", sizes, 1).given, {.seed = 0, .workers = 1});
  EXPECT_EQ(run.error,
            "`copy acc[r, c] to y[6*i + r, 16*j + c] if 6*i + r < m and 16*j + c < n` at (i = 0, j = 0): [r "
            "= 0, c = "
            "0] is not defined: nothing wrote it");
}

TEST(Errors, OfSizesAndTensors) {
  const Program p = program_of(text_of("pointwise"));
  EXPECT_EQ(interpret(p, {}, {}).error, "no value is given for n");
  EXPECT_EQ(interpret(p, {{"n", -1}}, {}).error, "the sizes break 0 <= n");
  EXPECT_EQ(interpret(p, {{"n", 2}}, {}).error, "x is not given");
  EXPECT_EQ(interpret(p, {{"n", 2}}, {{"x", {{3}, {{}, {}, {}}, {}}}}).error, "x was given in another shape");
}

}  // namespace
}  // namespace axon::tile
