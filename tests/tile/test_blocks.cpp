// Blocks of scratch: those that were written are proved to be where they are read, others are not. What the
// proofs accept runs for all sizes that are tried; what is wrong is refused, and some run shows it.
#include "support.h"

namespace axon::tile {
namespace {

const std::string head = R"(tiles blocks on x86-64-v3
sizes m, p, q
facts 0 <= m and 0 <= p and 0 <= q
guard p <= 6 and q <= 6
layout vector = S[8:1@v]
layout one = S[] + R[8:1@v]
layout blocks = S[512:1]
layout line = S[8:1]
grid i < max(m, 1)
tensor x f32[m, 8] align 4 reads [i : min(m, i + 1), 0 : 8] at S[(m,8):(8,1)]
tensor y f32[m, 8] align 4 writes [i : min(m, i + 1), 0 : 8] at S[(m,8):(8,1)]
notifies y[i : min(m, i + 1), 0 : 8]
scratch e f32[8, 8, 8] as blocks at 0
scratch o f32[8, 8, 8] as blocks at 1024
scratch s f32[8] as line at 3072
registers t f32[8] as vector
registers u f32[8] as vector
registers acc f32[8] as vector
registers top f32[] as one
do
  copy t[j] = x[i, j] if i < m fill 0
  map acc[j] = f32(0)
)";
const std::string tail = "  copy acc[j] to y[i, j] if i < m\n  notify 0\n";

/// Loops that store t to e[at, j]; the lines come before and behind that.
std::string writes(const std::string& outer, const std::string& blocks, const std::string& at,
                   const std::string& before = "", const std::string& behind = "") {
  return "  for a < " + outer + "\n    for b < " + blocks + "\n" + before + "      copy t[j] to e[" + at +
         ", j]\n" + behind;
}
/// Loops that sum e[at, j].
std::string reads(const std::string& outer, const std::string& blocks, const std::string& at) {
  return "  for c < " + outer + " carry acc\n    for d < " + blocks + " carry acc\n      copy u[j] = e[" +
         at + ", j]\n      map acc[j] = add(acc[j], u[j])\n";
}
const std::string all_written = writes("p", "q", "a, b"), all_read = reads("p", "q", "c, d");
/// The same one loop deeper.
std::string deeper(const std::string& lines) {
  std::string out;
  for (size_t at = 0; at < lines.size();) {
    const size_t end = lines.find('\n', at) + 1;
    out += "  " + lines.substr(at, end - at);
    at = end;
  }
  return out;
}

std::string refused(const std::string& text) {
  std::string out;
  for (const Obligation& o : verify(program_of(text)))
    if (!o.proved) out += o.what + "\n";
  return out;
}
/// Of the first run that fails; empty where none does.
std::string failure(const std::string& text) {
  const Program p = program_of(text);
  for (const int64_t m : {0, 1, 3})
    for (const int64_t outer : {0, 1, 2, 6})
      for (const int64_t blocks : {0, 1, 3, 6}) {
        TensorData x{{m, 8}, {}, {}};
        for (int64_t k = 0; k < 8 * m; ++k) x.values.push_back({static_cast<double>(k), 0});
        const RunResult run =
            interpret(p, {{"m", m}, {"p", outer}, {"q", blocks}}, {{"x", x}}, {.seed = 1, .workers = 1});
        if (!run.error.empty()) return run.error;
      }
  return "";
}

struct Case {
  const char* name;
  std::string body;
};
std::string name_of(const testing::TestParamInfo<Case>& info) { return info.param.name; }

/// Loops that read e[at, j] and store to e[f, g, j].
std::string in_place(const std::string& outer, const std::string& blocks, const std::string& at,
                     const std::string& more = "") {
  return "  for f < " + outer + " carry e\n    for g < " + blocks + " carry e\n      copy u[j] = e[" + at +
         ", j]\n      map u[j] = add(u[j], u[j])\n" + more + "      copy u[j] to e[f, g, j]\n";
}

const Case proved[] = {
    {"Rectangle", all_written + all_read},
    {"Columns", all_written + reads("q", "p", "d, c")},
    {"Triangle", writes("p", "a + 1", "a, b") + reads("p", "c + 1", "c, d")},
    {"TriangleThatEnds", writes("p", "q - a", "a, b") + reads("p", "q - c", "c, d")},
    {"ReadsFewer", all_written + reads("p - 1", "q - 1", "c, d")},
    {"ReadsTheLast", all_written + reads("p", "q", "p - c - 1, q - d - 1")},
    {"Diagonal", writes("p", "a + 1", "a, a") + reads("p", "q", "c, c")},
    {"Rows", "  for r < m carry acc\n" + deeper(all_written + all_read)},
    {"Twice", writes("p", "q", "a, b", "      copy acc[j] to e[a, b, j]\n") + all_read},
    {"AnotherOneBefore", "  for f < p\n    copy acc[j] to e[f, 7, j]\n" + all_written + all_read},
    {"OneMoreOfTheRow",
     "  for a < p\n    copy acc[j] to e[a, 7, j]\n    for b < q\n      copy t[j] to e[a, b, j]\n" + all_read},
    {"WithinTheIteration",
     writes("p", "q", "a, b", "", "      copy u[j] = e[a, b, j]\n      copy acc[j] = u[j]\n")},
    {"InANestedLoop",
     "  for a < p\n    for r < a + 1\n      copy t[j] to e[a, 0, j]\n" + reads("p", "1", "c, d")},
    {"InPlace", all_written + in_place("p", "q", "f, g") + all_read},
    {"InPlaceOfLaterOnes", all_written + in_place("p - 1", "q", "f + 1, g") + reads("p - 1", "q", "c, d")},
    {"InPlaceOfMoreThanIsRead", all_written + in_place("p", "q + 1", "f, g") + all_read},
    {"InPlaceTwice", all_written + "  for r < m carry e\n" + deeper(in_place("p", "1", "f, g"))},
    {"NextToIt", writes("p", "q", "a, b", "      map s[k] = f32(1)\n") + all_read},
    {"AView", "  for a < p\n    copy t[j] to e[a, 0, j]\n    copy acc[j] = e[a, 0, j]\n"},
    {"Scalars",
     "  reduce max top[] = t[j] in f32\n  for a < p\n    copy top[] to s[a]\n"
     "  for c < p carry acc\n    copy top[] = s[c]\n    map acc[j] = add(acc[j], top[])\n"},
    {"AMapOfAll", all_written + "  map e[k, l, j] = mul(e[k, l, j], e[k, l, j])\n" + all_read},
    {"ASumOfAll", all_written + "  map e[k, l, j] = e[k, l, j] if k < p and l < q fill 0\n"
                                "  reduce add acc[j] = e[k, l, j] in f32\n"},
};
class ProvedBlocks : public testing::TestWithParam<Case> {};
INSTANTIATE_TEST_SUITE_P(All, ProvedBlocks, testing::ValuesIn(proved), name_of);

TEST_P(ProvedBlocks, Run) {
  const std::string text = head + GetParam().body + tail;
  EXPECT_EQ(print(program_of(text)), text);
  EXPECT_EQ(refused(text), "") << text;
  EXPECT_EQ(failure(text), "") << text;
}

const Case wrong[] = {
    {"ReadsMore", all_written + reads("p", "q + 1", "c, d")},
    {"ReadsMoreRows", all_written + reads("p + 1", "q", "c, d")},
    {"ReadsTheNext", all_written + reads("p", "q", "c, d + 1")},
    {"ReadsColumns", all_written + reads("p", "q", "d, c")},
    {"ReadsARowThatMayBeNone", all_written + reads("1", "q", "0, d")},
    {"WritesFewer", writes("p", "q - 1", "a, b") + all_read},
    {"WritesOne", writes("p", "q", "a, 0") + all_read},
    {"WritesTheNext", writes("p", "q", "a, b + 1") + all_read},
    {"WritesEverySecond", writes("p", "q - 3", "a, 2*b") + reads("p", "q - 3", "c, d")},
    {"WritesTheDiagonal", writes("p", "q", "a, a") + all_read},
    {"WritesATriangle", writes("p", "a + 1", "a, b") + reads("p", "p", "c, d")},
    {"WritesFewerInLaterRows", writes("p", "p - a", "a, b") + reads("p", "p", "c, d")},
    {"MayNotBeWritten",
     "  for a < p\n    for r < q - a\n      copy t[j] to e[a, 0, j]\n" + reads("p", "1", "c, d")},
    {"TwoParts",
     writes("p", "q - 1", "a, b") + "  for f < p\n    for g < 1\n      copy t[j] to e[f, q, j]\n" + all_read},
    {"ReadsWhatIsWrittenLater", all_read + all_written},
    {"BeforeTheStore", writes("p", "q", "a, b", "      copy u[j] = e[a, b, j]\n      copy acc[j] = u[j]\n")},
    {"OfTheIterationBefore",
     writes("p", "q", "a, b", "", "      copy u[j] = e[a, b + 1, j]\n      copy acc[j] = u[j]\n")},
    {"InPlaceOfTheNext", all_written + in_place("p", "q", "f, g + 1") + all_read},
    {"InPlaceOfMore", all_written + in_place("p", "q + 1", "f, g") + reads("p", "q + 1", "c, d")},
    {"InPlaceOfUndefined", in_place("p", "q", "f, g") + all_read},
    {"InPlaceOverAnother",
     all_written + in_place("p", "q", "f, g", "      map o[k, l, j] = f32(1)\n") + all_read},
    {"InPlaceOfHalves",
     all_written + in_place("p", "q", "f, g", "      map u[j] = u[j] if j < 4\n") + all_read},
    {"WrittenOverBetween", all_written + "  map o[k, l, j] = f32(1)\n" + all_read},
    {"WrittenOverInTheIteration", writes("p", "q", "a, b", "", "      map o[k, l, j] = f32(1)\n") + all_read},
    {"WrittenOverBeforeTheStore", writes("p", "q", "a, b", "      map o[k, l, j] = f32(1)\n") + all_read},
    {"WrittenOverInTheRow",
     "  for a < p\n    map o[k, l, j] = f32(1)\n    for b < q\n      copy t[j] to e[a, b, j]\n" + all_read},
    {"WrittenOverByABlock", writes("p", "q", "a, b", "      copy acc[j] to o[0, b, j]\n") + all_read},
    {"ASumOfAll", all_written + "  reduce add acc[j] = e[k, l, j] in f32\n"},
    {"UndefinedElements", "  copy t[j] = x[i, j] if i < m and j < q\n" + all_written + all_read},
    {"UndefinedInTheIteration",
     writes("p", "q", "a, b", "      copy t[j] = x[i, j] if i < m and j < b + 1\n") + all_read},
    {"OfAnotherLoop",
     "  for r < 2\n    copy t[j] = x[i, j] if i < m and j < 4*r\n" + deeper(all_written) + all_read},
    {"BeyondTheAxis", writes("p", "q + 3", "a, b") + all_read},
    {"BeforeTheAxis", writes("p", "q", "a, b - 1") + all_read},
};
class WrongBlocks : public testing::TestWithParam<Case> {};
INSTANTIATE_TEST_SUITE_P(All, WrongBlocks, testing::ValuesIn(wrong), name_of);

TEST_P(WrongBlocks, AreRefusedAndARunShowsIt) {
  const std::string text = head + GetParam().body + tail;
  EXPECT_NE(refused(text), "") << text;
  EXPECT_NE(failure(text), "") << text;
}

/// A worker's second task finds nothing of its first one.
TEST(Blocks, AreUndefinedWhereATaskBegins) {
  const std::string text =
      head + "  for a < 1 - i\n    copy t[j] to e[a, 0, j]\n" + "  copy acc[j] = e[0, 0, j]\n" + tail;
  EXPECT_NE(refused(text), "");
  EXPECT_NE(failure(text).find("at (i = 1): [j = 0] is not defined: nothing wrote it"), std::string::npos)
      << failure(text);
}

TEST(Blocks, LieWhereTheLayoutPutsThem) {
  const std::string text =
      head +
      "  for a < 6\n    copy t[j] to e[a, 1, j]\n  copy t[j] to o[0, 1, j]\n  copy acc[j] = e[3, 1, j]\n" +
      tail;
  EXPECT_EQ(failure(text), "");
  std::string other = text;
  other.replace(other.find("e[3"), 3, "e[4");
  EXPECT_NE(failure(other).find("another tile was written over it"), std::string::npos);
}

// ---- several threads ----

std::string of_threads(const std::string& before_store, const std::string& before_read) {
  return R"(tiles threads on toy lanes 4 warps 2 registers 64 of 4 scratch 4096
sizes n
facts 0 <= n
guard n <= 8
layout vector = S[(2,4):(1@warp,1@lane)]
layout blocks = S[64:1]
grid i < 1
tensor x f32[n, 8] align 4 reads [0 : n, 0 : 8] at S[(n,8):(8,1)]
tensor y f32[n, 8] align 4 writes [0 : n, 0 : 8] at S[(n,8):(8,1)]
notifies y[0 : n, 0 : 8]
scratch e f32[8, 8] as blocks at 0
registers t f32[8] as vector
do
  for b < n
    copy t[j] = x[b, j]
)" + before_store +
         "    copy t[j] to e[b, j]\n" + before_read + R"(  for c < n
    copy t[j] = e[c, j]
    copy t[j] to y[c, j]
  barrier
  notify 0
)";
}

TEST(Blocks, OfSeveralThreadsNeedBarriers) {
  EXPECT_EQ(refused(of_threads("    barrier\n", "  barrier\n")), "");
  EXPECT_NE(refused(of_threads("    barrier\n", "")).find("a barrier is between what wrote e and this"),
            std::string::npos);
  EXPECT_NE(refused(of_threads("", "  barrier\n")).find("a barrier is between what used the memory of e"),
            std::string::npos);
  TensorData x{{3, 8}, std::vector<Number>(24, Number{1, 0}), {}};
  const auto error = [&](const std::string& text) {
    return interpret(program_of(text), {{"n", 3}}, {{"x", x}}, {}).error;
  };
  EXPECT_EQ(error(of_threads("    barrier\n", "  barrier\n")), "");
  EXPECT_NE(error(of_threads("", "")).find("no barrier orders the accesses"), std::string::npos);
}

// ---- texts ----

TEST(Blocks, ErrorsSayPlaceAndReason) {
  const auto error_of = [](const std::string& line) {
    std::string error;
    EXPECT_FALSE(parse(head + "  for a < p\n    " + line + "\n" + tail, error)) << line;
    return error;
  };
  EXPECT_EQ(error_of("copy t[j] to e[a, j]"), "line 24: one index per axis is expected");
  EXPECT_EQ(error_of("copy t[j] to u[j]"),
            "line 24: a copy from a tile goes to a tensor or to a tile in scratch");
  EXPECT_EQ(error_of("copy t[j] to e[a, j, j]"),
            "line 24: the first indices of a block are expressions without labels");
  EXPECT_EQ(error_of("copy t[j] to e[a, 0, 0]"),
            "line 24: the last indices of a block are all labels in their order");
  EXPECT_EQ(error_of("copy t[j] to e[a, 0, j + 1]"),
            "line 24: the last indices of a block are all labels in their order");
  EXPECT_EQ(error_of("copy t[j] to e[t[j], 0, j]"), "line 24: an index tile has integers");
  EXPECT_EQ(error_of("copy t[j] to e[a, 0, j] if a < 2"),
            "line 24: a block is stored as a whole, without bounds");
  EXPECT_EQ(error_of("copy t[j] to e[a, 0, j] streaming"),
            "line 24: a block is stored as a whole, without bounds");
  EXPECT_EQ(error_of("copy e[k, l, j] to s[j]"), "line 24: the tile has fewer axes than the block");
  EXPECT_EQ(error_of("copy e[k, l, j] to e[k, l, j]"), "line 24: a block comes from another tile");
  EXPECT_EQ(error_of("copy t[j] to e[a, 0, 0, j]"), "line 24: one index per axis is expected");
}

TEST(Blocks, HaveTheExtentsOfTheLastAxes) {
  std::string text = head + all_written + tail, error;
  const size_t at = text.find("e f32[8, 8, 8]");
  text.replace(at, 14, "e f32[8, 4, 16]");
  EXPECT_FALSE(parse(text, error));
  EXPECT_EQ(error, "line 25: a block has the extents of the tile's last axes");
  text.replace(at, 15, "e i32[8, 8, 8]");
  EXPECT_FALSE(parse(text, error));
  EXPECT_EQ(error, "line 25: a copy does not make integers of floats");
}

}  // namespace
}  // namespace axon::tile
