// The rivals of rivals.py that are C++ and OpenBLAS: arrays in row-major order come in as pointers, sizes as
// int64_t, and results go out into arrays of the caller. rival_sides.py compiles this file into a library of
// C functions, for the level that ours is held to, at -O3 -ffast-math. Each is the plain loop that one would
// write, over OpenMP's threads. Threads of OpenMP call OpenBLAS with one thread each: two pools of threads
// would wait for each other's cores.
#include <cblas.h>
#include <omp.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <parallel/algorithm>
#include <vector>

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

// y [m, n] = x [m, k] w [k, n]; the rows of w and y are so many elements apart.
void product(Floats x, Floats w, float* y, int64_t m, int64_t k, int64_t n, int64_t w_row, int64_t y_row) {
  cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, int(m), int(n), int(k), 1, x, int(k), w, int(w_row),
              0, y, int(y_row));
}

// The nine shifts of the rows low..high of an image, each a row of `band`.
void shift_band(Floats x, float* band, int64_t c, int64_t h, int64_t w, int64_t low, int64_t high) {
  for (int64_t a = 0; a < c * 9; ++a) {
    const int64_t r = a % 9 / 3 - 1, s = a % 3 - 1;
    for (int64_t i = low; i < high; ++i) {
      float* row = band + (a * (high - low) + i - low) * w;
      if (i + r < 0 || i + r >= h) {
        std::fill(row, row + w, 0.0f);
        continue;
      }
      Floats from = x + ((a / 9) * h + i + r) * w + s;
      for (int64_t j = std::max<int64_t>(0, -s); j < std::min(w, w - s); ++j) row[j] = from[j];
      if (s < 0) row[0] = 0;
      if (s > 0) row[w - 1] = 0;
    }
  }
}

}  // namespace

extern "C" {

// Of OpenMP, which is oneDNN's too, and of OpenBLAS.
void set_threads(int64_t omp, int64_t blas) {
  omp_set_dynamic(0);
  omp_set_num_threads(int(omp));
  openblas_set_num_threads(int(blas));
}

// The threads that a loop really gets, and those that OpenBLAS takes.
int64_t threads_of_openmp() {
  int64_t n = 0;
#pragma omp parallel
#pragma omp single
  n = omp_get_num_threads();
  return n;
}
int64_t threads_of_openblas() { return openblas_get_num_threads(); }
const char* core_of_openblas() { return openblas_get_corename(); }

void sort_f32(Floats x, float* y, int64_t n) { sort(x, y, n); }
void sort_i32(const int32_t* x, int32_t* y, int64_t n) { sort(x, y, n); }
void top_k_f32(Floats x, float* v, int64_t* at, int64_t n, int64_t k) { top_k(x, v, at, n, k); }
void top_k_i32(const int32_t* x, int32_t* v, int64_t* at, int64_t n, int64_t k) { top_k(x, v, at, n, k); }

void sgemm(Floats x, Floats w, float* y, int64_t m, int64_t k, int64_t n) { product(x, w, y, m, k, n, n, n); }

// x by the sum of w and u; each thread has columns of it.
void sgemm_of_sum(Floats x, Floats w, Floats u, float* sum, float* y, int64_t m, int64_t k, int64_t n) {
#pragma omp parallel
  {
    const int64_t parts = omp_get_num_threads(), t = omp_get_thread_num();
    const int64_t low = cut(n, t, parts), high = cut(n, t + 1, parts);
    for (int64_t i = 0; i < k; ++i) {
      for (int64_t j = low; j < high; ++j) sum[i * n + j] = w[i * n + j] + u[i * n + j];
    }
    product(x, sum + low, y + low, m, k, high - low, n, n);
  }
}

void add(Floats x, Floats y, float* out, int64_t n) {
#pragma omp parallel for
  for (int64_t i = 0; i < n; ++i) out[i] = x[i] + y[i];
}

// 3x3 with padding 1. Each thread has a band of every image: its nine shifts as rows, then one product of
// matrices. `shifted` has room for one image.
void convolution_im2col(Floats x, Floats f, float* y, float* shifted, int64_t b, int64_t c, int64_t o,
                        int64_t h, int64_t w) {
#pragma omp parallel
  {
    const int64_t parts = omp_get_num_threads(), t = omp_get_thread_num();
    const int64_t low = cut(h, t, parts), high = cut(h, t + 1, parts), pixels = (high - low) * w;
    float* band = shifted + c * 9 * low * w;
    for (int64_t image = 0; image < b; ++image) {
      shift_band(x + image * c * h * w, band, c, h, w, low, high);
      product(f, band, y + image * o * h * w + low * w, o, c * 9, pixels, pixels, h * w);
    }
  }
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

// Each thread counts what it finds before the threads know where to write.
int64_t nonzero(const bool* m, int64_t* out, int64_t n) {
  std::vector<int64_t> ends(omp_get_max_threads() + 1, 0);
#pragma omp parallel
  {
    const int64_t parts = omp_get_num_threads(), t = omp_get_thread_num();
    const int64_t low = cut(n, t, parts), high = cut(n, t + 1, parts);
    if (t + 1 < parts) ends[t + 1] = std::count(m + low, m + high, true);
#pragma omp barrier
#pragma omp single
    for (int64_t i = 1; i < parts; ++i) ends[i] += ends[i - 1];
    // A position that is none is overwritten by the next, but never in the part of the next thread.
    int64_t at = ends[t];
    if (t + 1 < parts) {
      for (int64_t i = low; at < ends[t + 1]; ++i) out[at] = i, at += m[i];
    } else {
      for (int64_t i = low; i < high; ++i) out[at] = i, at += m[i];
      ends[parts] = at;
    }
  }
  return ends[omp_get_max_threads()];
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

void rms_norm(Floats x, Floats w, float* y, int64_t m, int64_t n, float eps) {
#pragma omp parallel for
  for (int64_t r = 0; r < m; ++r) {
    Floats from = x + r * n;
    float sum = 0;
    for (int64_t i = 0; i < n; ++i) sum += from[i] * from[i];
    const float scale = 1 / std::sqrt(sum / float(n) + eps);
    for (int64_t i = 0; i < n; ++i) y[r * n + i] = from[i] * scale * w[i];
  }
}

void layer_norm(Floats x, Floats w, Floats b, float* y, int64_t m, int64_t n, float eps) {
#pragma omp parallel for
  for (int64_t r = 0; r < m; ++r) {
    Floats from = x + r * n;
    float sum = 0, squares = 0;
    for (int64_t i = 0; i < n; ++i) sum += from[i];
    const float mean = sum / float(n);
    for (int64_t i = 0; i < n; ++i) squares += (from[i] - mean) * (from[i] - mean);
    const float scale = 1 / std::sqrt(squares / float(n) + eps);
    for (int64_t i = 0; i < n; ++i) y[r * n + i] = (from[i] - mean) * scale * w[i] + b[i];
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

// Floors: what it takes to read so many bytes, and to copy them.
int64_t read_all(const int64_t* x, int64_t bytes) {
  int64_t bits = 0;
#pragma omp parallel for reduction(| : bits)
  for (int64_t i = 0; i < bytes / 8; ++i) bits |= x[i];
  return bits;
}

void copy_all(const char* x, char* y, int64_t bytes) {
#pragma omp parallel
  {
    const int64_t parts = omp_get_num_threads(), t = omp_get_thread_num(), low = cut(bytes, t, parts);
    std::memcpy(y + low, x + low, cut(bytes, t + 1, parts) - low);
  }
}

}  // extern "C"
