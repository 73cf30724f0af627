// Which pairs of accesses are races, and what clocks tell.
#include <gtest/gtest.h>

#include "emulator/shadow.h"

namespace axon::emulator {
namespace {

/// Threads that access one piece of memory, and count races.
class Shadows : public testing::Test {
 protected:
  Shadows() : threads_(40) {
    for (uint32_t i = 0; i < threads_.size(); ++i) {
      threads_[i].id = thread_id(0, i);
      threads_[i].copies_id = thread_id(1, i);
    }
  }
  /// How many races the access is in.
  int access(uint32_t thread, bool writes, size_t offset, size_t bytes, bool atomic = false) {
    Access now{};
    now.thread = threads_[thread].id;
    now.epoch = threads_[thread].epoch;
    now.write = writes;
    now.atomic = atomic;
    return note(now, thread, offset, bytes);
  }
  int copy(uint32_t thread, bool writes, size_t offset, size_t bytes) {
    Access now{};
    now.thread = threads_[thread].copies_id;
    now.epoch = threads_[thread].copy_group;
    now.write = writes;
    return note(now, thread, offset, bytes);
  }
  int note(const Access& now, uint32_t thread, size_t offset, size_t bytes) {
    int races = 0;
    shadow_.note(offset, bytes, now, threads_[thread], /*lockstep=*/false, [&](const Access&) { ++races; });
    return races;
  }
  void tell(uint32_t from, uint32_t to) { threads_[to].knows.join(threads_[from].tell()); }

  std::vector<Thread> threads_;
  Shadow shadow_{64, /*initialised=*/true};
};

TEST_F(Shadows, WritesRaceWithWritesAndReads) {
  EXPECT_EQ(access(0, true, 0, 4), 0);
  EXPECT_EQ(access(0, false, 0, 4), 0);
  EXPECT_EQ(access(1, false, 0, 4), 1);
  EXPECT_EQ(access(2, false, 4, 4), 0);
  EXPECT_EQ(access(3, false, 4, 4), 0);
  EXPECT_EQ(access(4, true, 4, 4), 2);
}

TEST_F(Shadows, WhatIsToldIsInOrder) {
  access(0, true, 0, 4);
  tell(0, 1);
  EXPECT_EQ(access(1, true, 0, 4), 0);
  tell(1, 2);
  EXPECT_EQ(access(2, false, 0, 4), 0);
  access(0, true, 8, 4);  // after it has told
  EXPECT_EQ(access(1, false, 8, 4), 1);
}

TEST_F(Shadows, BytesOfACellAreApart) {
  access(0, true, 0, 2);
  EXPECT_EQ(access(1, true, 2, 2), 0);
  EXPECT_EQ(access(2, true, 1, 1), 1);
  EXPECT_EQ(access(3, false, 3, 1), 1);
  tell(0, 4);
  EXPECT_EQ(access(4, false, 0, 1), 0);
  EXPECT_EQ(access(5, true, 6, 4), 0);  // two cells
  EXPECT_EQ(access(6, false, 8, 2), 1);
  EXPECT_EQ(access(6, false, 4, 2), 0);
}

TEST_F(Shadows, AWriteOfSomeBytesLeavesTheOthers) {
  access(0, true, 0, 4);
  tell(0, 1);
  access(1, true, 0, 1);
  EXPECT_EQ(access(2, false, 3, 1), 1);  // with the first
}

TEST_F(Shadows, AtomicAccessesRaceWithOthersOnly) {
  access(0, true, 0, 4, /*atomic=*/true);
  EXPECT_EQ(access(1, true, 0, 4, /*atomic=*/true), 0);
  EXPECT_EQ(access(2, false, 0, 4), 2);
}

TEST_F(Shadows, AnAtomicAccessDoesNotStandForThePlainOneBefore) {
  access(0, true, 0, 4);
  access(0, true, 0, 4, /*atomic=*/true);
  EXPECT_EQ(access(1, false, 0, 4, /*atomic=*/true), 1);
}

TEST_F(Shadows, EveryOneOfManyReadersIsKept) {
  for (int round = 0; round < 3; ++round)
    for (uint32_t reader = 0; reader < 30; ++reader) {
      EXPECT_EQ(access(reader, false, 0, 4), 0);
      EXPECT_EQ(access(reader, false, 8, 4), 0);
    }
  for (uint32_t reader = 0; reader < 30; ++reader)
    if (reader != 17) tell(reader, 31);
  EXPECT_GE(access(31, true, 0, 4), 1);  // one for each time that it has read
  tell(17, 31);
  EXPECT_EQ(access(31, true, 8, 4), 0);
  EXPECT_EQ(access(31, true, 0, 4), 0);
}

TEST_F(Shadows, CopiesAreInOrderOnceTheyAreWaitedFor) {
  access(0, true, 0, 4);
  EXPECT_EQ(copy(0, false, 0, 4), 0);  // issued after that
  EXPECT_EQ(access(0, true, 0, 4), 1);
  EXPECT_EQ(copy(0, true, 8, 4), 0);
  EXPECT_EQ(access(0, false, 8, 4), 1);
  EXPECT_EQ(copy(0, true, 12, 4), 0);
  threads_[0].copies_done = threads_[0].copy_group;
  EXPECT_EQ(access(0, false, 12, 4), 0);
  EXPECT_EQ(access(1, true, 12, 4), 2);  // nobody has told it
  EXPECT_EQ(copy(2, true, 16, 4), 0);
  ++threads_[2].copy_group;
  EXPECT_EQ(copy(2, true, 16, 4), 1);  // another group
}

TEST(Clocks, CopiesDoNotChangeTogether) {
  Clock a;
  a.raise(thread_id(3, 5), 7);
  Clock b = a;
  b.raise(thread_id(3, 5), 9);
  b.raise(thread_id(0, 1), 2);
  EXPECT_EQ(a.of(thread_id(3, 5)), 7U);
  EXPECT_EQ(a.of(thread_id(0, 1)), 0U);
  Clock c;
  c.raise(thread_id(3, 40), 4);
  c.raise(thread_id(3, 5), 8);
  c.join(a);
  EXPECT_EQ(c.of(thread_id(3, 5)), 8U);
  c.join(b);
  EXPECT_EQ(c.of(thread_id(3, 5)), 9U);
  EXPECT_EQ(c.of(thread_id(3, 40)), 4U);
  EXPECT_EQ(c.of(thread_id(0, 1)), 2U);
  EXPECT_EQ(b.of(thread_id(3, 40)), 0U);
}

}  // namespace
}  // namespace axon::emulator
