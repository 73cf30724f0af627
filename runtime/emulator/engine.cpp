// See engine.h.
#include "emulator/engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "emulator/primitives.h"

namespace axon::emulator {

namespace {

thread_local Engine* current_engine = nullptr;

/// How a run delays asynchronous copies: at once, by chance with a probability of a power of two, or as long
/// as it can.
constexpr uint32_t copy_delays = 5;

}  // namespace

Engine& Engine::current() { return *current_engine; }

Engine::Engine(const Retargeted& code, Entry entry, const Launch& launch, Memory& memory, Stacks& stacks)
    : code_(code),
      entry_(entry),
      launch_(launch),
      memory_(memory),
      threads_(static_cast<size_t>(launch.blocks) * static_cast<size_t>(launch.threads)),
      scheduler_(launch.options.seed, launch.options.switch_every, launch.options.lockstep,
                 static_cast<uint32_t>(launch.blocks), static_cast<uint32_t>(launch.threads)),
      tasks_(launch.task_types),
      collectives_(*this, static_cast<uint32_t>(launch.blocks), static_cast<uint32_t>(launch.threads)),
      events_(*this),
      running_(threads_.size()),
      copy_delay_(scheduler_.random().below(copy_delays)) {
  findings_.set_most(std::max<size_t>(1, launch.options.most_findings));
  const auto blocks = static_cast<uint32_t>(launch.blocks);
  for (size_t i = 0; i < threads_.size(); ++i) {
    Thread& thread = threads_[i];
    thread.block = static_cast<uint32_t>(i) / static_cast<uint32_t>(launch.threads);
    thread.index = static_cast<uint32_t>(i) % static_cast<uint32_t>(launch.threads);
    thread.id = thread_id(thread.block, thread.index);
    thread.copies_id = thread_id(blocks + thread.block, thread.index);
    thread.stack_low = stacks.low(i);
    thread.stack_high = stacks.high(i);
    thread.context = boost::context::detail::make_fcontext(
        thread.stack_high, static_cast<size_t>(thread.stack_high - thread.stack_low), &Engine::start);
    scheduler_.add(thread);
  }
}

Report Engine::run() {
  Engine* before = std::exchange(current_engine, this);
  now_ = scheduler_.next(threads_.front());
  jump(main_, *now_);
  current_engine = before;
  Report report;
  report.findings = findings_.list();
  report.steps = steps_;
  report.primitives = primitives_;
  report.switches = switches_;
  return report;
}

void Engine::jump(Fiber& from, Fiber& to) {
  const auto back = boost::context::detail::jump_fcontext(to.context, &from);
  static_cast<Fiber*>(back.data)->context = back.fctx;
}

void Engine::start(boost::context::detail::transfer_t from) {
  static_cast<Fiber*>(from.data)->context = from.fctx;
  Engine& engine = current();
  engine.entry_(engine.launch_.arguments.data());
  engine.leave(engine.self());
}

void Engine::yield(Thread& thread) {
  if (!copying_.empty()) move_some_copies();
  Thread* next = scheduler_.next(thread);
  if (next == &thread) return;
  ++switches_;
  now_ = next;
  jump(thread, *next);
}

void Engine::step() {
  if (++steps_ > launch_.options.most_steps)
    fail(Kind::step_limit, 0,
         fmt::format("{} is running after {} steps", describe(*now_), launch_.options.most_steps));
  if (scheduler_.due()) yield(*now_);
}

void Engine::block(Thread& thread) {
  scheduler_.remove(thread);
  if (!copying_.empty()) move_some_copies();
  Thread* next = scheduler_.next(thread);
  if (next == nullptr) {
    for (Finding& finding : explain_standstill(*this))
      findings_.add(finding.kind, std::move(finding.message));
    stop();
  }
  ++switches_;
  now_ = next;
  jump(thread, *next);
}

void Engine::leave(Thread& thread) {
  if (!thread.copies.empty()) finish_copies(thread, thread.copy_group);
  thread.done = true;
  collectives_.leave(thread);
  if (--running_ == 0) stop();
  block(thread);
  __builtin_unreachable();
}

void Engine::stop() {
  jump(*now_, main_);
  __builtin_unreachable();
}

void Engine::fail(Kind kind, uint32_t site, std::string message) {
  if (is_new(kind, site)) findings_.add(kind, std::move(message));
  stop();
}

void Engine::report(Kind kind, std::string message) {
  findings_.add(kind, std::move(message));
  if (findings_.full()) stop();
}

std::string Engine::describe(const Thread& thread) const {
  const std::string task = tasks_.describe(thread.task);
  return fmt::format("{}{}block {}, warp {}, lane {}", task, task.empty() ? "" : ", ", thread.block,
                     thread.warp(), thread.lane());
}

std::string Engine::describe(const Access& access) const {
  const auto blocks = static_cast<uint32_t>(launch_.blocks);
  uint32_t block = access.thread >> bits_of_index;
  const bool copies = block >= blocks;
  if (copies) block -= blocks;
  Thread who;
  who.block = block;
  who.index = access.thread & ((1U << bits_of_index) - 1);
  who.task = access.task;
  return fmt::format("{}{} ({})", copies ? "an asynchronous copy of " : "", describe(who),
                     site(access.site).place);
}

std::string Engine::describe(const Thread& thread, const Touch& touch) {
  const bool updates = site(touch.site).does == Site::Does::update;
  return fmt::format("{}{} {} {} bytes at {}", touch.by_copies ? "an asynchronous copy of " : "",
                     describe(thread),
                     updates        ? "updates"
                     : touch.writes ? "writes"
                                    : "reads",
                     touch.bytes, memory_.describe(touch.address));
}

Area* Engine::check_place(const Thread& thread, const Touch& touch) {
  const uint64_t low = reinterpret_cast<uint64_t>(thread.stack_low),
                 size = Stacks::bytes_of_one - Stacks::guard;
  if (touch.space == Touch::Space::any && touch.address - low < size &&
      touch.bytes <= size - (touch.address - low))
    return nullptr;
  Area* area = memory_.find(touch.address);
  const bool inside = area != nullptr && area->holds(touch.address, touch.bytes) &&
                      (area->block < 0 ? touch.space != Touch::Space::shared
                                       : area->block == thread.block && touch.space != Touch::Space::global);
  if (inside && (area->writable || !touch.writes)) return area;
  fail(inside ? Kind::read_only : Kind::out_of_bounds, touch.site,
       fmt::format("{} ({})", describe(thread, touch), site(touch.site).place));
}

void Engine::check(const Thread& thread, const Touch& touch) {
  Area* area = check_place(thread, touch);
  if (touch.address % touch.align != 0)
    fail(Kind::misaligned, touch.site,
         fmt::format("{}, which is no multiple of {} ({})", describe(thread, touch), touch.align,
                     site(touch.site).place));
  if (area != nullptr && area->accesses) note(thread, *area, touch);
}

void Engine::note(const Thread& thread, Area& area, const Touch& touch) {
  Access now{};
  now.thread = touch.by_copies ? thread.copies_id : thread.id;
  now.write = touch.writes;
  now.atomic = site(touch.site).atomic;
  now.epoch = touch.by_copies ? thread.copy_group : thread.epoch;
  now.site = touch.site;
  now.task = thread.task;
  const uint64_t start = area.base & ~uint64_t{3};
  const auto noted =
      area.accesses->note(touch.address - start, touch.bytes, now, thread, launch_.options.lockstep,
                          [&](const Access& before) { report_race(thread, touch, before); });
  const auto say = [&](Kind kind, std::string_view what) {
    if (is_new(kind, touch.site))
      report(kind, fmt::format("{}, {} ({})", describe(thread, touch), what, site(touch.site).place));
  };
  if (noted.unwritten) say(Kind::uninitialised, "which nothing has written");
  if (noted.event) say(Kind::event, "which is an event word");
}

void Engine::report_race(const Thread& thread, const Touch& touch, const Access& before) {
  const uint32_t here = site(touch.site).group, there = site(before.site).group;
  const bool has_line = site(touch.site).has_line || site(before.site).has_line;
  if (!has_line && thread.task != 0 && before.task != 0) {
    // Code that comes from no source has many instructions for one thing: once for a pair of types and a
    // memory.
    const auto type = [&](uint32_t task) { return static_cast<uint32_t>(tasks_.type(task)); };
    const uint64_t types = static_cast<uint64_t>(type(thread.task)) << 32 | type(before.task);
    if (!findings_.is_new(Kind::race, memory_.find(touch.address)->base, types)) return;
  } else if (!is_new(Kind::race, std::min(here, there), std::max(here, there))) {
    return;
  }
  report(Kind::race, fmt::format("{} ({}); nothing orders that and the {} by {}", describe(thread, touch),
                                 site(touch.site).place, before.write ? "write" : "read", describe(before)));
}

void Engine::access(uint64_t address, uint64_t bytes, uint32_t at) {
  step();
  if (!checks() || bytes == 0) return;
  const Site& accessed = site(at);
  check(
      self(),
      {.address = address, .bytes = bytes, .align = accessed.align, .writes = accessed.writes(), .site = at});
  if (accessed.atomic) synchronisation_.access(self(), address, accessed);
}

void Engine::fence(uint32_t at) {
  step();
  Synchronisation::fence(self(), site(at));
}

void Engine::primitive(uint64_t* values, uint32_t at) {
  const Primitive& row = *site(at).primitive;
  if (!row.pure) {
    ++primitives_;
    step();
  }
  row.run({*this, self(), values, at, row.parameter});
}

void Engine::add_copy(Thread& thread, const PendingCopy& copy) {
  if (thread.copies.empty()) copying_.push_back(&thread);
  thread.copies.push_back(copy);
  if (copy_delay_ == 0) move_some_copies();
}

void Engine::finish_copies(Thread& thread, uint32_t group) {
  while (!thread.copies.empty() && thread.copies.front().group <= group) {
    const PendingCopy copy = thread.copies.front();
    thread.copies.pop_front();
    std::memcpy(copy.to, copy.from, copy.source_bytes);
    std::memset(static_cast<std::byte*>(copy.to) + copy.source_bytes, 0, copy.bytes - copy.source_bytes);
  }
  if (thread.copies.empty()) std::erase(copying_, &thread);
  thread.copies_done = std::max(thread.copies_done, group);
}

/// Of one thread, any copies; the thread does not know.
void Engine::move_some_copies() {
  if (copy_delay_ + 1 == copy_delays || scheduler_.random().below(1U << (2 * copy_delay_)) != 0) return;
  Thread& thread = *copying_[scheduler_.random().below(static_cast<uint32_t>(copying_.size()))];
  const uint32_t known = thread.copies_done;
  finish_copies(thread, thread.copies.front().group);
  thread.copies_done = known;
}

}  // namespace axon::emulator
