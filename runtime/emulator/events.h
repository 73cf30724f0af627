// Event words: what waits for one, and what each of its values tells.
//
// A wait for a target learns what the first value that has reached it told, though a later one may be there:
// what the program may rely on does not depend on who was fast.
#pragma once
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "emulator/thread.h"

namespace axon::emulator {

class Engine;

class Events {
 public:
  explicit Events(Engine& engine) : engine_(engine) {}

  /// One thread: until the word has reached the target.
  void wait(Thread&, const uint32_t* word, uint32_t target, uint32_t site);
  /// One thread: the word becomes the epoch, and tells what the thread knows.
  void notify(Thread&, uint32_t* word, uint32_t epoch, uint32_t site);

  static bool reached(uint32_t seen, uint32_t target) { return static_cast<int32_t>(seen - target) >= 0; }

 private:
  struct Value {
    uint32_t epoch;
    Clock told;
  };
  struct Word {
    std::vector<Value> values;  ///< in the order of their stores
    std::vector<Thread*> waiting;
  };
  Word& word(Thread&, const uint32_t* address, bool writes, uint32_t site);

  Engine& engine_;
  std::unordered_map<const uint32_t*, Word> words_;
};

}  // namespace axon::emulator
