// See from_task.h.
#include "tile/from_task.h"

#include <algorithm>
#include <functional>
#include <variant>

#include "graph/contraction.h"
#include "graph/passes/edit.h"
#include "task/facts.h"
#include "tile/from_task/contractions.h"
#include "tile/from_task/join_axes.h"
#include "tile/from_task/lane_form.h"
#include "tile/from_task/maker.h"
#include "tile/from_task/online.h"
#include "tile/from_task/orders.h"
#include "tile/from_task/prefixes.h"
#include "tile/from_task/products.h"
#include "tile/from_task/scatters.h"
#include "tile/from_task/thread_choices.h"

namespace axon::tile {

namespace {

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
    for (MadeProgram& made : form_.has_own_reductions ? std::vector<MadeProgram>{} : of_one_block()) {
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

  /// Blocks of as many rows and columns as registers hold sums of, beside what is multiplied; of sizes that
  /// have so many rows.
  MadeProgram of_shared_rows(int64_t most_rows) const {
    for (int64_t rows = std::min<int64_t>(machine_.registers / 4, most_rows); rows > 1; rows /= 2)
      for (int64_t registers = 2; registers > 0; --registers) {
        Choices choices{registers};
        choices.rows_of_block = rows;
        MadeProgram made = ProgramMaker({p_, id_, g_, form_}, machine_, choices).run();
        if (registers_of(made.program) <= machine_.registers) return made;
      }
    throw Declined{"its tiles do not fit into registers"};
  }

 private:
  void add_for_threads(std::vector<MadeProgram>& list, bool short_rows) const {
    const auto all = choices_for_threads({p_, id_, g_, form_}, machine_, has_long_functions(g_, form_));
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
    if (auto rows = of_rows_at_once()) {
      const bool always = rows->program.guard.size() == form_.guard.size();
      if (always) made.clear();
      made.insert(made.begin(), std::move(*rows));
    }
    return made;
  }
  /// Sums of rows of one vector, as many at once as it has lanes: they are folded together, and stored so.
  std::optional<MadeProgram> of_rows_at_once() const {
    // A number of each row would not be in all lanes, which have its elements.
    const auto stands_alone = [&](const RowReduction& r) {
      const auto parts = graph::scalars_in(g_, r.term);
      return r.level == form_.rows.size() && r.outer.empty() &&
             std::none_of(parts.begin(), parts.end(), [&](graph::ScalarId part) {
               const graph::Op op = g_.scalars[part].op;
               const bool has_tile = op == graph::Op::load || op == graph::Op::bounded ||
                                     op == graph::Op::require || op == graph::Op::cast;
               return has_tile && !graph::depends_on(g_, part, r.along.var);
             });
    };
    const bool has_one = std::all_of(form_.reductions.begin(), form_.reductions.end(), stands_alone);
    if (form_.along || form_.only_gathers || form_.rows.empty() || !has_one) return std::nullopt;
    try {
      ProgramMaker maker({p_, id_, g_, form_}, machine_,
                         {.registers_per_tile = 1, .one_block = true, .lanes_of_row = 1});
      MadeProgram one = maker.run();
      if (maker.uses_one_block() && registers_of(one.program) <= machine_.registers) return one;
    } catch (const Declined&) {
      return std::nullopt;  // its rows are longer
    }
    return std::nullopt;
  }
  int64_t most_registers() const {
    return has_long_functions(g_, form_) ? 1 : form_.has_own_reductions && !form_.only_gathers ? 8 : 4;
  }
  bool has_rows() const { return form_.along || !form_.reductions.empty(); }

  const task::Program& p_;
  const task::TaskTypeId id_;
  graph::Graph& g_;
  const RowForm& form_;
  const Machine& machine_;
};

}  // namespace

static bool fits(const Machine& machine, const MadeProgram& made) {
  return registers_of(made.program) <= machine.registers;
}

/// The program of blocks of as many vectors, or half as many and so on, as registers hold with what is made
/// of them.
static MadeProgram fitting(const Machine& machine, int64_t vectors,
                           const std::function<MadeProgram(int64_t)>& made) {
  for (; vectors > 0; vectors /= 2) {
    MadeProgram program = made(vectors);
    if (fits(machine, program)) return program;
  }
  throw Declined{"its tiles do not fit into registers"};
}

/// Of the blocks of a contraction (ContractionBlocks).
struct ContractionKind {
  bool one_row = false, slides = false, few_rows = false;
};

/// By multiply-adds of vectors.
static MadeProgram contraction_of(const Origin& of, const ProductForm& product, const Machine& machine,
                                  const ContractionKind& kind) {
  const task::TaskType& type = of.program.types[of.id];
  int64_t most_rows = 1;
  if (product.row)
    most_rows = most_of_axis(type, of.graph.nodes[type.node].domain[*product.row], *product.row);
  ContractionBlocks blocks = blocks_for(machine, kind.one_row || most_rows == 1);
  blocks.one_row = kind.one_row;
  blocks.few_rows = kind.few_rows;
  blocks.rows = std::min(blocks.rows, most_rows);
  if (kind.few_rows && std::any_of(product.products.begin(), product.products.end(), [&](const Product& one) {
        return !one.is_packed && needs_packing(of, one);
      })) {
    // Two blocks of rows of the right operand stay in the second cache, which has few sets for rows that lie
    // a power of two apart; what is asked for comes evenly where there are several blocks of rows.
    blocks.depth = 64;
    while ((blocks.rows & (blocks.rows - 1)) != 0) --blocks.rows;
  }
  blocks.slides = kind.slides;
  for (const Product& one : product.products)  // as many bytes of wide elements
    if (base::elem_bytes(product.form.reductions[one.reduction].in) > 4)
      blocks.depth = std::min(blocks.depth, blocks_for(machine, false).depth / 2);
  return fitting(machine, blocks.vectors, [&](int64_t vectors) {
    blocks.vectors = vectors;
    return ContractionMaker(of, product, machine, blocks).run();
  });
}

/// Sums of so few rows that packing a right operand, which lies along the depth, would not pay: each is
/// summed where both operands lie, the rows of a column one after another. nullopt where there is no such
/// program.
static std::optional<MadeProgram> dot_products_of(const Origin& of, const ProductForm& product,
                                                  const Machine& machine) {
  constexpr int64_t few = 6;
  if (!is_all_turned(of, product)) return std::nullopt;
  auto form = row_form(of.program, of.program.types[of.id], of.graph, true);
  auto* const rows = std::get_if<RowForm>(&form);
  if (!rows || rows->along ||
      std::any_of(rows->reductions.begin(), rows->reductions.end(),
                  [&](const auto& r) { return r.level < rows->rows.size(); }))
    return std::nullopt;
  if (product.row) {
    const Dim extent = of.graph.nodes[of.program.types[of.id].node].domain[*product.row].extent;
    if (extent.constant().value_or(0) > few) return std::nullopt;
    if (!extent.constant()) rows->guard.push_back(shape::at_most(extent, Dim(few)));
    std::erase(rows->rows, *product.row);
    rows->rows.push_back(*product.row);
  }
  constexpr int64_t most_vectors = 4;
  try {
    return fitting(machine, most_vectors, [&](int64_t vectors) {
      return ProgramMaker({of.program, of.id, of.graph, *rows}, machine, Choices{vectors}).run();
    });
  } catch (const Declined&) {
    return std::nullopt;  // they are packed
  }
}

/// Few rows first, windows that slide before others.
static std::vector<MadeProgram> contractions_of(const Origin& of, const ProductForm& product,
                                                const Machine& machine) {
  std::vector<MadeProgram> list;
  if (auto dots = dot_products_of(of, product, machine)) {
    list.push_back(std::move(*dots));
    if (list.back().program.guard.size() == of.form.guard.size()) return list;
  }
  for (const ContractionKind& kind :
       {ContractionKind{.one_row = true, .slides = true}, ContractionKind{.one_row = true},
        ContractionKind{.slides = true}, ContractionKind{.few_rows = true}, ContractionKind{}}) {
    try {
      list.push_back(contraction_of(of, product, machine, kind));
    } catch (const Declined&) {
      if (!kind.one_row && !kind.slides && !kind.few_rows) throw;
      continue;
    }
    if (list.back().program.guard.size() == of.form.guard.size()) break;
  }
  return list;
}

/// Has the node an online softmax with values?
static bool weights_values(const graph::Graph& g, graph::NodeId node) {
  const auto has = [&](graph::ScalarId body) {
    const auto parts = graph::scalars_in(g, body);
    return std::any_of(parts.begin(), parts.end(), [&](graph::ScalarId part) {
      return g.scalars[part].op == graph::Op::online && g.scalars[part].args.size() > 1;
    });
  };
  const graph::Node& n = g.nodes[node];
  return std::any_of(n.outputs.begin(), n.outputs.end(),
                     [&](const auto& output) { return has(output.body); }) ||
         std::any_of(n.locals.begin(), n.locals.end(), [&](const auto& local) { return has(local.body); });
}

/// Attention: few rows first.
static MadePrograms attentions_of(const task::Program& p, task::TaskTypeId id, graph::Graph& g,
                                  const Machine& machine) {
  if (machine.threads() > 1) return {{}, "attention has no form for several threads yet"};
  const auto form = online_form(p, p.types[id], g);
  if (const auto* why = std::get_if<std::string>(&form)) return {{}, *why};
  const OnlineForm& online = std::get<OnlineForm>(form);
  const Origin of{p, id, g, online.all.form};
  MadePrograms out;
  const auto made = [&](bool few_rows) {
    ContractionBlocks blocks = blocks_for(machine, false);
    if (few_rows) blocks.rows = 1, blocks.vectors = 4;
    return fitting(machine, blocks.vectors, [&](int64_t vectors) {
      blocks.vectors = vectors;
      return OnlineMaker(of, online, machine, blocks, few_rows).run();
    });
  };
  try {
    out.list.push_back(made(true));
    if (out.list.back().program.guard.empty()) return out;
  } catch (const Declined&) {
    out.list.clear();
  }
  try {
    out.list.push_back(made(false));
    return out;
  } catch (const Declined& declined) {
    return {{}, declined.why};
  }
}

static MadeProgram instructed(const Origin& of, const ProductForm& product, const Machine& machine) {
  MadeProgram made = ProductMaker(of, product, machine).run();
  if (!fits(machine, made)) throw Declined{"its tiles do not fit into registers"};
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

static MadePrograms scatters_of(const task::Program& p, task::TaskTypeId id, graph::Graph& g,
                                const Machine& machine) {
  const auto form = scatter_form(p, p.types[id], g);
  if (const auto* why = std::get_if<std::string>(&form)) return {{}, *why};
  const ScatterForm& scatter = std::get<ScatterForm>(form);
  MadePrograms out;
  try {
    const int64_t most_vectors = has_long_functions(g, scatter.form) ? 1 : 4;
    out.list.push_back(fitting(machine, most_vectors, [&](int64_t vectors) {
      return ScatterMaker({p, id, g, scatter.form}, scatter, machine, vectors).run();
    }));
    return out;
  } catch (const Declined& declined) {
    return {{}, declined.why};
  }
}

/// Keys in vectors, or else one by one.
static MadePrograms orders_of(const task::Program& p, task::TaskTypeId id, graph::Graph& g,
                              const Machine& machine) {
  const auto form = order_form(p, p.types[id], g);
  if (const auto* why = std::get_if<std::string>(&form)) return {{}, *why};
  const OrderForm& order = std::get<OrderForm>(form);
  MadePrograms out;
  for (const bool in_vectors : {true, false}) {
    try {
      out.list.push_back(OrderMaker({p, id, g, order.form}, order, machine, in_vectors).run());
      if (!fits(machine, out.list.back())) throw Declined{"its tiles do not fit into registers"};
      return out;
    } catch (const Declined& declined) {
      out = {{}, declined.why};
    }
  }
  return out;
}

static MadePrograms prefixes_of(const task::Program& p, task::TaskTypeId id, graph::Graph& g,
                                const Machine& machine) {
  const auto form = prefix_form(p, p.types[id], g);
  if (const auto* why = std::get_if<std::string>(&form)) return {{}, *why};
  const PrefixForm& prefix = std::get<PrefixForm>(form);
  MadePrograms out;
  try {
    const int64_t most_vectors = has_long_functions(g, prefix.form) ? 1 : 4;
    out.list.push_back(fitting(machine, most_vectors, [&](int64_t vectors) {
      return PrefixMaker({p, id, g, prefix.form}, prefix, machine, vectors).run();
    }));
    return out;
  } catch (const Declined& declined) {
    return {{}, declined.why};
  }
}

/// By loops over rows, reductions and outputs along one axis.
static MadePrograms rows_of(const task::Program& p, task::TaskTypeId id, graph::Graph& g,
                            const Machine& machine) {
  MadePrograms out;
  const task::TaskType& type = p.types[id];
  try {
    for (const bool short_rows : {true, false}) {
      const auto form = row_form(p, type, g, short_rows);
      if (const auto* why = std::get_if<std::string>(&form)) return {{}, *why};
      const RowForm& rows = std::get<RowForm>(form);
      if (rows.gathers_lines && machine.threads() == 1) return {{}, "it gathers what lies along an output"};
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

/// Lanes that have reductions of their own, blocks of rows of which share what they load.
static std::optional<MadeProgram> shared_lanes_of(const task::Program& p, task::TaskTypeId id,
                                                  graph::Graph& g, const Machine& machine) {
  const auto form = lane_form(p, p.types[id], g, false, LaneChoice::rows);
  const auto* const lanes = std::get_if<RowForm>(&form);
  if (!lanes || lanes->only_gathers) return std::nullopt;
  const uint32_t row = lanes->rows.back();
  const int64_t most = most_of_axis(p.types[id], g.nodes[p.types[id].node].domain[row], row);
  try {
    return Chooser(p, id, g, *lanes, machine).of_shared_rows(most);
  } catch (const Declined&) {
    return std::nullopt;
  }
}

/// By lanes that have reductions of their own, behind those that share rows, where there are such.
static MadePrograms lanes_of(const task::Program& p, task::TaskTypeId id, graph::Graph& g,
                             const Machine& machine, std::optional<MadeProgram> sharing) {
  std::vector<MadeProgram> shared;
  if (sharing) shared.push_back(std::move(*sharing));
  if (!shared.empty() && shared.back().program.guard.empty()) return {std::move(shared), {}};
  MadePrograms out;
  bool has_rows = false;  // else both choices of lanes are one
  for (const LaneChoice choice : {LaneChoice::columns, LaneChoice::all, LaneChoice::single}) {
    if (choice == LaneChoice::all && !has_rows) continue;
    try {
      out.list = shared;
      for (const bool short_rows : {true, false}) {
        const auto form = lane_form(p, p.types[id], g, short_rows, choice);
        if (const auto* why = std::get_if<std::string>(&form)) {
          has_rows = true;  // of which some may be no form
          throw Declined{*why};
        }
        const RowForm& lanes = std::get<RowForm>(form);
        has_rows |= !lanes.reductions.empty();
        Chooser(p, id, g, lanes, machine).add_to(out.list, short_rows);
        if (lanes.guard.empty()) return out;
      }
      return out;
    } catch (const Declined& declined) {
      out = {{}, declined.why};
    }
  }
  return out;
}

/// By lanes, which are not for several threads: most would idle. `why` there is no better program.
static MadePrograms lanes_instead(const task::Program& p, task::TaskTypeId id, graph::Graph& g,
                                  const Machine& machine, const std::string& why) {
  if (machine.threads() > 1) return {{}, why};
  MadePrograms lanes = lanes_of(p, id, g, machine, shared_lanes_of(p, id, g, machine));
  const bool says_more = lanes.list.empty() && lanes.declined != why;
  lanes.declined = says_more ? why + "; " + lanes.declined : why;
  return lanes;
}

/// Does no task of the type compute anything?
static bool has_no_elements(const graph::Node& node) {
  return std::any_of(node.domain.begin(), node.domain.end(), [](const auto& a) { return a.extent.is(0); });
}

static MadePrograms programs_without_choices(const task::Program& p, task::TaskTypeId id, graph::Graph& g,
                                             const Machine& machine) {
  const task::TaskType& type = p.types[id];
  if (has_no_elements(g.nodes[type.node]))
    return {{ProgramMaker({p, id, g, RowForm()}, machine, Choices()).of_nothing()}, {}};
  if (type.family == task::Family::order) return orders_of(p, id, g, machine);
  if (type.family == task::Family::prefix)
    if (MadePrograms made = prefixes_of(p, id, g, machine); !made.list.empty()) return made;
  MadePrograms best = type.family == task::Family::scatter    ? scatters_of(p, id, g, machine)
                      : type.family == task::Family::contract ? products_of(p, id, g, machine)
                      : weights_values(g, type.node)          ? attentions_of(p, id, g, machine)
                                                              : rows_of(p, id, g, machine);
  return best.list.empty() ? lanes_instead(p, id, g, machine, best.declined) : best;
}

/// The node with its choices between packed operands and others made. Returns what they depend on.
static std::set<graph::ScalarId> make_choices(graph::Graph& g, graph::NodeId node, bool packed) {
  std::set<graph::ScalarId> conditions;
  graph::edit::each_body(g.nodes[node], [&](graph::ScalarId& body, const std::vector<graph::Axis>&) {
    body = graph::edit::rebuild(g, body, [&](graph::Scalar s) {
      const graph::ScalarId part = graph::make_scalar(g, std::move(s));
      const auto choice = graph::packed_choice(g, part);
      if (!choice) return part;
      conditions.insert(choice->condition);
      return packed ? choice->panels : choice->operand;
    });
  });
  return conditions;
}

/// Does it read what a node packs?
static bool reads_packed(const graph::Graph& g, const graph::Node& node) {
  bool any = false;
  graph::edit::each_body(node, [&](graph::ScalarId body, const std::vector<graph::Axis>&) {
    for (const graph::ScalarId load : graph::loads_in(g, body)) {
      const graph::Value target = g.scalars[load].target;
      any |= !target.is_local() && g.nodes[target.node].packs;
    }
  });
  return any;
}

/// Where all operands of products are packed that may be, and where they are read as they were, which is
/// right for all sizes.
static MadePrograms all_programs_of(const task::Program& p, task::TaskTypeId id, graph::Graph& g,
                                    const Machine& machine) {
  if (!reads_packed(g, g.nodes[p.types[id].node])) return programs_without_choices(p, id, g, machine);
  graph::Graph as_packed = g;
  const auto conditions = make_choices(as_packed, p.types[id].node, true);
  if (conditions.empty()) return programs_without_choices(p, id, g, machine);  // packed at all sizes
  make_choices(g, p.types[id].node, false);
  MadePrograms all = programs_without_choices(p, id, g, machine);
  std::vector<Fact> guard;
  for (const graph::ScalarId condition : conditions)
    guard = task::both(guard, implied_facts(as_packed, condition, true));
  task::Program there = p;
  there.facts = task::both(there.facts, guard);
  MadePrograms packed = programs_without_choices(there, id, as_packed, machine);
  if (packed.list.empty()) return all;
  MadeProgram& general = packed.list.back();  // those before it are for few rows
  general.program.guard.insert(general.program.guard.end(), guard.begin(), guard.end());
  all.list.insert(all.list.begin(), std::move(general));
  return all;
}

/// Sizes of a program that is left out have a later one. The last two are for nearly all sizes.
MadePrograms programs_of(const task::Program& p, task::TaskTypeId id, graph::Graph& g,
                         const Machine& machine) {
  MadePrograms made = all_programs_of(p, id, g, machine);
  while (made.list.size() > most_programs) made.list.erase(made.list.end() - 3);
  return made;
}

}  // namespace axon::tile
