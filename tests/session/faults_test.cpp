// Bugs of the compiler in the middle of a check: one declaration has an error, and the session lives.
#include <gtest/gtest.h>

#include "base/bug.h"
#include "base/interrupt.h"
#include "session/session.h"
#include "support.h"

namespace axon::session {
namespace {

/// Finds a broken invariant at one of its polls.
class Fault : base::Interrupt {
 public:
  explicit Fault(int at) : left_(at), use_(*this) {}
  bool struck() const { return left_ < 0; }

 private:
  void poll() override {
    if (left_-- == 0) base::bug("a test", "nothing is what it should be");
  }
  void leave(const std::function<void()>&) override {}
  void enter() override {}
  int left_;
  base::Interruptible use_;
};

std::string large(int terms) {
  std::string out = "fun large (x : f32[n]) = x";
  for (int i = 0; i < terms; ++i) out += " + exp (x * " + std::to_string(i) + ".0)";
  return out + "\n";
}

TEST(Fault, IsAnErrorOfOneDeclaration) {
  const std::string text =
      "fun first x = x + 1.0\n" + large(200) + "fun user x = large x\nfun last x = exp x\n";
  Session session(library(), {});
  session.documents().open("a.axn", "fun first x = x + 1.0\nfun last x = exp x\n");
  session.check("a.axn");
  session.documents().open("a.axn", text);
  size_t struck = 0;
  for (int at = 2; at < 40; at += 3) {
    session.documents().open("a.axn", text + "-- " + std::to_string(at) + "\n");
    session.documents().open("a.axn", "fun first x = x + 1.0\nfun last x = exp x\n");
    session.check("a.axn");
    session.documents().open("a.axn", text);
    source::Diagnostics found;
    bool is_struck = false;
    try {
      Fault fault(at);
      found = session.check("a.axn");
      is_struck = fault.struck();
    } catch (const base::InternalError&) {
      continue;  // outside of any declaration: whoever runs the check hears of it
    }
    if (!is_struck) break;
    ++struck;
    ASSERT_EQ(found.error_count(), 1u) << summary(found, session.sources());
    EXPECT_EQ(found.in_order_of_report()[0].code, source::Code::E9003);
    EXPECT_EQ(session.types("a.axn").find("first : "), 0u);
    EXPECT_NE(session.types("a.axn").find("last : "), std::string::npos);
    session.documents().open("a.axn", large(201) + text.substr(text.find("fun user")));
    EXPECT_FALSE(session.check("a.axn").has_errors());
  }
  EXPECT_GT(struck, 3u);
}

}  // namespace
}  // namespace axon::session
