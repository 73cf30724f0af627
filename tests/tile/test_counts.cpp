// Loops whose iterations the data counts: the proofs take none of them, and any number of them, for possible.
#include "support.h"

namespace axon::tile {
namespace {

std::string exchanged(std::string text, const std::string& part, const std::string& other) {
  const size_t at = text.find(part);
  EXPECT_NE(at, std::string::npos) << part << "\n" << text;
  return at == std::string::npos ? text : text.replace(at, part.size(), other);
}
std::string failures_of(const std::string& text) {
  std::string out;
  for (const Obligation& o : verify(program_of(text)))
    if (!o.proved) out += o.what + "\n";
  return out;
}

struct Refused {
  const char* name;
  const char* program;
  const char* part;
  const char* other;  ///< instead of the part
  const char* obligation;
};
const Refused all_refused[] = {
    {"NoCount", "lengths", "  map blocks[] = div(add(length[], i64(7)), i64(8))\n", "",
     "blocks is written before"},
    {"AFirstThatIsNotDefined", "lengths", "copy low[] = lows[i] if i < m fill 0",
     "copy low[] = lows[i] if i < m", "its count is defined"},
    {"ACountThatIsNotDefined", "lengths", "lengths[i] if i < m fill 0", "lengths[i] if i < m",
     "its count is defined"},
    {"StoresInIt", "lengths", "  copy total[] to", "    copy total[] to", "each element once"},
    {"DefinedInItAlone", "lengths", "  map sum[e] = f32(0)\n", "", "sum is written before"},
    {"ReadBehindIt", "lengths", "  reduce add", "  for v < 1 below length[]\n    reduce add",
     "total is written before"},
    {"NotCarried", "lengths", "below length[] carry total", "below length[]",
     "carries what its iterations read"},
    {"NotifiedInIt", "lengths", "  notify 0", "  for v < 1 below length[]\n    notify 0",
     "each notification is sent"},
    {"WaitedForInIt", "softmax", "  wait 0\n",
     "  map count[] = i32(1)\n  for u < 1 below count[]\n    wait 0\n", "a wait that guards it is before"},
    {"FilledInIt", "gemm_rings", "for s < max(cdiv(k, 64), 1) - 1",
     "for s < max(cdiv(k, 64), 1) - 1 below count[]", "fills and drains are one sequence"},
    {"NotAllThreads", "gemm_rings", "for s < max(cdiv(k, 64), 1) - 1",
     "for s < max(cdiv(k, 64), 1) - 1 below count[]", "every thread has its count"},
};

/// A tile, in one thread of several, for programs that have no integers.
std::string with_count(const std::string& text) {
  const size_t grid = text.find("grid "), body = std::min(text.find("do\n"), text.find("role "));
  const std::string tile = "registers count i32[] as number\n";
  return text.substr(0, grid) + "layout number = S[]\n" + text.substr(grid, body - grid) + tile +
         text.substr(body);
}

class Counts : public testing::TestWithParam<Refused> {};
INSTANTIATE_TEST_SUITE_P(All, Counts, testing::ValuesIn(all_refused),
                         [](const auto& p) { return p.param.name; });

TEST_P(Counts, TheProofsNameTheObligation) {
  const Refused& p = GetParam();
  std::string text = exchanged(text_of(p.program), p.part, p.other);
  if (text.find("count[]") != std::string::npos) text = with_count(text);
  const std::string failed = failures_of(text);
  EXPECT_NE(failed.find(p.obligation), std::string::npos) << failed;
}

/// The block of an iteration is not sure to be written behind the loop.
TEST(CountedBlocks, MayBeMissing) {
  const std::string text = R"(tiles blocks on x86-64-v3
sizes m
facts 0 <= m
layout vector = S[8:1@v]
layout one = S[] + R[8:1@v]
layout blocks = S[64:1]
grid i < max(m, 1)
tensor x f32[m, 8] align 4 reads [i : min(m, i + 1), 0 : 8] at S[(m,8):(8,1)]
tensor y f32[m, 8] align 4 writes [i : min(m, i + 1), 0 : 8] at S[(m,8):(8,1)]
scratch e f32[8, 8] as blocks at 0
registers t f32[8] as vector
registers count i32[] as one
do
  copy t[j] = x[i, j] if i < m fill 0
  map count[] = i32(8)
  for b < 8 below count[]
    copy t[j] to e[b, j]
  copy t[j] = e[7, j]
  copy t[j] to y[i, j] if i < m
)";
  EXPECT_NE(failures_of(text).find("e is written before"), std::string::npos) << failures_of(text);
  EXPECT_EQ(failures_of(exchanged(text, " below count[]", "")), "");
}

TEST(CountText, ErrorsSayWhy) {
  const std::string text = text_of("lengths");
  const auto error_of = [&](const std::string& part, const std::string& other) {
    std::string error;
    EXPECT_FALSE(parse(exchanged(text, part, other), error)) << other;
    return error.substr(error.find(": ") + 2);
  };
  const std::string kind = "a count is a number in registers, i32 or i64";
  EXPECT_EQ(error_of("below blocks[]", "below total[]"), kind);
  EXPECT_EQ(error_of("below length[]", "below t[e]"), "a label is used that the operation does not have");
  EXPECT_EQ(error_of("below length[]", "below n"), "no tile is called `n`");
  const std::string order = text_of("order"), number = with_count(order);
  std::string error;
  EXPECT_FALSE(parse(exchanged(number, " order key", " below count[] order key"), error));
  EXPECT_NE(error.find("a loop that orders has no count"), std::string::npos) << error;
}

}  // namespace
}  // namespace axon::tile
