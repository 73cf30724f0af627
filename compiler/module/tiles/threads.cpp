// See threads.h.
#include "module/tiles/threads.h"

#include <llvm/IR/IntrinsicsNVPTX.h>

#include <algorithm>

#include "base/bug.h"

namespace axon::module::tiles {

using llvm::Value;

namespace {

bool is_of_threads(const layout::Iter& iter) { return iter.axis.name == "lane" || iter.axis.name == "warp"; }

struct Part {
  std::string axis;
  int64_t stride = 1, extent = 1;
};
Part part_of(const layout::Iter& iter) {
  return {iter.axis.name, iter.stride.constant().value(), iter.extent.constant().value()};
}

/// Do the parts count each number of an axis once, from 0 to below `end`?
bool count_all(std::vector<Part> parts, int64_t end) {
  std::sort(parts.begin(), parts.end(), [](const Part& a, const Part& b) { return a.stride < b.stride; });
  int64_t next = 1;
  for (const Part& part : parts) {
    if (part.stride != next) return false;
    next *= part.extent;
  }
  return next == end;
}

}  // namespace

std::optional<std::string> why_not_in_threads(const tile::Program& p, const tile::Tile& tile) {
  const layout::Layout& layout = p.layouts[tile.layout].layout.layout;
  std::map<std::string, std::vector<Part>> parts{{"lane", {}}, {"warp", {}}};
  for (const auto* iters : {&layout.shards, &layout.replicas})
    for (const layout::Iter& iter : *iters) {
      if (iter.axis.name == "m" || iter.axis.name == "v") continue;
      if (!is_of_threads(iter)) return tile.name + " is on an axis that is no thread's";
      parts[iter.axis.name].push_back(part_of(iter));
    }
  if (!count_all(parts["lane"], p.machine.lanes) || !count_all(parts["warp"], p.machine.warps))
    return tile.name + " is not in all threads alike";
  int64_t weight = 1, inside = 1;
  size_t axis = tile.shape.size();
  for (size_t i = layout.shards.size(); i-- > 0;) {
    const int64_t extent = layout.shards[i].extent.constant().value();
    while (axis > 0 && weight == inside * tile.shape[axis - 1]) inside *= tile.shape[--axis];
    if (axis == 0 || weight * extent > inside * tile.shape[axis - 1])
      return tile.name + " has threads across its axes";
    weight *= extent;
  }
  return std::nullopt;
}

Threads::Threads(Frame& f, const tile::Program& p) : f_(f), p_(p) {
  if (!are_several()) return;
  auto& b = f.b;
  Value* thread = b.CreateZExt(b.CreateCall(f.device("axon_gpu_thread", b.getInt32Ty(), {})), b.getInt64Ty());
  numbers_["lane"] = b.CreateAnd(thread, f.i64(p.machine.lanes - 1));
  numbers_["warp"] = b.CreateUDiv(thread, f.i64(p.machine.lanes));
  for (const tile::Tile& tile : p.tiles)
    if (tile.space == tile::Space::registers) add_digits(p.layouts[tile.layout].layout.layout);
  for (const Digit& digit : {Digit{"lane", 1, 8}, Digit{"lane", 8, 2}, Digit{"lane", 16, 2}})
    add_digit(digit);
}

void Threads::add_digits(const layout::Layout& layout) {
  for (const auto* iters : {&layout.shards, &layout.replicas})
    for (const layout::Iter& iter : *iters)
      if (is_of_threads(iter)) {
        const Part part = part_of(iter);
        add_digit({part.axis, part.stride, part.extent});
      }
}

void Threads::add_digit(const Digit& digit) {
  auto& b = f_.b;
  const auto& [axis, stride, extent] = digit;
  const auto [found, added] = digits_.try_emplace(digit);
  if (!added) return;
  found->second = shape::fresh_var(axis);
  Value* number = b.CreateURem(b.CreateUDiv(numbers_.at(axis), f_.i64(stride)), f_.i64(extent));
  f_.bind(found->second, number, 1, Dim(extent));
  ranges_[found->second] = extent;
  zeros_[found->second] = Dim(0);
  if (axis == "lane") lanes_[found->second] = Dim(0);
}

std::vector<Dim> Threads::offsets_of_warp(tile::TileId id) const {
  std::vector<Dim> out = offsets(id);
  for (Dim& d : out) d = d.substitute(lanes_);
  return out;
}

std::vector<Dim> Threads::offsets(tile::TileId id) const {
  const tile::Tile& tile = p_.tiles[id];
  std::vector<Dim> out(tile.shape.size());
  if (!are_several()) return out;
  const auto& shards = p_.layouts[tile.layout].layout.layout.shards;
  int64_t weight = 1, inside = 1;
  size_t axis = tile.shape.size();
  for (size_t i = shards.size(); i-- > 0;) {
    while (axis > 0 && weight == inside * tile.shape[axis - 1]) inside *= tile.shape[--axis];
    if (is_of_threads(shards[i])) {
      const Part part = part_of(shards[i]);
      out[axis - 1] =
          out[axis - 1] + Dim(digits_.at({part.axis, part.stride, part.extent})) * (weight / inside);
    }
    weight *= shards[i].extent.constant().value();
  }
  return out;
}

Value* Threads::is_first(tile::TileId id) {
  if (!are_several()) return nullptr;
  Value* first = nullptr;
  for (const layout::Iter& iter : p_.layouts[p_.tiles[id].layout].layout.layout.replicas) {
    if (!is_of_threads(iter)) continue;
    const Part part = part_of(iter);
    Value* digit = f_.find(digits_.at({part.axis, part.stride, part.extent}))->value;
    Value* zero = f_.b.CreateICmpEQ(digit, f_.i64(0));
    first = first ? f_.b.CreateAnd(first, zero) : zero;
  }
  return first;
}

Value* Threads::word_of(Value* word, unsigned bits) {
  auto& b = f_.b;
  const bool real = word->getType()->isFloatTy();
  return b.CreateIntrinsic(
      real ? llvm::Intrinsic::nvvm_shfl_sync_bfly_f32 : llvm::Intrinsic::nvvm_shfl_sync_bfly_i32, {},
      {b.getInt32(UINT32_MAX), word, b.getInt32(bits), b.getInt32(31)});
}

Value* Threads::exchanged(Value* value, unsigned bits) {
  auto& b = f_.b;
  llvm::Type* type = value->getType();
  if (type->isFloatTy() || type->isIntegerTy(32)) return word_of(value, bits);
  const unsigned size = type->getPrimitiveSizeInBits();
  if (size < 32) return b.CreateTrunc(word_of(b.CreateZExt(value, b.getInt32Ty()), bits), type);
  if (size != 64) base::bug("module::tiles", "threads exchange a number of a strange size");
  Value* words = b.CreateBitCast(value, llvm::FixedVectorType::get(b.getInt32Ty(), 2));
  for (uint64_t i = 0; i < 2; ++i)
    words = b.CreateInsertElement(words, word_of(b.CreateExtractElement(words, i), bits), i);
  return b.CreateBitCast(words, type);
}

void Threads::barrier() { f_.b.CreateIntrinsic(llvm::Intrinsic::nvvm_barrier0, {}, {}); }

}  // namespace axon::module::tiles
