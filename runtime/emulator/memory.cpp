// See memory.h.
#include "emulator/memory.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace axon::emulator {

Memory::~Memory() {
  if (windows_ != nullptr) munmap(windows_, reserved_);
}

bool Memory::reserve_shared(const std::vector<SharedVariable>& variables, size_t dynamic_bytes,
                            uint32_t blocks) {
  uint64_t end = 0;
  for (const SharedVariable& variable : variables)
    end = std::max(end, variable.offset + (variable.dynamic ? dynamic_bytes : variable.bytes));
  if (end > window_bytes) return false;
  // Windows begin at multiples of their size, which takes one more.
  reserved_ = (blocks + 1) * window_bytes;
  void* memory = mmap(nullptr, reserved_, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_32BIT, -1, 0);
  if (memory == MAP_FAILED) return false;
  windows_ = static_cast<std::byte*>(memory);
  const auto address = reinterpret_cast<uintptr_t>(memory);
  const size_t skip = (window_bytes - address % window_bytes) % window_bytes;
  if (skip != 0) {
    munmap(memory, skip);
    windows_ += skip;
    reserved_ -= skip;
  }
  for (uint32_t block = 0; block < blocks; ++block) {
    bool dynamic = false;
    for (const SharedVariable& variable : variables) {
      if (variable.dynamic && std::exchange(dynamic, true)) continue;  // all are one
      const uint64_t bytes = variable.dynamic ? dynamic_bytes : variable.bytes;
      add(fmt::format("shared {} of block {}", variable.name, block), window(block) + variable.offset, bytes,
          /*writable=*/true);
      if (bytes != 0) areas_.back().block = block;
      std::memset(window(block) + variable.offset, 0xff, bytes);  // not a number
    }
  }
  return true;
}

void Memory::add(std::string name, void* base, size_t bytes, bool writable) {
  if (bytes == 0) return;
  Area area;
  area.name = std::move(name);
  area.base = reinterpret_cast<uint64_t>(base);
  area.bytes = bytes;
  area.writable = writable;
  areas_.push_back(std::move(area));
}

std::string Memory::arrange(bool check) {
  std::sort(areas_.begin(), areas_.end(), [](const Area& a, const Area& b) { return a.base < b.base; });
  for (size_t i = 1; i < areas_.size(); ++i)
    if (areas_[i - 1].base + areas_[i - 1].bytes > areas_[i].base)
      return fmt::format("{} and {}", areas_[i - 1].name, areas_[i].name);
  for (Area& area : areas_)
    // Cells begin at multiples of four bytes.
    if (check && area.writable)
      area.accesses.emplace(area.bytes + area.base % 4, /*initialised=*/area.block < 0);
  return "";
}

Area* Memory::find(uint64_t address) {
  if (last_ != nullptr && last_->holds(address, 0)) return last_;
  auto after = std::upper_bound(areas_.begin(), areas_.end(), address,
                                [](uint64_t at, const Area& area) { return at < area.base; });
  if (after == areas_.begin() || !(--after)->holds(address, 0)) return nullptr;
  return last_ = &*after;
}

std::string Memory::describe(uint64_t address) {
  if (const Area* area = find(address))
    return fmt::format("offset {} of {}", address - area->base, area->name);
  auto after = std::upper_bound(areas_.begin(), areas_.end(), address,
                                [](uint64_t at, const Area& area) { return at < area.base; });
  constexpr uint64_t near = 1 << 20;
  if (after != areas_.end() && after->base - address < near && after == areas_.begin())
    return fmt::format("{} bytes before {}", after->base - address, after->name);
  if (after == areas_.begin()) return fmt::format("address {:#x}", address);
  const Area& before = *std::prev(after);
  const uint64_t past = address - before.base - before.bytes;
  if (after != areas_.end() && after->base - address < std::min(past, near))
    return fmt::format("{} bytes before {}", after->base - address, after->name);
  if (past < near) return fmt::format("{} bytes past the end of {}", past, before.name);
  return fmt::format("address {:#x}", address);
}

}  // namespace axon::emulator
