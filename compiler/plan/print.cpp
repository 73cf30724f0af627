// A plan as text; parse.cpp reads it back against the programs of its variants.
//
//   plan decode
//   variant decode_0 when m <= 1                 symbol, and the program's guard
//     exit l0 word 2 check 5 inner n left 7      the exit condition of a loop: its word of the event area,
//                                                check, iterations inside, workers' words if it is nested
//     size k word 3 check 6                      a data-dependent size
//     needs k                                    before this step; then a loop or a segment
//     loop l < n
//       segment matmul.4 tasks 4*n               a task type and its grid
//         first wait 3 copy.2 [t0 : t0] at (l)   a wait of the program, hoisted; what it waits for
//         each wait 4 copy.2 [t0 : t0] at (l)    the same before each task
//         each wait 5 sum.3 [] at () once in l   only in the first iteration
//         barrier
//         line n of 5*n                          tasks beside it: those before its own, and all
//         publishes exit l0                      whether the next iteration starts
//         publishes size k
//       debug 0 "name"                           complete after this step
//     slot 0 of copy.2 bytes 4*n
//     slot 1 of sum.3 bytes 8*m above 0          begins where the slots below it have ended
//     words 0 from 0                             first word of each event, then of each exit condition, size
//     event words 4*n
//     iterations n
//     work 64*n
//     handoffs 2*n
//
// What the program says already (guards, tasks, what a wait waits for) is there to be read; it is compared
// when the text is read back.
#include <fmt/format.h>

#include "plan/text.h"

namespace axon::plan {

namespace {

class Printer {
 public:
  explicit Printer(const Variant& v) : v_(v), p_(v.program), names_(v.program) {}

  std::string run() {
    out_ = fmt::format("variant {}{}\n", v_.symbol, names_("when", p_.guard));
    for (const ExitCondition& d : v_.exit_conditions)
      out_ += fmt::format("  exit l{} word {} check {} inner {}{}\n", d.loop.index, d.word, d.check,
                          names_(d.inner), d.left ? fmt::format(" left {}", *d.left) : "");
    for (const DataSize& d : v_.data_sizes)
      out_ += fmt::format("  size {} word {} check {}\n", p_.graph->sizes[d.size].name, d.word, d.check);
    steps(v_.steps, 1);
    for (size_t s = 0; s < v_.slots.size(); ++s) slot(s, v_.slots[s]);
    for (size_t r = 0; r < v_.event_offset.size(); ++r)
      out_ += fmt::format("  words {} from {}\n", r, names_(v_.event_offset[r]));
    out_ += fmt::format("  event words {}\n  iterations {}\n  work {}\n  handoffs {}\n",
                        names_(v_.event_words), names_(v_.iterations), names_(v_.work), names_(v_.handoffs));
    return std::move(out_);
  }

 private:
  void steps(const std::vector<Step>& list, int depth) {
    const std::string indent(static_cast<size_t>(2 * depth), ' ');
    for (const Step& s : list) {
      for (uint32_t n : s.needs) out_ += fmt::format("{}needs {}\n", indent, size_name(n));
      if (s.segment) {
        segment(*s.segment, indent);
      } else {
        const auto& loop = p_.loops[s.loop];
        out_ += fmt::format("{}loop {} < {}\n", indent, names_(loop.index), names_(loop.extent));
        steps(s.body, depth + 1);
      }
      for (uint32_t d : s.debugs)
        out_ += fmt::format("{}debug {} \"{}\"\n", indent, d, p_.graph->debugs[d].name);
    }
  }

  void segment(const Segment& s, const std::string& indent) {
    const auto& type = p_.types[s.type];
    out_ += fmt::format("{}segment {} tasks {}\n", indent, type.name, names_(tasks_of(type)));
    for (uint32_t w : s.hoisted)
      out_ += fmt::format("{}  first wait {} {}\n", indent, w, text_of(p_, names_, p_.waits[w]));
    for (uint32_t w : s.per_task)
      out_ += fmt::format("{}  each wait {} {}\n", indent, w, text_of(p_, names_, p_.waits[w]));
    if (s.barrier_after) out_ += indent + "  barrier\n";
    if (s.line)
      out_ += fmt::format("{}  line {} of {}{}\n", indent, names_(s.line->before), names_(s.line->whole),
                          s.line->from_end ? " from end" : "");
    if (s.folded) out_ += fmt::format("{}  fold {}\n", indent, names_(type.coordinates[*s.folded].var));
    for (uint32_t d : s.exit_conditions)
      out_ += fmt::format("{}  publishes exit l{}\n", indent, v_.exit_conditions[d].loop.index);
    for (uint32_t n : s.data_sizes) out_ += fmt::format("{}  publishes size {}\n", indent, size_name(n));
  }

  void slot(size_t number, const Slot& s) {
    std::string above;
    for (uint32_t below : s.above) above += (above.empty() ? " above " : ", ") + std::to_string(below);
    out_ += fmt::format("  slot {} of {} bytes {}{}\n", number, p_.buffers[s.buffer].name, names_(s.bytes),
                        above);
  }

  const std::string& size_name(uint32_t number) const {
    return p_.graph->sizes[v_.data_sizes[number].size].name;
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
