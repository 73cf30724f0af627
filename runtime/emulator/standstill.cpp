// Who waits for what when nobody can go on.
#include <fmt/format.h>

#include <map>
#include <set>

#include "emulator/engine.h"

namespace axon::emulator {

namespace {

std::string what_for(Engine& engine, const Waiting& waiting) {
  const std::string& place = engine.site(waiting.site).place;
  switch (waiting.what) {
    case Waiting::For::event:
      return fmt::format("for {} to reach {}, which is {} ({})",
                         engine.memory().describe(reinterpret_cast<uint64_t>(waiting.word)), waiting.target,
                         *waiting.word, place);
    case Waiting::For::warp:
      return fmt::format("for the lanes of {:#010x} ({})", waiting.mask, place);
    case Waiting::For::barrier:
      return waiting.barrier < Collectives::hardware_barriers
                 ? fmt::format("at barrier {} ({})", waiting.barrier, place)
                 : fmt::format("for the other threads of the block ({})", place);
    case Waiting::For::nothing:
      break;
  }
  return "";
}

/// "0-31, 64".
std::string ranges(const std::set<uint32_t>& numbers) {
  std::string all;
  for (auto at = numbers.begin(); at != numbers.end();) {
    const uint32_t first = *at;
    uint32_t last = first;
    while (++at != numbers.end() && *at == last + 1) last = *at;
    all += fmt::format("{}{}", all.empty() ? "" : ", ", first);
    if (last != first) all += fmt::format("-{}", last);
  }
  return all;
}

struct Standing {
  std::map<std::string, std::set<uint32_t>> by_reason;  ///< with the task
  bool waits_for_event = false;
  uint32_t ended = 0;
};

std::string describe_block(uint32_t block, const Standing& standing) {
  std::string text;
  for (const auto& [reason, threads] : standing.by_reason)
    text += fmt::format("\n  block {}, threads {}: {}", block, ranges(threads), reason);
  if (standing.ended != 0) text += fmt::format("\n  block {}: {} threads have ended", block, standing.ended);
  return text;
}

}  // namespace

/// A block in which nobody waits for an event has come to that by itself.
std::vector<Finding> explain_standstill(Engine& engine) {
  std::map<uint32_t, Standing> blocks;
  for (const Thread& thread : engine.threads()) {
    Standing& standing = blocks[thread.block];
    if (thread.done) {
      ++standing.ended;
      continue;
    }
    const std::string task = engine.tasks().describe(thread.task);
    standing
        .by_reason[fmt::format("{}{}waits {}", task, task.empty() ? "" : " ",
                               what_for(engine, thread.waiting))]
        .insert(thread.index);
    standing.waits_for_event |= thread.waiting.what == Waiting::For::event;
  }
  std::string deadlock, divergence;
  for (const auto& [block, standing] : blocks) {
    if (standing.by_reason.empty()) continue;
    (standing.waits_for_event ? deadlock : divergence) += describe_block(block, standing);
  }
  std::vector<Finding> findings;
  if (!divergence.empty())
    findings.push_back({Kind::divergence, "threads wait for each other at different places:" + divergence});
  if (!deadlock.empty()) findings.push_back({Kind::deadlock, "no thread can go on:" + deadlock});
  return findings;
}

}  // namespace axon::emulator
