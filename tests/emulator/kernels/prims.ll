; Instructions that clang has no builtins for, behind pointers.
target datalayout = "e-i64:64-i128:128-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

declare {i32, i32, i32, i32} @llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4.b16.p3(ptr addrspace(3))
declare {i32, i32} @llvm.nvvm.ldmatrix.sync.aligned.m8n8.x2.b16.p3(ptr addrspace(3))
declare {i32, i32} @llvm.nvvm.ldmatrix.sync.aligned.m8n8.x2.trans.b16.p3(ptr addrspace(3))
declare {float, float, float, float} @llvm.nvvm.mma.m16n8k16.row.col.bf16(i32, i32, i32, i32, i32, i32, float, float, float, float)
declare {float, float, float, float} @llvm.nvvm.mma.m16n8k8.row.col.bf16(i32, i32, i32, float, float, float, float)
declare {float, float, float, float} @llvm.nvvm.mma.m16n8k16.row.col.f32.f32(<2 x half>, <2 x half>, <2 x half>, <2 x half>, <2 x half>, <2 x half>, float, float, float, float)

define void @load_matrices_4(ptr %to, ptr addrspace(3) %row) convergent {
  %all = call {i32, i32, i32, i32} @llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4.b16.p3(ptr addrspace(3) %row)
  store {i32, i32, i32, i32} %all, ptr %to, align 4
  ret void
}
define void @load_matrices_2(ptr %to, ptr addrspace(3) %row) convergent {
  %all = call {i32, i32} @llvm.nvvm.ldmatrix.sync.aligned.m8n8.x2.b16.p3(ptr addrspace(3) %row)
  store {i32, i32} %all, ptr %to, align 4
  ret void
}
define void @load_matrices_2_transposed(ptr %to, ptr addrspace(3) %row) convergent {
  %all = call {i32, i32} @llvm.nvvm.ldmatrix.sync.aligned.m8n8.x2.trans.b16.p3(ptr addrspace(3) %row)
  store {i32, i32} %all, ptr %to, align 4
  ret void
}
define void @multiply_bf16(ptr %sum, ptr %a, ptr %b) convergent {
  %as = load {i32, i32, i32, i32}, ptr %a, align 4
  %bs = load {i32, i32}, ptr %b, align 4
  %cs = load {float, float, float, float}, ptr %sum, align 4
  %a0 = extractvalue {i32, i32, i32, i32} %as, 0
  %a1 = extractvalue {i32, i32, i32, i32} %as, 1
  %a2 = extractvalue {i32, i32, i32, i32} %as, 2
  %a3 = extractvalue {i32, i32, i32, i32} %as, 3
  %b0 = extractvalue {i32, i32} %bs, 0
  %b1 = extractvalue {i32, i32} %bs, 1
  %c0 = extractvalue {float, float, float, float} %cs, 0
  %c1 = extractvalue {float, float, float, float} %cs, 1
  %c2 = extractvalue {float, float, float, float} %cs, 2
  %c3 = extractvalue {float, float, float, float} %cs, 3
  %d = call {float, float, float, float} @llvm.nvvm.mma.m16n8k16.row.col.bf16(i32 %a0, i32 %a1, i32 %a2, i32 %a3, i32 %b0, i32 %b1, float %c0, float %c1, float %c2, float %c3)
  store {float, float, float, float} %d, ptr %sum, align 4
  ret void
}
define void @multiply_f16(ptr %sum, ptr %a, ptr %b) convergent {
  %as = load {<2 x half>, <2 x half>, <2 x half>, <2 x half>}, ptr %a, align 4
  %bs = load {<2 x half>, <2 x half>}, ptr %b, align 4
  %cs = load {float, float, float, float}, ptr %sum, align 4
  %a0 = extractvalue {<2 x half>, <2 x half>, <2 x half>, <2 x half>} %as, 0
  %a1 = extractvalue {<2 x half>, <2 x half>, <2 x half>, <2 x half>} %as, 1
  %a2 = extractvalue {<2 x half>, <2 x half>, <2 x half>, <2 x half>} %as, 2
  %a3 = extractvalue {<2 x half>, <2 x half>, <2 x half>, <2 x half>} %as, 3
  %b0 = extractvalue {<2 x half>, <2 x half>} %bs, 0
  %b1 = extractvalue {<2 x half>, <2 x half>} %bs, 1
  %c0 = extractvalue {float, float, float, float} %cs, 0
  %c1 = extractvalue {float, float, float, float} %cs, 1
  %c2 = extractvalue {float, float, float, float} %cs, 2
  %c3 = extractvalue {float, float, float, float} %cs, 3
  %d = call {float, float, float, float} @llvm.nvvm.mma.m16n8k16.row.col.f32.f32(<2 x half> %a0, <2 x half> %a1, <2 x half> %a2, <2 x half> %a3, <2 x half> %b0, <2 x half> %b1, float %c0, float %c1, float %c2, float %c3)
  store {float, float, float, float} %d, ptr %sum, align 4
  ret void
}
define void @multiply_bf16_8(ptr %sum, ptr %a, ptr %b) convergent {
  %as = load {i32, i32}, ptr %a, align 4
  %b0 = load i32, ptr %b, align 4
  %cs = load {float, float, float, float}, ptr %sum, align 4
  %a0 = extractvalue {i32, i32} %as, 0
  %a1 = extractvalue {i32, i32} %as, 1
  %c0 = extractvalue {float, float, float, float} %cs, 0
  %c1 = extractvalue {float, float, float, float} %cs, 1
  %c2 = extractvalue {float, float, float, float} %cs, 2
  %c3 = extractvalue {float, float, float, float} %cs, 3
  %d = call {float, float, float, float} @llvm.nvvm.mma.m16n8k8.row.col.bf16(i32 %a0, i32 %a1, i32 %b0, float %c0, float %c1, float %c2, float %c3)
  store {float, float, float, float} %d, ptr %sum, align 4
  ret void
}
