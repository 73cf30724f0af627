// Others have the session for a while, in the middle of a check: whatever they do to it then, and whenever.
#include <gtest/gtest.h>

#include "base/interrupt.h"
#include "session/session.h"
#include "session/try_edits.h"
#include "support.h"

namespace axon::session {
namespace {

using Texts = std::map<std::string, std::string>;

/// Others, who act at one of the moments at which the session is theirs. A change ends the check.
class Others : base::Interrupt {
 public:
  Others(size_t moment, std::function<void()> act, bool change)
      : left_(moment), act_(std::move(act)), change_(change), use_(*this) {}
  bool acted() const { return acted_; }

 private:
  void poll() override {
    if (!outside_) have_session();
    if (acted_ && change_) throw base::Cancelled{};
  }
  void leave(const std::function<void()>&) override { outside_ = true; }
  void enter() override {
    outside_ = false;
    have_session();
  }
  void have_session() {
    if (acted_ || left_-- != 0) return;
    acted_ = true;
    act_();
  }

  size_t left_;
  const std::function<void()> act_;
  const bool change_;
  bool acted_ = false, outside_ = false;
  base::Interruptible use_;
};

const Texts& texts() {
  static const Texts all = {
      {"base.axn",
       "type Layer[d] = {w : f32[d, d], b : f32[d]}\n"
       "fun dense (x : f32[m, d]) (p : Layer[d]) = x @ p.w + p.b\n"
       "fun cut (x : f32[n * m]) where n * m >= 3 * n, 1 <= n = for i : n => x[i * m + 2]\n"},
      {"main.axn",
       "import base\n\nfun block x p = base.dense x p |> relu\n"
       "entry run (x : f32[m, d]) (ps : Stack[l, base.Layer[d]]) = fold block x ps\n"
       "fun wrong (x : f32[n, d]) (w : f32[m, d]) = x @ w\n"}};
  return all;
}

std::unique_ptr<Session> with(const Texts& texts) {
  auto out = std::make_unique<Session>(library(), core::Options{});
  for (const auto& [path, text] : texts) out->documents().open(path, text);
  return out;
}

/// Something that changes texts, and what they are then.
struct Change {
  const char* what;
  std::function<void(Session&)> make;
  Texts after;
};

std::vector<Change> changes() {
  Texts edited = texts(), closed = texts(), cut = texts();
  edited["main.axn"] = "import base\nfun block x p = base.dense x p\n\nfun more x = x + 1.0\n";
  cut["base.axn"] = "fun dense x p = x\n";
  closed.erase("base.axn");
  const auto open = [](const char* path, const Texts& texts) {
    return [path, text = texts.at(path)](Session& s) { s.documents().open(path, text); };
  };
  return {{"the file is edited", open("main.axn", edited), edited},
          {"what it imports is edited", open("base.axn", cut), cut},
          {"what it imports is gone", [](Session& s) { s.documents().close("base.axn"); }, closed},
          {"files are read again", [](Session& s) { s.documents().reload(); }, texts()}};
}

/// Moments: each of the first ones, then ever fewer.
size_t after(size_t moment) { return moment + 1 + moment / 8; }

TEST(Interrupts, AfterAChangeTheAnswersAreThoseOfAFreshSession) {
  for (const Change& change : changes()) {
    const auto fresh = with(change.after);
    const std::string wanted = answer(*fresh, "main.axn");
    size_t moments = 0;
    for (size_t moment = 0;; moment = after(moment), ++moments) {
      const auto session = with(texts());
      bool acted = false, ended = false;
      {
        Others others(
            moment, [&] { change.make(*session); }, true);
        try {
          session->check("main.axn");
        } catch (const base::Cancelled&) {
          ended = true;
        }
        acted = others.acted();
      }
      ASSERT_EQ(acted, ended) << change.what << ", moment " << moment;
      if (!acted) break;
      ASSERT_EQ(answer(*session, "main.axn"), wanted) << change.what << ", moment " << moment;
    }
    EXPECT_GT(moments, 20u);
  }
}

TEST(Interrupts, WhoAsksInTheMiddleChangesNothing) {
  const auto fresh = with(texts());
  const std::string wanted = answer(*fresh, "main.axn");
  for (size_t moment = 0;; moment = after(moment)) {
    const auto session = with(texts());
    session->documents().open("main.axn", "import base\nfun block x p = base.dense x p\n");
    session->check("main.axn");
    session->documents().open("main.axn", texts().at("main.axn"));
    std::string seen;
    const auto ask = [&] {
      for (const Entry& entry : session->declarations("main.axn")) {
        seen += entry.key.name;
        if (entry.record && entry.record->checked) {
          const shape::UseArena use(entry.record->checked->arena);
          seen += std::to_string(entry.record->checked->program.exprs.size());
        }
      }
    };
    Others others(moment, ask, false);
    ASSERT_EQ(answer(*session, "main.axn"), wanted) << "moment " << moment;
    if (!others.acted()) break;
    ASSERT_NE(seen, "");
  }
}

TEST(Interrupts, ATrialThatIsEndedLeavesNoTrace) {
  const auto session = with(texts());
  const std::string wanted = answer(*session, "main.axn");
  const source::FileId file = session->documents().find("main.axn")->text().source;
  for (size_t moment = 0;; moment = after(moment)) {
    source::Diagnostics found = session->check_with_drafts("main.axn");
    bool acted = false;
    {
      Others others(
          moment, [] {}, true);
      try {
        try_edits(*session, "main.axn", file, found);
      } catch (const base::Cancelled&) {
      }
      acted = others.acted();
    }
    ASSERT_EQ(answer(*session, "main.axn"), wanted) << "moment " << moment;
    EXPECT_EQ(session->checked(), 0u) << "moment " << moment;
    if (!acted) break;
  }
}

}  // namespace
}  // namespace axon::session
