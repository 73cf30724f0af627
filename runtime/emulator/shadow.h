// Which accesses of each byte of a piece of memory may still race with later ones.
//
// A cell stands for four bytes. It keeps every access that a later one could be in a race with and that no
// kept access stands for: one access replaces those that happened before it, unless it is atomic and they are
// not, and a read no write. Accesses name the bytes of the cell, so that neighbours of two bytes do not meet.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "emulator/thread.h"

namespace axon::emulator {

struct Access {
  uint32_t thread : 24;
  uint32_t mask : 4;  ///< bytes of the cell
  uint32_t write : 1;
  uint32_t atomic : 1;
  uint32_t epoch;  ///< 0: there is none
  uint32_t site;
  uint32_t task;
};

class Shadow {
 public:
  /// Bytes are written before the kernel begins, or a read before the first write is noted.
  Shadow(size_t bytes, bool initialised);

  struct Noted {
    bool unwritten = false;  ///< a byte is read that nothing has written
    bool event = false;      ///< a cell is an event word
  };
  /// `now` says all but the bytes. `self` is the thread, or the one that has issued the copy. Lanes of a warp
  /// are in order in lockstep. Races are given with the access that was before.
  template <typename Race>
  Noted note(size_t offset, size_t bytes, Access now, const Thread& self, bool lockstep, const Race& race);

  /// From now on the cell is an event word. False if it has been accessed as data.
  bool make_event(size_t offset);

 private:
  struct Cell {
    Access accesses[2];
    uint32_t more;    ///< number of a list, from 1
    uint8_t written;  ///< bytes
    uint8_t event;
  };
  /// What has no room in the cell. Reads do not race with each other, so that a read only looks at the
  /// writes; those that it stands for are dropped when their number has doubled.
  struct List {
    std::vector<Access> writes, reads;
    size_t most_reads = 8;
  };
  static bool ordered(const Access& before, const Access& now, const Thread& self, bool lockstep);
  /// Takes from `before` the bytes that `now` stands for. False: they race.
  static bool settle(Access& before, const Access& now, const Thread& self, bool lockstep);
  static void drop_settled(std::vector<Access>&);
  void keep(Cell&, const Access&, const Thread& self, bool lockstep);
  void keep_in_list(Cell&, const Access&, const Thread& self, bool lockstep);
  void tidy(Cell&);
  static bool repeats(const Cell&, const Access& now);

  bool initialised_;
  std::unique_ptr<Cell[], void (*)(void*)> cells_;
  std::vector<List> lists_;
  std::vector<uint32_t> free_lists_;
};

inline bool Shadow::repeats(const Cell& cell, const Access& now) {
  const Access& first = cell.accesses[0];
  return first.epoch == now.epoch && first.thread == now.thread && first.mask == now.mask &&
         first.write >= now.write && first.atomic == now.atomic && cell.accesses[1].epoch == 0 &&
         cell.more == 0;
}

template <typename Race>
Shadow::Noted Shadow::note(size_t offset, size_t bytes, Access now, const Thread& self, bool lockstep,
                           const Race& race) {
  Noted noted;
  const bool by_copies = now.thread != self.id;
  const size_t end = offset + bytes;
  for (size_t at = offset; at < end;) {
    const size_t next = std::min(end, (at / 4 + 1) * 4);
    now.mask = ((1U << (next - at)) - 1) << (at % 4);
    Cell& cell = cells_[at / 4];
    at = next;
    if (now.write)
      cell.written |= now.mask;
    else if (!initialised_ && (cell.written & now.mask) != now.mask)
      noted.unwritten = true;
    if (cell.event) noted.event = true;
    if (!by_copies && repeats(cell, now)) continue;
    const auto look = [&](Access& before) {
      if (before.epoch == 0 || (before.mask & now.mask) == 0) return;
      const Access was = before;
      if (!settle(before, now, self, lockstep)) race(was);
    };
    look(cell.accesses[0]);
    look(cell.accesses[1]);
    if (cell.more != 0) {
      List& list = lists_[cell.more - 1];
      for (Access& before : list.writes) look(before);
      if (now.write)
        for (Access& before : list.reads) look(before);
      if (now.write) tidy(cell);
    }
    keep(cell, now, self, lockstep);
  }
  return noted;
}

}  // namespace axon::emulator
