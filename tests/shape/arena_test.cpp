// Variables and nodes live and die with their arena.
#include "shape/arena.h"

#include <gtest/gtest.h>

#include <thread>

#include "shape/dim.h"
#include "shape/prover.h"

namespace axon::shape {
namespace {

std::string product(const std::string& a, const std::string& b) {
  const Dim n(fresh_var(a)), m(fresh_var(b));
  return (floor_div(n * m, 2) + max(n, m) + 5000).str();
}

TEST(Arena, VariablesAreNumberedFromZero) {
  for (int i = 0; i < 2; ++i) {
    Arena arena;
    const UseArena use(arena);
    EXPECT_EQ(fresh_var("n").id, 0u);
    EXPECT_EQ(fresh_var("m").id, 1u);
  }
}

TEST(Arena, OneDoesNotSeeWhatIsMadeInAnother) {
  const size_t before = Arena::current().size();
  std::string first, second;
  size_t sizes[2] = {};
  for (size_t i = 0; i < 2; ++i) {
    Arena arena;
    const UseArena use(arena);
    (i ? second : first) = product("n", "m");
    sizes[i] = arena.size();
  }
  EXPECT_EQ(first, second);
  EXPECT_EQ(sizes[0], sizes[1]);
  EXPECT_EQ(Arena::current().size(), before);
}

TEST(Arena, NestsAndComesBack) {
  Arena outer;
  const UseArena use_outer(outer);
  const Dim n(fresh_var("n"));
  const Dim whole = n * 3000 + 1;
  {
    Arena inner;
    const UseArena use_inner(inner);
    EXPECT_EQ(&Arena::current(), &inner);
    fresh_var("m");
  }
  EXPECT_EQ(&Arena::current(), &outer);
  EXPECT_EQ(n * 3000 + 1, whole);
}

TEST(Arena, SmallConstantsBelongToAll) {
  const Dim before = 7;
  Arena arena;
  const UseArena use(arena);
  EXPECT_EQ(Dim(7), before);
  EXPECT_EQ(Dim(3) + 4, before);
  EXPECT_EQ(Dim(5000) - 4993, before);
  EXPECT_EQ(Dim(fresh_var("n")) * 0 + 7, before);
}

TEST(Arena, ManyVariablesKeepTheirNames) {
  Arena arena;
  const UseArena use(arena);
  std::vector<Var> vars;
  for (int i = 0; i < 3000; ++i) vars.push_back(fresh_var("v" + std::to_string(i)));
  for (size_t i = 0; i < vars.size(); ++i) EXPECT_EQ(var_name(vars[i]), "v" + std::to_string(i));
}

TEST(Arena, ThreadsShareWhatTheyAreGiven) {
  Arena arena;
  const UseArena use(arena);
  const Dim n(fresh_var("n"));
  Dim there;
  std::thread([&] {
    const UseArena same(arena);
    there = n * 3 + 2000;
  }).join();
  EXPECT_EQ(there, n * 3 + 2000);
}

/// Nodes of an arena that has ended may have had the addresses of this one's.
TEST(Arena, AnswersAreNotTakenFromAnother) {
  const ProverSession session(100000);
  for (int i = 0; i < 200; ++i) {
    Arena arena;
    const UseArena use(arena);
    const Dim n(fresh_var("n")), m(fresh_var("m"));
    const bool holds = i % 2 == 0;
    const Fact goal = holds ? at_least(n * m + 1, 1) : at_least(n * m, 1);
    const Answer answer = prove({at_least(n, 0), at_least(m, 0)}, goal);
    EXPECT_EQ(answer.verdict == Verdict::proved, holds);
  }
}

}  // namespace
}  // namespace axon::shape
