// What `etcc lsp` keeps of edits that are over: a file of 2,000 lines and two smaller ones are edited as
// people do, with names typed letter by letter, errors and their repairs, undo, files that are closed and
// opened, and questions in between. Memory after 100 edits, and after more:
//
//   build/bin/bench_lsp_memory build/bin/etcc 10000
#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <random>

#include "generated.h"
#include "lsp_process.h"

namespace axon::bench {
namespace {

const std::string large = "file:///nowhere/generated.axn", user = "file:///nowhere/user.axn",
                  other = "file:///nowhere/other.axn";

/// Of the only child of this process.
double resident_mib() {
  pid_t child = 0;
  std::ifstream(fmt::format("/proc/self/task/{}/children", ::getpid())) >> child;
  std::ifstream statm(fmt::format("/proc/{}/statm", child));
  double pages = 0;
  statm >> pages >> pages;
  return pages * static_cast<double>(sysconf(_SC_PAGESIZE)) / (1 << 20);
}

class Bench {
 public:
  explicit Bench(const std::string& etcc) : server_(etcc), parts_(declarations()) {
    server_.open(large, joined(parts_));
    server_.open(user, "import generated\nfun more x = generated.shared x\n");
    server_.diagnostics(user);
  }

  void run(int edits) {
    double after_100 = 0;
    for (int i = 1; i <= edits; ++i) {
      edit(i);
      if (i % 10 == 0) ask();
      if (i == 100) after_100 = resident_mib();
      if (i % 1000 == 0) fmt::print("{:>6} edits: {:>7.1f} MiB\n", i, resident_mib());
    }
    if (edits < 100) return;
    const double ratio = resident_mib() / after_100;
    fmt::print("memory: {:.1f} MiB after 100 edits, {:.1f} after {}: {:.2f} times\n", after_100,
               resident_mib(), edits, ratio);
  }

 private:
  size_t below(size_t n) { return std::uniform_int_distribution<size_t>(0, n - 1)(random_); }
  void change(const std::string& uri, const std::string& text) {
    server_.change(uri, text);
    server_.diagnostics(uri);
  }

  void edit(int i) {
    std::vector<std::string> edited = parts_;
    std::string& one = edited[below(edited.size())];
    switch (i % 8) {
      case 0:  // a declaration, typed letter by letter
      case 1:
        edited.push_back(fmt::format("fun added{} x = x * {}.0\n", std::string(1 + below(20), 'a'), i));
        break;
      case 2:
        if (const auto body = with_another_body(one)) one = *body;
        break;
      case 3:
        if (const auto signature = with_another_signature(one)) one = *signature;
        break;
      case 4:
        edited.push_back(fmt::format("fun wrong{} (x : f32[n, d]) (w : f32[m, d]) = x @ w\n", i));
        break;
      case 5:
        one.erase(below(one.size()), 1 + below(20));
        break;
      case 6:
        change(user, fmt::format("import generated as g{}\nfun more{} x = g{}.shared x\n", i, i, i));
        return;
      default:
        server_.open(other, fmt::format("import generated\nfun other{} x = generated.shared x\n", i));
        server_.tell("textDocument/didClose", {{"textDocument", {{"uri", other}}}});
    }
    change(large, joined(edited));
  }

  void ask() {
    const Json position = {{"line", below(2000)}, {"character", 12}};
    Json end = position;
    end["line"] = position["line"].get<int>() + 60;
    for (const char* method : {"hover", "completion", "inlayHint", "semanticTokens/full", "documentSymbol",
                               "formatting", "references", "codeAction", "codeLens"})
      server_.ask(fmt::format("textDocument/{}", method),
                  {{"textDocument", {{"uri", large}}},
                   {"position", position},
                   {"range", {{"start", position}, {"end", end}}},
                   {"options", Json::object()},
                   {"context", {{"diagnostics", Json::array()}, {"includeDeclaration", true}}}});
  }

  LspProcess server_;
  const std::vector<std::string> parts_;
  std::mt19937 random_{1};
};

}  // namespace
}  // namespace axon::bench

int main(int argc, char** argv) {
  if (argc < 2) {
    fmt::print("usage: bench_lsp_memory ETCC [EDITS]\n");
    return 2;
  }
  axon::bench::Bench(argv[1]).run(argc > 2 ? std::stoi(argv[2]) : 10'000);
}
