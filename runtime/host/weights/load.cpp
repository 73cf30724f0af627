// Filling one parameter from its tensors (binding.h): read, add, convert, order, cut, stack.
//
// Everything is read in parts of bounded size through TensorFile::read(), so a file that is truncated
// meanwhile is an error. What lies in the file as it lies in the parameter is read at once; all else goes row
// by row of the file. Summands are alike, so that they are added as they lie there.
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

/// The elements of one tensor, or the sums of those of several, in the order of the file and of the
/// parameter's type. They are added as f64, and each sum is rounded once.
class Elements {
 public:
  Elements(const TensorFile& file, const Source& source, std::span<const uint32_t> tensors)
      : file_(file), tensors_(tensors), from_(source.file_dtype), to_(source.field.dtype) {}

  Status read(uint64_t begin, uint64_t count, uint8_t* out) {
    if (tensors_.size() == 1 && from_ == to_) return read_tensor(0, begin, count, out);
    const auto bytes = static_cast<uint64_t>(elem_bytes(to_));
    for (uint64_t at = 0; at < count; at += part_elements) {
      const uint64_t part = std::min(part_elements, count - at);
      if (auto error = convert_part(begin + at, part, out + at * bytes)) return error;
    }
    return std::nullopt;
  }

 private:
  Status read_tensor(size_t which, uint64_t begin, uint64_t count, void* out) const {
    const auto bytes = static_cast<uint64_t>(elem_bytes(from_));
    return file_.read(file_.table.tensors[tensors_[which]], begin * bytes, out, count * bytes);
  }

  Status convert_part(uint64_t begin, uint64_t count, uint8_t* out) {
    raw_.resize(count * static_cast<uint64_t>(elem_bytes(from_)));
    if (tensors_.size() == 1) {
      if (auto error = read_tensor(0, begin, count, raw_.data())) return error;
      convert(from_, raw_.data(), to_, out, count);
      return std::nullopt;
    }
    sum_.assign(count, -0.0);  // to which anything may be added
    next_.resize(count);
    for (size_t which = 0; which < tensors_.size(); ++which) {
      if (auto error = read_tensor(which, begin, count, raw_.data())) return error;
      convert(from_, raw_.data(), Elem::f64, next_.data(), count);
      for (uint64_t i = 0; i < count; ++i) sum_[i] += next_[i];
    }
    convert(Elem::f64, sum_.data(), to_, out, count);
    return std::nullopt;
  }

  const TensorFile& file_;
  const std::span<const uint32_t> tensors_;
  const Elem from_, to_;
  std::vector<uint8_t> raw_;
  std::vector<double> sum_, next_;
};

/// How a tensor's shape is seen.
struct View {
  View(const Source& source, const Tensor& tensor) : in(tensor.shape), seen(tensor.shape) {
    if (source.transposed) std::swap(seen[seen.size() - 1], seen[seen.size() - 2]);
    if (!source.axes) return;
    Arranged found = *arranged(*source.axes, tensor.shape);  // which went well when it was bound
    seen = found.shape;
    extents = std::move(found.extents);
    reordered = found.reordered;
    if (!reordered) in = Matrix(seen);
  }
  Matrix in;                      ///< in the file
  std::vector<uint64_t> seen;     ///< as the parameter has it
  std::vector<uint64_t> extents;  ///< of the names of `axes`
  bool reordered = false;         ///< by `axes`
};

/// One element of a parameter's stack, from what lies there as in the parameter or transposed: all of it, or
/// segments along an axis.
class Loader {
 public:
  Loader(Elements& elements, const View& view, const Source& source, size_t joined, std::span<uint8_t> out)
      : elements_(elements),
        bytes_(static_cast<uint64_t>(elem_bytes(source.field.dtype))),
        transposed_(source.transposed),
        seen_(view.seen),
        shape_(source.shape.begin() + source.stack, source.shape.end()),
        axis_(source.axis),
        in_(view.in),
        out_matrix_(shape_),
        out_(out),
        whole_(source.segments.empty()) {
    if (!whole_) segments_ = source.segments[joined];
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
  uint64_t bytes() const { return bytes_; }

  /// Elements that lie in the parameter as in the file.
  Status plain(uint64_t begin, uint64_t count, uint64_t to) {
    return elements_.read(begin, count, out_.data() + to * bytes());
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
    const uint64_t width = std::min(in_.columns, part_elements);
    const uint64_t height = in_.columns > part_elements ? 1 : part_elements / in_.columns;
    part_.resize(std::min(height, count) * width * bytes());
    for (uint64_t row = first; row < first + count; row += height) {
      const uint64_t part_rows = std::min(height, first + count - row);
      for (uint64_t column = 0; column < in_.columns; column += width) {
        const uint64_t part_columns = std::min(width, in_.columns - column), part = part_rows * part_columns;
        const uint64_t begin = row * in_.columns + column;
        if (auto error = elements_.read(begin, part, part_.data())) return error;
        for (const Segment& s : columns) place(row, part_rows, column, part_columns, s);
      }
    }
    return std::nullopt;
  }

  /// Puts a part of the file, of so many rows and columns, where it belongs, as far as the segment has it.
  void place(uint64_t row, uint64_t part_rows, uint64_t column, uint64_t part_columns, const Segment& s) {
    const uint64_t begin = std::max(column, s.from), end = std::min(column + part_columns, s.from + s.count);
    if (begin >= end) return;
    for (uint64_t r = 0; r < part_rows;) {
      const uint64_t within = (row + r) % in_.rows, matrix = (row + r) / in_.rows + matrix_shift_;
      const uint64_t block = transposed_ ? std::min({block_rows, part_rows - r, in_.rows - within}) : 1;
      const uint8_t* const in = part_.data() + (r * part_columns + begin - column) * bytes();
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

  Elements& elements_;
  const uint64_t bytes_;
  const bool transposed_;
  const std::vector<uint64_t> seen_;   ///< the tensor's shape as the parameter has it
  const std::vector<uint64_t> shape_;  ///< of this element of the stack
  const uint32_t axis_;
  const Matrix in_, out_matrix_;
  const std::span<uint8_t> out_;
  const bool whole_;
  std::vector<Segment> segments_;
  uint64_t shift_ = 0,
           matrix_shift_ = 0;  ///< from the file's columns, or matrices, to the parameter's; modulo 2^64
  std::vector<uint8_t> part_;
};

/// The same from what lies there with its axes in another order, which goes element by element.
class Reorderer {
 public:
  Reorderer(Elements& elements, const View& view, const Source& source, size_t joined, std::span<uint8_t> out)
      : elements_(elements), bytes_(static_cast<uint64_t>(elem_bytes(source.field.dtype))), out_(out) {
    const std::vector<uint64_t> shape(source.shape.begin() + source.stack, source.shape.end());
    const bool whole = source.segments.empty();
    if (!whole) segments_ = source.segments[joined];
    std::vector<Axis> by_name(view.extents.size());
    uint64_t stride = 1;
    for (size_t axis = shape.size(); axis-- > 0; stride *= shape[axis]) {
      const bool is_cut = !whole && axis == source.axis;
      if (is_cut) unit_ = stride;
      uint64_t within = 1;
      for (size_t k = source.axes->to[axis].size(); k-- > 0;) {
        const uint32_t name = source.axes->to[axis][k];
        by_name[name] = {view.extents[name], is_cut ? 0 : stride * within, is_cut ? within : 0};
        within *= view.extents[name];
      }
    }
    for (const AxesPattern::Axis& axis : source.axes->from)
      for (const uint32_t name : axis) add(by_name[name]);
    if (axes_.empty()) axes_.push_back({1, 0, 0});
  }

  Status run() {
    const Axis row = axes_.back();
    axes_.pop_back();
    std::vector<uint64_t> at(axes_.size(), 0);
    uint64_t rows = 1;
    for (const Axis& axis : axes_) rows *= axis.extent;
    if (rows * row.extent == 0) return std::nullopt;
    const uint64_t width = std::min(row.extent, part_elements),
                   height = std::max<uint64_t>(1, part_elements / width);
    part_.resize(std::min(height, rows) * width * bytes_);
    for (uint64_t first = 0; first < rows; first += height) {
      const uint64_t some = std::min(height, rows - first);
      for (uint64_t column = 0; column < row.extent; column += width) {
        const uint64_t columns = std::min(width, row.extent - column);
        if (auto error = elements_.read(first * row.extent + column, some * columns, part_.data()))
          return error;
        std::vector<uint64_t> place = at;
        for (uint64_t r = 0; r < some; ++r, next(place)) put(place, row, column, columns, r * columns);
        if (column + columns == row.extent) at = std::move(place);
      }
    }
    return std::nullopt;
  }

 private:
  /// An axis of the file: how far apart its elements are in the parameter, and along the axis that is cut.
  struct Axis {
    uint64_t extent = 1, stride = 0, cut = 0;
  };

  /// Axes that stay beside each other are one.
  void add(const Axis& axis) {
    if (axis.extent == 1) return;
    Axis* const last = axes_.empty() ? nullptr : &axes_.back();
    if (last && last->stride == axis.extent * axis.stride && last->cut == axis.extent * axis.cut)
      *last = {last->extent * axis.extent, axis.stride, axis.cut};
    else
      axes_.push_back(axis);
  }

  void next(std::vector<uint64_t>& at) const {
    for (size_t k = at.size(); k-- > 0;) {
      if (++at[k] < axes_[k].extent) return;
      at[k] = 0;
    }
  }

  /// Columns of a row of the file, which lie from this element of the part on.
  void put(const std::vector<uint64_t>& at, const Axis& row, uint64_t column, uint64_t columns,
           uint64_t from) {
    uint64_t base = column * row.stride, cut = column * row.cut;
    for (size_t k = 0; k < at.size(); ++k) base += at[k] * axes_[k].stride, cut += at[k] * axes_[k].cut;
    if (unit_ == 0) return copy(from, columns, base, row.stride);
    const uint64_t last = cut + (columns - 1) * row.cut;
    auto segment =
        std::upper_bound(segments_.begin(), segments_.end(), cut,
                         [](uint64_t value, const Segment& s) { return value < s.from + s.count; });
    for (; segment != segments_.end() && segment->from <= last; ++segment) {
      const Segment& s = *segment;
      if (row.cut == 0) {
        copy(from, columns, base + (cut - s.from + s.to) * unit_, row.stride);
        continue;
      }
      const uint64_t begin = cut >= s.from ? 0 : (s.from - cut + row.cut - 1) / row.cut;
      const uint64_t end = std::min(columns, (s.from + s.count - cut + row.cut - 1) / row.cut);
      if (begin < end)
        copy(from + begin, end - begin, base + (cut + begin * row.cut - s.from + s.to) * unit_,
             row.cut * unit_);
    }
  }

  void copy(uint64_t from, uint64_t count, uint64_t to, uint64_t step) {
    const uint8_t* const in = part_.data() + from * bytes_;
    uint8_t* const out = out_.data() + to * bytes_;
    const auto each = [&]<size_t size>() {
      for (uint64_t i = 0; i < count; ++i) std::memcpy(out + i * step * size, in + i * size, size);
    };
    if (bytes_ == 1) each.template operator()<1>();
    if (bytes_ == 2) each.template operator()<2>();
    if (bytes_ == 4) each.template operator()<4>();
    if (bytes_ == 8) each.template operator()<8>();
  }

  Elements& elements_;
  const uint64_t bytes_;
  const std::span<uint8_t> out_;
  std::vector<Axis> axes_;
  uint64_t unit_ = 0;  ///< of the parameter, from one element of the axis that is cut to the next; 0: none is
  std::vector<Segment> segments_;
  std::vector<uint8_t> part_;
};

/// One element of a parameter's stack, from one of the tensors that are joined in it or from all summands.
Status load_part(const TensorFile& file, const Source& source, std::span<const uint32_t> tensors,
                 size_t joined, std::span<uint8_t> out) {
  Elements elements(file, source, tensors);
  const View view(source, file.table.tensors[tensors[0]]);
  return view.reordered ? Reorderer(elements, view, source, joined, out).run()
                        : Loader(elements, view, source, joined, out).run();
}

}  // namespace

std::optional<uint64_t> Source::mapped_offset() const {
  if (tensors.size() != 1 || transposed || reordered || packed || file_dtype != field.dtype)
    return std::nullopt;
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
    const size_t parts = source.summed ? 1 : tensors.size(), in_each = tensors.size() / parts;
    for (size_t j = 0; j < parts; ++j)
      if (auto error = load_part(file, source, tensors.subspan(j * in_each, in_each), j, element))
        return error;
  }
  return std::nullopt;
}

}  // namespace axon::weights
