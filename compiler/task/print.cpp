// A task program as text; parse.cpp reads it back against the same graph.
//
//   tasks decode when m <= 1                         guard of the variant
//   buffer b3 temporary f32[2, m, d] "x.3"           kind, element type, shape, name; then `input 4`, `result
//   0`,
//                                                    `placed (1/32, 0, 1%32)` or `placed "S[(m,n):(1,m)]"`
//                                                    where they apply
//   loop l0 l < n                                    index (found in the graph by name) and trip count
//   type t4 contract %11 "matmul.4" in (l0)          family, graph node, name, enclosing loops
//     grid t0 < max(1, cdiv(m, 64)) by 64 on 0       coordinate, number of tiles, tile, domain axis
//     read b3[l % 2 : l % 2 + 1, 64*t0 : 64*t0 + 64, 0 : d]
//     work 64*d of n*d                               estimated operations of a tile, of the whole grid
//   event e2 of t4 keep (0) shape (max(1, cdiv(m, 64))) count 3
//   wait t5 on e2 [t0 : t0] at (l) for read of b4    inclusive box, iteration of the producer's loops, why
//   wait t1 on e2 [0 : 0] at (l - 1) if 1 <= l for overwrite of b4
//   known t5 t1 [t0 : t0, *] through (l - 1) if 1 <= l by wait 3 after known 2
//                                                    certificate: ranges, iterations, guard, chain; numbered
//   steps t0 l0(t1 t4 t5) t6
//   place %5.0 b3 slot l % 2
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "layout/text.h"
#include "task/names.h"
#include "task/task.h"

namespace axon::task {

namespace {

const char* kind_name(Buffer::Kind k) {
  switch (k) {
    case Buffer::Kind::weight:
      return "weight";
    case Buffer::Kind::argument:
      return "argument";
    case Buffer::Kind::state:
      return "state";
    case Buffer::Kind::result:
      return "result";
    case Buffer::Kind::temporary:
      return "temporary";
  }
  return "?";
}

const char* why_name(Wait::Why w) {
  switch (w) {
    case Wait::Why::read_after_write:
      return "read";
    case Wait::Why::write_after_read:
      return "overwrite";
    case Wait::Why::write_after_write:
      return "rewrite";
    case Wait::Why::reuse:
      return "reuse";
  }
  return "?";
}

class Printer {
 public:
  explicit Printer(const Program& p) : p_(p), names_(p) {}

  std::string run() {
    out_ = "tasks " + p_.graph->name + names_("when", p_.guard) + "\n";
    for (uint32_t b = 0; b < p_.buffers.size(); ++b) buffer({b});
    for (uint32_t l = 0; l < p_.loops.size(); ++l)
      out_ += fmt::format("loop l{} {} < {}\n", l, names_(p_.loops[LoopId{l}].index),
                          names_(p_.loops[LoopId{l}].extent));
    for (uint32_t t = 0; t < p_.types.size(); ++t) type({t});
    for (uint32_t e = 0; e < p_.events.size(); ++e) event({e});
    for (const Wait& w : p_.waits) wait(w);
    for (const Finished& f : p_.certificate) known(f);
    out_ += "steps" + steps(p_.steps) + "\n";
    for (const auto& [value, place] : p_.places)
      out_ += fmt::format("place %{}.{} b{}{}\n", value.node.index, value.output, place.buffer.index,
                          place.slot ? " slot " + names_(*place.slot) : "");
    return std::move(out_);
  }

 private:
  void buffer(BufferId id) {
    const Buffer& b = p_.buffers[id];
    out_ += fmt::format("buffer b{} {} {}[{}] \"{}\"", id.index, kind_name(b.kind), base::elem_name(b.elem),
                        names_(b.shape), b.name);
    if (b.kind == Buffer::Kind::result)
      out_ += fmt::format(" result {}", b.index);
    else if (b.kind != Buffer::Kind::temporary)
      out_ += fmt::format(" input {}", b.index);
    if (b.placement.stated)
      out_ += fmt::format(" placed \"{}\"",
                          layout::print(*b.placement.stated, [&](const Dim& d) { return names_(d); }));
    else if (!b.placement.is_row_major())
      out_ += " placed " + layout::print(b.placement);
    out_ += "\n";
  }

  void type(TaskTypeId id) {
    const TaskType& t = p_.types[id];
    std::vector<std::string> loops;
    for (LoopId l : t.loops) loops.push_back(fmt::format("l{}", l.index));
    out_ += fmt::format("type t{} {} %{} \"{}\" in ({})\n", id.index, family_name(t.family), t.node.index,
                        t.name, fmt::join(loops, ", "));
    for (const auto& c : t.coordinates)
      out_ += fmt::format("  grid {} < {} by {} on {}\n", names_(c.var), names_(c.extent), c.tile, c.axis);
    for (const auto& a : t.accesses) {
      std::vector<std::string> box;
      for (const auto& i : a.box) box.push_back(names_(i.low) + " : " + names_(i.high));
      out_ += fmt::format("  {} b{}[{}]\n", a.write ? "write" : "read", a.buffer.index, fmt::join(box, ", "));
    }
    out_ += fmt::format("  work {} of {}\n", names_(t.work), names_(t.total_work));
  }

  void event(EventId id) {
    const Event& e = p_.events[id];
    out_ += fmt::format("event {} of t{} keep ({}) shape ({}) count {}\n", e.name, e.producer.index,
                        fmt::join(e.kept, ", "), names_(e.shape), names_(e.count));
  }

  void wait(const Wait& w) {
    std::vector<std::string> box;
    for (const auto& r : w.box) box.push_back(names_(r.first) + " : " + names_(r.last));
    out_ += fmt::format("wait t{} on {} [{}] at ({}){} for {} of b{}\n", w.consumer.index,
                        p_.events[w.event].name, fmt::join(box, ", "), names_(w.iteration),
                        names_("if", w.guard), why_name(w.why), w.buffer.index);
  }

  void known(const Finished& f) {
    std::vector<std::string> ranges;
    for (const auto& r : f.ranges) ranges.push_back(r ? names_(r->first) + " : " + names_(r->last) : "*");
    out_ += fmt::format("known t{} t{} [{}] through ({}){} by wait {}", f.consumer.index, f.producer.index,
                        fmt::join(ranges, ", "), names_(f.through), names_("if", f.guard), f.wait);
    if (f.after) out_ += fmt::format(" after known {}", *f.after);
    out_ += "\n";
  }

  std::string steps(const std::vector<Step>& steps_in) const {
    std::string text;
    for (const Step& s : steps_in) {
      if (s.task.valid())
        text += fmt::format(" t{}", s.task.index);
      else
        text += fmt::format(" l{}({} )", s.loop.index, steps(s.body));
    }
    return text;
  }

  const Program& p_;
  Names names_;
  std::string out_;
};

}  // namespace

std::string print(const Program& p) { return Printer(p).run(); }

}  // namespace axon::task
