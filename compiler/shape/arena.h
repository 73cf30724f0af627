// Where variables and the nodes of Dims live.
//
// A thread works in one arena at a time: that of the innermost UseArena or, outside of any, in the one of the
// process, which never ends. Invariant: a Var, a Dim and what contains them belong to the arena that was
// current when they were made, and mean something only there; nothing of them is left once it ends. What
// outlives an arena is text, numbers, or a form of its own. Constants from -64 to 1024 belong to all.
//
// Variables are numbered from 0 in every arena, so nothing that depends on their order depends on what was
// done in another one. Several threads may use one arena.
#pragma once
#include <cstdint>
#include <memory>

namespace axon::shape {

class Arena {
 public:
  Arena();
  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  static Arena& current();
  uint64_t serial() const { return serial_; }  ///< no two arenas of the process have the same
  size_t size() const;                         ///< how many nodes and variables there are

  struct Tables;
  Tables& tables() { return *tables_; }

 private:
  std::unique_ptr<Tables> tables_;
  uint64_t serial_;
};

/// Makes an arena the current one of this thread while it lives; these nest.
class UseArena {
 public:
  explicit UseArena(Arena&);
  ~UseArena();
  UseArena(const UseArena&) = delete;
  UseArena& operator=(const UseArena&) = delete;

 private:
  Arena* outer_;
};

/// What a function remembers from one call to the next: of this thread, begun anew when another arena than at
/// the call before is the current one.
template <class T>
T& remembered_in_arena() {
  thread_local T value;
  thread_local uint64_t serial = 0;
  if (const uint64_t now = Arena::current().serial(); serial != now) {
    value = T();
    serial = now;
  }
  return value;
}

}  // namespace axon::shape
