// The rivals of rivals.py that are C++: arrays in row-major order come in as pointers, sizes as int64_t, and
// results go out into arrays of the caller. rivals.py compiles this file, with OpenBLAS and oneDNN, into a
// library of C functions, at -O3 -march=native -ffast-math. Each is the plain loop that one would write, over
// OpenMP's threads.
#include <cblas.h>
#include <omp.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <dnnl.hpp>
#include <limits>
#include <parallel/algorithm>
#include <unordered_map>
#include <vector>

extern "C" void openblas_set_num_threads(int);

namespace {

using Floats = const float*;
constexpr float lowest = std::numeric_limits<float>::lowest();

// Part `t` of `parts` equal ones of 0..n.
int64_t cut(int64_t n, int64_t t, int64_t parts) { return n * t / parts; }

template <typename T>
void sort(const T* x, T* y, int64_t n) {
  std::copy(x, x + n, y);
  if (omp_get_max_threads() == 1) {
    std::sort(y, y + n);
  } else {
    __gnu_parallel::sort(y, y + n, __gnu_parallel::multiway_mergesort_tag());
  }
}

// The k largest, the largest first, of equal ones the lower position: a heap of k for each thread, then one
// of all.
template <typename T>
void top_k(const T* x, T* values, int64_t* positions, int64_t n, int64_t k) {
  struct Found {
    T value;
    int64_t at;
  };
  auto before = [](const Found& a, const Found& b) {
    return a.value > b.value || (a.value == b.value && a.at < b.at);
  };
  std::vector<Found> all;
#pragma omp parallel
  {
    const int64_t parts = omp_get_num_threads(), t = omp_get_thread_num();
    std::vector<Found> heap;
    for (int64_t i = cut(n, t, parts); i < cut(n, t + 1, parts); ++i) {
      if (int64_t(heap.size()) == k) {
        if (x[i] <= heap.front().value) continue;
        std::pop_heap(heap.begin(), heap.end(), before);
        heap.pop_back();
      }
      heap.push_back({x[i], i});
      std::push_heap(heap.begin(), heap.end(), before);
    }
#pragma omp critical
    all.insert(all.end(), heap.begin(), heap.end());
  }
  std::partial_sort(all.begin(), all.begin() + k, all.end(), before);
  for (int64_t i = 0; i < k; ++i) values[i] = all[i].value, positions[i] = all[i].at;
}

// Convolutions one after the other, as oneDNN runs them: in the layouts that it chooses, with filters that
// are stored so beforehand. The image is reordered in each run, and so is the result.
struct Net {
  using Memory = dnnl::memory;
  dnnl::engine engine{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream{engine};
  std::vector<Memory> values;  // 0: the image; then the result of each convolution
  std::vector<Memory> kept;    // filters and biases
  std::vector<std::pair<dnnl::convolution_forward, std::unordered_map<int, Memory>>> steps;
  Memory result;

  static Memory::desc plain(Memory::dims dims) {
    return {dims, Memory::data_type::f32,
            dims.size() == 1 ? Memory::format_tag::a : Memory::format_tag::abcd};
  }
  static Memory::desc any(Memory::dims dims) {
    return {dims, Memory::data_type::f32, Memory::format_tag::any};
  }

  Net(int64_t c, int64_t h, int64_t w) { values.emplace_back(plain({1, c, h, w}), engine, nullptr); }

  Memory reordered(Memory from, const Memory::desc& to) {
    if (from.get_desc() == to) return from;
    Memory out(to, engine);
    dnnl::reorder(from, out).execute(stream, from, out);
    stream.wait();
    return out;
  }

  // `added` < 0, or the value that the result is added to and takes the place of.
  int64_t convolution(int64_t of, Floats filter, Floats bias, int64_t out, int64_t k, int64_t stride,
                      bool relu, int64_t added) {
    const Memory::dims in = values[of].get_desc().dims();
    const int64_t pad = k / 2;
    const auto size = [&](int64_t n) { return (n + 2 * pad - k) / stride + 1; };
    const Memory::dims result_dims{1, out, size(in[2]), size(in[3])}, filter_dims{out, in[1], k, k};
    const auto src = of == 0 ? any(in) : values[of].get_desc();
    const auto dst = added < 0 ? any(result_dims) : values[added].get_desc();
    dnnl::post_ops after;
    if (added >= 0) after.append_sum(1.0f);
    if (relu) after.append_eltwise(1.0f, dnnl::algorithm::eltwise_relu, 0.0f, 0.0f);
    dnnl::primitive_attr attr;
    attr.set_post_ops(after);
    dnnl::convolution_forward::desc desc(dnnl::prop_kind::forward_inference,
                                         dnnl::algorithm::convolution_direct, src, any(filter_dims),
                                         plain({out}), dst, {stride, stride}, {pad, pad}, {pad, pad});
    dnnl::convolution_forward::primitive_desc chosen(desc, attr, engine);
    if (of == 0) steps.clear(), values.emplace_back(chosen.src_desc(), engine), of = 1;
    const Memory f =
        reordered({plain(filter_dims), engine, const_cast<float*>(filter)}, chosen.weights_desc());
    values.push_back(added < 0 ? Memory(chosen.dst_desc(), engine) : values[added]);
    kept.push_back(Memory({plain({out}), engine}));
    std::copy(bias, bias + out, static_cast<float*>(kept.back().get_data_handle()));
    steps.push_back({dnnl::convolution_forward(chosen),
                     {{DNNL_ARG_SRC, values[of]},
                      {DNNL_ARG_WEIGHTS, f},
                      {DNNL_ARG_BIAS, kept.back()},
                      {DNNL_ARG_DST, values.back()}}});
    result = Memory(plain(result_dims), engine, nullptr);
    return int64_t(values.size()) - 1;
  }

  void run(Floats image, float* out) {
    values[0].set_data_handle(const_cast<float*>(image));
    result.set_data_handle(out);
    dnnl::reorder(values[0], values[1]).execute(stream, values[0], values[1]);
    for (auto& [step, arguments] : steps) step.execute(stream, arguments);
    dnnl::reorder(values.back(), result).execute(stream, values.back(), result);
    stream.wait();
  }
};

}  // namespace

extern "C" {

void set_threads(int64_t n) {
  omp_set_num_threads(int(n));
  openblas_set_num_threads(int(n));
}

void sort_f32(Floats x, float* y, int64_t n) { sort(x, y, n); }
void sort_i32(const int32_t* x, int32_t* y, int64_t n) { sort(x, y, n); }
void top_k_f32(Floats x, float* v, int64_t* at, int64_t n, int64_t k) { top_k(x, v, at, n, k); }
void top_k_i32(const int32_t* x, int32_t* v, int64_t* at, int64_t n, int64_t k) { top_k(x, v, at, n, k); }

Net* net_new(int64_t c, int64_t h, int64_t w) { return new Net(c, h, w); }
int64_t net_convolution(Net* net, int64_t of, Floats filter, Floats bias, int64_t out, int64_t k,
                        int64_t stride, int64_t relu, int64_t added) {
  return net->convolution(of, filter, bias, out, k, stride, relu != 0, added);
}
void net_run(Net* net, Floats image, float* out) { net->run(image, out); }

// 3x3 with padding 1: the nine shifts of the image as rows, then one product of matrices.
void convolution_im2col(Floats x, Floats f, float* y, float* shifted, int64_t c, int64_t o, int64_t h,
                        int64_t w) {
#pragma omp parallel for
  for (int64_t a = 0; a < c * 9; ++a) {
    const int64_t r = a % 9 / 3 - 1, s = a % 3 - 1;
    for (int64_t i = 0; i < h; ++i) {
      float* row = shifted + (a * h + i) * w;
      Floats from = x + ((a / 9) * h + i + r) * w + s;
      if (i + r < 0 || i + r >= h) {
        std::fill(row, row + w, 0.0f);
        continue;
      }
      for (int64_t j = std::max<int64_t>(0, -s); j < std::min(w, w - s); ++j) row[j] = from[j];
      if (s < 0) row[0] = 0;
      if (s > 0) row[w - 1] = 0;
    }
  }
  cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, int(o), int(h * w), int(c * 9), 1, f, int(c * 9),
              shifted, int(h * w), 0, y, int(h * w));
}

// Each query looks at the `reach` keys up to its own.
void window_attention(Floats q, Floats k, Floats v, float* out, int64_t h, int64_t n, int64_t d,
                      int64_t reach) {
  const float scale = 1 / std::sqrt(float(d));
#pragma omp parallel
  {
    std::vector<float> s(reach);
#pragma omp for
    for (int64_t row = 0; row < h * n; ++row) {
      const int64_t i = row % n, first = std::max<int64_t>(0, i - reach + 1), count = i - first + 1;
      Floats keys = k + (row - i + first) * d, vs = v + (row - i + first) * d;
      float top = lowest, total = 0;
      for (int64_t j = 0; j < count; ++j) {
        float dot = 0;
        for (int64_t e = 0; e < d; ++e) dot += q[row * d + e] * keys[j * d + e];
        s[j] = dot * scale;
        top = std::max(top, s[j]);
      }
      for (int64_t j = 0; j < count; ++j) total += s[j] = std::exp(s[j] - top);
      float* to = out + row * d;
      std::fill(to, to + d, 0.0f);
      for (int64_t j = 0; j < count; ++j) {
        for (int64_t e = 0; e < d; ++e) to[e] += s[j] * vs[j * d + e];
      }
      for (int64_t e = 0; e < d; ++e) to[e] /= total;
    }
  }
}

int64_t nonzero(const bool* m, int64_t* out, int64_t n) {
  int64_t count = 0;
  for (int64_t i = 0; i < n; ++i) {
    out[count] = i;
    count += m[i];
  }
  return count;
}

void ragged_sums(Floats x, const int64_t* offsets, float* y, int64_t rows) {
#pragma omp parallel for
  for (int64_t r = 0; r < rows; ++r) {
    float total = 0;
    for (int64_t i = offsets[r]; i < offsets[r + 1]; ++i) total += x[i];
    y[r] = total;
  }
}

void total(Floats x, float* y, int64_t n) {
  float sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (int64_t i = 0; i < n; ++i) sum += x[i];
  *y = sum;
}

void norm(Floats x, float* y, int64_t n) {
  float sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (int64_t i = 0; i < n; ++i) sum += x[i] * x[i];
  *y = std::sqrt(sum);
}

// By blocks: their largest element, and its position in those that have a larger one than all before.
void argmax(Floats x, int64_t* y, int64_t n) {
  const int64_t block = 4096;
  std::vector<int64_t> found(omp_get_max_threads(), 0);
#pragma omp parallel
  {
    const int64_t parts = omp_get_num_threads(), t = omp_get_thread_num(), end = cut(n, t + 1, parts);
    float best = lowest;
    for (int64_t from = cut(n, t, parts); from < end; from += block) {
      const int64_t to = std::min(from + block, end);
      float top = x[from];
      for (int64_t i = from; i < to; ++i) top = std::max(top, x[i]);
      if (top > best) best = top, found[t] = std::find(x + from, x + to, top) - x;
    }
  }
  *y = *std::max_element(found.begin(), found.end(), [&](int64_t a, int64_t b) { return x[a] < x[b]; });
}

void softmax_row(Floats x, float* y, int64_t n) {
  float top = lowest, sum = 0;
#pragma omp parallel for reduction(max : top)
  for (int64_t i = 0; i < n; ++i) top = std::max(top, x[i]);
#pragma omp parallel for reduction(+ : sum)
  for (int64_t i = 0; i < n; ++i) sum += y[i] = std::exp(x[i] - top);
  const float scale = 1 / sum;
#pragma omp parallel for
  for (int64_t i = 0; i < n; ++i) y[i] *= scale;
}

void softmax_rows(Floats x, float* y, int64_t m, int64_t n) {
#pragma omp parallel for
  for (int64_t r = 0; r < m; ++r) {
    Floats from = x + r * n;
    float* to = y + r * n;
    float top = lowest, sum = 0;
    for (int64_t i = 0; i < n; ++i) top = std::max(top, from[i]);
    for (int64_t i = 0; i < n; ++i) sum += to[i] = std::exp(from[i] - top);
    const float scale = 1 / sum;
    for (int64_t i = 0; i < n; ++i) to[i] *= scale;
  }
}

void transpose(Floats x, float* y, int64_t m, int64_t n) {
  const int64_t block = 16;
#pragma omp parallel for
  for (int64_t j0 = 0; j0 < n; j0 += block) {
    for (int64_t i0 = 0; i0 < m; i0 += block) {
      float tile[block][block];
      const int64_t rows = std::min(block, m - i0), columns = std::min(block, n - j0);
      for (int64_t i = 0; i < rows; ++i) {
        for (int64_t j = 0; j < columns; ++j) tile[j][i] = x[(i0 + i) * n + j0 + j];
      }
      for (int64_t j = 0; j < columns; ++j) std::copy(tile[j], tile[j] + rows, y + (j0 + j) * m + i0);
    }
  }
}

void column_sums(Floats x, float* y, int64_t m, int64_t n) {
  std::fill(y, y + n, 0.0f);
#pragma omp parallel
  {
    const int64_t parts = omp_get_num_threads(), t = omp_get_thread_num();
    for (int64_t i = 0; i < m; ++i) {
      for (int64_t j = cut(n, t, parts); j < cut(n, t + 1, parts); ++j) y[j] += x[i * n + j];
    }
  }
}

}  // extern "C"
