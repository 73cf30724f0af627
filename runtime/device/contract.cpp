// The contraction kernels: see contract.h for what they compute.
//
// Many rows: k is cut into blocks so that a block of one panel (32 columns) stays in the first-level cache
// while groups of rows run over it; a group's accumulators are registers (8 x 32 with 512-bit vectors). Right
// operands that are not panels are packed, a block at a time, into a panel on the stack. Few rows: the right
// operand is read once, straight through, with enough independent accumulators to keep memory busy.
#include "contract.h"

#include "lanes.h"

namespace {

using lanes::bfloat;
using lanes::half;
using lanes::Register;

constexpr int64_t depth_block = 256;
/// Of left operands that lie row next to row: their block fits into the cache, too.
constexpr int64_t turned_depth_block = 64;
constexpr int64_t few_rows = 4;     // below: row-major right operands are streamed row by row
constexpr int64_t dotted_rows = 8;  // below: right operands contiguous along k are not packed

constexpr int64_t worth_asking =
    32768;  ///< bytes of a panel, or of as many columns: smaller ones are in a cache

/// A right operand that is read once is asked for ahead of its use, which goes beyond the end of a task: the
/// next one mostly goes on where this one ends, and memory is busy while it prepares its left operand. It is
/// asked for in all caches (the third argument, 3): without a claim on them (0) it was worth 3 % of the
/// bandwidth of two cores of one maker, and took more than half of it on those of another, where it left the
/// first cache before its use.
template <class Level, class B>
[[gnu::always_inline]] inline void ask_for(const B* at, int64_t bytes) {
  if constexpr (Level::bytes_ahead > 0)
    for (int64_t line = 0; line < bytes; line += 64)
      __builtin_prefetch(reinterpret_cast<const char*>(at) + Level::bytes_ahead + line, 0, 3);
}

/// `rows` x (`vectors` registers) of C, `depth` deep. `chains` splits the sum into independent ones; where
/// the right operand is read `once`, it is read in as many parts at once as the machine likes.
template <class Level, class Acc, class B, int rows, int vectors, int chains, bool once = false>
[[gnu::always_inline]] inline void micro(Acc* c, int64_t c_row, const Acc* a, int64_t a_row, int64_t a_depth,
                                         const B* b, int64_t b_depth, int64_t depth, bool accumulate) {
  constexpr int lanes_per = lanes::width<Level, Acc>;
  using V = Register<Level, Acc>;
  V sums[chains][rows][vectors];
#pragma clang loop unroll(full)
  for (int s = 0; s < chains; ++s)
#pragma clang loop unroll(full)
    for (int r = 0; r < rows; ++r)
#pragma clang loop unroll(full)
      for (int v = 0; v < vectors; ++v)
        sums[s][r][v] = s == 0 && accumulate ? lanes::load_raw<V>(c + r * c_row + v * lanes_per) : V(Acc(0));
  auto step = [&](int64_t k, int s) __attribute__((always_inline)) {
    V right[vectors];
    if constexpr (once)
      ask_for<Level>(b + k * b_depth, vectors * lanes_per * static_cast<int64_t>(sizeof(B)));
#pragma clang loop unroll(full)
    for (int v = 0; v < vectors; ++v) right[v] = lanes::load<Level, Acc>(b + k * b_depth + v * lanes_per);
#pragma clang loop unroll(full)
    for (int r = 0; r < rows; ++r) {
      const V left = V(a[r * a_row + k * a_depth]);
#pragma clang loop unroll(full)
      for (int v = 0; v < vectors; ++v) sums[s][r][v] += left * right[v];
    }
  };
  constexpr int parts = once ? Level::streams : 1, together = chains > parts ? chains / parts : 1;
  const int64_t part = depth / parts;
  int64_t k = 0;
  for (; k + together <= part; k += together)
#pragma clang loop unroll(full)
    for (int s = 0; s < together * parts; ++s) step(k + s / parts + s % parts * part, s % chains);
  for (; k < part; ++k)
    for (int s = 0; s < parts; ++s) step(k + s * part, 0);
  k = parts * part;
  for (; k < depth; ++k) step(k, 0);
#pragma clang loop unroll(full)
  for (int r = 0; r < rows; ++r)
#pragma clang loop unroll(full)
    for (int v = 0; v < vectors; ++v) {
#pragma clang loop unroll(full)
      for (int s = 1; s < chains; ++s) sums[0][r][v] += sums[s][r][v];
      lanes::store_raw(c + r * c_row + v * lanes_per, sums[0][r][v]);
    }
}

/// Registers of columns that `rows` rows take from a panel at once. Each pass over a panel reads a part of
/// every cache line, so there are as few as registers allow: the sums, the left elements or the right
/// vectors, whichever are fewer, and one of the others.
template <class Level, class Acc>
constexpr int vectors_at_once(int rows) {
  int vectors = static_cast<int>(panel_columns) / lanes::width<Level, Acc>;
  while (vectors > 1 && rows * vectors + (rows < vectors ? rows : vectors) + 1 > Level::registers)
    vectors /= 2;
  return vectors;
}

/// Additions that are under way at once: their latency in cycles times how many begin in one.
constexpr int additions_under_way = 8;

/// One panel's worth of columns for a group of `rows` rows; `once`: nobody reads them again.
template <class Level, class Acc, class B, int rows, bool once>
[[gnu::noinline]] void group(Acc* c, int64_t c_row, const Acc* a, int64_t a_row, int64_t a_depth, const B* b,
                             int64_t b_depth, int64_t depth, bool accumulate) {
  constexpr int vectors = vectors_at_once<Level, Acc>(rows), columns = vectors * lanes::width<Level, Acc>;
  constexpr int chains = (additions_under_way + rows * vectors - 1) / (rows * vectors);
  for (int64_t column = 0; column < panel_columns; column += columns)
    micro<Level, Acc, B, rows, vectors, chains, once>(c + column, c_row, a, a_row, a_depth, b + column,
                                                      b_depth, depth, accumulate);
}

template <class Level, class Acc, class B, bool once>
void remaining_rows(int64_t rows, Acc* c, int64_t c_row, const Acc* a, int64_t a_row, int64_t a_depth,
                    const B* b, int64_t b_depth, int64_t depth, bool accumulate) {
  switch (rows) {
    case 1:
      return group<Level, Acc, B, 1, once>(c, c_row, a, a_row, a_depth, b, b_depth, depth, accumulate);
    case 2:
      return group<Level, Acc, B, 2, once>(c, c_row, a, a_row, a_depth, b, b_depth, depth, accumulate);
    case 3:
      return group<Level, Acc, B, 3, once>(c, c_row, a, a_row, a_depth, b, b_depth, depth, accumulate);
    case 4:
      return group<Level, Acc, B, 4, once>(c, c_row, a, a_row, a_depth, b, b_depth, depth, accumulate);
    case 5:
      return group<Level, Acc, B, 5, once>(c, c_row, a, a_row, a_depth, b, b_depth, depth, accumulate);
    case 6:
      if constexpr (Level::rows > 6)
        group<Level, Acc, B, 6, once>(c, c_row, a, a_row, a_depth, b, b_depth, depth, accumulate);
      return;
    case 7:
      if constexpr (Level::rows > 6)
        group<Level, Acc, B, 7, once>(c, c_row, a, a_row, a_depth, b, b_depth, depth, accumulate);
      return;
    default:
      return;
  }
}

/// All rows over one block of one panel.
template <class Level, class Acc, class B, bool once>
void all_rows(int64_t rows, Acc* c, int64_t c_row, const Acc* a, int64_t a_row, int64_t a_depth, const B* b,
              int64_t b_depth, int64_t depth, bool accumulate) {
  int64_t row = 0;
  for (; row + Level::rows <= rows; row += Level::rows)
    group<Level, Acc, B, Level::rows, once>(c + row * c_row, c_row, a + row * a_row, a_row, a_depth, b,
                                            b_depth, depth, accumulate);
  remaining_rows<Level, Acc, B, once>(rows - row, c + row * c_row, c_row, a + row * a_row, a_row, a_depth, b,
                                      b_depth, depth, accumulate);
}

template <class Level, class Acc, class B, bool once>
void all_groups(const ContractShape& s, Acc* c, const Acc* a, const B* b, int64_t b_depth, int64_t depth,
                bool accumulate) {
  for (int64_t group = 0; group < s.groups; ++group)
    all_rows<Level, Acc, B, once>(s.rows, c + group * s.c_group, s.c_row, a + group * s.a_group, s.a_row,
                                  s.a_depth, b, b_depth, depth, accumulate);
}

// ---- packing: up to 32 columns x up to depth_block of any right operand, as a zero-padded panel of
// accumulators ----

template <class Level, class Acc, class B>
void pack_columns_next(Acc* panel, const B* b, int64_t b_depth, int64_t columns, int64_t depth) {
  constexpr int n = lanes::width<Level, Acc>;
  for (int64_t k = 0; k < depth; ++k) {
    int64_t column = 0;
    for (; column + n <= columns; column += n)
      lanes::store_raw(panel + k * panel_columns + column, lanes::load<Level, Acc>(b + k * b_depth + column));
#pragma clang loop vectorize(disable) unroll(disable)
    for (; column < columns; ++column)
      panel[k * panel_columns + column] = lanes::element<Level, Acc>(b + k * b_depth + column);
#pragma clang loop vectorize(disable) unroll(disable)
    for (; column < panel_columns; ++column) panel[k * panel_columns + column] = Acc(0);
  }
}

/// Element by element, along the shorter stride.
template <class Level, class Acc, class B>
void pack_any(Acc* panel, const B* b, int64_t b_depth, int64_t b_column, int64_t first, int64_t columns,
              int64_t depth) {
  const auto element = [&](int64_t k, int64_t column) {
    panel[k * panel_columns + column] =
        column < columns ? lanes::element<Level, Acc>(b + k * b_depth + column * b_column) : Acc(0);
  };
  if (b_column < b_depth) {
    for (int64_t k = 0; k < depth; ++k)
#pragma clang loop vectorize(disable) unroll(disable)
      for (int64_t column = first; column < panel_columns; ++column) element(k, column);
  } else {
    for (int64_t column = first; column < panel_columns; ++column)
#pragma clang loop vectorize(disable) unroll(disable)
      for (int64_t k = 0; k < depth; ++k) element(k, column);
  }
}

template <class Level, class Acc, class B>
void pack_depth_next(Acc* panel, const B* b, int64_t b_column, int64_t columns, int64_t depth) {
  constexpr int n = lanes::width<Level, Acc>;
  int64_t column = 0;
  for (; column + n <= columns; column += n) {
    int64_t k = 0;
    for (; k + n <= depth; k += n) {
      Register<Level, Acc> rows[n];
#pragma clang loop unroll(full)
      for (int i = 0; i < n; ++i) rows[i] = lanes::load<Level, Acc>(b + (column + i) * b_column + k);
      lanes::transpose<Acc, n>(rows);
#pragma clang loop unroll(full)
      for (int i = 0; i < n; ++i) lanes::store_raw(panel + (k + i) * panel_columns + column, rows[i]);
    }
#pragma clang loop vectorize(disable) unroll(disable)
    for (; k < depth; ++k)
      for (int i = 0; i < n; ++i)
        panel[k * panel_columns + column + i] = lanes::element<Level, Acc>(b + (column + i) * b_column + k);
  }
  pack_any<Level, Acc, B>(panel, b, 1, b_column, column, columns, depth);
}

template <class Level, class Acc, class B>
[[gnu::noinline]] void pack(Acc* panel, const B* b, int64_t b_depth, int64_t b_column, int64_t columns,
                            int64_t depth) {
  if (b_column == 1) return pack_columns_next<Level, Acc, B>(panel, b, b_depth, columns, depth);
  if (b_depth == 1) return pack_depth_next<Level, Acc, B>(panel, b, b_column, columns, depth);
  pack_any<Level, Acc, B>(panel, b, b_depth, b_column, 0, columns, depth);
}

// ---- few rows, right operand as it lies ----

/// One row times a row-major right operand, `vectors` registers of columns at a time.
template <class Level, class Acc, class B, int vectors>
int64_t wide_row(Acc* c, const Acc* a, int64_t a_depth, const B* b, int64_t b_depth, int64_t from,
                 int64_t columns, int64_t depth, bool accumulate) {
  constexpr int step = vectors * lanes::width<Level, Acc>;
  for (; from + step <= columns; from += step)
    micro<Level, Acc, B, 1, vectors, (vectors >= 8 ? 1 : 2)>(c + from, 0, a, 0, a_depth, b + from, b_depth,
                                                             depth, accumulate);
  return from;
}

/// Dot products of one row with n columns that are contiguous along k. Four columns at a time, each with
/// several chains: more streams at once than that and memory delivers less. `once`: the next four are asked
/// for meanwhile.
template <class Level, class Acc, class B, int n, bool once>
inline void dot_group(Acc* c, const Acc* a, const B* b, int64_t b_column, int64_t depth, bool accumulate) {
  constexpr int w = lanes::width<Level, Acc>;
  constexpr int streams = n < 4 ? n : 4, chains = 4;
  using V = Register<Level, Acc>;
  V sums[w];
#pragma clang loop unroll(full)
  for (int i = 0; i < w; ++i) sums[i] = V(Acc(0));
  const int64_t whole = depth - depth % (chains * w);
#pragma clang loop unroll(full)
  for (int first = 0; first < n; first += streams) {
    V parts[streams][chains];
#pragma clang loop unroll(full)
    for (int i = 0; i < streams * chains; ++i) parts[i / chains][i % chains] = V(Acc(0));
    const B* const here = b + first * b_column;
    for (int64_t k = 0; k < whole; k += chains * w) {
#pragma clang loop unroll(full)
      for (int j = 0; j < chains; ++j) {
        const V left = lanes::load_raw<V>(a + k + j * w);
#pragma clang loop unroll(full)
        for (int i = 0; i < streams; ++i) {
          const B* const at = here + i * b_column + k + j * w;
          if constexpr (once && Level::bytes_ahead > 0) __builtin_prefetch(at + streams * b_column, 0, 3);
          parts[i][j] += left * lanes::load<Level, Acc>(at);
        }
      }
    }
#pragma clang loop unroll(full)
    for (int i = 0; i < streams; ++i)
      sums[first + i] = (parts[i][0] + parts[i][1]) + (parts[i][2] + parts[i][3]);
  }
  int64_t k = whole;
  for (; k + w <= depth; k += w) {
    const V left = lanes::load_raw<V>(a + k);
#pragma clang loop unroll(full)
    for (int i = 0; i < n; ++i) sums[i] += left * lanes::load<Level, Acc>(b + i * b_column + k);
  }
  auto shorter = [&]<int length>() __attribute__((always_inline)) {
    if (depth - k < length) return;
    const V left = lanes::widened<V, Acc, length>(lanes::load_raw<lanes::Vector<Acc, length>>(a + k));
#pragma clang loop unroll(full)
    for (int i = 0; i < n; ++i)
      sums[i] +=
          left * lanes::widened<V, Acc, length>(lanes::load_lanes<Level, Acc, length>(b + i * b_column + k));
    k += length;
  };
  if constexpr (w > 8) shorter.template operator()<8>();
  if constexpr (w > 4) shorter.template operator()<4>();
  V total = lanes::sums_of<Acc, w>(sums);
#pragma clang loop vectorize(disable) unroll(disable)
  for (; k < depth; ++k)
#pragma clang loop unroll(full)
    for (int i = 0; i < n; ++i) total[i] += a[k] * lanes::element<Level, Acc>(b + i * b_column + k);
#pragma clang loop unroll(full)
  for (int i = 0; i < n; ++i) c[i] = accumulate ? c[i] + total[i] : total[i];
}

/// The same for one column, with several chains.
template <class Level, class Acc, class B>
inline void dot_one(Acc* c, const Acc* a, const B* b, int64_t depth, bool accumulate) {
  constexpr int w = lanes::width<Level, Acc>;
  using V = Register<Level, Acc>;
  V sums[w];
#pragma clang loop unroll(full)
  for (int i = 0; i < w; ++i) sums[i] = V(Acc(0));
  int64_t k = 0;
  for (; k + 4 * w <= depth; k += 4 * w)
#pragma clang loop unroll(full)
    for (int i = 0; i < 4; ++i)
      sums[i % w] += lanes::load_raw<V>(a + k + i * w) * lanes::load<Level, Acc>(b + k + i * w);
  for (; k + w <= depth; k += w) sums[0] += lanes::load_raw<V>(a + k) * lanes::load<Level, Acc>(b + k);
  const V lane_sums = lanes::sums_of<Acc, w>(sums);
  Acc total = 0;
#pragma clang loop unroll(full)
  for (int i = 0; i < w; ++i) total += lane_sums[i];
  for (; k < depth; ++k) total += a[k] * lanes::element<Level, Acc>(b + k);
  *c = accumulate ? *c + total : total;
}

template <class Level, class Acc, class B>
[[gnu::noinline]] void dot_rows(const ContractShape& s, Acc* c, const Acc* a, const B* b) {
  constexpr int n = lanes::width<Level, Acc>;
  const bool large = s.depth * n * static_cast<int64_t>(sizeof(B)) >= worth_asking;
  int64_t column = 0;
  for (; column + n <= s.columns; column += n) {
    const B* const here = b + column * s.b_column;
    if (large) dot_group<Level, Acc, B, n, true>(c + column, a, here, s.b_column, s.depth, s.accumulate != 0);
    for (int64_t row = large ? 1 : 0; row < s.rows; ++row)
      dot_group<Level, Acc, B, n, false>(c + row * s.c_row + column, a + row * s.a_row, here, s.b_column,
                                         s.depth, s.accumulate != 0);
  }
  for (; column < s.columns; ++column)
    for (int64_t row = 0; row < s.rows; ++row)
      dot_one<Level, Acc, B>(c + row * s.c_row + column, a + row * s.a_row, b + column * s.b_column, s.depth,
                             s.accumulate != 0);
}

/// How deep the blocks are that the sum is cut into.
int64_t block_of(const ContractShape& s) { return s.a_depth == 1 ? depth_block : turned_depth_block; }

/// Columns from `first` on, packed block by block.
template <class Level, class Acc, class B>
void packed_columns(const ContractShape& s, Acc* c, const Acc* a, const B* b, int64_t first) {
  alignas(64) Acc panel[depth_block * panel_columns];
  const int64_t block = block_of(s);
  for (int64_t k = 0; k < s.depth; k += block) {
    const int64_t depth = s.depth - k < block ? s.depth - k : block;
    for (int64_t column = first; column < s.columns; column += panel_columns) {
      const int64_t columns = s.columns - column < panel_columns ? s.columns - column : panel_columns;
      pack<Level, Acc, B>(panel, b + k * s.b_depth + column * s.b_column, s.b_depth, s.b_column, columns,
                          depth);
      all_groups<Level, Acc, Acc, false>(s, c + column, a + k * s.a_depth, panel, panel_columns, depth,
                                         k > 0 || s.accumulate != 0);
    }
  }
}

/// One row times `n` < a register's columns.
template <class Level, class Acc, class B, int n>
inline void narrow_row(Acc* c, const Acc* a, int64_t a_depth, const B* b, int64_t b_depth, int64_t depth,
                       bool accumulate) {
  using V = lanes::Vector<Acc, n>;
  V sums[4] = {V(Acc(0)), V(Acc(0)), V(Acc(0)), V(Acc(0))};
  int64_t k = 0;
  for (; k + 4 <= depth; k += 4)
#pragma clang loop unroll(full)
    for (int i = 0; i < 4; ++i)
      sums[i] += V(a[(k + i) * a_depth]) * lanes::load_lanes<Level, Acc, n>(b + (k + i) * b_depth);
  for (; k < depth; ++k) sums[0] += V(a[k * a_depth]) * lanes::load_lanes<Level, Acc, n>(b + k * b_depth);
  V total = (sums[0] + sums[1]) + (sums[2] + sums[3]);
  if (accumulate) total += lanes::load_raw<V>(c);
  lanes::store_raw(c, total);
}

template <class Level, class Acc, class B>
[[gnu::noinline]] void few_rows_by_columns(const ContractShape& s, Acc* c, const Acc* a, const B* b) {
  constexpr int w = lanes::width<Level, Acc>;
  const bool accumulate = s.accumulate != 0;
  for (int64_t row = 0; row < s.rows; ++row) {
    Acc* to = c + row * s.c_row;
    const Acc* from = a + row * s.a_row;
    int64_t done =
        wide_row<Level, Acc, B, 8>(to, from, s.a_depth, b, s.b_depth, 0, s.columns, s.depth, accumulate);
    done =
        wide_row<Level, Acc, B, 2>(to, from, s.a_depth, b, s.b_depth, done, s.columns, s.depth, accumulate);
    done =
        wide_row<Level, Acc, B, 1>(to, from, s.a_depth, b, s.b_depth, done, s.columns, s.depth, accumulate);
    auto narrow = [&]<int n>() __attribute__((always_inline)) {
      for (; s.columns - done >= n; done += n)
        narrow_row<Level, Acc, B, n>(to + done, from, s.a_depth, b + done, s.b_depth, s.depth, accumulate);
    };
    if constexpr (w > 8) narrow.template operator()<8>();
    if constexpr (w > 4) narrow.template operator()<4>();
    narrow.template operator()<1>();
  }
}

template <class Level, class Acc, class B>
void panels(const ContractShape& s, Acc* c, const Acc* a, const B* b) {
  if (s.rows * s.groups <= Level::rows) {  // each panel once, from first to last element
    const auto whole_panels = [&]<bool once>() {
      for (int64_t column = 0; column < s.columns; column += panel_columns)
        all_groups<Level, Acc, B, once>(s, c + column, a, b + column / panel_columns * s.b_panel,
                                        panel_columns, s.depth, s.accumulate != 0);
    };
    const int64_t bytes = s.depth * panel_columns * static_cast<int64_t>(sizeof(B));
    return bytes >= worth_asking ? whole_panels.template operator()<true>()
                                 : whole_panels.template operator()<false>();
  }
  const int64_t block = block_of(s);
  for (int64_t k = 0; k < s.depth; k += block) {
    const int64_t depth = s.depth - k < block ? s.depth - k : block;
    for (int64_t column = 0; column < s.columns; column += panel_columns)
      all_groups<Level, Acc, B, false>(s, c + column, a + k * s.a_depth,
                                       b + column / panel_columns * s.b_panel + k * panel_columns,
                                       panel_columns, depth, k > 0 || s.accumulate != 0);
  }
}

/// Dot products want the left operand along k: one that lies otherwise is copied, a block at a time.
template <class Level, class Acc, class B>
[[gnu::noinline]] void dot_copied_rows(const ContractShape& s, Acc* c, const Acc* a, const B* b) {
  alignas(64) Acc copy[dotted_rows * depth_block];
  ContractShape block = s;
  block.a_row = depth_block;
  block.a_depth = 1;
  for (int64_t k = 0; k < s.depth; k += depth_block) {
    block.depth = s.depth - k < depth_block ? s.depth - k : depth_block;
    block.accumulate = k > 0 || s.accumulate != 0;
    for (int64_t row = 0; row < s.rows; ++row)
#pragma clang loop vectorize(disable) unroll(disable)
      for (int64_t i = 0; i < block.depth; ++i)
        copy[row * depth_block + i] = a[row * s.a_row + (k + i) * s.a_depth];
    dot_rows<Level, Acc, B>(block, c, copy, b + k);
  }
}

template <class Level, class Acc, class B>
void each_group(const ContractShape& s, Acc* c, const Acc* a, const B* b,
                void (*kernel)(const ContractShape&, Acc*, const Acc*, const B*)) {
  for (int64_t group = 0; group < s.groups; ++group)
    kernel(s, c + group * s.c_group, a + group * s.a_group, b);
}

template <class Level, class Acc, class B>
void clear(const ContractShape& s, Acc* c, const Acc*, const B*) {
  for (int64_t row = 0; row < s.rows; ++row)
    for (int64_t column = 0; column < s.columns; ++column) c[row * s.c_row + column] = Acc(0);
}

template <class Level, class Acc, class B>
inline void contract(const ContractShape* shape, Acc* c, const Acc* a, const B* b) {
  const ContractShape& s = *shape;
  if (s.depth <= 0) {
    if (s.accumulate == 0) each_group<Level, Acc, B>(s, c, a, b, clear<Level, Acc, B>);
    return;
  }
  const int64_t rows = s.rows * s.groups;
  if (rows <= 0 || s.columns <= 0) return;
  if (s.b_panel > 0) return panels<Level, Acc, B>(s, c, a, b);
  if (rows < few_rows && s.b_column == 1)
    return each_group<Level, Acc, B>(s, c, a, b, few_rows_by_columns<Level, Acc, B>);
  if (rows < dotted_rows && s.b_depth == 1)
    return each_group<Level, Acc, B>(
        s, c, a, b, s.a_depth == 1 ? dot_rows<Level, Acc, B> : dot_copied_rows<Level, Acc, B>);
  int64_t done = 0;
  if (rows <= Level::rows &&
      s.b_column == 1)  // too few rows to pay for packing what can be read where it lies
    for (; done + panel_columns <= s.columns; done += panel_columns)
      all_groups<Level, Acc, B, false>(s, c + done, a, b + done, s.b_depth, s.depth, s.accumulate != 0);
  if (done < s.columns) packed_columns<Level, Acc, B>(s, c, a, b, done);
}

}  // namespace

extern "C" {
#define AXON_CONTRACT(name, level, acc, storage)                                  \
  void name(const ContractShape* shape, acc* c, const acc* a, const storage* b) { \
    contract<lanes::level, acc, storage>(shape, c, a, b);                         \
  }
#define MACHINE(suffix, ...)                                        \
  AXON_CONTRACT(axon_contract_f32_##suffix, suffix, float, float)   \
  AXON_CONTRACT(axon_contract_bf16_##suffix, suffix, float, bfloat) \
  AXON_CONTRACT(axon_contract_f16_##suffix, suffix, float, half)    \
  AXON_CONTRACT(axon_contract_i8_##suffix, suffix, float, int8_t)   \
  AXON_CONTRACT(axon_contract_u8_##suffix, suffix, float, uint8_t)  \
  AXON_CONTRACT(axon_contract_f64_##suffix, suffix, double, double)
#include "machines.def"
}
