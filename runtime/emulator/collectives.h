// What threads of a block or lanes of a warp do together: each waits until all who take part have come.
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "emulator/thread.h"

namespace axon::emulator {

class Engine;
struct Primitive;

/// Those that do a warp operation, which have all come.
struct Lanes {
  Engine& engine;
  std::array<Thread*, 32> threads;  ///< null for lanes that are not in the mask
  uint32_t mask;
  uint32_t site;
  int parameter;
  uint64_t* values(uint32_t lane) const { return threads[lane]->values; }
};

class Collectives {
 public:
  Collectives(Engine&, uint32_t blocks, uint32_t threads);

  /// Sixteen barriers of a GPU, and those inside of the waits for events and of notifications.
  static constexpr int hardware_barriers = 16, wait_barrier = 16, notify_barrier = 17, barriers = 18;

  struct Arrival {
    int barrier = 0;
    uint32_t count = 0;  ///< of threads; 0: all of the block
    bool aligned = true;
    uint64_t agreed = 0;  ///< what must be the same for all
    uint32_t site = 0;
  };
  void arrive(Thread&, const Arrival&);

  /// The last lane of the mask calls `finish`, before any goes on. Memory is not ordered.
  using Finish = void (*)(const Lanes&);
  void meet(Thread&, uint32_t mask, uint64_t* values, uint32_t site, bool aligned, Finish finish);

  /// The thread ends.
  void leave(Thread&);

 private:
  struct Barrier {
    uint32_t count = 0;
    uint64_t agreed = 0;
    std::vector<Thread*> arrived;
  };
  struct Meeting {
    uint32_t mask = 0;
    uint32_t arrived = 0;
    uint32_t site = 0;
    std::array<Thread*, 32> threads{};
  };
  struct Block {
    std::array<Barrier, barriers> all;
    std::vector<std::vector<Meeting>> warps;
    std::vector<uint32_t> left;  ///< lanes of each warp that have ended, or never were
    uint32_t ended = 0;
  };
  void check_arrival(Thread&, const Barrier&, const Arrival&, uint32_t count);
  void check_meeting(Thread&, uint32_t mask, uint32_t site, bool aligned);
  bool same_operation(uint32_t site, uint32_t other, bool aligned) const;
  [[noreturn]] void fail_left(const Thread& waits, uint32_t site, const std::string& who);

  Engine& engine_;
  uint32_t threads_;
  std::vector<Block> blocks_;
};

/// Makes threads know what each of them knows; null for those that there are not.
void order_threads(std::span<Thread* const>);

}  // namespace axon::emulator
