// A persistent kernel: layers of tasks that wait for all tasks of the layer before. Two buffers of values in
// turn.
#include "gpu.h"

extern SHARED float staged[];
static SHARED float sums[4];

namespace {

constexpr u32 width = 64;  // values of a task, and threads of a block

void run_task(float* x, const float* weights, u32* events, u32 layer, u32 task, u32 tasks) {
  const u32 i = thread();
  const float* from = x + layer % 2 * tasks * width;
  float* to = x + (layer + 1) % 2 * tasks * width;
  axon_gpu_task(1, static_cast<long>(layer * tasks + task));
  const int target = static_cast<int>(layer) + (BUG == 3 ? -1 : BUG == 4 ? 1 : 0);
  if (BUG != 1 || layer != 2) {
    if (layer != 0) axon_gpu_wait(events + (BUG == 16 ? i / 32 : 0), tasks, target);
  }
  const u32 past = BUG == 6 && task == 1 ? 3 : 0;
  for (u32 k = i; k < tasks * width; k += threads()) staged[k + past] = from[k];
  if (BUG != 5) barrier();
  if (BUG == 9 && i < 40) barrier();
  const float mine = staged[task * width + width - 1 - i];
  const float sum = sum_of_lanes(mine);
  if (i % 32 == 0 && (BUG != 13 || i < tasks)) sums[i / 32] = sum;
  barrier();
  if (BUG == 8 && layer == 1) const_cast<float*>(weights)[i] = sum;
  if (BUG == 12 && layer == 1) {
    while (*static_cast<const volatile float*>(weights) != -1.0F) {
    }
  }
  if (BUG == 18) to = reinterpret_cast<float*>(reinterpret_cast<char*>(to) + 2);
  const u32 at = BUG == 7 && layer == 1 ? 2 * width * tasks : 0;
  const u32 twice = BUG == 17 && task == 1 ? width : 0;
  to[task * width + i + at - twice] =
      0.5F * mine + weights[layer * width + i] + (sums[0] + sums[1]) / (4 * width);
  if (BUG == 14) events[task] = layer + 1;
  if (BUG == 15 && layer == 2) axon_gpu_notify(events + task, 1);
  if (BUG != 2 || layer != 1 || task != 0) axon_gpu_notify(events + task, static_cast<int>(layer) + 1);
}

}  // namespace

KERNEL chain(float* x, const float* weights, u32* events, u32 layers, u32 tasks) {
  if (BUG == 10 && thread() == 7) return;
  if (BUG == 11 && block() == 1) __builtin_trap();
  for (u32 layer = 0; layer < layers; ++layer)
    for (u32 task = block(); task < tasks; task += blocks()) run_task(x, weights, events, layer, task, tasks);
}
