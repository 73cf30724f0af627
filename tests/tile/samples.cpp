// What each program of tests/tile/programs computes, in plain loops. Inputs are small multiples of 1/8, so
// that most sums are exact in every order.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/round.h"
#include "support.h"

namespace axon::tile {

namespace {

using base::Elem;

class Maker {
 public:
  Maker(const Sizes& sizes, uint64_t seed) : sizes_(sizes), random_(seed) {}
  int64_t operator[](const char* size) const { return sizes_.at(size); }

  TensorData real(std::vector<int64_t> shape) {
    return made(std::move(shape), [&] { return Number{static_cast<double>(draw(-16, 16)) / 8, 0}; });
  }
  TensorData integers(std::vector<int64_t> shape, int64_t low, int64_t high) {
    return made(std::move(shape), [&] { return Number{0, draw(low, high)}; });
  }
  static TensorData zero(std::vector<int64_t> shape) {
    return made(std::move(shape), [] { return Number(); });
  }

 private:
  template <class Value>
  static TensorData made(std::vector<int64_t> shape, const Value& value) {
    TensorData out;
    int64_t count = 1;
    for (const int64_t extent : shape) count *= extent;
    for (int64_t i = 0; i < count; ++i) out.values.push_back(value());
    out.shape = std::move(shape);
    return out;
  }
  int64_t draw(int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random_);
  }
  const Sizes& sizes_;
  std::mt19937_64 random_;
};

/// Elements by their indices.
double& at(TensorData& t, std::initializer_list<int64_t> index) {
  int64_t x = 0;
  size_t a = 0;
  for (const int64_t i : index) x = x * t.shape[a++] + i;
  return t.values[static_cast<size_t>(x)].real;
}

Sample pointwise(Maker& make) {
  TensorData x = make.real({make["n"]}), y = x;
  for (Number& v : y.values) v.real = (v.real + 0.5) * std::max(v.real, 0.0);
  return {{{"x", x}}, {{"y", y}}, 0};
}

/// Twice the elements, and sums of that by position in the block.
Sample edge(Maker& make) {
  TensorData x = make.real({make["n"]}), y = x, sums = Maker::zero({32});
  for (size_t i = 0; i < x.values.size(); ++i) {
    y.values[i].real *= 2;
    sums.values[i % 32].real += y.values[i].real;
  }
  return {{{"x", x}}, {{"y", y}, {"sums", sums}}, 0};
}

Sample softmax(Maker& make) {
  const int64_t m = make["m"], n = make["n"];
  TensorData x = make.real({m, n}), y = x;
  for (int64_t i = 0; i < m; ++i) {
    double top = -INFINITY, total = 0;
    for (int64_t j = 0; j < n; ++j) top = std::max(top, at(x, {i, j}));
    for (int64_t j = 0; j < n; ++j) total += at(y, {i, j}) = std::exp(at(x, {i, j}) - top);
    for (int64_t j = 0; j < n; ++j) at(y, {i, j}) /= total;
  }
  return {{{"x", x}}, {{"y", y}}, 1e-5};
}

Sample rms_norm(Maker& make) {
  const int64_t m = make["m"], n = make["n"];
  TensorData x = make.real({m, n}), w = make.real({n}), y = x;
  for (int64_t i = 0; i < m; ++i) {
    double total = 0;
    for (int64_t j = 0; j < n; ++j) total += at(x, {i, j}) * at(x, {i, j});
    const double scale = 1 / std::sqrt(total / static_cast<double>(n) + 1e-5);
    for (int64_t j = 0; j < n; ++j) at(y, {i, j}) = at(x, {i, j}) * scale * at(w, {j});
  }
  return {{{"x", x}, {"w", w}}, {{"y", y}}, 1.0 / 128};
}

Sample layer_norm(Maker& make) {
  const int64_t m = make["m"], n = make["n"];
  TensorData x = make.real({m, n}), w = make.real({n}), v = make.real({n}), y = x;
  const auto count = static_cast<double>(n);
  for (int64_t i = 0; i < m; ++i) {
    double sum = 0, squares = 0;
    for (int64_t j = 0; j < n; ++j) sum += at(x, {i, j});
    for (int64_t j = 0; j < n; ++j) squares += std::pow(at(x, {i, j}) - sum / count, 2);
    for (int64_t j = 0; j < n; ++j)
      at(y, {i, j}) =
          (at(x, {i, j}) - sum / count) / std::sqrt(squares / count + 1e-5) * at(w, {j}) + at(v, {j});
  }
  return {{{"x", x}, {"w", w}, {"v", v}}, {{"y", y}}, 1.0 / 64};
}

Sample transpose(Maker& make) {
  const int64_t m = make["m"], n = make["n"];
  TensorData x = make.real({m, n}), y = Maker::zero({n, m});
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) at(y, {j, i}) = at(x, {i, j});
  return {{{"x", x}}, {{"y", y}}, 0};
}

Sample gemm(Maker& make) {
  const int64_t m = make["m"], n = make["n"], k = make["k"];
  TensorData x = make.real({m, k}), w = make.real({k, n}), y = Maker::zero({m, n});
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j)
      for (int64_t d = 0; d < k; ++d) at(y, {i, j}) += at(x, {i, d}) * at(w, {d, j});
  return {{{"x", x}, {"w", w}}, {{"y", y}}, 0};
}

Sample decode(Maker& make) {
  const int64_t n = make["n"], k = make["k"];
  TensorData x = make.real({k}), w = make.real({k, n}), bias = make.real({n}), y = bias;
  for (int64_t j = 0; j < n; ++j)
    for (int64_t d = 0; d < k; ++d) at(y, {j}) += at(x, {d}) * at(w, {d, j});
  return {{{"x", x}, {"w", w}, {"bias", bias}}, {{"y", y}}, 0};
}

Sample convolution(Maker& make) {
  const int64_t h = make["h"], w = make["w"], c = make["c"], o = make["o"], r = make["r"];
  TensorData x = make.real({h, w, c}), f = make.real({r, r, c, o}),
             y = Maker::zero({h + 1 - r, w + 1 - r, o});
  for (int64_t i = 0; i < h + 1 - r; ++i)
    for (int64_t j = 0; j < w + 1 - r; ++j)
      for (int64_t l = 0; l < o; ++l)
        for (int64_t u = 0; u < r; ++u)
          for (int64_t v = 0; v < r; ++v)
            for (int64_t d = 0; d < c; ++d)
              at(y, {i, j, l}) += at(x, {i + u, j + v, d}) * at(f, {u, v, d, l});
  return {{{"x", x}, {"f", f}}, {{"y", y}}, 0};
}

Sample gather(Maker& make) {
  const int64_t n = make["n"], v = make["v"], d = make["d"];
  TensorData ids = make.integers({n}, -1, v), table = make.real({v, d}), y = Maker::zero({n, d});
  for (int64_t i = 0; i < n; ++i) {
    const int64_t id = ids.values[static_cast<size_t>(i)].integer;
    for (int64_t j = 0; j < d && id >= 0 && id < v; ++j) at(y, {i, j}) = at(table, {id, j});
  }
  return {{{"ids", ids}, {"table", table}}, {{"y", y}}, 0};
}

Sample checked(Maker& make) {
  const int64_t n = make["n"], v = make["v"], d = make["d"];
  TensorData ids = make.integers({n}, 0, v - 1), table = make.real({v, d}), y = Maker::zero({n, d});
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < d; ++j)
      at(y, {i, j}) = at(table, {ids.values[static_cast<size_t>(i)].integer, j});
  return {{{"ids", ids}, {"table", table}}, {{"y", y}}, 0};
}

/// The sums of a part of each row, and 1 more where that ends behind the first element.
Sample lengths(Maker& make) {
  const int64_t m = make["m"], n = make["n"];
  TensorData lows = make.integers({m}, -9, n + 9), ends = make.integers({m}, -9, n + 9),
             x = make.real({m, n}), y = Maker::zero({m});
  for (int64_t i = 0; i < m; ++i) {
    const int64_t length = ends.values[static_cast<size_t>(i)].integer;
    for (int64_t j = std::max<int64_t>(0, lows.values[static_cast<size_t>(i)].integer);
         j < std::min(n, length); ++j)
      at(y, {i}) += at(x, {i, j});
    if (length > 0) at(y, {i}) += 1;
  }
  return {{{"lows", lows}, {"lengths", ends}, {"x", x}}, {{"y", y}}, 0};
}

/// Each row without its sum, in place.
Sample update(Maker& make) {
  const int64_t m = make["m"], n = make["n"];
  TensorData x = make.real({m, n}), y = x;
  for (int64_t i = 0; i < m; ++i) {
    double total = 0;
    for (int64_t j = 0; j < n; ++j) total += at(x, {i, j});
    for (int64_t j = 0; j < n; ++j) at(y, {i, j}) -= total;
  }
  return {{{"x", x}}, {{"x", y}}, 0};
}

Sample scatter_add(Maker& make) {
  const int64_t m = make["m"], n = make["n"], d = make["d"];
  TensorData ids = make.integers({n}, -1, m), x = make.real({n, d}), before = make.real({m, d}), y = before;
  for (int64_t i = 0; i < n; ++i) {
    const int64_t id = ids.values[static_cast<size_t>(i)].integer;
    for (int64_t j = 0; j < d && id >= 0 && id < m; ++j) at(y, {id, j}) += at(x, {i, j});
  }
  return {{{"ids", ids}, {"x", x}, {"y", before}}, {{"y", y}}, 0};
}

Sample scan(Maker& make) {
  const int64_t m = make["m"], n = make["n"];
  TensorData x = make.real({m, n}), y = x, last = Maker::zero({m});
  for (int64_t i = 0; i < m; ++i) {
    double sum = 0;
    for (int64_t j = 0; j < n; ++j) at(y, {i, j}) = sum += at(x, {i, j});
    at(last, {i}) = sum;
  }
  return {{{"x", x}}, {{"y", y}, {"last", last}}, 0};
}

/// Of more positions than elements the rest is 0.
Sample ordered(Maker& make) {
  const int64_t m = make["m"], n = make["n"], k = make["k"];
  TensorData x = make.real({m, n}), y = Maker::zero({m, k});
  for (int64_t i = 0; i < m; ++i) {
    std::vector<int64_t> row(static_cast<size_t>(n));
    std::iota(row.begin(), row.end(), 0);
    std::stable_sort(row.begin(), row.end(), [&](int64_t a, int64_t b) {
      return at(x, {i, a}) < at(x, {i, b});
    });
    for (int64_t j = 0; j < std::min(n, k); ++j)
      y.values[static_cast<size_t>(i * k + j)].integer = row[static_cast<size_t>(j)];
  }
  return {{{"x", x}}, {{"y", y}}, 0};
}

Sample gemm_rings(Maker& make) {
  const int64_t m = make["m"], n = make["n"], k = make["k"];
  TensorData x = make.real({m, k}), w = make.real({n, k}), y = Maker::zero({m, n});
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) {
      for (int64_t d = 0; d < k; ++d) at(y, {i, j}) += at(x, {i, d}) * at(w, {j, d});
      at(y, {i, j}) = base::round_to(Elem::bf16, at(y, {i, j}));
    }
  return {{{"x", x}, {"w", w}}, {{"y", y}}, 0};
}

Sample attention(Maker& make) {
  const int64_t h = make["h"], n = make["n"], m = make["m"], d = make["d"];
  TensorData q = make.real({h, n, d}), k = make.real({h, m, d}), v = make.real({h, m, d}),
             y = Maker::zero({h, n, d});
  for (int64_t g = 0; g < h; ++g)
    for (int64_t i = 0; i < n; ++i) {
      std::vector<double> score(static_cast<size_t>(m), 0);
      for (int64_t j = 0; j < m; ++j)
        for (int64_t e = 0; e < d; ++e) score[static_cast<size_t>(j)] += at(q, {g, i, e}) * at(k, {g, j, e});
      double total = 0;
      for (double& s : score) total += s = std::exp(s / std::sqrt(static_cast<double>(d)));
      for (int64_t j = 0; j < m; ++j)
        for (int64_t e = 0; e < d; ++e)
          at(y, {g, i, e}) += score[static_cast<size_t>(j)] * at(v, {g, j, e}) / total;
    }
  return {{{"q", q}, {"k", k}, {"v", v}}, {{"y", y}}, 1.0 / 64};
}

Sample chain(Maker& make) {
  const int64_t l = make["l"], n = make["n"];
  TensorData w = make.real({l, n, n}), x = make.real({l + 1, n}), y = x;
  for (int64_t i = 0; i < l; ++i)
    for (int64_t r = 0; r < n; ++r) {
      at(y, {i + 1, r}) = 0;
      for (int64_t d = 0; d < n; ++d) at(y, {i + 1, r}) += at(w, {i, r, d}) * at(y, {i, d});
    }
  return {{{"w", w}, {"x", x}}, {{"x", y}}, 1e-4};
}

/// One iteration of a loop around the program: its index is a size.
Sample slots(Maker& make) {
  const int64_t l = make["l"], n = make["n"];
  TensorData w = make.real({make["k"], n}), before = make.real({2, n}), h = before;
  for (int64_t j = 0; j < n; ++j) at(h, {(l + 1) % 2, j}) = at(before, {l % 2, j}) * at(w, {l, j});
  return {{{"w", w}, {"h", before}}, {{"h", h}}, 0};
}

struct Row {
  const char* program;
  Sample (*make)(Maker&);
  std::vector<std::pair<const char*, std::vector<int64_t>>> sizes;
};
const std::vector<Row>& rows() {
  static const std::vector<Row> all = {
      {"pointwise", pointwise, {{"n", {0, 1, 7, 63, 64, 65, 129}}}},
      {"edge", edge, {{"n", {0, 1, 8, 9, 31, 32, 33, 47, 64, 70}}}},
      {"softmax", softmax, {{"m", {0, 1, 3}}, {"n", {0, 1, 7, 31, 65}}}},
      {"softmax_long", softmax, {{"m", {0, 1, 3}}, {"n", {0, 1, 7, 31, 32, 33, 65}}}},
      {"softmax_blocks", softmax, {{"m", {0, 1, 3}}, {"n", {0, 1, 7, 31, 32, 33, 65}}}},
      {"layer_norm_blocks", layer_norm, {{"m", {0, 1, 3}}, {"n", {0, 1, 7, 31, 32, 33, 65}}}},
      {"rms_norm", rms_norm, {{"m", {0, 1, 3}}, {"n", {0, 1, 7, 31}}}},
      {"transpose", transpose, {{"m", {0, 1, 7, 8, 9, 17}}, {"n", {0, 1, 5, 8, 17}}}},
      {"gemm", gemm, {{"m", {0, 1, 5, 6, 7, 13}}, {"n", {0, 1, 13, 16, 17, 33}}, {"k", {0, 1, 31, 32, 65}}}},
      {"decode", decode, {{"n", {0, 1, 31, 32, 33, 65}}, {"k", {0, 1, 7, 64, 65, 129}}}},
      {"convolution",
       convolution,
       {{"h", {2, 3, 5}}, {"w", {2, 3, 6, 7, 11}}, {"c", {0, 1, 4, 9}}, {"o", {0, 1, 8, 17}}, {"r", {3}}}},
      {"checked", checked, {{"n", {0, 1, 3, 4, 9}}, {"v", {1, 5}}, {"d", {0, 1, 16, 33}}}},
      {"lengths", lengths, {{"m", {0, 1, 5, 9}}, {"n", {0, 1, 7, 8, 9, 31}}}},
      {"update", update, {{"m", {0, 1, 3, 4, 5}}, {"n", {0, 1, 7, 8, 9, 31}}}},
      {"gather", gather, {{"n", {0, 1, 3, 4, 9}}, {"v", {0, 1, 5}}, {"d", {0, 1, 16, 33}}}},
      {"scatter_add", scatter_add, {{"m", {0, 1, 7, 8, 17}}, {"n", {0, 1, 4, 9}}, {"d", {0, 1, 8, 17}}}},
      {"scan", scan, {{"m", {0, 1, 3}}, {"n", {0, 1, 31, 32, 33, 65}}}},
      {"gemm_toy", gemm, {{"m", {0, 1, 4, 9}}, {"n", {0, 4, 8, 20}}, {"k", {0, 1, 16, 33}}}},
      {"gemm_mma", gemm, {{"m", {0, 1, 63, 129}}, {"n", {0, 1, 64, 129}}, {"k", {0, 1, 16, 33}}}},
      {"gemm_staged", gemm, {{"m", {0, 1, 129}}, {"n", {0, 1, 129}}, {"k", {0, 1, 33}}}},
      {"gemm_rings", gemm_rings, {{"m", {0, 1, 129}}, {"n", {1, 257}}, {"k", {0, 1, 65, 320}}}},
      {"attention", attention, {{"h", {0, 2}}, {"n", {0, 1, 129}}, {"m", {1, 127, 257}}, {"d", {1, 64}}}},
      {"chain", chain, {{"l", {1, 3}}, {"n", {0, 1, 16, 33, 257}}}},
      {"slots", slots, {{"l", {0, 1, 2}}, {"k", {3, 4}}, {"n", {0, 1, 7, 8, 17}}}},
      {"order", ordered, {{"m", {0, 1, 3}}, {"n", {0, 1, 7, 8, 9, 33}}, {"k", {0, 1, 7, 33, 40}}}},
  };
  return all;
}
const Row& row_of(const std::string& program) {
  const auto found =
      std::find_if(rows().begin(), rows().end(), [&](const Row& r) { return r.program == program; });
  EXPECT_NE(found, rows().end()) << program;
  return *found;
}

}  // namespace

std::vector<Sizes> sizes_of(const std::string& program) {
  std::vector<Sizes> out = {{}};
  for (const auto& [name, values] : row_of(program).sizes) {
    std::vector<Sizes> next;
    for (const Sizes& before : out)
      for (const int64_t value : values) {
        next.push_back(before);
        next.back()[name] = value;
      }
    out = std::move(next);
  }
  return out;
}

Sample sample_of(const std::string& program, const Sizes& sizes, uint64_t seed) {
  Maker make(sizes, seed);
  return row_of(program).make(make);
}

}  // namespace axon::tile
