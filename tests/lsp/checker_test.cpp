// Who has the session when.
#include "lsp/checker.h"

#include <gtest/gtest.h>

#include <future>

#include "base/outside.h"

namespace axon::lsp {
namespace {

/// A session that is one number, and a checker that looks at it.
struct Counted {
  std::atomic<int> checks{0};
  int version = 0, checked = -1, outdated = 0;  // with the lock
  std::function<void()> during_check = [] {}, during_look_ahead = [] {};
  Checker checker{{[this](const std::string&) {
                     const int seen = version;
                     during_check();
                     EXPECT_EQ(seen, version);
                     checked = seen;
                     ++checks;
                   },
                   [] {}, [this] { during_look_ahead(); },
                   [](const std::string& what) { ADD_FAILURE() << what; }, [this] { ++outdated; }}};
  Counted() { checker.set_delay(std::chrono::milliseconds(0)); }

  void change() {
    const Checker::Change held(checker);
    checker.set_files({"a"});
    ++version;
  }
  /// The version that a job sees; -1 where it was dropped.
  std::future<int> ask() {
    auto answer = std::make_shared<std::promise<int>>();
    const auto run = [this, answer] {
      EXPECT_EQ(checked, version);
      answer->set_value(version);
    };
    checker.add({run, [answer] { answer->set_value(-1); }});
    return answer->get_future();
  }
};

TEST(Checker, WhatWaitsIsDoneOnceAllIsChecked) {
  Counted counted;
  counted.during_check = [] {
    for (int i = 0; i < 3; ++i) base::poll_now();
  };
  for (int version = 1; version <= 3'000; ++version) {
    counted.change();
    std::future<int> answer = counted.ask();
    if (version % 2 == 0) {
      ASSERT_EQ(answer.get(), version);
    } else {  // the next change may come at any moment of it
      counted.change();
      ++version;
      const int seen = answer.get();
      ASSERT_TRUE(seen == -1 || seen == version || seen == version - 1) << seen;
    }
    const Checker::Hold hold(counted.checker);
    ASSERT_EQ(counted.outdated, version);
    ASSERT_LE(counted.checked, version);
  }
}

TEST(Checker, AChangeEndsACheckWhereverItIs) {
  Counted counted;
  std::atomic<bool> forever{true};
  std::promise<void> begun;
  counted.during_check = [&] {
    if (!forever) return;
    begun.set_value();
    base::outside([] {},
                  [&] {
                    while (forever) std::this_thread::yield();
                  });
    ADD_FAILURE() << "it goes on with a session that was changed";
  };
  counted.change();
  begun.get_future().wait();
  counted.change();
  forever = false;
  EXPECT_EQ(counted.ask().get(), 2);
  EXPECT_EQ(counted.checks, 1);
}

TEST(Checker, WhatIsAskedEndsWhatIsDoneAhead) {
  for (const bool exclusive : {false, true}) {
    Counted counted;
    std::atomic<int> begun{0};
    counted.during_look_ahead = [&] {
      ++begun;
      const auto step = [&] {
        while (begun < 3) base::poll_now();
      };
      if (exclusive)
        counted.checker.exclusively(step);
      else
        step();
    };
    counted.change();
    for (int times = 1; times < 3; ++times) {
      while (begun < times) std::this_thread::yield();
      EXPECT_EQ(counted.ask().get(), 1);
      const Checker::Hold hold(counted.checker);
      EXPECT_EQ(counted.checked, 1);
    }
  }
}

TEST(Checker, WhoWaitsForTheSessionIsLetInBetweenSteps) {
  Counted counted;
  std::atomic<int> tries{0};
  int half_done = 0;  // with the lock
  counted.during_look_ahead = [&] {
    counted.checker.exclusively([&] {
      ++tries;
      ++half_done;
      try {
        while (tries < 3) base::poll_now();
      } catch (const base::Cancelled&) {
        --half_done;
        throw;
      }
      --half_done;
    });
  };
  counted.change();
  for (int times = 1; times < 3; ++times) {
    while (tries < times) std::this_thread::yield();
    const Checker::Hold hold(counted.checker);
    EXPECT_EQ(half_done, 0);
  }
}

}  // namespace
}  // namespace axon::lsp
