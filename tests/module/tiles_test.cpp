// Native code of tile programs against their interpreter, bit for bit where no elementary function occurs.
//
// Every tensor lies next to a page that cannot be touched, once with its end and once with its start.
#include <fmt/format.h>

#include <cmath>
#include <regex>

#include "base/round.h"
#include "harness.h"
#include "layout/evaluate.h"
#include "module/tiles/emit_program.h"
#include "tile/support.h"

namespace axon::module {
namespace {

using base::Elem;
using testing::Memory;
using tile::Sizes;
using tile::TensorData;
using tile::Tensors;

/// The program compiled for one level.
class Compiled {
 public:
  Compiled(const tile::Program& p, const std::string& level) : p_(p) {
    std::string error;
    const auto object = emit_task(p, *target::find_machine(level), TaskForm::object, error);
    EXPECT_TRUE(object) << error;
    if (!object) return;
    library_ = testing::Library::link({*object}, error);
    EXPECT_TRUE(library_) << error;
    if (library_) task_ = reinterpret_cast<Task>(library_->find(p.name));
  }

  /// The tensors after all tasks.
  std::vector<TensorData> run(const Sizes& sizes, const Tensors& given, Memory::End end) {
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
      task_(pointers.data(), size_list.data(), at.data(), scratch.start());
    });
    std::vector<TensorData> out;
    size_t t = 0;
    for (const tile::Tensor& tensor : p_.tensors) out.push_back(read(tensor, placed[t++]));
    return out;
  }

 private:
  using Task = void (*)(void* const*, const int64_t*, const int64_t*, void*);
  struct Placed {
    std::vector<int64_t> shape;
    std::vector<size_t> offsets;  ///< of each element
    std::unique_ptr<Memory> memory;
  };

  static Placed place(const tile::Tensor& t, const shape::Assignment& sizes, const Tensors& given,
                      Memory::End end) {
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
  static TensorData read(const tile::Tensor& t, const Placed& placed) {
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
  void each_task(const shape::Assignment& sizes, const Step& step) const {
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

  tile::Program p_;
  std::unique_ptr<testing::Library> library_;
  Task task_ = nullptr;
};

/// How far apart values may be, in units of the last place of the type: 0 of equal bits.
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

/// Inputs as the program's types have them; `whole`: numbers that are no multiples of 1/8 are taken, too.
Tensors drawn(const tile::Program& p, const Tensors& sample, std::mt19937_64* random) {
  Tensors out = sample;
  for (const tile::Tensor& t : p.tensors) {
    const auto found = out.find(t.name);
    if (found == out.end()) continue;
    for (tile::Number& n : found->second.values) {
      if (base::is_float(t.elem)) {
        if (random) n.real = static_cast<double>(static_cast<int32_t>((*random)())) * 0x1p-30;
        n.real = base::round_to(t.elem, n.real);
      } else {
        n.integer = base::wrap_to(t.elem, n.integer + static_cast<int64_t>(n.real * 8));
        n.real = 0;
      }
    }
  }
  return out;
}

struct Case {
  std::string program, name, text;
  int64_t ulps = 0;
};

std::string replaced(const std::string& text, const std::string& what, const std::string& by) {
  return std::regex_replace(text, std::regex(what), by);
}

/// Each program, and with other element types: of all tiles, or of tensors alone.
std::vector<Case> cases() {
  std::vector<Case> out;
  for (const std::string& program : tile::all_programs()) {
    const std::string text = tile::text_of(program);
    if (why_not_emitted(tile::program_of(text))) continue;
    const bool elementary =
        text.find("exp(") != std::string::npos || text.find("rsqrt(") != std::string::npos;
    const int64_t ulps = elementary ? 4 : 0;
    out.push_back({program, program, text, ulps});
    for (const char* narrow : {"f16", "bf16", "f8e4m3", "f8e5m2"})
      out.push_back({program, program + "_" + narrow,
                     replaced(replaced(text, "((?:tensor|view) \\w+) f32", std::string("$1 ") + narrow),
                              " align 4 ", " align 1 "),
                     elementary ? 1 : 0});
    // Twice as wide, the rows of rms_norm need twice the scratch memory.
    out.push_back({program, program + "_f64",
                   replaced(replaced(text, "f32|bf16", "f64"), "f64\\[4096\\] as line at 16384",
                            "f64[4096] as line at 32768"),
                   elementary ? int64_t{1} << 4 : 0});
  }
  for (const char* program : {"transpose", "gather"})
    for (const char* elem : {"i64", "i32", "i16", "i8", "u32", "u8"})
      out.push_back(
          {program, std::string(program) + "_" + elem, replaced(tile::text_of(program), "f32", elem), 0});
  for (const char* program : {"gemm", "convolution", "decode"})
    for (const char* elem : {"i64", "i32", "i16", "i8", "u8"}) {
      const std::string sums = std::string(elem) == "i64" ? "i64" : "i32";
      out.push_back({program, std::string(program) + "_" + elem,
                     replaced(replaced(tile::text_of(program), "f32|bf16", sums),
                              "((?:tensor|view) \\w+) " + sums, std::string("$1 ") + elem),
                     0});
    }
  out.push_back(
      {"transpose", "transpose_bool", replaced(tile::text_of("transpose"), "f32", "bool"), 0});
  return out;
}

class TilePrograms : public ::testing::TestWithParam<Case> {};
INSTANTIATE_TEST_SUITE_P(All, TilePrograms, ::testing::ValuesIn(cases()),
                         [](const auto& p) { return p.param.name; });

TEST_P(TilePrograms, ComputeWhatTheInterpreterDoes) {
  const Case& c = GetParam();
  const tile::Program p = tile::program_of(c.text);
  ASSERT_FALSE(HasFailure());
  ASSERT_EQ(why_not_emitted(p), std::nullopt);
  std::string error;
  ASSERT_TRUE(emit_task(p, *target::find_machine("x86-64-v4"), TaskForm::object, error)) << error;
  Compiled v2(p, "x86-64-v2"), v3(p, "x86-64-v3");
  ASSERT_FALSE(HasFailure());
  uint64_t seed = 0;
  for (const Sizes& sizes : tile::sizes_of(c.program)) {
    std::mt19937_64 random(++seed);
    // Another type goes through a third of the sizes.
    if (c.name != c.program && seed % 3 != 0) continue;
    for (const bool any : {false, true}) {
      const Tensors given = drawn(p, tile::sample_of(c.program, sizes, seed).given, any ? &random : nullptr);
      const tile::RunResult want = tile::interpret(p, sizes, given, {.seed = seed});
      ASSERT_EQ(want.error, "");
      std::string at;
      for (const auto& [name, value] : sizes) at += " " + name + "=" + std::to_string(value);
      const auto end = seed % 2 ? Memory::End::last : Memory::End::first;
      ASSERT_EQ(difference(p, v3.run(sizes, given, end), want.tensors, c.ulps), "") << at << " at v3";
      // Without fused multiply-adds sums of products have other roundings.
      if (any && c.text.find("gemm ") != std::string::npos) continue;
      ASSERT_EQ(difference(p, v2.run(sizes, given, end), want.tensors, c.ulps), "") << at << " at v2";
    }
  }
}

}  // namespace
}  // namespace axon::module
