// See from_task.h.
#include "tile/from_task.h"

#include <algorithm>

#include "tile/from_task/maker.h"

namespace axon::tile {

namespace {

bool is_pointwise_or_rows(const task::TaskType& type) {
  return type.family == task::Family::elementwise || type.family == task::Family::reduce ||
         type.family == task::Family::online;
}

/// Has the function some hundred instructions? Several registers at once would gain nothing.
bool is_long(graph::Op op) {
  return op == graph::Op::sin || op == graph::Op::cos || op == graph::Op::pow;
}

/// The program with the largest blocks whose tiles all fit into registers.
class Chooser {
 public:
  Chooser(const task::Program& p, task::TaskTypeId id, graph::Graph& g, const RowForm& form,
          const Machine& machine)
      : p_(p), id_(id), g_(g), form_(form), machine_(machine) {}

  /// Whether something is kept in scratch comes out.
  MadeProgram best(bool keep_costly, bool& keeps) const {
    for (int64_t registers = has_long_functions() ? 1 : 4; registers >= 1; registers /= 2) {
      ProgramMaker maker(p_, id_, g_, form_, machine_, {registers, keep_costly});
      MadeProgram made = maker.run();
      keeps = maker.keeps();
      if (registers_of(made.program) <= machine_.registers) return made;
    }
    throw Declined{"its tiles do not fit into registers"};
  }

 private:
  bool has_long_functions() const {
    const auto has = [&](graph::ScalarId body) {
      const auto parts = graph::scalars_in(g_, body);
      return std::any_of(parts.begin(), parts.end(),
                         [&](graph::ScalarId part) { return is_long(g_.scalars[part].op); });
    };
    return std::any_of(form_.outputs.begin(), form_.outputs.end(), has) ||
           std::any_of(form_.reductions.begin(), form_.reductions.end(),
                       [&](const RowReduction& r) { return has(r.term); });
  }

  const task::Program& p_;
  const task::TaskTypeId id_;
  graph::Graph& g_;
  const RowForm& form_;
  const Machine& machine_;
};

}  // namespace

MadePrograms programs_of(const task::Program& p, task::TaskTypeId id, graph::Graph& g,
                         const Machine& machine) {
  const task::TaskType& type = p.types[id];
  if (!is_pointwise_or_rows(type)) return {{}, "there is no generator of its family yet"};
  MadePrograms out;
  try {
    for (const bool short_rows : {true, false}) {
      const auto form = row_form(p, type, g, short_rows);
      if (const auto* why = std::get_if<std::string>(&form)) return {{}, *why};
      const RowForm& rows = std::get<RowForm>(form);
      const Chooser chooser(p, id, g, rows, machine);
      bool keeps = false;
      out.list.push_back(chooser.best(true, keeps));
      if (keeps) out.list.push_back(chooser.best(false, keeps));
      if (rows.guard.empty()) break;
    }
    return out;
  } catch (const Declined& declined) {
    return {{}, declined.why};
  }
}

}  // namespace axon::tile
