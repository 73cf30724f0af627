// See task_functions.h.
#include "module/task_functions.h"

#include <algorithm>

#include "module/task_programs.h"
#include "module/tiles/emit_program.h"

namespace axon::module {

namespace {

constexpr uint32_t types_of_a_part = 3;  ///< what one thread optimises while others go on

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
        level_(level) {}

  llvm::Function* declare(const Part& part, const std::string& suffix) const {
    return declare(part.whole ? llvm::Function::InternalLinkage : llvm::Function::ExternalLinkage, suffix);
  }
  bool streams_weights() const { return !level_.is_gpu() && programs_.front().first_read.has_value(); }
  void emit(llvm::Function* run, llvm::Function* ahead) const {
    const TaskPrograms all{v_.program, type_, graph_, programs_};
    if (ahead) emit_ahead(ahead, all, level_);
    emit_task(run, all, level_);
  }

 private:
  llvm::Function* declare(llvm::Function::LinkageTypes linkage, const std::string& suffix) const {
    auto& c = module_.getContext();
    std::vector<llvm::Type*> params{llvm::PointerType::getUnqual(c),
                                    llvm::PointerType::get(c, level_.is_gpu() ? shared_memory : 0)};
    params.insert(params.end(),
                  type_.loops.size() + type_.coordinates.size() + steps_read(v_.program, type_).size(),
                  llvm::Type::getInt64Ty(c));
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
  const std::vector<tile::MadeProgram>& programs_;
  const target::Machine& level_;
};

/// The tile programs of a type, where there is code for all of them.
tile::MadePrograms programs_for(const plan::Variant& v, task::TaskTypeId id, Graph& graph,
                                const target::Machine& level) {
  auto made = tile::programs_of(v.program, id, graph, *tile::find_machine(level.name));
  for (const tile::MadeProgram& one : made.list)
    if (const auto why = why_not_emitted(one.program)) return {{}, *why};
  return made;
}

}  // namespace

Bodies make_bodies(const plan::Variant& v, const Bodies::Levels& levels) {
  const auto graph = std::make_shared<Graph>(*v.program.graph);
  Bodies all{graph, {}, {}};
  for (uint32_t t = 0; t < v.program.types.size(); ++t)
    for (const target::Machine* level : levels) {
      auto& made = all.programs[level].emplace_back(programs_for(v, {t}, *graph, *level));
      for (const tile::MadeProgram& one : made.list)
        all.scratch_bytes = shape::max(all.scratch_bytes, Dim(one.scratch_bytes));
    }
  return all;
}

std::optional<std::string> why_no_code(const plan::Variant& v, const Bodies& bodies,
                                       const target::Machine& level) {
  if (level.is_gpu()) {
    if (!v.exit_conditions.empty() || !v.data_sizes.empty())
      return "trip counts and sizes that the data decides have no code for GPUs yet";
    if (!v.program.graph->debugs.empty()) return "`debug` has no code for GPUs";
  }
  for (uint32_t t = 0; t < v.program.types.size(); ++t) {
    const tile::MadePrograms& made = bodies.programs.at(&level)[t];
    if (made.list.empty())
      return v.program.types[{t}].name + " has no code for " + (level.is_gpu() ? "GPUs" : "CPUs") +
             " yet: " + made.declined;
  }
  return std::nullopt;
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
