// See from_task.h.
#include "tile/from_task.h"

#include <algorithm>

#include "task/facts.h"
#include "tile/from_task/contractions.h"
#include "tile/from_task/join_axes.h"
#include "tile/from_task/maker.h"
#include "tile/from_task/products.h"
#include "tile/from_task/thread_choices.h"

namespace axon::tile {

namespace {

bool is_pointwise_or_rows(const task::TaskType& type) {
  return type.family == task::Family::elementwise || type.family == task::Family::reduce ||
         type.family == task::Family::online;
}

bool is_long(graph::Op op) {
  const auto as_pointwise = graph::pointwise_of(op);
  return as_pointwise && base::has_many_instructions(*as_pointwise);
}

/// The program with the largest blocks whose tiles all fit into registers.
class Chooser {
 public:
  Chooser(const task::Program& p, task::TaskTypeId id, graph::Graph& g, const RowForm& form,
          const Machine& machine)
      : p_(p), id_(id), g_(g), form_(form), machine_(machine) {}

  /// A program for whole blocks first; one that keeps costly values before one that computes them again,
  /// of rows that are too long for the other.
  void add_to(std::vector<MadeProgram>& list, bool short_rows) const {
    if (machine_.threads() > 1) return add_for_threads(list, short_rows);
    for (MadeProgram& made : of_one_block()) {
      list.push_back(std::move(made));
      if (list.back().program.guard.size() == form_.guard.size()) return;
    }
    for (const bool keep_costly : {true, false}) {
      auto made = keep_costly ? best(keep_costly, true) : std::nullopt;
      const bool always = made && !made->guards_blocks;
      if (made) list.push_back(std::move(made->program));
      bool keeps = made && made->keeps;
      if (!always) {
        auto any = best(keep_costly, false);
        if (!any) throw Declined{"its tiles do not fit into registers"};
        keeps = any->keeps;
        list.push_back(std::move(any->program));
      }
      if (!keeps) return;
    }
  }

 private:
  void add_for_threads(std::vector<MadeProgram>& list, bool short_rows) const {
    const auto all = choices_for_threads({p_, id_, g_, form_}, machine_, has_long_functions());
    std::string why;
    for (const Choices& choices : all) {
      if (!short_rows && !is_for_any(choices)) continue;
      try {
        MadeProgram made = ProgramMaker({p_, id_, g_, form_}, machine_, choices).run();
        const bool is_last = made.program.guard.size() == form_.guard.size();
        why = "its tiles do not fit into registers";
        if (registers_of(made.program) > most_in_use(choices) || is_never_run(made, list)) continue;
        list.push_back(std::move(made));
        if (is_last) return;
      } catch (const Declined& declined) {
        why = declined.why;
      }
    }
    throw Declined{why};
  }
  static bool is_for_any(const Choices& c) { return !c.one_block && c.lanes_of_row == 0; }
  /// A row that stays in registers leaves some for what instructions need besides, and for a second block on
  /// the multiprocessor.
  int64_t most_in_use(const Choices& choices) const {
    return choices.one_block ? machine_.registers * 7 / 16 : machine_.registers;
  }
  /// Is there an earlier program for all sizes that it is for?
  bool is_never_run(const MadeProgram& made, const std::vector<MadeProgram>& list) const {
    return std::any_of(list.begin(), list.end(), [&](const MadeProgram& other) {
      return std::all_of(other.program.guard.begin(), other.program.guard.end(), [&](const Fact& fact) {
        return task::holds(p_, task::both(made.program.guard, p_.facts), fact);
      });
    });
  }

  struct Made {
    MadeProgram program;
    bool keeps = false;          ///< something in scratch, for which the guard bounds rows
    bool guards_blocks = false;  ///< the guard says that rows are whole blocks
  };

  /// nullopt where rows are never whole blocks, or blocks have one vector anyway.
  std::optional<Made> best(bool keep_costly, bool whole_blocks) const {
    const int64_t most = most_registers();
    if (whole_blocks && (most == 1 || form_.across || !has_rows())) return std::nullopt;
    for (int64_t registers = most; registers >= 1; registers /= 2) {
      ProgramMaker maker({p_, id_, g_, form_}, machine_, {registers, keep_costly, whole_blocks});
      Made made;
      try {
        made.program = maker.run();
      } catch (const Declined&) {
        if (!whole_blocks) throw;
        return std::nullopt;
      }
      if (whole_blocks && !maker.uses_whole_blocks()) return std::nullopt;
      made.keeps = maker.keeps();
      made.guards_blocks = maker.guards_blocks();
      if (registers_of(made.program.program) <= machine_.registers) return made;
    }
    return std::nullopt;
  }
  /// For rows that fit into one block, of the shortest first.
  std::vector<MadeProgram> of_one_block() const {
    if (form_.across || !form_.joined.empty() || !has_rows()) return {};
    std::vector<MadeProgram> made;
    for (int64_t registers = 1; registers <= most_registers(); registers *= 2) {
      ProgramMaker maker({p_, id_, g_, form_}, machine_, {registers, true, false, true});
      try {
        MadeProgram one = maker.run();
        if (!maker.uses_one_block() || registers_of(one.program) > machine_.registers) break;
        const bool always = one.program.guard.size() == form_.guard.size();
        made.push_back(std::move(one));
        if (always) break;
      } catch (const Declined&) {
        continue;  // the block may be too small
      }
    }
    if (made.size() > 2) made.erase(made.begin());
    return made;
  }
  int64_t most_registers() const { return has_long_functions() ? 1 : 4; }
  bool has_rows() const { return form_.along || !form_.reductions.empty(); }

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

/// By multiply-adds of vectors, of as many columns as registers hold with what is made of them.
static MadeProgram contraction_of(const Origin& of, const ProductForm& product, const Machine& machine,
                                  bool one_row, bool slides) {
  ContractionBlocks blocks = blocks_for(machine, one_row);
  for (blocks.slides = slides;; blocks.vectors /= 2) {
    if (blocks.vectors == 0) throw Declined{"its tiles do not fit into registers"};
    MadeProgram made = ContractionMaker(of, product, machine, blocks).run();
    if (registers_of(made.program) <= machine.registers) return made;
  }
}

/// A single row first, windows that slide before others.
static std::vector<MadeProgram> contractions_of(const Origin& of, const ProductForm& product,
                                                const Machine& machine) {
  std::vector<MadeProgram> list;
  for (const auto& [one_row, slides] :
       {std::pair(true, true), {true, false}, {false, true}, {false, false}}) {
    try {
      list.push_back(contraction_of(of, product, machine, one_row, slides));
    } catch (const Declined&) {
      if (!one_row && !slides) throw;
      continue;
    }
    if (list.back().program.guard.size() == of.form.guard.size()) break;
  }
  return list;
}

static MadeProgram instructed(const Origin& of, const ProductForm& product, const Machine& machine) {
  MadeProgram made = ProductMaker(of, product, machine).run();
  if (registers_of(made.program) > machine.registers) throw Declined{"its tiles do not fit into registers"};
  return made;
}

/// By instructions that multiply tiles, or by vectors.
static MadePrograms products_of(const task::Program& p, task::TaskTypeId id, graph::Graph& g,
                                const Machine& machine) {
  const auto form = product_form(p, p.types[id], g, machine.threads() == 1);
  if (const auto* why = std::get_if<std::string>(&form)) return {{}, *why};
  const ProductForm& product = std::get<ProductForm>(form);
  try {
    const Origin of{p, id, g, product.form};
    MadePrograms out;
    if (machine.threads() == 1)
      out.list = contractions_of(of, product, machine);
    else
      out.list.push_back(instructed(of, product, machine));
    return out;
  } catch (const Declined& declined) {
    return {{}, declined.why};
  }
}

MadePrograms programs_of(const task::Program& p, task::TaskTypeId id, graph::Graph& g,
                         const Machine& machine) {
  const task::TaskType& type = p.types[id];
  if (type.family == task::Family::contract) return products_of(p, id, g, machine);
  if (!is_pointwise_or_rows(type)) return {{}, "there is no generator of its family yet"};
  MadePrograms out;
  try {
    for (const bool short_rows : {true, false}) {
      const auto form = row_form(p, type, g, short_rows);
      if (const auto* why = std::get_if<std::string>(&form)) return {{}, *why};
      const RowForm& rows = std::get<RowForm>(form);
      if (const auto joined = with_joined_axes(p, type, g, rows)) {
        Chooser(p, id, g, *joined, machine).add_to(out.list, short_rows);
        if (joined->guard.empty()) break;
      }
      Chooser(p, id, g, rows, machine).add_to(out.list, short_rows);
      if (rows.guard.empty()) break;
    }
    return out;
  } catch (const Declined& declined) {
    return {{}, declined.why};
  }
}

}  // namespace axon::tile
