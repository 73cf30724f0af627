// See shadow.h.
#include "emulator/shadow.h"

#include <algorithm>
#include <cstdlib>
#include <new>

namespace axon::emulator {

Shadow::Shadow(size_t bytes, bool initialised)
    : initialised_(initialised), cells_(static_cast<Cell*>(std::calloc(bytes / 4 + 1, sizeof(Cell))), std::free) {
  if (cells_ == nullptr) throw std::bad_alloc();
}

bool Shadow::ordered(const Access& before, const Access& now, const Thread& self, bool lockstep) {
  if (self.after(before.thread, before.epoch)) return true;
  const bool by_threads = now.thread == self.id && before.thread != self.copies_id;
  return lockstep && by_threads && before.thread >> 5 == self.id >> 5;
}

bool Shadow::settle(Access& before, const Access& now, const Thread& self, bool lockstep) {
  const bool in_order = ordered(before, now, self, lockstep);
  const bool conflict = (before.write || now.write) && !(before.atomic && now.atomic);
  const bool races = conflict && !in_order;
  const bool replaces = in_order && (now.write || !before.write) && (!now.atomic || before.atomic);
  if (races || replaces) {
    before.mask &= ~now.mask;
    if (before.mask == 0) before.epoch = 0;
  }
  return !races;
}

void Shadow::keep(Cell& cell, const Access& now) {
  if (cell.more != 0) {
    std::vector<Access>& list = lists_[cell.more - 1];
    std::erase_if(list, [](const Access& access) { return access.epoch == 0; });
    for (Access& access : cell.accesses)
      if (access.epoch == 0 && !list.empty()) {
        access = list.back();
        list.pop_back();
      }
    if (list.empty()) {
      free_lists_.push_back(cell.more);
      cell.more = 0;
    }
  }
  if (cell.accesses[0].epoch == 0) std::swap(cell.accesses[0], cell.accesses[1]);
  for (Access& access : cell.accesses)
    if (access.epoch == 0) {
      access = now;
      return;
    }
  if (cell.more == 0) {
    if (free_lists_.empty()) {
      lists_.emplace_back();
      free_lists_.push_back(static_cast<uint32_t>(lists_.size()));
    }
    cell.more = free_lists_.back();
    free_lists_.pop_back();
  }
  lists_[cell.more - 1].push_back(now);
}

bool Shadow::make_event(size_t offset) {
  Cell& cell = cells_[offset / 4];
  cell.event = 1;
  return cell.accesses[0].epoch == 0 && cell.accesses[1].epoch == 0;
}

}  // namespace axon::emulator
