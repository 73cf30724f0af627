#include "mutants.h"

#include <fmt/format.h>

#include <functional>
#include <map>

namespace axon::task {

namespace {}  // namespace

void remove_wait(Program& p, uint32_t w) {
  std::vector<Finished> kept;
  std::map<uint32_t, uint32_t> number;
  for (uint32_t n = 0; n < p.certificate.size(); ++n) {
    Finished f = p.certificate[n];
    if (f.wait == w || (f.after && !number.contains(*f.after))) continue;
    if (f.wait > w) --f.wait;
    if (f.after) f.after = number.at(*f.after);
    number[n] = static_cast<uint32_t>(kept.size());
    kept.push_back(std::move(f));
  }
  p.certificate = std::move(kept);
  p.waits.erase(p.waits.begin() + static_cast<long>(w));
}

namespace {

class Generator {
 public:
  Generator(const Program& p, size_t per_kind) : p_(p), text_(print(p)), per_kind_(per_kind) {}

  std::vector<Mutant> run_certificate() {
    for (uint32_t n = 0; n < p_.certificate.size(); ++n) known(n);
    return thinned();
  }

  std::vector<Mutant> run() {
    for (uint32_t w = 0; w < p_.waits.size(); ++w) wait(w);
    for (uint32_t e = 0; e < p_.events.size(); ++e) event({e});
    for (uint32_t t = 0; t < p_.types.size(); ++t) type({t});
    for (uint32_t l = 0; l < p_.loops.size(); ++l) loop({l});
    for (size_t i = 0; i < p_.places.size(); ++i) place(i);
    swap_steps(p_.steps, [](Program& p) -> std::vector<Step>& { return p.steps; });
    return thinned();
  }

 private:
  void add(const std::string& kind, std::string change, const std::function<void(Program&)>& edit) {
    Mutant mutant{kind, std::move(change), p_};
    edit(mutant.program);
    if (print(mutant.program) != text_) by_kind_[kind].push_back(std::move(mutant));
  }

  /// Evenly spread over what there is of each kind.
  std::vector<Mutant> thinned() {
    std::vector<Mutant> out;
    for (auto& [kind, list] : by_kind_) {
      const size_t count = std::min(per_kind_, list.size());
      for (size_t i = 0; i < count; ++i) out.push_back(std::move(list[i * list.size() / count]));
    }
    return out;
  }

  std::string name(TaskTypeId t) const { return p_.types[t].name; }

  void wait(uint32_t w) {
    const Wait& wait = p_.waits[w];
    const Event& event = p_.events[wait.event];
    const std::string what = fmt::format("wait {} of {} on {}", w, name(wait.consumer), event.name);
    add("removed wait", what, [&](Program& p) { remove_wait(p, w); });
    for (size_t a = 0; a < wait.box.size(); ++a) wait_axis(w, a, what + fmt::format(" axis {}", a));
    for (size_t i = 0; i < wait.iteration.size(); ++i)
      for (int by : {-1, 1})
        add("iteration of a wait", fmt::format("{} index {} by {}", what, i, by),
            [&](Program& p) { p.waits[w].iteration[i] = wait.iteration[i] + Dim(by); });
    for (size_t g = 0; g < wait.guard.size(); ++g) {
      add("removed guard", what,
          [&](Program& p) { p.waits[w].guard.erase(p.waits[w].guard.begin() + static_cast<long>(g)); });
      add("stronger guard", what, [&](Program& p) { p.waits[w].guard[g].lhs = wait.guard[g].lhs + Dim(1); });
    }
  }

  void wait_axis(uint32_t w, size_t a, const std::string& what) {
    const Wait& wait = p_.waits[w];
    const Wait::Range range = wait.box[a];
    const Dim end = p_.events[wait.event].shape[a] - Dim(1);
    const auto set = [&](const char* kind, const std::string& how, const Dim& first, const Dim& last) {
      add(kind, what + " " + how, [&](Program& p) { p.waits[w].box[a] = {first, last}; });
    };
    set("first of a wait", "first - 1", range.first - Dim(1), range.last);
    set("first of a wait", "first + 1", range.first + Dim(1), range.last);
    set("last of a wait", "last - 1", range.first, range.last - Dim(1));
    set("last of a wait", "last + 1", range.first, range.last + Dim(1));
    set("widened wait", "whole", Dim(0), end);
    set("narrowed wait", "first only", range.first, range.first);
    set("narrowed wait", "last only", range.last, range.last);
    const auto& grid = p_.types[wait.consumer].coordinates;
    for (const Coordinate& from : grid)
      for (const Coordinate& to : grid) {
        if (from.var == to.var || (!range.first.contains(from.var) && !range.last.contains(from.var)))
          continue;
        const shape::Substitution other = {{from.var, Dim(to.var)}};
        set("wrong coordinate", "another coordinate", range.first.substitute(other),
            range.last.substitute(other));
      }
    set("wrong coordinate", "constant", Dim(0), Dim(0));
  }

  void known(uint32_t n) {
    const Finished& f = p_.certificate[n];
    const std::string what = fmt::format("known {}", n);
    const auto& grid = p_.types[f.producer].coordinates;
    for (size_t c = 0; c < f.ranges.size(); ++c) {
      const auto set = [&](const char* how, const Dim& first, const Dim& last) {
        add("range of an entry", fmt::format("{} coordinate {} {}", what, c, how),
            [&](Program& p) { p.certificate[n].ranges[c] = Wait::Range{first, last}; });
      };
      set("whole", Dim(0), grid[c].extent - Dim(1));
      if (!f.ranges[c]) {
        set("first", Dim(0), Dim(0));
        continue;
      }
      set("earlier", f.ranges[c]->first - Dim(1), f.ranges[c]->last);
      set("later", f.ranges[c]->first, f.ranges[c]->last + Dim(1));
      set("to the end", f.ranges[c]->first, grid[c].extent - Dim(1));
    }
    for (size_t b = 0; b < f.through.size(); ++b)
      add("iteration of an entry", fmt::format("{} index {} later", what, b),
          [&](Program& p) { p.certificate[n].through[b] = f.through[b] + Dim(1); });
    if (!f.through.empty())
      add("iteration of an entry", what + " all", [&](Program& p) { p.certificate[n].through.pop_back(); });
    for (size_t g = 0; g < f.guard.size(); ++g)
      add("guard of an entry", what, [&](Program& p) {
        p.certificate[n].guard.erase(p.certificate[n].guard.begin() + static_cast<long>(g));
      });
    if (f.after) add("chain of an entry", what, [&](Program& p) { p.certificate[n].after.reset(); });
    for (uint32_t w = 0; w < p_.waits.size(); ++w)
      if (w != f.wait)
        add("wait of an entry", fmt::format("{} wait {}", what, w),
            [&](Program& p) { p.certificate[n].wait = w; });
  }

  void event(EventId id) {
    const Event& event = p_.events[id];
    add("count of an event", event.name, [&](Program& p) { p.events[id].count = event.count + Dim(1); });
    add("count of an event", event.name + " once", [&](Program& p) { p.events[id].count = Dim(1); });
    for (size_t a = 0; a < event.kept.size(); ++a) {
      add("shape of an event", event.name,
          [&](Program& p) { p.events[id].shape[a] = event.shape[a] + Dim(1); });
      for (uint32_t c = 0; c < p_.types[event.producer].coordinates.size(); ++c)
        add("kept coordinate of an event", fmt::format("{} keeps {}", event.name, c),
            [&](Program& p) { p.events[id].kept[a] = c; });
    }
    for (uint32_t t = 0; t < p_.types.size(); ++t)
      if (p_.types[TaskTypeId{t}].coordinates.size() == p_.types[event.producer].coordinates.size())
        add("producer of an event", fmt::format("{} of {}", event.name, name({t})),
            [&](Program& p) { p.events[id].producer = {t}; });
  }

  void type(TaskTypeId id) {
    const TaskType& type = p_.types[id];
    for (size_t a = 0; a < type.accesses.size(); ++a) {
      const Access& access = type.accesses[a];
      const std::string what = fmt::format("{} access {}", type.name, a);
      for (size_t i = 0; i < access.box.size(); ++i) {
        add("access box", what + " shorter",
            [&](Program& p) { p.types[id].accesses[a].box[i].high = access.box[i].high - Dim(1); });
        add("access box", what + " longer",
            [&](Program& p) { p.types[id].accesses[a].box[i].low = access.box[i].low - Dim(1); });
      }
      for (uint32_t b = 0; b < p_.buffers.size(); ++b)
        if (p_.buffers[BufferId{b}].shape.size() == access.box.size())
          add("buffer of an access", what, [&](Program& p) { p.types[id].accesses[a].buffer = {b}; });
      add("removed access", what, [&](Program& p) {
        p.types[id].accesses.erase(p.types[id].accesses.begin() + static_cast<long>(a));
      });
    }
    for (size_t c = 0; c < type.coordinates.size(); ++c) {
      const std::string what = fmt::format("{} coordinate {}", type.name, c);
      add("tile", what, [&](Program& p) { p.types[id].coordinates[c].tile += 1; });
      for (int by : {-1, 1})
        add("grid extent", fmt::format("{} by {}", what, by),
            [&](Program& p) { p.types[id].coordinates[c].extent = type.coordinates[c].extent + Dim(by); });
    }
  }

  void loop(LoopId id) {
    for (int by : {-1, 1})
      add("loop extent", fmt::format("l{} by {}", id.index, by),
          [&](Program& p) { p.loops[id].extent = p_.loops[id].extent + Dim(by); });
  }

  void place(size_t i) {
    const auto& [value, place] = p_.places[i];
    const std::string what = fmt::format("place %{}.{}", value.node.index, value.output);
    for (uint32_t b = 0; b < p_.buffers.size(); ++b)
      if (p_.buffers[BufferId{b}].shape.size() == p_.buffers[place.buffer].shape.size())
        add("place", what, [&](Program& p) { p.places[i].second.buffer = {b}; });
    if (!place.slot) return;
    for (const Dim& slot : {Dim(0), Dim(1), shape::mod(*place.slot + Dim(1), Dim(2))})
      add("slot of a place", what, [&](Program& p) { p.places[i].second.slot = slot; });
    add("slot of a place", what + " removed", [&](Program& p) { p.places[i].second.slot.reset(); });
  }

  void swap_steps(const std::vector<Step>& steps, const std::function<std::vector<Step>&(Program&)>& find) {
    for (size_t i = 0; i < steps.size(); ++i) {
      if (i + 1 < steps.size())
        add("swapped steps", fmt::format("{} and the next", i),
            [&](Program& p) { std::swap(find(p)[i], find(p)[i + 1]); });
      if (!steps[i].body.empty())
        swap_steps(steps[i].body, [&find, i](Program& p) -> std::vector<Step>& { return find(p)[i].body; });
    }
  }

  const Program& p_;
  const std::string text_;
  const size_t per_kind_;
  std::map<std::string, std::vector<Mutant>> by_kind_;
};

}  // namespace

std::vector<Mutant> mutants_of(const Program& p, size_t per_kind) { return Generator(p, per_kind).run(); }

std::vector<Mutant> forged(const Program& p, size_t per_kind) {
  return Generator(p, per_kind).run_certificate();
}

}  // namespace axon::task
