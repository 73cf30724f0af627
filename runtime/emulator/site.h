// Where in the module something happens: one entry per access and primitive, named by its number in the code.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace axon::emulator {

struct Primitive;

struct Site {
  enum class Does { read, write, update, fence, primitive };
  Does does = Does::read;
  bool atomic = false;   ///< does not race with other atomic accesses
  bool acquire = false;  ///< of an atomic access or a fence
  bool release = false;
  uint32_t bytes = 0;  ///< 0: only known when it runs
  uint32_t align = 1;
  const Primitive* primitive = nullptr;
  std::string place;  ///< function and line, for messages
  bool has_line = false;
  uint32_t group = 0;  ///< the number of the first site at the same place: what one finding stands for

  bool reads() const { return does != Does::write; }
  bool writes() const { return does == Does::write || does == Does::update; }
};

using Sites = std::vector<Site>;

}  // namespace axon::emulator
