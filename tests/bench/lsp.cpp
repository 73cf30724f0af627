// How long an editor waits for `etcc lsp`: a file of 2,000 lines that uses the library is open, and every
// declaration of it is edited, its body and its signature; then everything that the server announces is asked
// for, after an edit, and while a program is checked that exhausts a limit. On one core, as shipped:
//
//   taskset -c 0 build/bin/bench_lsp build/bin/etcc
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <map>

#include "bombs.h"
#include "generated.h"
#include "lsp_process.h"

namespace axon::bench {
namespace {

const std::string uri = "file:///nowhere/generated.axn", other = "file:///nowhere/bomb.axn";

/// Times by what was measured, in the order of the first.
class Table {
 public:
  void add(const std::string& what, double milliseconds) {
    if (!times_.count(what)) order_.push_back(what);
    times_[what].push_back(milliseconds);
  }
  void print() {
    fmt::print("{:<52} {:>6} {:>8} {:>8} {:>8}\n", "milliseconds", "times", "median", "p95", "most");
    for (const std::string& what : order_) {
      std::vector<double>& all = times_[what];
      std::sort(all.begin(), all.end());
      fmt::print("{:<52} {:>6} {:>8.2f} {:>8.2f} {:>8.2f}\n", what, all.size(), all[all.size() / 2],
                 all[all.size() * 95 / 100], all.back());
    }
  }

 private:
  std::vector<std::string> order_;
  std::map<std::string, std::vector<double>> times_;
};

/// What a request of each feature needs besides the text.
struct Request {
  const char* method;
  const char* capability;
  std::function<Json(const Json& position)> more;
};

Json range_at(const Json& position, int lines) {
  Json end = position;
  end["line"] = position["line"].get<int>() + lines;
  return {{"start", position}, {"end", end}};
}

std::vector<Request> requests() {
  const auto nothing = [](const Json&) { return Json::object(); };
  const auto at = [](const Json& p) { return Json{{"position", p}}; };
  const auto page = [](const Json& p) { return Json{{"range", range_at(p, 60)}}; };
  return {
      {"textDocument/hover", "hoverProvider", at},
      {"textDocument/inlayHint", "inlayHintProvider", page},
      {"textDocument/completion", "completionProvider", at},
      {"textDocument/signatureHelp", "signatureHelpProvider", at},
      {"textDocument/definition", "definitionProvider", at},
      {"textDocument/typeDefinition", "typeDefinitionProvider", at},
      {"textDocument/references", "referencesProvider",
       [](const Json& p) {
         return Json{{"position", p}, {"context", {{"includeDeclaration", true}}}};
       }},
      {"textDocument/documentHighlight", "documentHighlightProvider", at},
      {"textDocument/prepareRename", "renameProvider", at},
      {"textDocument/prepareCallHierarchy", "callHierarchyProvider", at},
      {"textDocument/semanticTokens/full", "semanticTokensProvider", nothing},
      {"textDocument/semanticTokens/range", "semanticTokensProvider", page},
      {"textDocument/documentSymbol", "documentSymbolProvider", nothing},
      {"textDocument/foldingRange", "foldingRangeProvider", nothing},
      {"textDocument/selectionRange", "selectionRangeProvider",
       [](const Json& p) {
         return Json{{"positions", {p}}};
       }},
      {"textDocument/codeLens", "codeLensProvider", nothing},
      {"textDocument/formatting", "documentFormattingProvider",
       [](const Json&) {
         return Json{{"options", Json::object()}};
       }},
      {"textDocument/rangeFormatting", "documentRangeFormattingProvider",
       [](const Json& p) {
         return Json{{"range", range_at(p, 5)}, {"options", Json::object()}};
       }},
      {"workspace/symbol", "workspaceSymbolProvider",
       [](const Json&) {
         return Json{{"query", "att"}};
       }},
  };
}

class Bench {
 public:
  Bench(const std::string& etcc, size_t most) : server_(etcc), parts_(declarations()), most_(most) {}

  void run() {
    server_.open(uri, joined(parts_));
    timed("diagnostics of the file, opened", [&] { return wait(uri); });
    edits();
    after_edits();
    repairs();
    beside_bombs();
    table_.print();
  }

 private:
  /// How long until what is said of the version is known.
  double wait(const std::string& of, bool may_be_wrong = false) {
    const auto begin = std::chrono::steady_clock::now();
    const Json said = server_.diagnostics(of);
    const Milliseconds taken = std::chrono::steady_clock::now() - begin;
    if (!may_be_wrong && !said.empty()) {
      fmt::print("the generated program has errors\n{}\n", said.dump(2));
      std::exit(1);
    }
    return taken.count();
  }
  void timed(const std::string& what, const std::function<double()>& of) { table_.add(what, of()); }
  void edit(const std::string& what, size_t i, const std::string& declaration) {
    std::vector<std::string> edited = parts_;
    edited[i] = declaration;
    server_.change(uri, joined(edited));
    timed("diagnostics, " + what, [&] { return wait(uri); });
  }
  size_t count() const { return std::min(most_, parts_.size()); }

  void edits() {
    for (size_t i = 0; i < count(); ++i) {
      const size_t part = i * parts_.size() / count();
      if (const auto body = with_another_body(parts_[part])) edit("after another body", part, *body);
      if (const auto signature = with_another_signature(parts_[part])) {
        edit("after the body was undone", part, parts_[part]);
        edit("after another signature", part, *signature);
      }
    }
    const std::string users = fmt::format("after a signature that {} use", users_of_shared(parts_));
    for (int i = 0; i < 6; ++i) edit(users, 0, i % 2 == 0 ? shared_with_another_signature() : parts_[0]);
  }

  /// Everything once, at a place in the file.
  void ask_all(const std::string& when, size_t place) {
    const int line = static_cast<int>(place * 2000 / count());
    for (const Request& request : requests()) {
      if (!server_.capabilities().contains(request.capability)) continue;
      const Json position = {{"line", line}, {"character", 12}};
      Json params = request.more(position);
      params["textDocument"] = {{"uri", uri}};
      table_.add(fmt::format("{}, {}", request.method, when), server_.ask(request.method, params).second);
    }
  }

  void after_edits() {
    for (size_t i = 0; i < count(); i += 4) {
      ask_all("checked", i);
      std::vector<std::string> edited = parts_;
      edited[i % parts_.size()] += fmt::format("-- {}\n", i);
      edited[0] = i % 8 == 0 ? shared_with_another_signature() : parts_[0];
      server_.change(uri, joined(edited));
      ask_all("right after an edit", i);
      wait(uri);
    }
  }

  void repairs() {
    for (size_t i = 0; i < count(); i += 2) {
      std::vector<std::string> edited = parts_;
      edited.push_back("fun wrong (x : f32[n, d]) (w : f32[m, d]) = x @ w\n");
      edited.push_back(fmt::format("-- {}\n", i));
      server_.change(uri, joined(edited));
      wait(uri, true);
      const Json at = {{"line", std::count(server_.text(uri).begin(), server_.text(uri).end(), '\n') - 2},
                       {"character", 46}};
      table_.add("textDocument/codeAction, at an error",
                 server_
                     .ask("textDocument/codeAction", {{"textDocument", {{"uri", uri}}},
                                                      {"range", {{"start", at}, {"end", at}}},
                                                      {"context", {{"diagnostics", Json::array()}}}})
                     .second);
    }
  }

  /// While what exhausts a limit is checked.
  void beside_bombs() {
    server_.change(uri, joined(parts_));
    wait(uri);
    server_.open(other, "");
    wait(other);
    std::vector<corpus::Bomb> all = corpus::bombs();
    all.push_back({"a tower of functions",
                   [] {
                     std::string out = "fun f0 x = sin x\n";
                     for (int i = 0; i < 20; ++i)
                       out += fmt::format("fun f{0} x = f{1} (f{1} x)\n", i + 1, i);
                     return out + "entry e (x : f32[n]) = f20 x\n";
                   }(),
                   {"E0592"}});
    if (most_ < all.size()) all.resize(most_);
    for (const corpus::Bomb& bomb : all) {
      server_.change(other, bomb.program);
      const auto begin = std::chrono::steady_clock::now();
      for (size_t i = 0; Milliseconds(std::chrono::steady_clock::now() - begin).count() < 100; i += 7)
        ask_all("beside bombs", i % count());
      wait(other, true);
    }
  }

  LspProcess server_;
  const std::vector<std::string> parts_;
  const size_t most_;
  Table table_;
};

}  // namespace
}  // namespace axon::bench

int main(int argc, char** argv) {
  if (argc < 2) {
    fmt::print("usage: bench_lsp ETCC [DECLARATIONS]\n");
    return 2;
  }
  axon::bench::Bench(argv[1], argc > 2 ? std::stoul(argv[2]) : SIZE_MAX).run();
}
