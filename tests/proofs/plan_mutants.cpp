#include "plan_mutants.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>

namespace axon::plan {

namespace {

using task::BufferId;

/// Where a step stands: its number in each list of steps on the way to it.
using Path = std::vector<size_t>;

/// The list that a step stands in.
std::vector<Step>& list_at(Variant& v, const Path& path) {
  std::vector<Step>* list = &v.steps;
  for (size_t n = 0; n + 1 < path.size(); ++n) list = &(*list)[path[n]].body;
  return *list;
}
Step& step_at(Variant& v, const Path& path) { return list_at(v, path)[path.back()]; }

template <class T>
void erase_at(std::vector<T>& list, size_t n) {
  list.erase(list.begin() + static_cast<std::ptrdiff_t>(n));
}

class Generator {
 public:
  Generator(const Variant& v, size_t per_kind) : v_(v), p_(v.program), per_kind_(per_kind) {
    Path path;
    find_steps(v_.steps, path);
  }

  std::vector<Mutant> run() {
    for (const Path& path : paths_) step(path);
    for (size_t s = 0; s < v_.slots.size(); ++s) slot(s);
    words();
    for (size_t d = 0; d < v_.exit_conditions.size(); ++d) exit_condition(d);
    for (size_t d = 0; d < v_.data_sizes.size(); ++d) data_size(d);
    std::vector<Mutant> out;
    for (auto& [kind, list] : by_kind_) {
      const size_t count = std::min(per_kind_, list.size());
      for (size_t i = 0; i < count; ++i) {
        const Edit& edit = list[i * list.size() / count];
        out.push_back({kind, edit.change, v_});
        edit.apply(out.back().variant);
      }
    }
    return out;
  }

 private:
  /// Edits are applied only once they are chosen: a variant is large.
  struct Edit {
    std::string change;
    std::function<void(Variant&)> apply;
  };

  void add(const char* kind, std::string change, std::function<void(Variant&)> apply) {
    by_kind_[kind].push_back({std::move(change), std::move(apply)});
  }

  void find_steps(const std::vector<Step>& steps, Path& path) {
    for (size_t i = 0; i < steps.size(); ++i) {
      path.push_back(i);
      paths_.push_back(path);
      find_steps(steps[i].body, path);
      path.pop_back();
    }
  }

  const Step& at(const Path& path) const { return step_at(const_cast<Variant&>(v_), path); }
  const std::vector<Step>& around(const Path& path) const { return list_at(const_cast<Variant&>(v_), path); }

  std::string name(const Path& path) const {
    const Step& step = at(path);
    return step.segment ? p_.types[step.segment->type].name : fmt::format("loop l{}", step.loop.index);
  }

  // ---- steps ----

  void step(const Path& path) {
    const std::string what = name(path);
    if (path.back() + 1 < around(path).size())
      add("swapped steps", what + " and the next",
          [path](Variant& v) { std::swap(step_at(v, path), list_at(v, path)[path.back() + 1]); });
    add("dropped step", what, [path](Variant& v) { erase_at(list_at(v, path), path.back()); });
    add("repeated step", what, [path](Variant& v) {
      auto& list = list_at(v, path);
      list.insert(list.begin() + static_cast<std::ptrdiff_t>(path.back()), Step(list[path.back()]));
    });
    if (path.size() > 1)
      add("step out of its loop", what, [path](Variant& v) {
        const Step moved = step_at(v, path);
        erase_at(list_at(v, path), path.back());
        const Path loop(path.begin(), path.end() - 1);
        auto& list = list_at(v, loop);
        list.insert(list.begin() + static_cast<std::ptrdiff_t>(loop.back()) + 1, moved);
      });
    needs(path, what);
    debugs(path, what);
    if (at(path).segment) segment(path, what);
  }

  void needs(const Path& path, const std::string& what) {
    const Step& step = at(path);
    for (uint32_t n = 0; n < v_.data_sizes.size(); ++n) {
      const auto found = std::find(step.needs.begin(), step.needs.end(), n);
      if (found == step.needs.end()) {
        add("another need", fmt::format("{} needs {} too", what, n),
            [path, n](Variant& v) { step_at(v, path).needs.push_back(n); });
        add("moved need", fmt::format("{} needs {}, and nobody else", what, n), [this, path, n](Variant& v) {
          for (const Path& other : paths_) std::erase(step_at(v, other).needs, n);
          step_at(v, path).needs.push_back(n);
        });
        continue;
      }
      add("dropped need", fmt::format("{} of {}", n, what),
          [path, n](Variant& v) { std::erase(step_at(v, path).needs, n); });
    }
    add("need of an unknown size", what,
        [path](Variant& v) { step_at(v, path).needs.push_back(static_cast<uint32_t>(v.data_sizes.size())); });
  }

  void debugs(const Path& path, const std::string& what) {
    const auto count = static_cast<uint32_t>(p_.graph->debugs.size());
    for (uint32_t n = 0; n < count; ++n) {
      const auto& list = at(path).debugs;
      if (std::find(list.begin(), list.end(), n) == list.end()) {
        add("another debug", fmt::format("{} shows {} too", what, n),
            [path, n](Variant& v) { step_at(v, path).debugs.push_back(n); });
        add("moved debug", fmt::format("{} shows {}, and nobody else", what, n), [this, path, n](Variant& v) {
          for (const Path& other : paths_) std::erase(step_at(v, other).debugs, n);
          step_at(v, path).debugs.push_back(n);
        });
        continue;
      }
      add("dropped debug", fmt::format("{} of {}", n, what),
          [path, n](Variant& v) { std::erase(step_at(v, path).debugs, n); });
      add("repeated debug", fmt::format("{} of {}", n, what),
          [path, n](Variant& v) { step_at(v, path).debugs.push_back(n); });
    }
    if (count > 0)
      add("unknown debug", what, [path, count](Variant& v) { step_at(v, path).debugs.push_back(count); });
  }

  // ---- segments ----

  void segment(const Path& path, const std::string& what) {
    const Segment& segment = *at(path).segment;
    for (const bool hoisted : {true, false}) {
      const auto& list = hoisted ? segment.hoisted : segment.per_task;
      for (size_t i = 0; i < list.size(); ++i)
        wait(path, hoisted, i, fmt::format("wait {} of {}", list[i], what));
    }
    add(segment.barrier_after ? "dropped barrier" : "another barrier", what, [path](Variant& v) {
      Segment& changed = *step_at(v, path).segment;
      changed.barrier_after = !changed.barrier_after;
    });
    for (uint32_t t = 0; t < p_.types.size(); ++t)
      if (task::TaskTypeId{t} != segment.type)
        add("another type of a segment", fmt::format("{} for {}", p_.types[task::TaskTypeId{t}].name, what),
            [path, t](Variant& v) { step_at(v, path).segment->type = {t}; });
    const auto loops = static_cast<uint32_t>(v_.exit_conditions.size());
    published(path, what, "exit condition", &Segment::exit_conditions, loops);
    published(path, what, "size", &Segment::data_sizes, static_cast<uint32_t>(v_.data_sizes.size()));
    line(path, what);
    fold(path, what);
  }

  void fold(const Path& path, const std::string& what) {
    const auto becomes = [&](const std::string& how, std::optional<uint32_t> folded) {
      add("another fold", what + how,
          [path, folded](Variant& v) { step_at(v, path).segment->folded = folded; });
    };
    const Segment& segment = *at(path).segment;
    const auto count = static_cast<uint32_t>(p_.types[segment.type].coordinates.size());
    if (segment.folded) becomes(", not folded", std::nullopt);
    for (uint32_t c = 0; c <= count; ++c)
      if (segment.folded != c) becomes(fmt::format(", folded along {}", c), c);
  }

  void line(const Path& path, const std::string& what) {
    const auto becomes = [&](const char* how, Dim before, Dim whole) {
      add("another line", what + how,
          [path, before = std::move(before), whole = std::move(whole)](Variant& v) {
            step_at(v, path).segment->line = Line{before, whole, false};
          });
    };
    const auto& line = at(path).segment->line;
    if (!line) return becomes(", alone in a line of one", Dim(0), Dim(1));
    add("dropped line", what, [path](Variant& v) { step_at(v, path).segment->line.reset(); });
    becomes(", one task later", line->before + Dim(1), line->whole);
    becomes(", one task earlier", line->before - Dim(1), line->whole);
    becomes(", of one task less", line->before, line->whole - Dim(1));
    becomes(", of one task more", line->before, line->whole + Dim(1));
    becomes(", of no tasks", line->before, Dim(0));
    add("shared from the other end", what,
        [path](Variant& v) { step_at(v, path).segment->line->from_end ^= true; });
    for (const task::Loop& loop : p_.loops)
      becomes(", another in each iteration", line->before, line->whole + loop.index);
  }

  static std::vector<uint32_t>& waits(Variant& v, const Path& path, bool hoisted) {
    Segment& segment = *step_at(v, path).segment;
    return hoisted ? segment.hoisted : segment.per_task;
  }

  void wait(const Path& path, bool hoisted, size_t i, const std::string& what) {
    add("dropped wait", what, [=](Variant& v) { erase_at(waits(v, path, hoisted), i); });
    add(hoisted ? "wait once, now per task" : "wait per task, now once", what, [=](Variant& v) {
      auto& list = waits(v, path, hoisted);
      waits(v, path, !hoisted).push_back(list[i]);
      erase_at(list, i);
    });
    add("repeated wait", what, [=](Variant& v) {
      auto& list = waits(v, path, hoisted);
      list.push_back(uint32_t{list[i]});
    });
    add("wait once and per task", what,
        [=](Variant& v) { waits(v, path, !hoisted).push_back(waits(v, path, hoisted)[i]); });
    const auto& list = hoisted ? at(path).segment->hoisted : at(path).segment->per_task;
    if (i + 1 < list.size())
      add("swapped waits", what + " and the next", [=](Variant& v) {
        auto& changed = waits(v, path, hoisted);
        std::swap(changed[i], changed[i + 1]);
      });
    const uint32_t own = list[i];
    for (uint32_t other = 0; other <= p_.waits.size(); ++other)
      if (other != own)
        add("another wait", fmt::format("{} is now {}", what, other),
            [=](Variant& v) { waits(v, path, hoisted)[i] = other; });
    for (const Path& to : paths_)
      if (to != path && at(to).segment)
        add("wait of another segment", what + " at " + name(to), [=](Variant& v) {
          auto& list = waits(v, path, hoisted);
          waits(v, to, hoisted).push_back(list[i]);
          erase_at(list, i);
        });
  }

  /// What a segment publishes: `count` is how many there are to publish.
  void published(const Path& path, const std::string& what, const char* of,
                 std::vector<uint32_t> Segment::*list, uint32_t count) {
    const auto& own = (*at(path).segment).*list;
    for (uint32_t n = 0; n < count; ++n) {
      const std::string change = fmt::format("{} {} by {}", of, n, what);
      const auto found = std::find(own.begin(), own.end(), n);
      if (found == own.end()) {
        add("another published value of a segment", change,
            [=](Variant& v) { ((*step_at(v, path).segment).*list).push_back(n); });
        continue;
      }
      add("dropped published value of a segment", change,
          [=](Variant& v) { std::erase((*step_at(v, path).segment).*list, n); });
      add("repeated published value of a segment", change,
          [=](Variant& v) { ((*step_at(v, path).segment).*list).push_back(n); });
    }
    if (count > 0)
      add("unknown published value of a segment", what,
          [=](Variant& v) { ((*step_at(v, path).segment).*list).push_back(count); });
  }

  // ---- memory ----

  void slot(size_t s) {
    const Slot& slot = v_.slots[s];
    const std::string what = fmt::format("slot {}", s);
    const auto bytes = [&](const char* kind, const char* how, const Dim& to) {
      if (to != slot.bytes) add(kind, what + how, [=](Variant& v) { v.slots[s].bytes = to; });
    };
    bytes("shrunk slot", " by one", slot.bytes - Dim(1));
    bytes("shrunk slot", " to half", shape::floor_div(slot.bytes, Dim(2)));
    bytes("shrunk slot", " to nothing", Dim(0));
    bytes("grown slot", " by 64", slot.bytes + Dim(64));
    for (size_t o = s + 1; o < v_.slots.size(); ++o) {
      const std::string both = fmt::format("{} and {}", what, o);
      bytes("bytes of another slot", fmt::format(" as {}", o).c_str(), v_.slots[o].bytes);
      add("swapped slots", both, [=](Variant& v) { std::swap(v.slots[s], v.slots[o]); });
      add("swapped buffers", both, [=](Variant& v) {
        std::swap(v.slots[s].buffer, v.slots[o].buffer);
        std::swap(v.slots[s].bytes, v.slots[o].bytes);
      });
    }
    add("dropped slot", what, [=](Variant& v) { erase_at(v.slots, s); });
    add("slot twice", what, [=](Variant& v) { v.slots.push_back(Slot(v.slots[s])); });
    for (uint32_t b = 0; b < p_.buffers.size(); ++b)
      if (BufferId{b} != slot.buffer)
        add(p_.buffers[BufferId{b}].kind == task::Buffer::Kind::temporary ? "buffer in two slots"
                                                                          : "no temporary in a slot",
            fmt::format("{} in {}", p_.buffers[BufferId{b}].name, what),
            [=, bytes = bytes_of({b})](Variant& v) {
              v.slots[s].bytes = bytes;
              v.slots[s].buffer = {b};
            });
    above(s, what);
  }

  Dim bytes_of(BufferId b) const {
    Dim bytes(base::elem_bytes(p_.buffers[b].elem));
    for (const Dim& extent : p_.buffers[b].shape) bytes = bytes * extent;
    return bytes;
  }

  void above(size_t s, const std::string& what) {
    const auto& below = v_.slots[s].above;
    for (size_t i = 0; i < below.size(); ++i)
      add("meets a slot", fmt::format("{} {}", what, below[i]),
          [=](Variant& v) { erase_at(v.slots[s].above, i); });
    for (size_t i = 0; i < below.size(); ++i)
      add("above one alone", fmt::format("{} {}", what, below[i]),
          [=](Variant& v) { v.slots[s].above = {v.slots[s].above[i]}; });
    if (!below.empty()) add("above nothing", what, [=](Variant& v) { v.slots[s].above.clear(); });
    for (uint32_t o = 0; o < v_.slots.size() + 1; ++o)
      if (std::find(below.begin(), below.end(), o) == below.end())
        add(o < s ? "above one more" : "above itself or a later one", fmt::format("{} {}", what, o),
            [=](Variant& v) { v.slots[s].above.push_back(o); });
  }

  // ---- words and epochs ----

  void words() {
    const size_t regions = v_.event_offset.size();
    for (size_t r = 0; r < regions; ++r) {
      const std::string what = fmt::format("words {}", r);
      for (const int by : {-1, 1})
        add("event offset", fmt::format("{} by {}", what, by),
            [=](Variant& v) { v.event_offset[r] = v.event_offset[r] + Dim(by); });
      for (size_t o = r + 1; o < regions; ++o)
        if (v_.event_offset[o] != v_.event_offset[r]) {
          add("swapped event offsets", fmt::format("{} and {}", what, o),
              [=](Variant& v) { std::swap(v.event_offset[r], v.event_offset[o]); });
          add("shared event offset", fmt::format("{} as {}", o, what),
              [=](Variant& v) { v.event_offset[o] = v.event_offset[r]; });
        }
      add("dropped event offset", what, [=](Variant& v) { erase_at(v.event_offset, r); });
    }
    add("another event offset", "at the end", [](Variant& v) { v.event_offset.push_back(v.event_words); });
    for (const int by : {-1, 1})
      add("event words", fmt::format("by {}", by),
          [=](Variant& v) { v.event_words = v.event_words + Dim(by); });
    if (!v_.event_words.is(0)) add("event words", "none", [](Variant& v) { v.event_words = Dim(0); });
    std::vector<Dim> seen = {v_.iterations};
    for (const Dim& to : {v_.iterations - Dim(1), shape::floor_div(v_.iterations, Dim(2)), Dim(0), Dim(1),
                          v_.iterations + Dim(1), v_.iterations * Dim(2)}) {
      if (std::find(seen.begin(), seen.end(), to) != seen.end()) continue;
      seen.push_back(to);
      add("iterations", to.str(), [=](Variant& v) { v.iterations = to; });
    }
  }

  // ---- exit conditions and data-dependent sizes ----

  void exit_condition(size_t d) {
    const ExitCondition& own = v_.exit_conditions[d];
    const std::string what = fmt::format("exit condition {}", d);
    const auto set = [&](const char* kind, std::string how, std::function<void(ExitCondition&)> change) {
      add(kind, what + " " + how, [=](Variant& v) { change(v.exit_conditions[d]); });
    };
    const auto regions = static_cast<uint32_t>(v_.event_offset.size());
    for (uint32_t word = 0; word <= regions; ++word) {
      if (word != own.word)
        set("word of an exit condition", std::to_string(word), [=](ExitCondition& x) { x.word = word; });
      if (own.left != word)
        set("words of the workers", std::to_string(word), [=](ExitCondition& x) { x.left = word; });
    }
    if (own.left) set("words of the workers", "none", [](ExitCondition& x) { x.left.reset(); });
    for (const uint32_t check : {own.check - 1, own.check + 1, uint32_t{0}})
      if (check != own.check)
        set("check of an exit condition", std::to_string(check), [=](ExitCondition& x) { x.check = check; });
    for (uint32_t l = 0; l < p_.loops.size(); ++l)
      if (task::LoopId{l} != own.loop)
        set("loop of an exit condition", std::to_string(l), [=](ExitCondition& x) { x.loop = {l}; });
    std::vector<Dim> seen = {own.inner};
    for (const Dim& inner : {Dim(0), Dim(1), own.inner - Dim(1), own.inner + Dim(1), Dim(epoch_limit)}) {
      if (std::find(seen.begin(), seen.end(), inner) != seen.end()) continue;
      seen.push_back(inner);
      set("iterations of an exit condition", inner.str(), [=](ExitCondition& x) { x.inner = inner; });
    }
    add("dropped exit condition", what, [=](Variant& v) { erase_at(v.exit_conditions, d); });
    add("repeated exit condition", what,
        [=](Variant& v) { v.exit_conditions.push_back(ExitCondition(v.exit_conditions[d])); });
  }

  void data_size(size_t d) {
    const DataSize& own = v_.data_sizes[d];
    const std::string what = fmt::format("size {}", d);
    const auto set = [&](const char* kind, std::string how, std::function<void(DataSize&)> change) {
      add(kind, what + " " + how, [=](Variant& v) { change(v.data_sizes[d]); });
    };
    for (uint32_t word = 0; word <= v_.event_offset.size(); ++word)
      if (word != own.word)
        set("word of a data-dependent size", std::to_string(word), [=](DataSize& x) { x.word = word; });
    for (const uint32_t check : {own.check - 1, own.check + 1, uint32_t{0}})
      if (check != own.check)
        set("check of a data-dependent size", std::to_string(check), [=](DataSize& x) { x.check = check; });
    for (uint32_t s = 0; s <= p_.graph->sizes.size(); ++s)
      if (s != own.size)
        set("number of a data-dependent size", std::to_string(s), [=](DataSize& x) { x.size = s; });
    add("dropped data-dependent size", what, [=](Variant& v) { erase_at(v.data_sizes, d); });
    add("repeated data-dependent size", what,
        [=](Variant& v) { v.data_sizes.push_back(DataSize(v.data_sizes[d])); });
  }

  const Variant& v_;
  const task::Program& p_;
  const size_t per_kind_;
  std::vector<Path> paths_;
  std::map<std::string, std::vector<Edit>> by_kind_;
};

}  // namespace

std::vector<Mutant> mutants_of(const Variant& v, size_t per_kind) { return Generator(v, per_kind).run(); }

}  // namespace axon::plan
