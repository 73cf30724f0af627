// Filling one parameter from its tensors (binding.h): read, convert, transpose, add, cut, stack.
//
// Everything is read in parts of bounded size through TensorFile::read(), so a file that is truncated
// meanwhile is an error. What lies in the file as it lies in the parameter is read at once; all else goes row
// by row of the file.
#include <algorithm>
#include <cstring>
#include <numeric>

#include "host/weights/binding.h"

namespace axon::weights {
namespace {

constexpr uint64_t part_elements = 1u << 18;
constexpr uint64_t block_rows =
    16;  ///< that are transposed side by side, so that columns are written in runs

uint64_t product(std::span<const uint64_t> extents) {
  return std::accumulate(extents.begin(), extents.end(), uint64_t{1}, std::multiplies<>());
}

/// The last extent and the one before it; 1 where there are fewer axes.
struct Matrix {
  explicit Matrix(std::span<const uint64_t> shape)
      : rows(shape.size() < 2 ? 1 : shape[shape.size() - 2]), columns(shape.empty() ? 1 : shape.back()) {}
  uint64_t rows, columns;
};

/// One element of a parameter's stack, from one tensor of the file: all of it, or segments along an axis.
class Loader {
 public:
  Loader(const TensorFile& file, const Source& source, const Tensor& tensor, size_t joined,
         std::span<uint8_t> out)
      : file_(file),
        tensor_(tensor),
        from_(source.file_dtype),
        to_(source.field.dtype),
        transposed_(source.transposed),
        seen_(tensor.shape),
        shape_(source.shape.begin() + source.stack, source.shape.end()),
        axis_(source.axis),
        in_(tensor.shape),
        out_matrix_(shape_),
        out_(out) {
    if (transposed_) std::swap(seen_[seen_.size() - 1], seen_[seen_.size() - 2]);
    if (!source.segments.empty()) segments_ = source.segments[joined];
    whole_ = source.segments.empty();
  }

  Status run() {
    const size_t rank = seen_.size();
    if (product(seen_) == 0) return std::nullopt;
    if (whole_)
      return transposed_ ? rows(0, matrices() * in_.rows, all_columns()) : plain(0, product(seen_), 0);
    const bool columns = axis_ + 1 == rank, in_rows = axis_ + 2 == rank;
    if (!transposed_ && !columns) return plain_segments();
    if (columns ? !transposed_ : transposed_ && in_rows) return rows(0, matrices() * in_.rows, segments_);
    return columns ? row_segments() : matrix_segments();
  }

 private:
  uint64_t matrices() const { return product(seen_) / (in_.rows * in_.columns); }
  std::vector<Segment> all_columns() const { return {{0, 0, in_.columns}}; }
  uint64_t bytes() const { return static_cast<uint64_t>(elem_bytes(to_)); }

  /// Elements that lie in the parameter as in the file.
  Status plain(uint64_t begin, uint64_t count, uint64_t to) {
    const auto from_bytes = static_cast<uint64_t>(elem_bytes(from_));
    uint8_t* const out = out_.data() + to * bytes();
    if (from_ == to_) return file_.read(tensor_, begin * from_bytes, out, count * from_bytes);
    raw_.resize(std::min(count, part_elements) * from_bytes);
    for (uint64_t at = 0; at < count; at += part_elements) {
      const uint64_t part = std::min(part_elements, count - at);
      if (auto error = file_.read(tensor_, (begin + at) * from_bytes, raw_.data(), part * from_bytes))
        return error;
      convert(from_, raw_.data(), to_, out + at * bytes(), part);
    }
    return std::nullopt;
  }

  /// Along an axis before the last, not transposed: each segment is whole rows.
  Status plain_segments() {
    const uint64_t outer = product(std::span(seen_).first(axis_)),
                   inner = product(std::span(seen_).subspan(axis_ + 1));
    for (uint64_t o = 0; o < outer; ++o)
      for (const Segment& s : segments_)
        if (auto error = plain((o * seen_[axis_] + s.from) * inner, s.count * inner,
                               (o * shape_[axis_] + s.to) * inner))
          return error;
    return std::nullopt;
  }

  /// Along the columns of the parameter, which are rows of the file.
  Status row_segments() {
    for (uint64_t m = 0; m < matrices(); ++m)
      for (const Segment& s : segments_) {
        shift_ = s.to - s.from;
        if (auto error = rows(m * in_.rows + s.from, s.count, all_columns())) return error;
      }
    return std::nullopt;
  }

  /// Along an axis before the last two, transposed.
  Status matrix_segments() {
    const uint64_t outer = product(std::span(seen_).first(axis_));
    const uint64_t inner = product(std::span(seen_).subspan(axis_ + 1)) / (in_.rows * in_.columns);
    for (uint64_t o = 0; o < outer; ++o)
      for (const Segment& s : segments_) {
        const uint64_t first = (o * seen_[axis_] + s.from) * inner;
        matrix_shift_ = (o * shape_[axis_] + s.to) * inner - first;
        if (auto error = rows(first * in_.rows, s.count * inner * in_.rows, all_columns())) return error;
      }
    return std::nullopt;
  }

  /// Rows of the file, counted through all matrices, of which these columns are wanted.
  Status rows(uint64_t first, uint64_t count, const std::vector<Segment>& columns) {
    const auto from_bytes = static_cast<uint64_t>(elem_bytes(from_));
    const uint64_t width = std::min(in_.columns, part_elements);
    const uint64_t height = in_.columns > part_elements ? 1 : part_elements / in_.columns;
    raw_.resize(std::min(height, count) * width * from_bytes);
    converted_.resize(from_ == to_ ? 0 : std::min(height, count) * width * bytes());
    for (uint64_t row = first; row < first + count; row += height) {
      const uint64_t part_rows = std::min(height, first + count - row);
      for (uint64_t column = 0; column < in_.columns; column += width) {
        const uint64_t part_columns = std::min(width, in_.columns - column), part = part_rows * part_columns;
        const uint64_t begin = row * in_.columns + column;
        if (auto error = file_.read(tensor_, begin * from_bytes, raw_.data(), part * from_bytes))
          return error;
        if (from_ != to_) convert(from_, raw_.data(), to_, converted_.data(), part);
        for (const Segment& s : columns) place(row, part_rows, column, part_columns, s);
      }
    }
    return std::nullopt;
  }

  /// Puts a part of the file, of so many rows and columns, where it belongs, as far as the segment has it.
  void place(uint64_t row, uint64_t part_rows, uint64_t column, uint64_t part_columns, const Segment& s) {
    const uint64_t begin = std::max(column, s.from), end = std::min(column + part_columns, s.from + s.count);
    if (begin >= end) return;
    const uint8_t* const part = from_ == to_ ? raw_.data() : converted_.data();
    for (uint64_t r = 0; r < part_rows;) {
      const uint64_t within = (row + r) % in_.rows, matrix = (row + r) / in_.rows + matrix_shift_;
      const uint64_t block = transposed_ ? std::min({block_rows, part_rows - r, in_.rows - within}) : 1;
      const uint8_t* const in = part + (r * part_columns + begin - column) * bytes();
      const uint64_t to = begin - s.from + s.to;
      if (transposed_)
        scatter(in, part_columns, end - begin, block,
                (matrix * out_matrix_.rows + to) * out_matrix_.columns + within + shift_);
      else
        std::memcpy(out_.data() + ((matrix * out_matrix_.rows + within) * out_matrix_.columns + to) * bytes(),
                    in, (end - begin) * bytes());
      r += block;
    }
  }

  /// A block of rows of the file becomes columns of the parameter, from this element on.
  void scatter(const uint8_t* in, uint64_t in_columns, uint64_t columns, uint64_t rows, uint64_t to) {
    uint8_t* const out = out_.data() + to * bytes();
    const auto turn = [&]<size_t size>() {
      for (uint64_t c = 0; c < columns; ++c)
        for (uint64_t r = 0; r < rows; ++r)
          std::memcpy(out + (c * out_matrix_.columns + r) * size, in + (r * in_columns + c) * size, size);
    };
    if (bytes() == 1) turn.template operator()<1>();
    if (bytes() == 2) turn.template operator()<2>();
    if (bytes() == 4) turn.template operator()<4>();
    if (bytes() == 8) turn.template operator()<8>();
  }

  const TensorFile& file_;
  const Tensor& tensor_;
  const Elem from_, to_;
  const bool transposed_;
  std::vector<uint64_t> seen_;         ///< the tensor's shape as the parameter has it
  const std::vector<uint64_t> shape_;  ///< of this element of the stack
  const uint32_t axis_;
  const Matrix in_, out_matrix_;
  const std::span<uint8_t> out_;
  std::vector<Segment> segments_;
  bool whole_ = true;
  uint64_t shift_ = 0,
           matrix_shift_ = 0;  ///< from the file's columns, or matrices, to the parameter's; modulo 2^64
  std::vector<uint8_t> raw_, converted_;
};

/// One element of a parameter's stack, from its summands: they are added as f64, and the sum rounded once.
Status load_sum(const TensorFile& file, const Source& source, std::span<const uint32_t> summands,
                std::span<uint8_t> out) {
  Source wide = source;
  wide.field.dtype = Elem::f64;
  const uint64_t count = out.size() / static_cast<uint64_t>(elem_bytes(source.field.dtype));
  std::vector<double> sum(count), next(count);
  for (size_t j = 0; j < summands.size(); ++j) {
    std::vector<double>& into = j == 0 ? sum : next;
    Loader loader(file, wide, file.table.tensors[summands[j]], 0,
                  {reinterpret_cast<uint8_t*>(into.data()), count * sizeof(double)});
    if (auto error = loader.run()) return error;
    for (uint64_t k = 0; j > 0 && k < count; ++k) sum[k] += next[k];
  }
  convert(Elem::f64, sum.data(), source.field.dtype, out.data(), count);
  return std::nullopt;
}

}  // namespace

std::optional<uint64_t> Source::mapped_offset() const {
  if (tensors.size() != 1 || transposed || packed || file_dtype != field.dtype) return std::nullopt;
  if (segments.empty()) return 0;
  if (segments[0].size() != 1 || product(std::span(shape).subspan(stack).first(axis)) != 1)
    return std::nullopt;
  const uint64_t inner = product(std::span(shape).subspan(stack + axis + 1));
  return segments[0][0].from * inner * static_cast<uint64_t>(elem_bytes(field.dtype));
}

Status load(const TensorFile& file, const Source& source, std::span<uint8_t> out) {
  const auto size = byte_count(source.shape, source.field.dtype);
  if (!size) return size.error();
  if (out.size() != *size)
    return Error{code::shape, text("parameter ", printable(source.field.path), " has ", *size,
                                   " bytes, room is ", out.size())};
  const uint64_t count = source.tensors.size() / source.joined, each = *size / count;
  for (size_t i = 0; i < count; ++i) {
    const auto tensors = std::span(source.tensors).subspan(i * source.joined, source.joined);
    const auto element = out.subspan(i * each, each);
    if (source.summed) {
      if (auto error = load_sum(file, source, tensors, element)) return error;
      continue;
    }
    for (size_t j = 0; j < tensors.size(); ++j) {
      Loader loader(file, source, file.table.tensors[tensors[j]], j, element);
      if (auto error = loader.run()) return error;
    }
  }
  return std::nullopt;
}

}  // namespace axon::weights
