// See compiled_tiles.h.
#include "compiled_tiles.h"

#include <fmt/format.h>

#include <cmath>

#include "layout/evaluate.h"
#include "module/tiles/emit_program.h"

namespace axon::module {

using base::Elem;
using testing::Memory;
using tile::Sizes;
using tile::TensorData;
using tile::Tensors;

CompiledTiles::CompiledTiles(const tile::Program& p, const std::string& level) : p_(p) {
  std::string error;
  const auto object = emit_task(p, *target::find_machine(level), TaskForm::object, error);
  EXPECT_TRUE(object) << error;
  if (!object) return;
  library_ = testing::Library::link({*object}, error);
  EXPECT_TRUE(library_) << error;
  if (library_) task_ = reinterpret_cast<Task>(library_->find(p.name));
}

CompiledTiles::Placed CompiledTiles::place(const tile::Tensor& t, const shape::Assignment& sizes,
                                           const Tensors& given, Memory::End end) {
  Placed out;
  const auto bytes = static_cast<size_t>(base::elem_bytes(t.elem));
  int64_t count = 1;
  for (const Dim& extent : t.shape) count *= out.shape.emplace_back(extent.evaluate(sizes).value());
  const auto points = count == 0 ? std::nullopt : layout::evaluate(t.place, sizes);
  size_t last = 0;
  for (int64_t i = 0; i < count; ++i) {
    int64_t x = 0, rest = i, step = 1;
    for (size_t a = t.shape.size(); a-- > 0; rest /= out.shape[a]) {
      x += rest % out.shape[a] * step;
      step *= (out.shape[a] + t.multiples[a] - 1) / t.multiples[a] * t.multiples[a];
    }
    const auto at = layout::Evaluator(*points).base(x);
    out.offsets.push_back(at.empty() ? 0 : static_cast<size_t>(at[0]) * bytes);
    last = std::max(last, out.offsets.back() + bytes);
  }
  out.memory = std::make_unique<Memory>(
      last, std::max<size_t>(bytes, t.align > 16 ? static_cast<size_t>(t.align) : 1), end);
  const auto data = given.find(t.name);
  for (size_t i = 0; i < out.offsets.size() && data != given.end(); ++i) {
    graph::Tensor one;
    one.elem = t.elem;
    one.floats = {data->second.values[i].real};
    one.integers = {data->second.values[i].integer};
    testing::write_element(out.memory->start() + out.offsets[i], t.elem, one, 0);
  }
  return out;
}

TensorData CompiledTiles::read(const tile::Tensor& t, const Placed& placed) {
  TensorData out;
  out.shape = placed.shape;
  for (const size_t offset : placed.offsets) {
    graph::Tensor one;
    testing::read_element(placed.memory->start() + offset, t.elem, one);
    out.values.push_back(base::is_float(t.elem) ? tile::Number{one.floats[0], 0}
                                                : tile::Number{0, one.integers[0]});
  }
  return out;
}

template <class Step>
void CompiledTiles::each_task(const shape::Assignment& sizes, const Step& step) const {
  std::vector<int64_t> at(p_.grid.size(), 0);
  for (;;) {
    step(at);
    shape::Assignment values = sizes;
    size_t a = at.size();
    std::vector<int64_t> extents;
    for (const tile::Coordinate& c : p_.grid) extents.push_back(c.extent.evaluate(values).value());
    while (a-- > 0) {
      if (++at[a] < extents[a]) break;
      at[a] = 0;
    }
    if (a == SIZE_MAX) return;
  }
}

std::vector<TensorData> CompiledTiles::run(const Sizes& sizes, const Tensors& given, Memory::End end) {
  failed = {};
  shape::Assignment values;
  std::vector<int64_t> size_list;
  for (shape::Var v : p_.sizes) size_list.push_back(values[v] = sizes.at(shape::var_name(v)));
  std::vector<Placed> placed;
  std::vector<void*> pointers;
  for (const tile::Tensor& t : p_.tensors) {
    placed.push_back(place(t, values, given, end));
    pointers.push_back(placed.back().memory->start());
  }
  const Memory scratch(static_cast<size_t>(p_.machine.scratch), 64, end);
  each_task(values, [&](const std::vector<int64_t>& at) {
    task_(pointers.data(), size_list.data(), at.data(), scratch.start(), failed.data());
  });
  std::vector<TensorData> out;
  size_t t = 0;
  for (const tile::Tensor& tensor : p_.tensors) out.push_back(read(tensor, placed[t++]));
  return out;
}

bool is_near(const tile::Number& got, const tile::Number& want, Elem elem, int64_t ulps) {
  if (!base::is_float(elem)) return got.integer == want.integer;
  if (std::isnan(want.real)) return std::isnan(got.real);
  if (got.real == want.real) return true;
  const double unit =
      std::ldexp(1.0, std::max(std::ilogb(want.real), -126) - base::float_format(elem).fraction_bits);
  return std::fabs(got.real - want.real) <= static_cast<double>(ulps) * unit;
}

std::string difference(const tile::Program& p, const std::vector<TensorData>& got,
                       const std::vector<TensorData>& want, int64_t ulps) {
  size_t t = 0;
  for (const tile::Tensor& tensor : p.tensors) {
    const TensorData &have = got[t], &wanted = want[t];
    ++t;
    if (!tensor.writes) continue;
    for (size_t i = 0; i < wanted.values.size(); ++i)
      if (wanted.defined[i] && !is_near(have.values[i], wanted.values[i], tensor.elem, ulps))
        return fmt::format("{}: element {} is {} and has to be {}", tensor.name, i,
                           have.values[i].real + static_cast<double>(have.values[i].integer),
                           wanted.values[i].real + static_cast<double>(wanted.values[i].integer));
  }
  return "";
}

}  // namespace axon::module
