// What a forked child can do with the handles of its parent: everything, with workers of its own.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "../sanitized.h"
#include "support.h"

namespace axon::test {
namespace {

#ifdef AXON_UNDER_THREAD_SANITIZER
constexpr bool can_start_threads = false;  // after a fork, its runtime ends a process that starts one
#else
constexpr bool can_start_threads = true;
#endif

#ifdef AXON_UNDER_ADDRESS_SANITIZER
// The allocator of GCC 12's runtime keeps no order at a fork: a child cannot allocate any more when another
// thread of its parent was allocating (LLVM's runtime takes its locks before a fork since version 17).
constexpr bool can_allocate_beside_threads = false;
#else
constexpr bool can_allocate_beside_threads = true;
#endif

/// The child's exit status: what `body` returns, or 99 when it has not ended after a while.
template <class Body>
int in_child(Body body) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);
    _exit(body());
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 99;
}

/// 0 when three rounds over eight elements come out right.
int run_chain(axon_call* call) {
  Array<int32_t> x{{8}, {1, 0, 0, 0, 0, 0, 0, 1}};
  const axon_view view = x.view();
  axon_view result;
  if (axon_call_set(call, "x", &view, nullptr) != AXON_OK) return 1;
  if (axon_call_set_int(call, "l", 3, nullptr) != AXON_OK) return 2;
  if (axon_call_run(call, nullptr) != AXON_OK) return 3;
  if (axon_call_result(call, 0, &result, nullptr) != AXON_OK) return 4;
  const auto* const out = static_cast<const int32_t*>(result.data);
  return std::vector<int32_t>(out, out + 8) == std::vector<int32_t>{4, 5, 3, 1, 1, 3, 5, 4} ? 0 : 5;
}

class Fork : public ::testing::TestWithParam<uint32_t> {};

TEST_P(Fork, TheChildGoesOn) {
  if (!can_start_threads) GTEST_SKIP();
  Handles h;
  h.make_call("chain", GetParam());
  ASSERT_EQ(run_chain(h.call), 0);
  for (int round = 0; round < 3; ++round) {
    EXPECT_EQ(in_child([&] {
                const int mine = run_chain(h.call);
                const int grandchild = in_child([&] { return run_chain(h.call); });
                const int again = run_chain(h.call);
                axon_call_destroy(h.call);
                axon_runtime_destroy(h.runtime);
                return mine ? mine : grandchild ? 10 + grandchild : again;
              }),
              0);
    EXPECT_EQ(run_chain(h.call), 0) << "the parent goes on, too";
  }
}

TEST_P(Fork, AChildThatRunsNothingMayLetGo) {
  Handles h;
  h.make_call("chain", GetParam());
  EXPECT_EQ(in_child([&] {
              axon_call_destroy(h.call);
              axon_runtime_destroy(h.runtime);
              return 0;
            }),
            0);
}

/// At some of the forks a thread holds the lock of the workers, and they are at work.
TEST_P(Fork, OtherThreadsMayRunMeanwhile) {
  if (!can_start_threads || !can_allocate_beside_threads) GTEST_SKIP();
  Handles h;
  h.make_call("chain", GetParam());
  std::atomic<bool> stop{false};
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 2; ++t)
    threads.emplace_back([&] {
      axon_call* mine = nullptr;
      wrong += axon_call_create(h.bundle, "chain", nullptr, h.runtime, &mine, nullptr) != AXON_OK;
      while (!stop) wrong += run_chain(mine) != 0;
      axon_call_destroy(mine);
    });
  for (int round = 0; round < 25; ++round) {
    EXPECT_EQ(in_child([&] { return run_chain(h.call); }), 0);
  }
  stop = true;
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

INSTANTIATE_TEST_SUITE_P(Workers, Fork, ::testing::Values(1, 2, 3, 0));

/// The call itself is unfinished in the child, and says so.
TEST(ForkInside, ACallThatWasRunningIsRefused) {
  Handles h;
  h.make_call("talking");
  Array<float> x{{2, 2}, {1, 2.5, -3, 4}};
  const axon_view view = x.view();
  ASSERT_EQ(axon_call_set(h.call, "x", &view, h.error), AXON_OK);
  struct Inside {
    axon_call* call;
    int child;
  } inside{h.call, 0};
  axon_call_on_debug(
      h.call,
      [](void* user, const char*, const axon_view*) {
        auto& it = *static_cast<Inside*>(user);
        it.child = in_child([&] { return static_cast<int>(axon_call_run(it.call, nullptr)); });
      },
      &inside);
  ASSERT_EQ(axon_call_run(h.call, h.error), AXON_OK) << h.text();
  EXPECT_EQ(inside.child, static_cast<int>(AXON_MISUSE));
}

}  // namespace
}  // namespace axon::test
