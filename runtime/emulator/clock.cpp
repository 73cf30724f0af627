// See clock.h.
#include "emulator/clock.h"

#include <algorithm>

namespace axon::emulator {

Clock::Blocks& Clock::own_blocks(size_t at_least) {
  if (blocks_ == nullptr)
    blocks_ = std::make_shared<Blocks>();
  else if (blocks_.use_count() > 1)
    blocks_ = std::make_shared<Blocks>(*blocks_);
  if (blocks_->size() < at_least) blocks_->resize(at_least);
  return *blocks_;
}

Clock::Block& Clock::own_block(std::shared_ptr<Block>& block, size_t at_least) {
  if (block == nullptr)
    block = std::make_shared<Block>();
  else if (block.use_count() > 1)
    block = std::make_shared<Block>(*block);
  if (block->size() < at_least) block->resize(at_least);
  return *block;
}

void Clock::join(const Clock& other) {
  if (other.blocks_ == nullptr || other.blocks_ == blocks_) return;
  if (blocks_ == nullptr) {
    blocks_ = other.blocks_;
    return;
  }
  const std::shared_ptr<Blocks> theirs = other.blocks_;
  for (size_t i = 0; i < theirs->size(); ++i) {
    const std::shared_ptr<Block>& more = (*theirs)[i];
    if (more == nullptr || (i < blocks_->size() && (*blocks_)[i] == more)) continue;
    std::shared_ptr<Block>& mine = own_blocks(theirs->size())[i];
    if (mine == nullptr) {
      mine = more;
      continue;
    }
    const auto newer = [&](size_t k) {
      return k >= mine->size() ? (*more)[k] != 0 : (*more)[k] > (*mine)[k];
    };
    size_t k = 0;
    while (k < more->size() && !newer(k)) ++k;
    if (k == more->size()) continue;
    Block& epochs = own_block(mine, more->size());
    for (; k < more->size(); ++k) epochs[k] = std::max(epochs[k], (*more)[k]);
  }
}

void Clock::raise(ThreadId thread, uint32_t epoch) {
  if (of(thread) >= epoch) return;
  const uint32_t block = thread >> bits_of_index;
  const uint32_t index = thread & ((1U << bits_of_index) - 1);
  own_block(own_blocks(block + 1)[block], index + 1)[index] = epoch;
}

}  // namespace axon::emulator
