// The tables of atoms.h.
#include "layout/atoms.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "base/bug.h"
#include "layout/text.h"

namespace axon::layout {
namespace {

Atom atom(std::string name, Shape shape, const std::string& text) {
  const std::optional<Layout> layout = parse(text);
  if (!layout) base::bug("layout", "the atom " + name + " is no layout");
  return {std::move(name), {*layout, std::move(shape)}};
}

void add_mma(std::vector<Atom>& out) {
  const char* const acc = "S[(2,8,4,2):(2,4@lane,1@lane,1)]";
  out.push_back(atom("mma.m16n8k16.a", {16, 16}, "S[(2,8,2,4,2):(1,4@lane,2,1@lane,1@v)]"));
  out.push_back(atom("mma.m16n8k16.b", {16, 8}, "S[(2,4,2,8):(1,1@lane,1@v,4@lane)]"));
  out.push_back(atom("mma.m16n8k16.acc", {16, 8}, acc));
  out.push_back(atom("mma.m16n8k8.a", {16, 8}, "S[(2,8,4,2):(1,4@lane,1@lane,1@v)]"));
  out.push_back(atom("mma.m16n8k8.b", {8, 8}, "S[(4,2,8):(1@lane,1@v,4@lane)]"));
  out.push_back(atom("mma.m16n8k8.acc", {16, 8}, acc));
}

void add_wgmma(std::vector<Atom>& out) {
  for (int n = 8; n <= 256; n += 8) {
    const std::string name = fmt::format("wgmma.m64n{}k16", n);
    out.push_back(atom(name + ".a", {64, 16}, "S[(4,2,8,2,4,2):(1@warp,1,4@lane,2,1@lane,1@v)]"));
    out.push_back(
        atom(name + ".acc", {64, n}, fmt::format("S[(4,2,8,{},4,2):(1@warp,2,4@lane,4,1@lane,1)]", n / 8)));
  }
}

void add_matrices(std::vector<Atom>& out) {
  for (const char* instruction : {"ldmatrix", "stmatrix"})
    for (const int x : {1, 2, 4})
      for (const bool trans : {false, true}) {
        const std::string name = fmt::format("{}.x{}{}", instruction, x, trans ? ".trans" : "");
        const std::string registers = trans ? fmt::format("S[({},4,2,8):(1,1@lane,1@v,4@lane)]", x)
                                            : fmt::format("S[({},8,4,2):(1,4@lane,1@lane,1@v)]", x);
        out.push_back(atom(name + ".registers", {x, 8, 8}, registers));
        out.push_back(atom(name + ".rows", {x, 8}, fmt::format("S[({},8):(8@lane,1@lane)]", x)));
      }
}

std::string vector_name(int64_t bits, base::Elem elem) {
  return fmt::format("vector.{}.{}", bits, base::elem_name(elem));
}

void add_vectors(std::vector<Atom>& out) {
  using base::Elem;
  for (const int bits : {128, 256, 512})
    for (const Elem elem : {Elem::f64, Elem::f32, Elem::f16, Elem::bf16, Elem::i8}) {
      const int lanes = bits / 8 / base::elem_bytes(elem);
      out.push_back(atom(vector_name(bits, elem), {1, lanes}, fmt::format("S[{}:1@v]", lanes)));
    }
}

}  // namespace

const std::vector<Atom>& atoms() {
  static const std::vector<Atom> all = [] {
    std::vector<Atom> out;
    add_mma(out);
    add_wgmma(out);
    add_matrices(out);
    add_vectors(out);
    return out;
  }();
  return all;
}

const Atom* find_atom(std::string_view name) {
  const auto found =
      std::find_if(atoms().begin(), atoms().end(), [&](const Atom& atom) { return atom.name == name; });
  return found == atoms().end() ? nullptr : &*found;
}

Shaped register_tile(int64_t bits, base::Elem elem, int64_t rows, int64_t vectors) {
  const Atom* vector = find_atom(vector_name(bits, elem));
  if (!vector) base::bug("layout", "no vectors of those bits and elements");
  const Shape registers = {rows, vectors};
  return *tile({row_major(registers), registers}, vector->operand);
}

Swizzled swizzled_rows(int64_t row_bytes, int64_t element_bytes) {
  constexpr int64_t piece = 16;  // bytes that stay together
  const auto log2 = [](int64_t n) { return std::countr_zero(static_cast<uint64_t>(n)); };
  return {row_major({8, row_bytes / element_bytes}),
          {log2(piece / element_bytes), log2(row_bytes / piece), 3}};
}

}  // namespace axon::layout
