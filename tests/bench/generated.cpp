// See generated.h.
#include "generated.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace axon::bench {

namespace {

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

}  // namespace

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

std::optional<std::string> with_another_body(std::string declaration) {
  if (declaration.starts_with("type")) return std::nullopt;
  const size_t body = declaration.find_first_not_of(" \n", declaration.find('=') + 1);
  declaration.insert(declaration.size() - 2, ")").insert(body, "0.0 + (");
  return declaration;
}

std::optional<std::string> with_another_signature(std::string declaration) {
  const size_t header = declaration.find(") =\n");
  if (header == std::string::npos) return std::nullopt;
  return declaration.insert(header + 2, "where 1 <= d ");
}

std::string shared_with_another_signature() {
  return "fun shared (x : f32[..s, d]) where 1 <= d = x * 0.5 + 1.0\n\n";
}

size_t users_of_shared(const std::vector<std::string>& parts) {
  return static_cast<size_t>(std::count_if(parts.begin(), parts.end(), [](const std::string& p) {
    return p.find("shared (m") != std::string::npos;
  }));
}

}  // namespace axon::bench
