// See task_functions.h.
#include "module/task_functions.h"

#include <algorithm>

#include "base/bug.h"
#include "module/task_emitter.h"
#include "module/task_programs.h"
#include "module/tiles/emit_program.h"
#include "task/facts.h"
#include "task/trip_counts.h"

namespace axon::module {

namespace {

constexpr uint32_t types_of_a_part = 16;

/// The most that a dimension of the type is in any iteration of the loops around and for any of its tasks.
Dim most_in_any_task(const plan::Variant& v, task::TaskTypeId type, const Dim& d) {
  const auto is_size = [&](Var var) {
    const auto& sizes = v.program.graph->sizes;
    return std::any_of(sizes.begin(), sizes.end(), [&](const graph::Size& s) { return s.var == var; });
  };
  const std::vector<Var> vars = d.vars();
  if (std::all_of(vars.begin(), vars.end(), is_size)) return d;
  const auto facts = task::both(v.program.facts, task::ranges(v.program, type));
  const auto most = shape::bounds_of(d, facts, is_size).high;
  if (!most) base::bug("make_bodies", "no bound of " + d.str());
  return *most;
}

/// Declares and emits the functions of one type.
class TypeEmitter {
 public:
  TypeEmitter(llvm::Module& m, const plan::Variant& v, task::TaskTypeId id, const Bodies& bodies,
              const target::Machine& level)
      : module_(m),
        v_(v),
        type_(v.program.types[id]),
        graph_(*bodies.graph),
        programs_(bodies.programs.at(&level)[id.index].list),
        body_(bodies.of_type[id.index]),
        level_(level) {}

  llvm::Function* declare(const Part& part, const std::string& suffix) const {
    return declare(part.whole ? llvm::Function::InternalLinkage : llvm::Function::ExternalLinkage, suffix,
                   {});
  }
  bool streams_weights() const {
    if (level_.is_gpu()) return false;
    if (!programs_.empty()) return programs_.front().first_read.has_value();
    return type_.family != task::Family::order &&
           std::any_of(body_->stages.begin(), body_->stages.end(),
                       [](const Stage& s) { return s.contract && s.contract->panel; });
  }
  void emit(llvm::Function* run, llvm::Function* ahead) const {
    if (!programs_.empty()) {
      const TaskPrograms all{v_.program, type_, graph_, programs_};
      if (ahead) emit_ahead(ahead, all, level_);
      return emit_task(run, all, level_);
    }
    if (type_.family == task::Family::order) return emit_order(run);
    TaskEmitter(run, *body_, level_).run();
    if (ahead) TaskEmitter(ahead, *body_, level_).run_ahead();
  }

 private:
  void emit_order(llvm::Function* run) const {
    auto& c = module_.getContext();
    std::vector<llvm::Type*> more(body_->domain.size() + 1, llvm::Type::getInt64Ty(c));  // row, first, count
    more.push_back(llvm::PointerType::getUnqual(c));
    llvm::Function* const keys = declare(llvm::Function::InternalLinkage, ".keys", more);
    TaskEmitter(keys, *body_, level_).run_keys();
    TaskEmitter(run, *body_, level_).run_order(keys);
  }

  llvm::Function* declare(llvm::Function::LinkageTypes linkage, const std::string& suffix,
                          const std::vector<llvm::Type*>& more) const {
    auto& c = module_.getContext();
    std::vector<llvm::Type*> params{llvm::PointerType::getUnqual(c),
                                    llvm::PointerType::get(c, level_.is_gpu() ? shared_memory : 0)};
    params.insert(params.end(),
                  type_.loops.size() + type_.coordinates.size() + steps_read(v_.program, type_).size(),
                  llvm::Type::getInt64Ty(c));
    params.insert(params.end(), more.begin(), more.end());
    auto* function = llvm::Function::Create(llvm::FunctionType::get(llvm::Type::getVoidTy(c), params, false),
                                            linkage, v_.symbol + "." + type_.name + suffix, module_);
    if (linkage == llvm::Function::ExternalLinkage) function->setVisibility(llvm::Function::HiddenVisibility);
    // A call would need a frame in memory there.
    function->addFnAttr(level_.is_gpu() ? llvm::Attribute::AlwaysInline : llvm::Attribute::NoInline);
    function->addParamAttr(0, llvm::Attribute::NoAlias);
    return function;
  }

  llvm::Module& module_;
  const plan::Variant& v_;
  const task::TaskType& type_;
  const Graph& graph_;
  const std::vector<tile::MadeProgram>& programs_;  ///< none: the body's stages are emitted
  const std::optional<Body>& body_;
  const target::Machine& level_;
};

/// The tile programs of a type, where there is code for all of them.
tile::MadePrograms programs_for(const plan::Variant& v, task::TaskTypeId id, Graph& graph,
                                const target::Machine& level, const EmitOptions& options) {
  if (options.stages || options.keep_generic_loops) return {};
  auto made = tile::programs_of(v.program, id, graph, *tile::find_machine(level.name));
  for (const tile::MadeProgram& one : made.list)
    if (const auto why = why_not_emitted(one.program)) return {{}, *why};
  return made;
}

}  // namespace

Bodies make_bodies(const plan::Variant& v, const Bodies::Levels& levels, const EmitOptions& options) {
  const auto graph = std::make_shared<Graph>(*v.program.graph);
  Bodies all{graph, {}, {}, {}};
  for (uint32_t t = 0; t < v.program.types.size(); ++t) {
    const task::TaskTypeId id{t};
    bool stages = false;
    for (const target::Machine* level : levels) {
      auto& made = all.programs[level].emplace_back(programs_for(v, id, *graph, *level, options));
      stages |= made.list.empty();
      for (const tile::MadeProgram& one : made.list)
        all.scratch_bytes = shape::max(all.scratch_bytes, Dim(one.scratch_bytes));
    }
    auto& body = all.of_type.emplace_back();
    if (!stages || levels.front()->is_gpu()) continue;
    body = make_body(v.program, v.program.types[id], graph, options);
    all.scratch_bytes = shape::max(all.scratch_bytes, most_in_any_task(v, id, body->scratch_bytes));
  }
  return all;
}

Part whole_of(const plan::Variant& v) { return {0, static_cast<uint32_t>(v.program.types.size()), true}; }

std::vector<Part> parts_of(const plan::Variant& v) {
  const Part whole = whole_of(v);
  if (whole.end <= types_of_a_part) return {whole};
  std::vector<Part> parts;
  for (uint32_t first = 0; first < whole.end; first += types_of_a_part)
    parts.push_back({first, std::min(first + types_of_a_part, whole.end), false});
  return parts;
}

TaskFunctions emit_tasks(llvm::Module& m, const plan::Variant& v, const Bodies& bodies, const Part& part,
                         const target::Machine& level) {
  TaskFunctions functions;
  for (uint32_t t = 0; t < v.program.types.size(); ++t) {
    const TypeEmitter type(m, v, {t}, bodies, level);
    functions.run.push_back(type.declare(part, ""));
    functions.ahead.push_back(type.streams_weights() ? type.declare(part, ".ahead") : nullptr);
    if (part.has({t})) type.emit(functions.run.back(), functions.ahead.back());
  }
  return functions;
}

}  // namespace axon::module
