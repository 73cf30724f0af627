// See primitives.h: the table.
#include "emulator/primitives.h"

#include <llvm/IR/Intrinsics.h>

#include <string>
#include <unordered_map>

#include "emulator/semantics.h"

namespace axon::emulator {

namespace {

constexpr bool pure = true, ordered = false;
template <typename E>
constexpr int of(E value) {
  return static_cast<int>(value);
}

constexpr Primitive rows[] = {
    {"axon_gpu_wait", wait_for_events, ordered, 0, 3},
    {"axon_gpu_notify", notify_event, ordered, 0, 2},
    {"axon_gpu_task", enter_task, pure, 0, 2},
    {"axon_gpu_thread", read_register, pure, of(Register::tid)},
    {"llvm.trap", give_up},
    {"llvm.nvvm.exit", leave_kernel},
    {"llvm.nvvm.read.ptx.sreg.tid.x", read_register, pure, of(Register::tid)},
    {"llvm.nvvm.read.ptx.sreg.tid.y", read_register, pure, of(Register::zero)},
    {"llvm.nvvm.read.ptx.sreg.tid.z", read_register, pure, of(Register::zero)},
    {"llvm.nvvm.read.ptx.sreg.ntid.x", read_register, pure, of(Register::ntid)},
    {"llvm.nvvm.read.ptx.sreg.ntid.y", read_register, pure, of(Register::one)},
    {"llvm.nvvm.read.ptx.sreg.ntid.z", read_register, pure, of(Register::one)},
    {"llvm.nvvm.read.ptx.sreg.ctaid.x", read_register, pure, of(Register::ctaid)},
    {"llvm.nvvm.read.ptx.sreg.ctaid.y", read_register, pure, of(Register::zero)},
    {"llvm.nvvm.read.ptx.sreg.ctaid.z", read_register, pure, of(Register::zero)},
    {"llvm.nvvm.read.ptx.sreg.nctaid.x", read_register, pure, of(Register::nctaid)},
    {"llvm.nvvm.read.ptx.sreg.nctaid.y", read_register, pure, of(Register::one)},
    {"llvm.nvvm.read.ptx.sreg.nctaid.z", read_register, pure, of(Register::one)},
    {"llvm.nvvm.read.ptx.sreg.laneid", read_register, pure, of(Register::lane)},
    {"llvm.nvvm.read.ptx.sreg.warpid", read_register, pure, of(Register::warp)},
    {"llvm.nvvm.read.ptx.sreg.nwarpid", read_register, pure, of(Register::warps)},
    {"llvm.nvvm.read.ptx.sreg.warpsize", read_register, pure, of(Register::warp_size)},
    {"llvm.nvvm.barrier0", arrive_at_barrier_0},
    {"llvm.nvvm.bar.sync", arrive_aligned},
    {"llvm.nvvm.barrier.n", arrive_aligned},
    {"llvm.nvvm.barrier", arrive_aligned, ordered, 1},
    {"llvm.nvvm.barrier.sync", arrive_unaligned},
    {"llvm.nvvm.barrier.sync.cnt", arrive_unaligned, ordered, 1},
    {"llvm.nvvm.membar.cta", fence_memory},
    {"llvm.nvvm.membar.gl", fence_memory},
    {"llvm.nvvm.membar.sys", fence_memory},
    {"llvm.nvvm.bar.warp.sync", meet_warp},
    {"llvm.nvvm.shfl.sync.up.i32", shuffle, ordered, of(Shuffle::up)},
    {"llvm.nvvm.shfl.sync.up.f32", shuffle, ordered, of(Shuffle::up)},
    {"llvm.nvvm.shfl.sync.up.i32p", shuffle, ordered, of(Shuffle::up)},
    {"llvm.nvvm.shfl.sync.up.f32p", shuffle, ordered, of(Shuffle::up)},
    {"llvm.nvvm.shfl.sync.down.i32", shuffle, ordered, of(Shuffle::down)},
    {"llvm.nvvm.shfl.sync.down.f32", shuffle, ordered, of(Shuffle::down)},
    {"llvm.nvvm.shfl.sync.down.i32p", shuffle, ordered, of(Shuffle::down)},
    {"llvm.nvvm.shfl.sync.down.f32p", shuffle, ordered, of(Shuffle::down)},
    {"llvm.nvvm.shfl.sync.bfly.i32", shuffle, ordered, of(Shuffle::bfly)},
    {"llvm.nvvm.shfl.sync.bfly.f32", shuffle, ordered, of(Shuffle::bfly)},
    {"llvm.nvvm.shfl.sync.bfly.i32p", shuffle, ordered, of(Shuffle::bfly)},
    {"llvm.nvvm.shfl.sync.bfly.f32p", shuffle, ordered, of(Shuffle::bfly)},
    {"llvm.nvvm.shfl.sync.idx.i32", shuffle, ordered, of(Shuffle::idx)},
    {"llvm.nvvm.shfl.sync.idx.f32", shuffle, ordered, of(Shuffle::idx)},
    {"llvm.nvvm.shfl.sync.idx.i32p", shuffle, ordered, of(Shuffle::idx)},
    {"llvm.nvvm.shfl.sync.idx.f32p", shuffle, ordered, of(Shuffle::idx)},
    {"llvm.nvvm.vote.any.sync", vote, ordered, of(Vote::any)},
    {"llvm.nvvm.vote.all.sync", vote, ordered, of(Vote::all)},
    {"llvm.nvvm.vote.uni.sync", vote, ordered, of(Vote::uni)},
    {"llvm.nvvm.vote.ballot.sync", vote, ordered, of(Vote::ballot)},
    {"llvm.nvvm.redux.sync.add", reduce_lanes, ordered, of(Redux::add)},
    {"llvm.nvvm.redux.sync.min", reduce_lanes, ordered, of(Redux::min)},
    {"llvm.nvvm.redux.sync.max", reduce_lanes, ordered, of(Redux::max)},
    {"llvm.nvvm.redux.sync.umin", reduce_lanes, ordered, of(Redux::umin)},
    {"llvm.nvvm.redux.sync.umax", reduce_lanes, ordered, of(Redux::umax)},
    {"llvm.nvvm.redux.sync.and", reduce_lanes, ordered, of(Redux::bit_and)},
    {"llvm.nvvm.redux.sync.or", reduce_lanes, ordered, of(Redux::bit_or)},
    {"llvm.nvvm.redux.sync.xor", reduce_lanes, ordered, of(Redux::bit_xor)},
    {"llvm.nvvm.mma.m16n8k16.row.col.bf16", multiply_tiles, ordered, of(Matrix::bf16_k16)},
    {"llvm.nvvm.mma.m16n8k8.row.col.bf16", multiply_tiles, ordered, of(Matrix::bf16_k8)},
    {"llvm.nvvm.mma.m16n8k16.row.col.f32.f32", multiply_tiles, ordered, of(Matrix::f16_k16)},
    {"llvm.nvvm.ldmatrix.sync.aligned.m8n8.x1.b16", load_matrices, ordered, 1},
    {"llvm.nvvm.ldmatrix.sync.aligned.m8n8.x2.b16", load_matrices, ordered, 2},
    {"llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4.b16", load_matrices, ordered, 4},
    {"llvm.nvvm.ldmatrix.sync.aligned.m8n8.x1.trans.b16", load_matrices, ordered, 1 | transposed},
    {"llvm.nvvm.ldmatrix.sync.aligned.m8n8.x2.trans.b16", load_matrices, ordered, 2 | transposed},
    {"llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4.trans.b16", load_matrices, ordered, 4 | transposed},
    {"llvm.nvvm.cp.async.ca.shared.global.4", copy_async, ordered, 4},
    {"llvm.nvvm.cp.async.ca.shared.global.8", copy_async, ordered, 8},
    {"llvm.nvvm.cp.async.ca.shared.global.16", copy_async, ordered, 16},
    {"llvm.nvvm.cp.async.cg.shared.global.16", copy_async, ordered, 16},
    {"llvm.nvvm.cp.async.ca.shared.global.4.s", copy_async, ordered, 4 | with_source_size},
    {"llvm.nvvm.cp.async.ca.shared.global.8.s", copy_async, ordered, 8 | with_source_size},
    {"llvm.nvvm.cp.async.ca.shared.global.16.s", copy_async, ordered, 16 | with_source_size},
    {"llvm.nvvm.cp.async.cg.shared.global.16.s", copy_async, ordered, 16 | with_source_size},
    {"llvm.nvvm.cp.async.commit.group", commit_copies},
    {"llvm.nvvm.cp.async.wait.group", wait_for_copies},
    {"llvm.nvvm.cp.async.wait.all", wait_for_all_copies},
    {"llvm.nvvm.ptr.gen.to.shared", keep_argument, pure},
    {"llvm.nvvm.ptr.gen.to.global", keep_argument, pure},
    {"llvm.nvvm.ptr.shared.to.gen", keep_argument, pure},
    {"llvm.nvvm.ptr.global.to.gen", keep_argument, pure},
    {"llvm.nvvm.fma.rn.f", compute, pure, of(Math::fma)},
    {"llvm.nvvm.fma.rn.ftz.f", compute, pure, of(Math::fma) | flush},
    {"llvm.nvvm.add.rn.f", compute, pure, of(Math::add)},
    {"llvm.nvvm.add.rn.ftz.f", compute, pure, of(Math::add) | flush},
    {"llvm.nvvm.mul.rn.f", compute, pure, of(Math::mul)},
    {"llvm.nvvm.mul.rn.ftz.f", compute, pure, of(Math::mul) | flush},
    {"llvm.nvvm.div.rn.f", compute, pure, of(Math::div)},
    {"llvm.nvvm.div.rn.ftz.f", compute, pure, of(Math::div) | flush},
    {"llvm.nvvm.div.approx.f", compute, pure, of(Math::div)},
    {"llvm.nvvm.div.approx.ftz.f", compute, pure, of(Math::div) | flush},
    {"llvm.nvvm.sqrt.f", compute, pure, of(Math::sqrt)},
    {"llvm.nvvm.sqrt.rn.f", compute, pure, of(Math::sqrt)},
    {"llvm.nvvm.sqrt.rn.ftz.f", compute, pure, of(Math::sqrt) | flush},
    {"llvm.nvvm.sqrt.approx.f", compute, pure, of(Math::sqrt)},
    {"llvm.nvvm.sqrt.approx.ftz.f", compute, pure, of(Math::sqrt) | flush},
    {"llvm.nvvm.rsqrt.approx.f", compute, pure, of(Math::rsqrt)},
    {"llvm.nvvm.rsqrt.approx.ftz.f", compute, pure, of(Math::rsqrt) | flush},
    {"llvm.nvvm.rcp.rn.f", compute, pure, of(Math::rcp)},
    {"llvm.nvvm.rcp.rn.ftz.f", compute, pure, of(Math::rcp) | flush},
    {"llvm.nvvm.rcp.approx.ftz.f", compute, pure, of(Math::rcp) | flush},
    {"llvm.nvvm.ex2.approx.f", compute, pure, of(Math::exp2)},
    {"llvm.nvvm.ex2.approx.ftz.f", compute, pure, of(Math::exp2) | flush},
    {"llvm.nvvm.lg2.approx.f", compute, pure, of(Math::log2)},
    {"llvm.nvvm.lg2.approx.ftz.f", compute, pure, of(Math::log2) | flush},
    {"llvm.nvvm.sin.approx.f", compute, pure, of(Math::sin)},
    {"llvm.nvvm.sin.approx.ftz.f", compute, pure, of(Math::sin) | flush},
    {"llvm.nvvm.cos.approx.f", compute, pure, of(Math::cos)},
    {"llvm.nvvm.cos.approx.ftz.f", compute, pure, of(Math::cos) | flush},
    {"llvm.nvvm.fabs.f", compute, pure, of(Math::abs)},
    {"llvm.nvvm.fabs.ftz.f", compute, pure, of(Math::abs) | flush},
    {"llvm.nvvm.fmin.f", compute, pure, of(Math::min)},
    {"llvm.nvvm.fmin.ftz.f", compute, pure, of(Math::min) | flush},
    {"llvm.nvvm.fmax.f", compute, pure, of(Math::max)},
    {"llvm.nvvm.fmax.ftz.f", compute, pure, of(Math::max) | flush},
    {"llvm.nvvm.floor.f", compute, pure, of(Math::floor)},
    {"llvm.nvvm.floor.ftz.f", compute, pure, of(Math::floor) | flush},
    {"llvm.nvvm.ceil.f", compute, pure, of(Math::ceil)},
    {"llvm.nvvm.ceil.ftz.f", compute, pure, of(Math::ceil) | flush},
    {"llvm.nvvm.saturate.f", compute, pure, of(Math::saturate)},
    {"llvm.nvvm.saturate.ftz.f", compute, pure, of(Math::saturate) | flush},
    {"llvm.nvvm.ff2bf16x2.rn", pack_bf16, pure},
    {"llvm.nvvm.ff2f16x2.rn", pack_f16, pure},
};

}  // namespace

const Primitive* find_primitive(std::string_view name) {
  static const auto by_name = [] {
    std::unordered_map<std::string_view, const Primitive*> all;
    for (const Primitive& row : rows) all.emplace(row.name, &row);
    return all;
  }();
  const auto at = by_name.find(name);
  return at == by_name.end() ? nullptr : at->second;
}

const Primitive* find_primitive(const llvm::Function& function) {
  if (!function.isIntrinsic()) return find_primitive(std::string_view(function.getName()));
  return find_primitive(std::string_view(llvm::Intrinsic::getBaseName(function.getIntrinsicID())));
}

}  // namespace axon::emulator
