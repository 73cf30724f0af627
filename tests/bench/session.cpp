// How long a session takes after an edit: every declaration of a file of 2,000 lines that uses the library,
// its body and its signature, on one core, and a signature that 100 declarations use. Memory after 100 and
// after 10,000 edits.
#include "session/session.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include "source/render.h"

namespace {

using axon::session::Session;

constexpr const char* file = "generated.axn";

/// Declarations of one block of a model, numbered; each uses the one before.
std::vector<std::string> block(int i) {
  const std::string n = std::to_string(i), before = std::to_string(i - 1);
  return {
      fmt::format(
          "type Layer{0}[d, f] = {{\n  up   : f32[d, f],\n  down : f32[f, d],\n  gain : f32[d]\n}}\n\n", n),
      fmt::format("--| What block {0} does to each row.\nfun normed{0} (x : f32[..s, d]) (gain : f32[d]) =\n"
                  "  let mean = sum x / real (dim x (-1))\n"
                  "  let centred = for ..p i => x[..p, i] - mean[..p]\n"
                  "  in for ..p i => centred[..p, i] * gain[i]\n\n",
                  n),
      fmt::format("fun scores{0} (q : f32[h, m, d]) (k : f32[h, n, d]) =\n"
                  "  for a i j => (sum c => q[a, i, c] * k[a, j, c]) / sqrt (real d)\n\n",
                  n),
      fmt::format("fun attend{0} q k v =\n  let weights = softmax (scores{0} q k)\n  in weights @ v\n\n", n),
      fmt::format(
          "fun mlp{0} (x : f32[t, d]) (p : Layer{0}[d, f]) =\n"
          "  let hidden = x @ p.up |> gelu\n  let y = hidden @ p.down\n  in normed{0} (x + y) p.gain\n\n",
          n),
      i == 0 ? fmt::format("fun model{0} (x : f32[t, d]) (p : Layer{0}[d, f]) = shared (mlp{0} x p)\n\n", n)
             : fmt::format("fun model{0} (x : f32[t, d]) (p : Layer{0}[d, f]) (q : Layer{1}[d, g]) =\n"
                           "  let y = model{1}_ x q\n  in shared (mlp{0} y p)\n\n",
                           n, before),
      fmt::format("fun model{0}_ (x : f32[t, d]) (p : Layer{0}[d, f]) =\n  shared (mlp{0} x p) |> relu\n\n",
                  n),
  };
}

std::vector<std::string> declarations() {
  std::vector<std::string> out = {"fun shared (x : f32[..s, d]) = x * 0.5 + 1.0\n\n"};
  int lines = 2;
  for (int i = 0; lines < 2000; ++i)
    for (std::string& text : block(i)) {
      lines += static_cast<int>(std::count(text.begin(), text.end(), '\n'));
      out.push_back(std::move(text));
    }
  return out;
}

std::string joined(const std::vector<std::string>& parts) { return fmt::format("{}", fmt::join(parts, "")); }

double milliseconds_of_check(Session& session, const std::vector<std::string>& parts) {
  const std::string text = joined(parts);
  const auto begin = std::chrono::steady_clock::now();
  session.documents().open(file, text);
  const bool wrong = session.check(file).has_errors();
  const std::chrono::duration<double, std::milli> taken = std::chrono::steady_clock::now() - begin;
  if (wrong) {
    fmt::print("the generated program has errors\n{}\n",
               axon::source::render_short(session.check(file), session.sources(), {}));
    std::exit(1);
  }
  return taken.count();
}

void print(const std::string& what, std::vector<double> all) {
  std::sort(all.begin(), all.end());
  fmt::print("{:<44} {:>8.2f} {:>8.2f} {:>8.2f}\n", what, all[all.size() / 2], all[all.size() * 95 / 100],
             all.back());
}

double resident_mib() {
  std::ifstream statm("/proc/self/statm");
  double pages = 0;
  statm >> pages >> pages;
  return pages * static_cast<double>(sysconf(_SC_PAGESIZE)) / (1 << 20);
}

void time_edits(Session& session, const std::vector<std::string>& parts) {
  std::vector<double> bodies, signatures, shared;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (const size_t body = parts[i].find_first_not_of(" \n", parts[i].find('=') + 1);
        !parts[i].starts_with("type")) {
      std::vector<std::string> edited = parts;
      edited[i].insert(edited[i].size() - 2, ")").insert(body, "0.0 + (");
      bodies.push_back(milliseconds_of_check(session, edited));
    }
    if (const size_t header = parts[i].find(") =\n"); header != std::string::npos) {
      std::vector<std::string> edited = parts;
      edited[i].insert(header + 2, "where 1 <= d ");
      milliseconds_of_check(session, parts);
      signatures.push_back(milliseconds_of_check(session, edited));
    }
  }
  for (int i = 0; i < 6; ++i) {
    std::vector<std::string> edited = parts;
    if (i % 2 == 0) edited[0] = "fun shared (x : f32[..s, d]) where 1 <= d = x * 0.5 + 1.0\n\n";
    shared.push_back(milliseconds_of_check(session, edited));
  }
  const auto users = std::count_if(parts.begin(), parts.end(),
                                   [](const std::string& p) { return p.find("shared (m") != p.npos; });
  print("the body of a declaration", bodies);
  print("the signature of a declaration", signatures);
  print(fmt::format("a signature that {} declarations use", users), shared);
}

void measure_memory(Session& session, const std::vector<std::string>& parts, int edits) {
  double after_100 = 0;
  for (int i = 0; i < edits; ++i) {
    std::vector<std::string> edited = parts;
    edited[static_cast<size_t>(i) % parts.size()] += fmt::format("-- edit {}\n", i);
    milliseconds_of_check(session, edited);
    if (i + 1 == 100) after_100 = resident_mib();
  }
  if (edits >= 100)
    fmt::print("memory: {:.1f} MiB after 100 edits, {:.1f} after {}\n", after_100, resident_mib(), edits);
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> parts = declarations();
  Session session({AXON_SOURCE_DIR "/stdlib"}, {});
  fmt::print("{:<44} {:>8} {:>8} {:>8}\n", fmt::format("{} declarations; milliseconds", parts.size()),
             "median", "p95", "most");
  print("the first check", {milliseconds_of_check(session, parts)});
  print("no edit", {milliseconds_of_check(session, parts)});
  time_edits(session, parts);
  measure_memory(session, parts, argc > 1 ? std::stoi(argv[1]) : 10'000);
}
