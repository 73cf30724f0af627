// See matrices.h. PTX ISA, "Warp Level Matrix Instructions": ldmatrix (lane l gives the address of row l % 8
// of matrix l / 8, and gets of each matrix the elements of row l / 4 and columns 2 * (l % 4) and the next
// one; with .trans of its transpose) and mma.m16n8k16.
#include "module/tiles/matrices.h"

#include <llvm/IR/IntrinsicsNVPTX.h>

#include "base/bug.h"

namespace axon::module::tiles {

namespace {

constexpr int64_t side = 8, matrices_at_once = 4;

/// The elements that the lanes of the first warp have in a register, by lane and half.
std::vector<std::vector<int64_t>> elements_of(const tile::Places& places, int64_t number, int64_t lanes) {
  std::vector<std::vector<int64_t>> out(static_cast<size_t>(lanes), std::vector<int64_t>(2, -1));
  for (int64_t x = 0; x < places.elements(); ++x)
    for (const tile::Point& point : places.of(x)) {
      if (point.at != number || tile::warp_of(point.holder) != 0) continue;
      out[static_cast<size_t>(tile::lane_of(point.holder))]
         [static_cast<size_t>(point.holder % tile::most_vector_lanes)] = x;
    }
  return out;
}

}  // namespace

std::optional<Matrices::Source> Matrices::source_of(const tile::Copy& copy, int64_t number) {
  const tile::Tile& to = c_.p.tiles[copy.to.tile];
  const tile::Places& places = c_.places(copy.to.tile);
  const auto index_of = [&](int64_t x) {
    Substitution labels;
    for (size_t a = to.shape.size(); a-- > 0; x /= to.shape[a])
      labels[copy.to.labels[a]] = Dim(x % to.shape[a]);
    std::vector<Dim> out;
    for (const tile::Index& index : copy.from.at) out.push_back(index.dim.substitute(labels));
    return out;
  };
  const auto elements = elements_of(places, number, c_.p.machine.lanes);
  if (elements[0][0] < 0) return std::nullopt;
  for (const bool is_turned : {false, true}) {
    const Source source{index_of(elements[0][0]), is_turned};
    bool fits = true;
    for (int64_t lane = 0; lane < c_.p.machine.lanes && fits; ++lane)
      for (int64_t half = 0; half < 2 && fits; ++half) {
        const int64_t x = elements[static_cast<size_t>(lane)][static_cast<size_t>(half)];
        if (x < 0) return std::nullopt;
        const int64_t slow = lane / 4, fast = 2 * (lane % 4) + half;
        const auto at = index_of(x);
        fits = at[0] - source.start[0] == Dim(is_turned ? fast : slow) &&
               at[1] - source.start[1] == Dim(is_turned ? slow : fast);
      }
    if (fits) return source;
  }
  return std::nullopt;
}

std::optional<std::vector<Matrices::Source>> Matrices::sources_of(const tile::Copy& copy) {
  const int64_t count = c_.places(copy.to.tile).span();
  if (count % matrices_at_once != 0) return std::nullopt;
  std::vector<Source> sources;
  for (int64_t number = 0; number < count; ++number) {
    const auto source = source_of(copy, number);
    if (!source) return std::nullopt;
    sources.push_back(*source);
    if (source->is_turned != sources.front().is_turned) return std::nullopt;
  }
  // Lanes find the address of their row by the bits of their number.
  for (size_t first = 0; first < sources.size(); first += matrices_at_once)
    for (size_t a = 0; a < 2; ++a) {
      const auto step = [&](size_t i) {
        return (sources[first + i].start[a] - sources[first].start[a]).constant();
      };
      if (!step(1) || !step(2) || !step(3) || *step(3) != *step(1) + *step(2)) return std::nullopt;
    }
  return sources;
}

bool Matrices::load(const tile::Op&, const tile::Copy& copy) {
  const tile::Tile& to = c_.p.tiles[copy.to.tile];
  if (!c_.threads.are_several() || copy.from.tensor || !copy.bounds.facts.empty()) return false;
  const tile::Tile& from = c_.p.tiles[copy.from.tile];
  if (to.space != tile::Space::registers || from.space != tile::Space::scratch || from.shape.size() != 2 ||
      from.shape[1] % side != 0 || from.elem != to.elem || base::elem_bytes(to.elem) != 2 ||
      registers_.lanes(copy.to.tile) != 2)
    return false;
  for (const tile::Index& index : copy.from.at)
    if (index.table) return false;
  const auto sources = sources_of(copy);
  if (!sources) return false;
  for (int64_t first = 0; first < static_cast<int64_t>(sources->size()); first += matrices_at_once)
    load_four(copy, *sources, first);
  return true;
}

void Matrices::load_four(const tile::Copy& copy, const std::vector<Source>& sources, int64_t first) {
  auto& b = c_.f.b;
  const auto& start = sources[static_cast<size_t>(first)].start;
  const Dim row = c_.threads.digit("lane", 1, side), low = c_.threads.digit("lane", side, 2),
            high = c_.threads.digit("lane", 2 * side, 2);
  const std::vector<Dim> of_warp = c_.threads.offsets_of_warp(copy.to.tile);
  Substitution warp;
  for (size_t a = 0; a < copy.to.labels.size(); ++a) warp[copy.to.labels[a]] = of_warp[a];
  Lanes one;
  one.labels.emplace_back();
  one.own.push_back(0);
  tile::Access from{{}, copy.from.tile, {}};
  for (size_t a = 0; a < 2; ++a) {
    const auto step = [&](size_t i) { return sources[static_cast<size_t>(first) + i].start[a] - start[a]; };
    // What the warp adds to labels it adds to the index: these move as one another, or not at all.
    const tile::Index& index = copy.from.at[a];
    const Dim by_warp = index.dim.substitute(warp) - index.dim.substitute(zeros_of(copy.to.labels));
    from.at.push_back(
        {std::nullopt, start[a] + by_warp + low * step(1) + high * step(2) + (a == 0 ? row : Dim(0))});
  }
  Value* const address = accesses_.address(accesses_.spot(from, {}, one));
  const auto intrinsic = sources.front().is_turned
                             ? llvm::Intrinsic::nvvm_ldmatrix_sync_aligned_m8n8_x4_trans_b16
                             : llvm::Intrinsic::nvvm_ldmatrix_sync_aligned_m8n8_x4_b16;
  Value* const all = b.CreateIntrinsic(intrinsic, {address->getType()}, {address});
  for (unsigned i = 0; i < matrices_at_once; ++i)
    registers_.set_bits(copy.to.tile, first + i, b.CreateExtractValue(all, i));
}

Substitution Matrices::zeros_of(const std::vector<Var>& labels) {
  Substitution out;
  for (const Var label : labels) out[label] = Dim(0);
  return out;
}

/// The register that has an element of the first thread, as a word.
Value* Matrices::operand(TileId tile, int64_t element) {
  const auto points = c_.places(tile).of(element);
  if (points[0].holder >= tile::most_vector_lanes) base::bug("module::tiles", "a fragment of another thread");
  return registers_.bits(tile, points[0].at);
}

void Matrices::multiply(const tile::Gemm& gemm) {
  auto& b = c_.f.b;
  const auto& acc = c_.p.tiles[gemm.acc.tile].shape;
  const int64_t depth = c_.p.tiles[gemm.a.tile].shape[1];
  const bool halves = c_.p.tiles[gemm.a.tile].elem == Elem::f16;
  constexpr int64_t rows = 16, columns = 8, deep = 16;
  const auto at = [](int64_t r, int64_t c, int64_t width) { return r * width + c; };
  for (int64_t r = 0; r < acc[0]; r += rows)
    for (int64_t c = 0; c < acc[1]; c += columns) {
      if (c_.places(gemm.acc.tile).of(at(r, c, acc[1]))[0].holder >= tile::most_vector_lanes) continue;
      const std::vector<int64_t> sums{at(r, c, acc[1]), at(r, c + 1, acc[1]), at(r + side, c, acc[1]),
                                      at(r + side, c + 1, acc[1])};
      for (int64_t k = 0; k < depth; k += deep) {
        std::vector<Value*> args;
        for (const auto& [down, right] : {std::pair(0, 0), std::pair(8, 0), std::pair(0, 8), std::pair(8, 8)})
          args.push_back(operand(gemm.a.tile, at(r + down, k + right, depth)));
        for (const int64_t down : {0, 8}) args.push_back(operand(gemm.b.tile, at(k + down, c, acc[1])));
        if (halves)
          for (Value*& arg : args) arg = b.CreateBitCast(arg, llvm::FixedVectorType::get(b.getHalfTy(), 2));
        for (const int64_t x : sums) args.push_back(registers_.gathered(gemm.acc.tile, {x}, {0}));
        const auto intrinsic = halves ? llvm::Intrinsic::nvvm_mma_m16n8k16_row_col_f32_f32
                                      : llvm::Intrinsic::nvvm_mma_m16n8k16_row_col_bf16;
        Value* const made = b.CreateIntrinsic(intrinsic, {}, args);
        for (unsigned i = 0; i < sums.size(); ++i)
          registers_.set_element(gemm.acc.tile, sums[i], b.CreateExtractValue(made, i));
      }
    }
}

}  // namespace axon::module::tiles
