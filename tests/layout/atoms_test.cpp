// The operands of instructions by the formulas of the PTX ISA: for each lane (of each warp) and element i of
// its fragment, the row and column of the matrix.
#include "layout/atoms.h"

#include <fmt/format.h>

#include <functional>

#include "layout/canonical.h"
#include "layout/evaluate.h"
#include "layout/fuse.h"
#include "support.h"

namespace axon::layout {
namespace {

struct Element {
  int64_t row, column;
};
/// Of a lane: its number, that of its warp in the warpgroup, and the element's in the fragment.
using Fragment = std::function<Element(int64_t lane, int64_t warp, int64_t i)>;

/// Does the atom put each element of the fragments where they have it, and nothing else anywhere? `halves`:
/// two elements share a register.
void expect_fragment(const std::string& name, int64_t warps, int64_t elements, bool halves,
                     const Fragment& at) {
  const Atom* atom = find_atom(name);
  ASSERT_TRUE(atom) << name;
  const Layout& layout = atom->operand.layout;
  const int64_t columns = value(atom->operand.shape[1]);
  ASSERT_EQ(size(layout), product(atom->operand.shape)) << name;
  const Evaluator places(layout);
  std::set<int64_t> seen;
  for (int64_t warp = 0; warp < warps; ++warp)
    for (int64_t lane = 0; lane < 32; ++lane)
      for (int64_t i = 0; i < elements; ++i) {
        const Element element = at(lane, warp, i);
        const int64_t x = element.row * columns + element.column;
        seen.insert(x);
        const std::vector<int64_t> place = places.base(x);
        for (size_t axis = 0; axis < place.size(); ++axis) {
          const std::string& name_of_axis = places.axes()[axis].name;
          const int64_t wanted = name_of_axis == "lane"   ? lane
                                 : name_of_axis == "warp" ? warp
                                 : name_of_axis == "v"    ? i % 2
                                 : halves                 ? i / 2
                                                          : i;
          ASSERT_EQ(place[axis], wanted)
              << name << " lane " << lane << " element " << i << " " << name_of_axis;
        }
      }
  ASSERT_EQ(static_cast<int64_t>(seen.size()), size_of(layout)) << name;
  EXPECT_EQ(injective(layout), true) << name;
}

Element accumulator(int64_t lane, int64_t, int64_t i) {
  const int64_t group = lane >> 2, thread_in_group = lane % 4;
  return {i < 2 ? group : group + 8, thread_in_group * 2 + (i & 1)};
}

TEST(Atoms, MmaM16n8k16) {
  expect_fragment("mma.m16n8k16.a", 1, 8, true, [](int64_t lane, int64_t, int64_t i) {
    const int64_t group = lane >> 2, thread_in_group = lane % 4;
    const bool upper = (0 <= i && i < 2) || (4 <= i && i < 6);
    return Element{upper ? group : group + 8, thread_in_group * 2 + (i & 1) + (i >= 4 ? 8 : 0)};
  });
  expect_fragment("mma.m16n8k16.b", 1, 4, true, [](int64_t lane, int64_t, int64_t i) {
    return Element{lane % 4 * 2 + (i & 1) + (i >= 2 ? 8 : 0), lane >> 2};
  });
  expect_fragment("mma.m16n8k16.acc", 1, 4, false, accumulator);
}

TEST(Atoms, MmaM16n8k8) {
  expect_fragment("mma.m16n8k8.a", 1, 4, true, [](int64_t lane, int64_t, int64_t i) {
    return Element{(lane >> 2) + (i >= 2 ? 8 : 0), lane % 4 * 2 + (i & 1)};
  });
  expect_fragment("mma.m16n8k8.b", 1, 2, true, [](int64_t lane, int64_t, int64_t i) {
    return Element{lane % 4 * 2 + i, lane >> 2};
  });
  expect_fragment("mma.m16n8k8.acc", 1, 4, false, accumulator);
}

TEST(Atoms, WgmmaOfEveryN) {
  for (int64_t n = 8; n <= 256; n += 8) {
    const std::string name = fmt::format("wgmma.m64n{}k16", n);
    expect_fragment(name + ".acc", 4, n / 2, false, [](int64_t lane, int64_t warp, int64_t i) {
      return Element{warp * 16 + lane / 4 + (i / 2 % 2) * 8, i / 4 * 8 + lane % 4 * 2 + i % 2};
    });
    expect_fragment(name + ".a", 4, 8, true, [](int64_t lane, int64_t warp, int64_t i) {
      return Element{warp * 16 + lane / 4 + (i / 2 % 2) * 8, i / 4 * 8 + lane % 4 * 2 + i % 2};
    });
  }
  EXPECT_EQ(print(find_atom("wgmma.m64n256k16.acc")->operand.layout),
            "S[(4,2,8,32,4,2):(1@warp,2,4@lane,4,1@lane,1)]");
  EXPECT_FALSE(find_atom("wgmma.m64n264k16.acc"));
  EXPECT_FALSE(find_atom("wgmma.m64n12k16.acc"));
}

TEST(Atoms, MatricesInSharedMemory) {
  for (const std::string instruction : {"ldmatrix", "stmatrix"})
    for (const int64_t x : {1, 2, 4})
      for (const bool trans : {false, true}) {
        const std::string name = fmt::format("{}.x{}{}", instruction, x, trans ? ".trans" : "");
        const Atom *registers = find_atom(name + ".registers"), *rows = find_atom(name + ".rows");
        ASSERT_TRUE(registers && rows) << name;
        for (int64_t matrix = 0; matrix < x; ++matrix)
          for (int64_t lane = 0; lane < 32; ++lane)
            for (int64_t half = 0; half < 2; ++half) {
              const int64_t along = lane / 4, across = lane % 4 * 2 + half;
              const int64_t element = matrix * 64 + (trans ? across * 8 + along : along * 8 + across);
              EXPECT_EQ(points(registers->operand.layout, element),
                        (std::set<Point>{{{"lane", lane}, {"m", matrix}, {"v", half}}}))
                  << name;
            }
        for (int64_t row = 0; row < 8 * x; ++row)  // lanes 0-7 for the first matrix, 8-15 for the second, ...
          EXPECT_EQ(points(rows->operand.layout, row), (std::set<Point>{{{"lane", row}}})) << name;
        EXPECT_EQ(size_of(registers->operand.layout), 64 * x);
        EXPECT_EQ(size_of(rows->operand.layout), 8 * x);
      }
}

TEST(Atoms, AnAccumulatorIsTheNextOperand) {
  // Rows of 16 columns of an accumulator, rounded and paired, are the a operand: register pairs become
  // halves.
  const Shaped acc = find_atom("mma.m16n8k16.acc")->operand;
  const Outcome<Shaped> two = tile({layout_of("S[2:1]"), {1, 2}}, acc);
  ASSERT_TRUE(two) << two.why();
  EXPECT_EQ(print(two->layout), "S[(2,8,2,4,2):(2,4@lane,4,1@lane,1)]");
  const Outcome<Layout> halves = split(two->layout, {"m", "m", "v", 2});
  ASSERT_TRUE(halves) << halves.why();
  EXPECT_EQ(same(*halves, find_atom("mma.m16n8k16.a")->operand.layout), true) << print(*halves);
}

TEST(Atoms, RegisterTilesOfVectors) {
  using base::Elem;
  for (const int64_t bits : {128, 256, 512})
    for (const Elem elem : {Elem::f64, Elem::f32, Elem::f16, Elem::bf16, Elem::i8}) {
      const int64_t lanes = bits / (8 * base::elem_bytes(elem)), rows = 6, vectors = 2;
      const Shaped registers = register_tile(bits, elem, rows, vectors);
      ASSERT_EQ(registers.shape, (Shape{rows, vectors * lanes}));
      for (int64_t i = 0; i < rows; ++i)
        for (int64_t j = 0; j < vectors * lanes; ++j)
          EXPECT_EQ(points(registers.layout, i * vectors * lanes + j),
                    (std::set<Point>{{{"m", i * vectors + j / lanes}, {"v", j % lanes}}}));
    }
  const Shaped six_by_two = register_tile(512, Elem::f32, 6, 2);
  EXPECT_EQ(print(six_by_two.layout), "S[(6,2,16):(2,1,1@v)]");
  const Outcome<Shaped> outer = outer_of_tile(six_by_two, find_atom("vector.512.f32")->operand);
  ASSERT_TRUE(outer) << outer.why();
  EXPECT_EQ(print(outer->layout), "S[(6,2):(2,1)]");
}

TEST(Atoms, SwizzledRowsMovePiecesOf16Bytes) {
  for (const int64_t element_bytes : {1, 2, 4})
    for (const int64_t row_bytes : {32, 64, 128}) {
      const Swizzled rows = swizzled_rows(row_bytes, element_bytes);
      for (int64_t x = 0; x < size_of(rows.layout); ++x) {
        // Within a row of 128 bytes, piece p of 16 bytes goes to p xor the row's number, modulo the pieces of
        // the pattern.
        const int64_t byte = x * element_bytes, line = byte / 128, piece = byte / 16 % 8;
        const int64_t moved = line * 128 + (piece ^ (line % (row_bytes / 16))) * 16 + byte % 16;
        ASSERT_EQ(points(rows, x), (std::set<Point>{{{"m", moved / element_bytes}}}))
            << element_bytes << " " << row_bytes;
      }
    }
  EXPECT_EQ(print(swizzled_rows(128, 2)), "S[(8,64):(64,1)] ^ (3,3,3)");
}

TEST(Atoms, AreWellFormedAndBelongToEveryArena) {
  std::set<std::string> names;
  for (const Atom& atom : atoms()) {
    EXPECT_TRUE(names.insert(atom.name).second) << atom.name;
    EXPECT_EQ(why_ill_formed(atom.operand.layout), std::nullopt) << atom.name;
    EXPECT_EQ(size(atom.operand.layout), product(atom.operand.shape)) << atom.name;
    for (const Iter& iter : atom.operand.layout.shards) {
      EXPECT_LE(value(iter.extent), 1024);
      EXPECT_LE(value(iter.stride), 1024);
    }
    EXPECT_TRUE(atom.operand.layout.replicas.empty() && atom.operand.layout.offset.empty());
  }
  EXPECT_EQ(names.size(), 6u + 2 * 32 + 2 * 12 + 15);
}

}  // namespace
}  // namespace axon::layout
