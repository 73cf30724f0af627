// A plan as text: per variant its guard, the segments in order with their waits, the arena slots and the
// totals.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "plan/plan.h"
#include "task/names.h"

namespace axon::plan {

namespace {

class Printer {
 public:
  explicit Printer(const Variant& v) : v_(v), p_(v.program), names_(v.program) {}

  std::string run() {
    out_ = fmt::format("variant {}\n", v_.symbol);
    steps(v_.steps, 1);
    for (size_t s = 0; s < v_.slots.size(); ++s) {
      std::vector<std::string> buffers;
      for (auto b : v_.slots[s].buffers) buffers.push_back(p_.buffers[b].name);
      out_ += fmt::format("  slot {} bytes {} holds {}\n", s, names_(v_.slots[s].bytes),
                          fmt::join(buffers, ", "));
    }
    out_ += fmt::format("  event words {}\n  iterations {}\n  work {}\n  handoffs {}\n",
                        names_(v_.event_words), names_(v_.iterations), names_(v_.work), names_(v_.handoffs));
    return std::move(out_);
  }

 private:
  void steps(const std::vector<Step>& list, int depth) {
    const std::string indent(static_cast<size_t>(2 * depth), ' ');
    for (const Step& s : list) {
      for (uint32_t n : s.needs) out_ += fmt::format("{}needs {}\n", indent, size_name(n));
      if (!s.segment) {
        const auto& loop = p_.loops[s.loop];
        out_ += fmt::format("{}loop {} < {}\n", indent, names_(loop.index), names_(loop.extent));
        steps(s.body, depth + 1);
        debugs(s, indent);
        continue;
      }
      const auto& type = p_.types[s.segment->type];
      Dim tasks(1);
      for (const auto& c : type.coordinates) tasks = tasks * c.extent;
      out_ += fmt::format("{}segment {} tasks {}\n", indent, type.name, names_(tasks));
      for (uint32_t w : s.segment->hoisted) out_ += indent + "  first wait " + wait(p_.waits[w]) + "\n";
      for (uint32_t w : s.segment->per_task) out_ += indent + "  each wait " + wait(p_.waits[w]) + "\n";
      if (s.segment->barrier_after) out_ += indent + "  barrier\n";
      for (uint32_t d : s.segment->decides)
        out_ += fmt::format("{}  decides {}\n", indent, names_(p_.loops[v_.decisions[d].loop].extent));
      for (uint32_t n : s.segment->settles) out_ += fmt::format("{}  decides {}\n", indent, size_name(n));
      debugs(s, indent);
    }
  }

  const std::string& size_name(uint32_t number) const { return p_.graph->sizes[v_.sizes[number].size].name; }

  void debugs(const Step& s, const std::string& indent) {
    for (uint32_t d : s.debugs) out_ += fmt::format("{}debug \"{}\"\n", indent, p_.graph->debugs[d].first);
  }

  std::string wait(const task::Wait& w) const {
    std::vector<std::string> box, at;
    for (const auto& r : w.box) box.push_back(names_(r.first) + " : " + names_(r.last));
    for (const auto& i : w.iteration) at.push_back(names_(i));
    return fmt::format("{} [{}] at ({})", p_.types[p_.events[w.event].producer].name, fmt::join(box, ", "),
                       fmt::join(at, ", "));
  }

  const Variant& v_;
  const task::Program& p_;
  task::Names names_;
  std::string out_;
};

}  // namespace

std::string print(const Plan& plan) {
  std::string text = "plan " + plan.graph->name + "\n";
  for (const Variant& v : plan.variants) text += Printer(v).run();
  return text;
}

}  // namespace axon::plan
