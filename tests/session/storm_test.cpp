// Storms of edits over several files: after each one the session answers as a fresh one does.
#include <gtest/gtest.h>

#include <random>
#include <sstream>

#include "../sanitized.h"
#include "session/try_edits.h"
#include "support.h"

namespace axon::session {
namespace {

class Storm {
 public:
  explicit Storm(uint32_t seed) : random_(seed) {}

  /// Another text: with a line or some characters put in, left out, doubled or exchanged.
  std::string edited(const std::string& text) {
    static const std::vector<std::string> odd = {"(",
                                                 ")",
                                                 "x",
                                                 " y",
                                                 "[n]",
                                                 "\n",
                                                 "fun ",
                                                 "private ",
                                                 "\"",
                                                 "--",
                                                 "\r\n",
                                                 "\t",
                                                 "λ",
                                                 "𝛼",
                                                 "1.0",
                                                 " + ",
                                                 "= ",
                                                 ":",
                                                 "f32[n, m]",
                                                 "let a = 1 in ",
                                                 "\nfun added x = x * 2.0\n",
                                                 "\nval scaled : f32 -> f32 -> f32\n",
                                                 "\nval one : i64\n",
                                                 "\nval block = 1\n",
                                                 "\ntype Layer = f32\n"};
    std::string out = text;
    const size_t at = below(out.size() + 1);
    switch (below(5)) {
      case 0:
        out.insert(at, odd[below(odd.size())]);
        break;
      case 1:
        out.erase(at, below(8));
        break;
      case 2: {
        const size_t begin = out.rfind('\n', at == 0 ? 0 : at - 1) + 1, end = out.find('\n', begin);
        if (end != std::string::npos) out.erase(begin, end - begin + 1);
        break;
      }
      case 3: {
        const size_t begin = out.rfind('\n', at == 0 ? 0 : at - 1) + 1, end = out.find('\n', begin);
        if (end != std::string::npos) out.insert(below(out.size()), out.substr(begin, end - begin + 1));
        break;
      }
      default:
        if (!out.empty()) std::swap(out[below(out.size())], out[below(out.size())]);
        break;
    }
    return out;
  }
  size_t below(size_t n) { return std::uniform_int_distribution<size_t>(0, n - 1)(random_); }

 private:
  std::mt19937 random_;
};

const std::map<std::string, std::string>& files() {
  static const std::map<std::string, std::string> all = {
      {"base.axn",
       "--| Files of a storm.\n\ntype Layer[d] = {w : f32[d, d], b : f32[d]}\n"
       "fun dense (x : f32[m, d]) (p : Layer[d]) = x @ p.w + p.b\n"
       "fun scaled k x = k * x\nval one = 1.0\nprivate fun hidden x = x\n"
       "fun first (x : f32[n, d]) where 1 <= n = x[0]\n"},
      {"main.axn",
       "import base\n\n-- the model\nfun block x p = base.dense x p |> relu\n"
       "entry run (x : f32[m, d]) (ps : Stack[l, base.Layer[d]]) = fold block x ps\n"
       "fun kept (s : *f32[n]) (v : f32[n]) = let y = base.scaled 2.0 v in (s with [:] = s + y, y)\n"
       "fun part (x : f32[n]) (c : i64[1]) = x[c[0]:]\n"
       "fun tails x c = let t = part x c in for i => t[i] + base.one\n"
       "test \"one\" = base.one == 1.0\n"},
      {"other.axn",
       "import base as b\nimport \"main.axn\" as m\nfun both x p = m.block x p + b.dense x p\n"}};
  return all;
}

TEST(Storm, AnswersAreThoseOfAFreshSession) {
  const char* const given = std::getenv("AXON_STORM_EDITS");
  const size_t edits = given ? std::stoul(given) : sampled<size_t>(300);
  Storm storm(1);
  Session session(library(), {});
  auto texts = files();
  std::map<std::string, std::vector<std::string>> before;
  for (const auto& [path, text] : texts) session.documents().open(path, text);
  for (size_t i = 0; i < edits; ++i) {
    auto file = std::next(texts.begin(), static_cast<long>(storm.below(texts.size())));
    auto& undo = before[file->first];
    if (!undo.empty() && storm.below(3) == 0) {
      file->second = undo.back();
      undo.pop_back();
    } else {
      undo.push_back(file->second);
      file->second = storm.edited(file->second);
    }
    session.documents().open(file->first, file->second);
    if (storm.below(4) == 0) session.check_changed(file->first);
    if (storm.below(4) == 0) {
      source::Diagnostics found = session.check_with_drafts(file->first);
      try_edits(session, file->first, session.documents().find(file->first)->text().source, found);
    }
    Session fresh(library(), {});
    for (const auto& [path, text] : texts) fresh.documents().open(path, text);
    for (const auto& [path, text] : texts)
      ASSERT_EQ(answer(session, path), answer(fresh, path)) << "edit " << i << " of " << file->first << "\n"
                                                            << text;
  }
}

}  // namespace
}  // namespace axon::session
