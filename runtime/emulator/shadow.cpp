// See shadow.h.
#include "emulator/shadow.h"

#include <algorithm>
#include <cstdlib>
#include <new>
#include <utility>

namespace axon::emulator {

Shadow::Shadow(size_t bytes, bool initialised)
    : initialised_(initialised),
      cells_(static_cast<Cell*>(std::calloc(bytes / 4 + 1, sizeof(Cell))), std::free) {
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

void Shadow::drop_settled(std::vector<Access>& accesses) {
  std::erase_if(accesses, [](const Access& access) { return access.epoch == 0; });
}

/// Moves what is left of a list into the cell as far as there is room.
void Shadow::tidy(Cell& cell) {
  List& list = lists_[cell.more - 1];
  for (std::vector<Access>* accesses : {&list.writes, &list.reads}) {
    drop_settled(*accesses);
    for (Access& access : cell.accesses)
      if (access.epoch == 0 && !accesses->empty()) {
        access = accesses->back();
        accesses->pop_back();
      }
  }
  if (!list.writes.empty() || !list.reads.empty()) return;
  list.most_reads = 8;
  free_lists_.push_back(std::exchange(cell.more, 0));
}

void Shadow::keep(Cell& cell, const Access& now, const Thread& self, bool lockstep) {
  if (cell.accesses[0].epoch == 0) std::swap(cell.accesses[0], cell.accesses[1]);
  for (Access& access : cell.accesses)
    if (access.epoch == 0) {
      access = now;
      return;
    }
  keep_in_list(cell, now, self, lockstep);
}

void Shadow::keep_in_list(Cell& cell, const Access& now, const Thread& self, bool lockstep) {
  if (cell.more == 0) {
    if (free_lists_.empty()) {
      lists_.emplace_back();
      free_lists_.push_back(static_cast<uint32_t>(lists_.size()));
    }
    cell.more = free_lists_.back();
    free_lists_.pop_back();
  }
  List& list = lists_[cell.more - 1];
  if (now.write) {
    list.writes.push_back(now);
    return;
  }
  if (list.reads.size() >= list.most_reads) {
    for (Access& before : list.reads)
      if ((before.mask & now.mask) != 0) settle(before, now, self, lockstep);
    drop_settled(list.reads);
    list.most_reads = std::max<size_t>(8, 2 * list.reads.size());
  }
  list.reads.push_back(now);
}

bool Shadow::make_event(size_t offset) {
  Cell& cell = cells_[offset / 4];
  cell.event = 1;
  return cell.accesses[0].epoch == 0 && cell.accesses[1].epoch == 0;
}

}  // namespace axon::emulator
