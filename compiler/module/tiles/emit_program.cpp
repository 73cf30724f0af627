// See emit_program.h. Which of its operations a task runs without masks, and in which iterations.
#include "module/tiles/emit_program.h"

#include <algorithm>
#include <map>

#include "module/tiles/operations.h"
#include "module/tiles/orders.h"
#include "module/tiles/slices.h"
#include "tile/names.h"

namespace axon::module {

namespace {

using namespace tiles;
using tile::OpId;

class ProgramEmitter {
 public:
  ProgramEmitter(Frame& f, const tile::Program& p, const ProgramMemory& memory)
      : p_(p), c_(f, p, memory), operations_(c_) {}

  void run() {
    if (!c_.threads.are_several()) return with_elements();
    std::set<Var> sizes;
    Value* const aligned = is_aligned(sizes);
    const auto walk_aligned = [&] {
      c_.is_aligned = true;
      std::swap(c_.multiples, sizes);
      walk(p_.body);
      std::swap(c_.multiples, sizes);
      c_.is_aligned = false;
    };
    c_.choose(aligned, walk_aligned, [&] { walk(p_.body); });
  }

 private:
  /// An axis with an element has one to read where the data says none: only of empty ones reads are masked.
  void with_elements() {
    std::vector<Dim> elements;
    for (const tile::Op& op : p_.ops) {
      const auto* copy = std::get_if<tile::Copy>(&op);
      for (size_t a = 0; copy && copy->from.tensor && a < copy->from.at.size(); ++a) {
        const Dim more = p_.tensors[copy->from.tensor].shape[a] - 1;
        if (copy->from.at[a].table && !c_.known.nonnegative(more)) elements.push_back(more);
      }
    }
    if (elements.empty()) return around_products(p_.body);
    c_.choose(
        c_.all_nonnegative(elements),
        [&] { c_.known.supposing(elements, [&] { around_products(p_.body); }); },
        [&] { around_products(p_.body); });
  }

  /// Do tensors begin at whole vectors, and rows follow one another so? `sizes` get those that then are
  /// multiples of the elements in one.
  Value* is_aligned(std::set<Var>& sizes) {
    auto& b = c_.f.b;
    for (const tile::Tensor& tensor : p_.tensors)
      if (tensor.shape.size() > 1)
        for (const Var v : tensor.shape.back().vars()) sizes.insert(v);
    Value* rest = c_.f.i64(0);
    for (const Var v : sizes)
      rest = b.CreateOr(rest, b.CreateAnd(c_.value(Dim(v)), c_.elements_at_once() - 1));
    const auto bytes = static_cast<uint64_t>(c_.f.level.vector_bytes);
    for (Value* tensor : c_.memory.tensors)
      rest = b.CreateOr(rest, b.CreateAnd(b.CreatePtrToInt(tensor, b.getInt64Ty()), bytes - 1));
    return b.CreateICmpEQ(rest, c_.f.i64(0));
  }

  bool has_products(OpId id) const {
    const auto* gemm = std::get_if<tile::Gemm>(&p_.ops[id]);
    const auto* inner = tile::body(p_.ops[id]);
    return (gemm && gemm->by.empty()) ||
           (inner && std::any_of(inner->begin(), inner->end(), [&](OpId op) { return has_products(op); }));
  }

  /// Products are much code, which knows edges of rows and depth by itself. So what is around them is not
  /// made twice for edges, but only what comes before and after, and the loop of a product where its columns
  /// have an edge.
  void around_products(const std::vector<OpId>& body) {
    std::vector<OpId> others;
    const auto emit_others = [&] {
      if (!others.empty()) full_or_edge(others);
      others.clear();
    };
    for (const OpId id : body) {
      if (!has_products(id)) {
        others.push_back(id);
        continue;
      }
      emit_others();
      const auto* loop = std::get_if<tile::Loop>(&p_.ops[id]);
      const bool is_last = !loop || std::any_of(loop->body.begin(), loop->body.end(), [&](OpId op) {
        return std::holds_alternative<tile::Gemm>(p_.ops[op]);
      });
      if (is_last && loop)
        product_loop(id, *loop);
      else if (is_last)
        operations_.emit(p_.ops[id]);
      else
        c_.loop(
            {loop->index, loop->extent}, {}, [&] { around_products(loop->body); }, LoopKind::plain,
            operations_.iterations_of(*loop));
    }
    emit_others();
  }

  /// A loop around products: with all rows, or else with as many as there are.
  void product_loop(OpId id, const tile::Loop& loop) {
    int64_t most = 0;
    const std::vector<Dim> rows = rows_of(loop, most);
    std::vector<Dim> all;
    for (const Dim& d : rows)
      if (!c_.known.nonnegative(d - most)) all.push_back(d - most);
    if (all.empty()) return all_or_one_vector(id, loop);
    c_.choose(
        c_.all_nonnegative(all), [&] { c_.known.supposing(all, [&] { all_or_one_vector(id, loop); }); },
        [&] {
          Dim count(most);
          for (const Dim& d : rows) count = shape::min(count, d);
          c_.each_count(c_.value(count), most - 1, [&](int64_t n) {
            std::vector<Dim> suppose;
            for (const Dim& d : rows) suppose.push_back(d - n);
            if (rows.size() == 1) suppose.push_back(n - rows[0]);
            c_.rows = n;
            c_.known.supposing(suppose, [&] { full_or_edge({id}); });
            c_.rows.reset();
          });
        });
  }
  /// Of two vectors of columns the second may have none.
  void all_or_one_vector(OpId id, const tile::Loop& loop) {
    const std::vector<Dim> second = behind_first_vector(loop);
    if (second.empty()) return full_or_edge({id});
    c_.choose(
        c_.all_nonnegative(second), [&] { c_.known.supposing(second, [&] { full_or_edge({id}); }); },
        [&] {
          c_.vectors = 1;
          walk({id});
          c_.vectors.reset();
        });
  }
  /// How many columns there are behind the first that the second vector has, where all products of the loop
  /// have the same ones.
  std::vector<Dim> behind_first_vector(const tile::Loop& loop) {
    Views views = c_.views;
    std::vector<Dim> common;
    for (const OpId op : loop.body) {
      if (const auto* view = std::get_if<tile::View>(&p_.ops[op])) views[view->to.tile] = view;
      const auto* gemm = std::get_if<tile::Gemm>(&p_.ops[op]);
      if (!gemm) continue;
      const int64_t lanes = c_.places(gemm->acc.tile).vector_lanes();
      std::vector<Dim> here;
      for (const Dim& columns : limits_of(p_, views, *gemm).columns)
        if (!columns.contains(loop.index)) here.push_back(columns - lanes - 1);
      if (p_.tiles[gemm->acc.tile].shape.back() != 2 * lanes || (!common.empty() && common != here))
        return {};
      common = here;
    }
    std::erase_if(common, [&](const Dim& d) { return c_.known.nonnegative(d); });
    return common;
  }

  /// The limits of the rows of its products, of which there are `most` at most, where all have the same and
  /// no iteration has others.
  std::vector<Dim> rows_of(const tile::Loop& loop, int64_t& most) const {
    Views views = c_.views;
    std::optional<std::vector<Dim>> common;
    for (const OpId op : loop.body) {
      if (const auto* view = std::get_if<tile::View>(&p_.ops[op])) views[view->to.tile] = view;
      const auto* gemm = std::get_if<tile::Gemm>(&p_.ops[op]);
      if (!gemm) continue;
      const GemmLimits limits = limits_of(p_, views, *gemm);
      const int64_t rows = p_.tiles[gemm->acc.tile].shape.front();
      if (common && (*common != limits.rows || rows != most)) return {};
      common = limits.rows;
      most = rows;
    }
    const bool varies = common && std::any_of(common->begin(), common->end(),
                                              [&](const Dim& d) { return d.contains(loop.index); });
    return common && !varies ? *common : std::vector<Dim>();
  }

  void full_or_edge(const std::vector<OpId>& body) {
    const std::vector<Dim> whole = conditions(body, std::nullopt);
    if (whole.empty()) return long_or_short(body);
    c_.choose(
        c_.all_nonnegative(whole), [&] { c_.known.supposing(whole, [&] { long_or_short(body); }); },
        [&] { walk(body); });
  }

  /// Where all loops over blocks have a whole one, what is done at their edges is the same for all rows, and
  /// few instructions.
  void long_or_short(const std::vector<OpId>& body) {
    std::vector<Dim> suppose;
    std::vector<const tile::Loop*> loops;
    add_repeating(body, loops, suppose);
    if (loops.empty()) return walk(body);
    const auto all = [&](bool are_long) {
      for (const tile::Loop* loop : loops) has_whole_block_[loop] = are_long;
      walk(body);
      for (const tile::Loop* loop : loops) has_whole_block_.erase(loop);
    };
    c_.choose(
        c_.all_nonnegative(suppose), [&] { c_.known.supposing(suppose, [&] { all(true); }); },
        [&] { loops.size() == 1 ? all(false) : walk(body); });
  }
  /// Loops inside whose edges may repeat elements, where what bounds them is known here.
  void add_repeating(const std::vector<OpId>& body, std::vector<const tile::Loop*>& loops,
                     std::vector<Dim>& whole) {
    if (c_.threads.are_several()) return;
    for (const OpId id : body) {
      const auto* loop = std::get_if<tile::Loop>(&p_.ops[id]);
      if (!loop || loop->order) continue;
      add_repeating(loop->body, loops, whole);
      const auto slices = slices_of(c_, *loop);
      if (!slices || !slices->can_repeat) continue;
      std::vector<Dim> first;
      for (const Dim& d : slices->conditions.back())
        first.push_back(d.substitute({{loop->index, Dim(0)}}) - (slices->lanes - 1));
      if (!std::all_of(first.begin(), first.end(), [&](const Dim& d) { return is_of(d, std::nullopt); }))
        continue;
      loops.push_back(loop);
      for (const Dim& d : first)
        if (!c_.known.nonnegative(d)) whole.push_back(d);
    }
  }

  /// What goes along a gemm that does not follow in the body is not asked for.
  void walk(const std::vector<OpId>& body) {
    for (size_t i = 0; i < body.size(); ++i) {
      if (const size_t alike = register_by_register(body, i); alike > 1) {
        operations_.emit_by_register(
            {body.begin() + static_cast<ptrdiff_t>(i), body.begin() + static_cast<ptrdiff_t>(i + alike)});
        i += alike - 1;
        continue;
      }
      const OpId id = body[i];
      const auto* loop = std::get_if<tile::Loop>(&p_.ops[id]);
      if (!loop) {
        operations_.emit(p_.ops[id]);
        continue;
      }
      if (loop->order) {
        std::vector<const tile::Loop*> around;
        add_loops_around(*loop, p_.body, around);
        emit_order(c_, *loop, around);
        continue;
      }
      c_.loop(
          {loop->index, loop->extent}, conditions(loop->body, loop->index), [&] { iteration(*loop); },
          is_short(loop->body) ? LoopKind::unrolled : LoopKind::plain, operations_.iterations_of(*loop));
    }
    c_.ahead.clear();
  }

  /// Outermost first; false where the loop is not in the body.
  bool add_loops_around(const tile::Loop& inner, const std::vector<OpId>& body,
                        std::vector<const tile::Loop*>& around) const {
    for (const OpId id : body) {
      const auto* loop = std::get_if<tile::Loop>(&p_.ops[id]);
      if (!loop) continue;
      if (loop == &inner) return true;
      around.push_back(loop);
      if (add_loops_around(inner, loop->body, around)) return true;
      around.pop_back();
    }
    return false;
  }

  /// How many operations from here on may go through registers together, one after the other: maps, and
  /// stores, of tiles with one layout, of which each reads what it has in the same place. A thread of several
  /// has many elements of a tile, and not the registers for what all of them are on the way.
  size_t register_by_register(const std::vector<OpId>& body, size_t first) const {
    if (!c_.threads.are_several()) return 0;
    size_t count = 0;
    const tile::Use* common = nullptr;
    for (size_t i = first; i < body.size(); ++i, ++count) {
      const tile::Op& op = p_.ops[body[i]];
      const auto* store = std::get_if<tile::Store>(&op);
      if (!std::holds_alternative<tile::Map>(op) && !(store && store->to.tensor)) break;
      const tile::Use* over = swept(op);
      if (!common) common = over;
      const auto is_common = [&](const tile::Use* use) {
        const tile::Tile& tile = p_.tiles[use->tile];
        return tile.space == tile::Space::registers && tile.layout == p_.tiles[common->tile].layout &&
               tile.shape == p_.tiles[common->tile].shape && use->labels == over->labels;
      };
      // A tile of another layout none of them writes.
      const auto is_other = [&](const tile::Use* use) {
        const tile::Tile& tile = p_.tiles[use->tile];
        return tile.space == tile::Space::registers && tile.layout != p_.tiles[common->tile].layout;
      };
      const auto uses = tile::uses(op);
      if (!is_common(over) || !std::all_of(uses.begin(), uses.end(), [&](const tile::Use* use) {
            return is_common(use) || is_other(use);
          }))
        break;
    }
    return count;
  }

  /// At an edge most registers of a block may have nothing to do. Or the block has the last elements that are
  /// inside, where so many come before.
  void iteration(const tile::Loop& loop) {
    const bool whole = c_.may_split || c_.threads.are_several();
    const auto slices = whole ? std::nullopt : slices_of(c_, loop);
    if (!slices) return walk(loop.body);
    const auto known = has_whole_block_.find(&loop);
    const bool is_known = known != has_whole_block_.end();
    if (!slices->can_repeat || (is_known && !known->second)) return slice(loop, *slices, 0);
    if (is_known) return last_block(loop, *slices);
    c_.choose(
        c_.f.b.CreateICmpSGE(c_.value(Dim(loop.index)), c_.f.i64(1)), [&] { last_block(loop, *slices); },
        [&] { slice(loop, *slices, 0); });
  }
  void last_block(const tile::Loop& loop, const Slices& slices) {
    auto& b = c_.f.b;
    const auto count = static_cast<int64_t>(slices.conditions.size());
    Value* by = c_.f.i64(0);
    for (const Dim& d : slices.conditions.back())
      by = b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, by, c_.value(slices.lanes - 1 - d));
    const Var back = shape::fresh_var("back");
    c_.f.bind(back, by, Frame::of_data, Dim(slices.lanes * count));
    c_.back = Dim(back);
    std::vector<Dim> inside;
    for (const Dim& d : slices.conditions.back()) inside.push_back(d - (slices.lanes - 1) + Dim(back));
    // What is before the block's own elements has been there already.
    const auto all = [&] {
      if (slices.are_alike) return alike(loop, slices, {b.CreateUDiv(by, c_.f.i64(slices.lanes)), nullptr});
      for (int64_t number = 0; number < count; ++number) {
        const auto one = [&] { register_of(loop, number); };
        if (number + 1 == count)
          one();
        else
          c_.choose(b.CreateICmpSLT(by, c_.f.i64((number + 1) * slices.lanes)), one, [] {});
      }
    };
    c_.known.supposing(inside, all);
    c_.back.reset();
  }
  void register_of(const tile::Loop& loop, int64_t number) {
    c_.one_register = number;
    walk(loop.body);
    c_.one_register.reset();
  }
  /// A loop over registers, each of which is the first one of a block that begins further on.
  void alike(const tile::Loop& loop, const Slices& slices, const Iterations& numbers) {
    const Axis number{shape::fresh_var("number"), Dim(static_cast<int64_t>(slices.conditions.size()))};
    const std::optional<Dim> back = c_.back;
    c_.back = back.value_or(Dim(0)) - Dim(number.var) * slices.lanes;
    c_.loop(
        number, {}, [&] { register_of(loop, 0); }, LoopKind::rolled, numbers);
    c_.back = back;
  }
  void slice(const tile::Loop& loop, const Slices& slices, size_t number) {
    if (slices.are_alike) return alike(loop, slices, {nullptr, some_registers(slices)});
    if (number == slices.conditions.size()) return;
    Value* any = nullptr;
    for (const Dim& d : slices.conditions[number]) {
      Value* one = c_.f.b.CreateICmpSGE(c_.value(d), c_.f.i64(0));
      any = any ? c_.f.b.CreateAnd(any, one) : one;
    }
    c_.choose(
        any,
        [&] {
          register_of(loop, static_cast<int64_t>(number));
          slice(loop, slices, number + 1);
        },
        [] {});
  }
  /// How many of the registers have something to do.
  Value* some_registers(const Slices& slices) {
    Value* count = c_.f.i64(static_cast<int64_t>(slices.conditions.size()));
    for (size_t d = 0; d < slices.conditions[0].size(); ++d) {
      const Dim& first = slices.conditions[0][d];
      const int64_t step = *(first - slices.conditions[1][d]).constant();
      count = c_.f.b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, count,
                                           c_.value(shape::floor_div(first, step) + 1));
    }
    return count;
  }

  /// Does it do a few things to one vector at a time, none of which is a function of some dozen instructions?
  bool is_short(const std::vector<OpId>& body) {
    if (c_.threads.are_several()) return false;
    constexpr size_t most = 12;
    size_t parts = 0;
    for (const OpId id : body) {
      const tile::Op& op = p_.ops[id];
      if (std::holds_alternative<tile::Prefetch>(op)) continue;
      const tile::Use* const over = swept(op);
      if (std::holds_alternative<tile::Check>(op)) return false;
      if (!over || p_.tiles[over->tile].space != tile::Space::registers) return false;
      if (c_.places(over->tile).span() != 1) return false;
      const auto* map = std::get_if<tile::Map>(&op);
      parts += map ? map->exprs.size() : 1;
      if (map && std::any_of(map->exprs.begin(), map->exprs.end(), [](const tile::Expr& e) {
            return e.kind == tile::Expr::Kind::apply && base::is_device_function(e.op);
          }))
        return false;
    }
    return parts <= most;
  }

  /// What has to be non-negative for the bounds in the body to hold for all labels, of what is known where
  /// the body begins, and of the loop over it.
  std::vector<Dim> conditions(const std::vector<OpId>& body, std::optional<Var> loop) {
    std::vector<Dim> out;
    add_conditions(body, c_.views, loop, out);
    return out;
  }
  void add_conditions(const std::vector<OpId>& body, Views views, std::optional<Var> loop,
                      std::vector<Dim>& out) {
    for (const OpId id : body) {
      const tile::Op& op = p_.ops[id];
      if (const auto* inner = tile::body(op)) add_conditions(*inner, views, loop, out);
      if (const auto* view = std::get_if<tile::View>(&op)) {
        views[view->to.tile] = view;
        continue;
      }
      const auto looped = steps_of(p_, c_.f.level, views, op).in_loops;
      for (const Fact& fact : facts_of(op, views, loop)) {
        const bool later = std::any_of(looped.begin(), looped.end(),
                                       [&](Var v) { return fact.lhs.contains(v) || fact.rhs.contains(v); });
        const auto wanted = nonnegatives_everywhere(fact, extents_of_labels(p_, op));
        if (later || !wanted) continue;
        for (const Dim& d : *wanted)
          if (is_of(d, loop) && std::find(out.begin(), out.end(), d) == out.end() && !c_.known.nonnegative(d))
            out.push_back(d);
      }
    }
  }
  /// A product ends by itself where its rows and its depth do; the loop around splits off its last steps.
  std::vector<Fact> facts_of(const tile::Op& op, const Views& views, std::optional<Var> loop) const {
    const auto* gemm = std::get_if<tile::Gemm>(&op);
    if (!gemm || !gemm->by.empty()) return bounds_of(p_, views, op);
    GemmLimits limits = limits_of(p_, views, *gemm);
    limits.others.insert(limits.others.end(), limits.of_columns.begin(), limits.of_columns.end());
    if (loop && !c_.rows)
      limits.others.insert(limits.others.end(), limits.of_steps.begin(), limits.of_steps.end());
    return limits.others;
  }
  bool is_of(const Dim& d, std::optional<Var> loop) const {
    if (loop && !d.contains(*loop)) return false;
    const auto vars = d.vars();
    return std::all_of(vars.begin(), vars.end(), [&](Var v) { return v == loop || c_.f.find(v); });
  }

  const tile::Program& p_;
  Context c_;
  Operations operations_;
  std::map<const tile::Loop*, bool> has_whole_block_;  ///< where that is known
};

}  // namespace

void emit_program(Frame& f, const tile::Program& p, const ProgramMemory& memory) {
  ProgramEmitter(f, p, memory).run();
}

llvm::Function* declare_kernel(llvm::Module& m, const std::string& name,
                               const std::vector<llvm::Type*>& params, const target::Machine& machine) {
  auto& c = m.getContext();
  auto* type = llvm::FunctionType::get(llvm::Type::getVoidTy(c), params, false);
  auto* function = llvm::Function::Create(type, llvm::Function::ExternalLinkage, name, m);
  if (!machine.is_gpu()) return function;
  auto* notes = m.getOrInsertNamedMetadata("nvvm.annotations");
  const auto note = [&](const char* what, int64_t number) {
    auto* value = llvm::ConstantInt::get(llvm::Type::getInt32Ty(c), static_cast<uint64_t>(number));
    notes->addOperand(
        llvm::MDNode::get(c, {llvm::ValueAsMetadata::get(function), llvm::MDString::get(c, what),
                              llvm::ValueAsMetadata::get(value)}));
  };
  note("kernel", 1);
  note("maxntidx", machine.lanes * machine.warps);
  note("minctasm", 1);  // ptxas would else save registers at the price of memory
  return function;
}

/// Where none was noted before.
static void note_failed(Frame& f, llvm::Value* at, uint32_t check, llvm::Value* found, llvm::Value* wanted) {
  auto& b = f.b;
  f.when(b.CreateICmpEQ(b.CreateLoad(b.getInt64Ty(), at), f.i64(0)), [&] {
    int64_t number = 0;
    for (llvm::Value* value : {f.i64(int64_t{check} + 1), found, wanted})
      b.CreateStore(value, b.CreateConstGEP1_64(b.getInt64Ty(), at, static_cast<uint64_t>(number++)));
  });
}

void emit_task_function(llvm::Module& m, const tile::Program& p, const target::Machine& machine) {
  auto& c = m.getContext();
  auto* pointer = llvm::PointerType::getUnqual(c);
  const bool has_checks = std::any_of(
      p.ops.begin(), p.ops.end(), [](const tile::Op& op) { return std::holds_alternative<tile::Check>(op); });
  const unsigned params = has_checks ? 5 : 4;
  auto* function = declare_kernel(m, p.name, std::vector<llvm::Type*>(params, pointer), machine);
  for (unsigned i = 0; i < params; ++i) function->addParamAttr(i, llvm::Attribute::NoAlias);
  const Graph no_graph;
  Frame f(function, no_graph, machine);
  auto& b = f.b;
  const auto at = [&](unsigned argument, llvm::Type* what, size_t i) {
    auto* load = b.CreateLoad(what, b.CreateConstGEP1_64(what, function->getArg(argument), i));
    load->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(c, {}));
    return load;
  };
  ProgramMemory memory;
  f.region_count = p.tensors.size() + 1;
  for (uint32_t t = 0; t < p.tensors.size(); ++t) {
    llvm::Value* tensor = at(0, pointer, t);
    if (machine.is_gpu()) tensor = b.CreateAddrSpaceCast(tensor, llvm::PointerType::get(c, global_memory));
    memory.tensors.push_back(tensor);
    memory.regions.push_back(t);
  }
  memory.scratch = machine.is_gpu() ? f.shared_memory() : function->getArg(3);
  memory.scratch_region = p.tensors.size();
  if (has_checks) memory.check_failed = note_failed, memory.notes = function->getArg(4);
  for (size_t s = 0; s < p.sizes.size(); ++s)
    f.bind(p.sizes[s], at(1, b.getInt64Ty(), s), 0, Dim(p.sizes[s]) + 1);
  for (size_t i = 0; i < p.grid.size(); ++i)
    f.bind(p.grid[i].var, at(2, b.getInt64Ty(), i), 0, p.grid[i].extent);
  emit_program(f, p, memory);
  b.CreateRetVoid();
}

}  // namespace axon::module
