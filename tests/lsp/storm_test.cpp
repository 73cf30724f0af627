// Storms of edits over several open files: after each one the server says what a fresh one would.
#include <gtest/gtest.h>

#include <chrono>
#include <random>

#include "client.h"

namespace axon::lsp {
namespace {

const std::map<std::string, std::string>& files() {
  static const std::map<std::string, std::string> all = {
      {"file:///nowhere/base.axn",
       "--| Files of a storm: λ and 𝛼.\n\ntype Layer[d] = {w : f32[d, d], b : f32[d]}\n"
       "fun dense (x : f32[m, d]) (p : Layer[d]) = x @ p.w + p.b -- 𝛼\n"
       "fun scaled k x = k * x\r\nval one = 1.0\nprivate fun hidden x = x\n"},
      {"file:///nowhere/main.axn",
       "import base\n\nfun block x p =\n\tbase.dense x p |> relu\n"
       "entry run (x : f32[m, d]) (ps : Stack[l, base.Layer[d]]) = fold block x ps\n"
       "fun part (x : f32[n]) (c : i64[1]) = x[c[0]:]\n"
       "test \"one\" = base.one == 1.0\n"},
      {"file:///nowhere/other.axn",
       "import base as b\nimport \"main.axn\" as m\nfun both x p = m.block x p + b.dense x p\n"}};
  return all;
}

class Storm {
 public:
  explicit Storm(uint32_t seed) : random_(seed) {}
  size_t below(size_t n) { return std::uniform_int_distribution<size_t>(0, n - 1)(random_); }

  /// A change of the text as a client sends it; makes it in the text, too.
  Json change(std::string& text) {
    static const std::vector<std::string> put = {
        "",   "(", ")", "x",   " y", "[n]",  "\n",    "\"",       "--",    "\r\n",
        "\t", "λ", "𝛼", "1.0", "= ", "fun ", " + z ", "private ", ": f32", "\nval a = 1\n"};
    const Positions positions(text, Encoding::utf16);
    const uint32_t begin = boundary(text, below(text.size() + 1));
    const uint32_t end =
        boundary(text, std::min<size_t>(text.size(), begin + (below(3) == 0 ? below(30) : 0)));
    const std::string& with = put[below(put.size())];
    Json out = {{"range", Server::range(positions, begin, end)}, {"text", with}};
    // what a client and its text agree on: the place that the position has
    const uint32_t at = positions.offset(positions.position(begin));
    const uint32_t to = positions.offset(positions.position(end));
    text.replace(at, to - at, with);
    return out;
  }

 private:
  static uint32_t boundary(const std::string& text, size_t at) {
    while (at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80) ++at;
    return static_cast<uint32_t>(at);
  }
  std::mt19937 random_;
};

/// Everything that is said of the files, once the last change was looked at, which was of this one.
std::string answers(Client& client, const std::map<std::string, std::string>& texts,
                    const std::string& last) {
  std::string out;
  const auto said = client.settled(last);
  for (const auto& [uri, text] : texts) {
    const Json document = {{"textDocument", {{"uri", uri}}}};
    out += uri + said.at(uri).dump();
    for (const char* method :
         {"textDocument/documentSymbol", "textDocument/foldingRange", "textDocument/formatting"})
      out += client.ask(method, document).dump();
    out += "\n";
  }
  return out;
}

TEST(Storm, AnswersAreThoseOfAFreshServer) {
  const char* const given = std::getenv("AXON_STORM_SECONDS");
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(given ? std::stol(given) : 3);
  Storm storm(7);
  auto texts = files();
  std::map<std::string, std::vector<std::string>> before;
  Client client;
  for (const auto& [uri, text] : texts) client.open(uri, text);
  for (int i = 0; std::chrono::steady_clock::now() < end; ++i) {
    const auto file = std::next(texts.begin(), static_cast<long>(storm.below(texts.size())));
    auto& undo = before[file->first];
    if (!undo.empty() && storm.below(3) == 0) {
      file->second = undo.back();
      undo.pop_back();
      client.change(file->first, Json::array({{{"text", file->second}}}));
    } else {
      undo.push_back(file->second);
      Json changes = Json::array();
      for (size_t n = 1 + storm.below(3); n > 0; --n) changes.push_back(storm.change(file->second));
      client.change(file->first, changes);
    }
    if (storm.below(4) != 0) continue;  // several edits before anyone looks
    Client fresh;
    for (const auto& [uri, text] : texts) fresh.open(uri, text);
    ASSERT_EQ(answers(client, texts, file->first), answers(fresh, texts, texts.rbegin()->first))
        << "edit " << i << " of " << file->first;
  }
}

}  // namespace
}  // namespace axon::lsp
