// See emit_program.h. Which of its operations a task runs without masks, and in which iterations.
#include "module/tiles/emit_program.h"

#include <algorithm>

#include "module/tiles/operations.h"
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
    const std::vector<Dim> whole = conditions(p_.body, std::nullopt);
    if (whole.empty()) return walk(p_.body);
    Value* holds = nullptr;
    for (const Dim& d : whole) {
      Value* one = c_.f.b.CreateICmpSGE(c_.value(d), c_.f.i64(0));
      holds = holds ? c_.f.b.CreateAnd(holds, one) : one;
    }
    c_.choose(
        holds, [&] { c_.known.supposing(whole, [&] { walk(p_.body); }); }, [&] { walk(p_.body); });
  }

 private:
  void walk(const std::vector<OpId>& body) {
    for (const OpId id : body) {
      const auto* loop = std::get_if<tile::Loop>(&p_.ops[id]);
      if (!loop) {
        operations_.emit(p_.ops[id]);
        continue;
      }
      c_.loop({loop->index, loop->extent}, conditions(loop->body, loop->index), [&] { walk(loop->body); });
    }
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
      for (const Fact& fact : bounds_of(p_, views, op)) {
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
  bool is_of(const Dim& d, std::optional<Var> loop) const {
    if (loop && !d.contains(*loop)) return false;
    const auto vars = d.vars();
    return std::all_of(vars.begin(), vars.end(), [&](Var v) { return v == loop || c_.f.find(v); });
  }

  const tile::Program& p_;
  Context c_;
  Operations operations_;
};

}  // namespace

void emit_program(Frame& f, const tile::Program& p, const ProgramMemory& memory) {
  ProgramEmitter(f, p, memory).run();
}

void emit_task_function(llvm::Module& m, const tile::Program& p, const target::Machine& machine) {
  auto& c = m.getContext();
  auto* pointer = llvm::PointerType::getUnqual(c);
  auto* type = llvm::FunctionType::get(llvm::Type::getVoidTy(c), std::vector<llvm::Type*>(4, pointer), false);
  auto* function = llvm::Function::Create(type, llvm::Function::ExternalLinkage, p.name, m);
  for (unsigned i = 0; i < 4; ++i) function->addParamAttr(i, llvm::Attribute::NoAlias);
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
    memory.tensors.push_back(at(0, pointer, t));
    memory.regions.push_back(t);
  }
  memory.scratch = function->getArg(3);
  memory.scratch_region = p.tensors.size();
  for (size_t s = 0; s < p.sizes.size(); ++s)
    f.bind(p.sizes[s], at(1, b.getInt64Ty(), s), 0, Dim(p.sizes[s]) + 1);
  for (size_t i = 0; i < p.grid.size(); ++i)
    f.bind(p.grid[i].var, at(2, b.getInt64Ty(), i), 0, p.grid[i].extent);
  emit_program(f, p, memory);
  b.CreateRetVoid();
}

}  // namespace axon::module
