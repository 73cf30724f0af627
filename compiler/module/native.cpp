// From LLVM modules to machine code of one level: link the device pieces in, optimise, emit.
//
// Device functions (device_library.h) become internal, and what is not used disappears; those on vectors are
// made here (widen.h).
#include "module/native.h"

#include <llvm/Analysis/CGSCCPassManager.h>
#include <llvm/Analysis/LoopAnalysisManager.h>
#include <llvm/Bitcode/BitcodeWriter.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Verifier.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/ErrorHandling.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/TargetParser/Triple.h>
#include <llvm/Transforms/IPO/AlwaysInliner.h>
#include <llvm/Transforms/IPO/GlobalDCE.h>
#include <llvm/Transforms/InstCombine/InstCombine.h>
#include <llvm/Transforms/Scalar/ADCE.h>
#include <llvm/Transforms/Scalar/CorrelatedValuePropagation.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Scalar/GVN.h>
#include <llvm/Transforms/Scalar/LICM.h>
#include <llvm/Transforms/Scalar/LoopPassManager.h>
#include <llvm/Transforms/Scalar/LoopUnrollPass.h>
#include <llvm/Transforms/Scalar/SROA.h>
#include <llvm/Transforms/Scalar/SimplifyCFG.h>
#include <llvm/Transforms/Vectorize/LoopVectorize.h>

#include <algorithm>
#include <deque>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>

#include "base/bug.h"
#include "base/work.h"
#include "device/abi.h"
#include "module/device_library.h"
#include "module/frame.h"
#include "module/from_plan.h"
#include "module/tiles/emit_program.h"
#include "module/widen.h"
#include "shape/arena.h"

namespace axon::module {

namespace {

const char* triple_of(const target::Machine& level) {
  return level.is_gpu() ? "nvptx64-nvidia-cuda" : "x86_64-unknown-linux-gnu";
}

std::unique_ptr<llvm::TargetMachine> machine_for(const target::Machine& level, int optimization,
                                                 std::string& error) {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
    LLVMInitializeX86AsmParser();  // for the inline assembly of the memory functions
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
    llvm::install_bad_alloc_error_handler([](void*, const char*, bool) { throw std::bad_alloc(); });
  });
  const llvm::Target* target = llvm::TargetRegistry::lookupTarget(triple_of(level), error);
  if (!target) return nullptr;
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Standard;  // only where the module says so
  const auto effort = optimization == 0   ? llvm::CodeGenOptLevel::None
                      : optimization == 3 ? llvm::CodeGenOptLevel::Aggressive
                                          : llvm::CodeGenOptLevel::Default;
  const std::string features = level.is_gpu() ? "+ptx" + std::to_string(level.ptx) : "";
  return std::unique_ptr<llvm::TargetMachine>(
      target->createTargetMachine(triple_of(level), std::string(level.name), features, options,
                                  llvm::Reloc::PIC_, llvm::CodeModel::Small, effort));
}

void add_abi_version(llvm::Module& m) {
  auto* type = llvm::Type::getInt32Ty(m.getContext());
  new llvm::GlobalVariable(m, type, true,
                           llvm::GlobalValue::WeakODRLinkage,  // one in each object of an image

                           llvm::ConstantInt::get(type, AXON_ABI_VERSION), "axon_abi_version");
}

void set_level(llvm::Module& m, const target::Machine& level, llvm::TargetMachine& machine) {
  m.setTargetTriple(triple_of(level));
  m.setDataLayout(machine.createDataLayout());
  for (llvm::Function& f : m) {
    f.addFnAttr("target-cpu", level.name);
    f.addFnAttr("prefer-vector-width", std::to_string(level.vector_bytes * 8));
    f.addFnAttr(llvm::Attribute::NoUnwind);
  }
}

/// Runs passes on what the device library has of its own: loops of scalars.
class OnDeviceFunctions : public llvm::PassInfoMixin<OnDeviceFunctions> {
 public:
  explicit OnDeviceFunctions(llvm::FunctionPassManager passes) : passes_(std::move(passes)) {}
  llvm::PreservedAnalyses run(llvm::Function& f, llvm::FunctionAnalysisManager& analyses) {
    return is_of_device(f) ? passes_.run(f, analyses) : llvm::PreservedAnalyses::all();
  }

 private:
  llvm::FunctionPassManager passes_;
};

/// Generated code is vectors already, and says which of its loops are unrolled: what is left to do is to
/// bring functions in, values into registers, and what does not change out of loops.
llvm::ModulePassManager passes_for_vectors(llvm::PassBuilder& builder) {
  const auto combine = [] {
    return llvm::InstCombinePass(llvm::InstCombineOptions().setVerifyFixpoint(false));
  };
  llvm::FunctionPassManager functions;
  functions.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
  functions.addPass(llvm::EarlyCSEPass(true));
  functions.addPass(llvm::SimplifyCFGPass());
  functions.addPass(combine());
  functions.addPass(
      llvm::createFunctionToLoopPassAdaptor(llvm::LICMPass(llvm::LICMOptions()), /*UseMemorySSA=*/true));
  functions.addPass(llvm::LoopUnrollPass(llvm::LoopUnrollOptions(2, /*OnlyWhenForced=*/true)));
  functions.addPass(llvm::GVNPass());
  functions.addPass(llvm::CorrelatedValuePropagationPass());  // narrower divisions
  functions.addPass(combine());
  functions.addPass(llvm::ADCEPass());
  functions.addPass(llvm::SimplifyCFGPass());
  auto of_device = builder.buildFunctionSimplificationPipeline(llvm::OptimizationLevel::O3,
                                                               llvm::ThinOrFullLTOPhase::None);
  of_device.addPass(llvm::LoopVectorizePass());
  of_device.addPass(llvm::LoopUnrollPass(llvm::LoopUnrollOptions(3)));
  of_device.addPass(combine());
  of_device.addPass(llvm::SimplifyCFGPass());
  functions.addPass(OnDeviceFunctions(std::move(of_device)));
  llvm::ModulePassManager passes;
  passes.addPass(llvm::AlwaysInlinerPass());
  passes.addPass(llvm::GlobalDCEPass());
  passes.addPass(llvm::createModuleToFunctionPassAdaptor(std::move(functions), /*EagerlyInvalidate=*/true));
  return passes;
}

void optimise(llvm::Module& m, llvm::TargetMachine& machine, int level, bool has_vectors) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  llvm::PipelineTuningOptions tuning;
  tuning.LoopUnrolling = true;
  tuning.LoopVectorization = false;
  tuning.LoopInterleaving = false;
  tuning.SLPVectorization = false;
  llvm::PassBuilder builder(&machine, tuning);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  using O = llvm::OptimizationLevel;
  const O effort = level <= 1 ? O::O1 : level == 2 ? O::O2 : O::O3;
  auto passes = level == 0    ? builder.buildO0DefaultPipeline(O::O0)
                : has_vectors ? passes_for_vectors(builder)
                              : builder.buildPerModuleDefaultPipeline(effort);
  passes.run(m, modules);
}

void check(const llvm::Module& m, const char* where) {
  std::string text;
  llvm::raw_string_ostream out(text);
  if (llvm::verifyModule(m, &out)) base::bug(where, out.str());
}

/// What one variant may take to emit at one level, in the steps of base/work.h, and how long its code may be.
constexpr uint64_t steps_of_a_variant = 100'000'000;
constexpr unsigned instructions_of_a_variant = 400'000;

struct Made {
  std::unique_ptr<llvm::LLVMContext> context;
  std::unique_ptr<llvm::TargetMachine> machine;
  std::unique_ptr<llvm::Module> module;
};

std::optional<Made> empty_module(const target::Machine& level, const EmitOptions& options,
                                 std::string& error) {
  Made made;
  made.context = std::make_unique<llvm::LLVMContext>();
  made.machine = machine_for(level, options.optimization, error);
  if (!made.machine) return std::nullopt;
  made.module = std::make_unique<llvm::Module>("axon", *made.context);
  return made;
}

/// Runs a part of the way to the code of a variant, of which so many steps are left.
void within_allowance(const plan::Variant& variant, uint64_t& steps, const std::function<void()>& part) {
  try {
    const base::Allowance allowance(steps);
    part();
    steps -= allowance.spent();
  } catch (const base::TooMuchWork&) {
    throw TooLarge{&variant};
  }
}

Bodies bodies_of(const plan::Variant& variant, const Bodies::Levels& levels) {
  Bodies bodies;
  uint64_t steps = steps_of_a_variant * levels.size();
  within_allowance(variant, steps, [&] { bodies = make_bodies(variant, levels); });
  return bodies;
}

/// What variants say, before device code and optimisation, in one module. `scratch_bytes`: of each, added at
/// the end.
std::optional<Made> emit(const std::vector<const plan::Variant*>& variants, const target::Machine& level,
                         const EmitOptions& options, std::string& error,
                         std::vector<Dim>* scratch_bytes = nullptr) {
  auto made = empty_module(level, options, error);
  if (!made) return std::nullopt;
  for (const plan::Variant* variant : variants) {
    const unsigned before = made->module->getInstructionCount();
    const Bodies bodies = bodies_of(*variant, {&level});
    if (scratch_bytes) scratch_bytes->push_back(bodies.scratch_bytes);
    if (const auto why = why_no_code(*variant, bodies, level)) {
      error = *why;
      return std::nullopt;
    }
    uint64_t steps = steps_of_a_variant;
    within_allowance(*variant, steps, [&] {
      emit_variant(*made->module, *variant, bodies, whole_of(*variant), level, options);
    });
    if (made->module->getInstructionCount() - before > instructions_of_a_variant) throw TooLarge{variant};
  }
  check(*made->module, "module::emit_variant");
  return made;
}

std::vector<const plan::Variant*> variants_of(const std::vector<const plan::Plan*>& plans) {
  std::vector<const plan::Variant*> variants;
  for (const plan::Plan* plan : plans)
    for (const plan::Variant& variant : plan->variants) variants.push_back(&variant);
  return variants;
}

/// Touches nothing but its own module.
void complete(llvm::Module& m, llvm::TargetMachine& machine, const target::Machine& level,
              const EmitOptions& options) {
  if (!level.is_gpu()) add_abi_version(m);
  link_device(m, level.is_gpu());
  define_widened(m);
  set_level(m, level, machine);
  optimise(m, machine, options.optimization, !level.is_gpu());
  check(m, "module::optimise");
}

void complete(Made& made, const target::Machine& level, const EmitOptions& options) {
  complete(*made.module, *made.machine, level, options);
}

std::string generate(llvm::Module& m, llvm::TargetMachine& machine, llvm::CodeGenFileType kind) {
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream out(bytes);
  llvm::legacy::PassManager passes;
  if (machine.addPassesToEmitFile(passes, out, nullptr, kind))
    base::bug("module::generate", "no code generator");
  passes.run(m);
  return std::string(bytes.begin(), bytes.end());
}

/// Makes the objects of all variants and levels, each variant in a module for each of its parts. These are
/// emitted one after the other, since dims are shared, and optimised side by side: who has emitted one goes
/// on with it.
class ObjectMaker {
 public:
  ObjectMaker(const std::vector<const plan::Plan*>& plans, const std::vector<const target::Machine*>& levels,
              const EmitOptions& options, std::string& error)
      : variants_(variants_of(plans)),
        levels_(levels),
        options_(options),
        error_(error),
        bodies_(variants_.size()),
        objects_(levels.size()) {}

  std::optional<Objects> run() {
    work_on_all_processors();
    if (failure_) std::rethrow_exception(failure_);
    if (!complete_target_) return std::nullopt;
    Objects all;
    for (const auto& of_level : objects_) all.of_level.emplace_back(of_level.begin(), of_level.end());
    for (const auto& bodies : bodies_) all.scratch_bytes.push_back(bodies ? bodies->scratch_bytes : Dim());
    return all;
  }

 private:
  struct Job {
    size_t level;
    std::string* object;
    Made made;
  };
  /// The variant and level that are being emitted.
  struct Emission {
    size_t variant = 0, level = 0;
    std::vector<Part> parts;
    size_t next = 0;  ///< of the parts
    uint64_t steps = 0;
    unsigned instructions = 0;
  };

  void work_on_all_processors() {
    size_t modules = 0;
    for (const plan::Variant* variant : variants_) modules += parts_of(*variant).size() * levels_.size();
    const size_t threads = std::min<size_t>(modules, std::max(1U, std::thread::hardware_concurrency()));
    std::vector<std::jthread> others;
    shape::Arena& arena = shape::Arena::current();
    try {
      for (size_t t = 1; t < threads; ++t)
        others.emplace_back([this, &arena] {
          const shape::UseArena same_sizes(arena);
          work();
        });
    } catch (const std::system_error&) {  // no more threads to be had: fewer do
    }
    work();
  }

  void work() {
    try {
      while (auto job = begin()) {
        check(*job->made.module, "module::emit_variant");
        complete(job->made, *levels_[job->level], options_);
        *job->object = generate(*job->made.module, *job->made.machine, llvm::CodeGenFileType::ObjectFile);
      }
    } catch (...) {
      const std::lock_guard lock(emitting_);
      if (!failure_) failure_ = std::current_exception();
      stop();
    }
  }

  /// A module to optimise; nothing when all are begun.
  std::optional<Job> begin() {
    const std::lock_guard lock(emitting_);
    while (emission_.next == emission_.parts.size()) {
      if (next_ == variants_.size() * levels_.size()) return std::nullopt;
      begin_variant();
    }
    const plan::Variant& variant = *variants_[emission_.variant];
    const target::Machine& level = *levels_[emission_.level];
    auto made = empty_module(level, options_, error_);
    if (!made) {
      complete_target_ = false;
      stop();
      return std::nullopt;
    }
    const Part& part = emission_.parts[emission_.next++];
    within_allowance(variant, emission_.steps, [&] {
      emit_variant(*made->module, variant, *bodies_[emission_.variant], part, level, options_);
    });
    emission_.instructions += made->module->getInstructionCount();
    if (emission_.instructions > instructions_of_a_variant) throw TooLarge{&variant};
    return Job{emission_.level, &objects_[emission_.level].emplace_back(), std::move(*made)};
  }

  void begin_variant() {
    emission_ = {next_ % variants_.size(), next_ / variants_.size(), {}, 0, steps_of_a_variant, 0};
    ++next_;
    const plan::Variant& variant = *variants_[emission_.variant];
    auto& bodies = bodies_[emission_.variant];
    if (!bodies) bodies = bodies_of(variant, levels_);
    if (const auto why = why_no_code(variant, *bodies, *levels_[emission_.level])) {
      error_ = *why;
      complete_target_ = false;
      return stop();
    }
    emission_.parts = parts_of(variant);
  }

  void stop() {
    next_ = variants_.size() * levels_.size();
    emission_.next = emission_.parts.size();
  }

  const std::vector<const plan::Variant*> variants_;
  const std::vector<const target::Machine*>& levels_;
  const EmitOptions& options_;
  std::string& error_;
  std::mutex emitting_;
  std::vector<std::optional<Bodies>> bodies_;     ///< by variant
  std::vector<std::deque<std::string>> objects_;  ///< by level; a deque's elements stay where they are
  size_t next_ = 0;                               ///< level and variant to be emitted
  Emission emission_;
  std::exception_ptr failure_;  ///< the first; no job begins after it
  bool complete_target_ = true;
};

}  // namespace

std::optional<Objects> emit_objects(const std::vector<const plan::Plan*>& plans,
                                    const std::vector<const target::Machine*>& levels,
                                    const EmitOptions& options, std::string& error) {
  return ObjectMaker(plans, levels, options, error).run();
}

std::optional<std::string> emit_assembly(const std::vector<const plan::Plan*>& plans,
                                         const target::Machine& level, const EmitOptions& options,
                                         std::string& error) {
  auto made = emit(variants_of(plans), level, options, error);
  if (!made) return std::nullopt;
  complete(*made, level, options);
  if (level.is_gpu()) add_gpu_functions(*made->module);
  return generate(*made->module, *made->machine, llvm::CodeGenFileType::AssemblyFile);
}

std::optional<std::string> emit_llvm_text(const std::vector<const plan::Plan*>& plans,
                                          const target::Machine& level, const EmitOptions& options,
                                          bool optimized, std::string& error) {
  auto made = emit(variants_of(plans), level, options, error);
  if (!made) return std::nullopt;
  if (optimized) complete(*made, level, options);
  std::string text;
  llvm::raw_string_ostream out(text);
  made->module->print(out, nullptr);
  return text;
}

std::optional<GpuCode> emit_gpu(const std::vector<const plan::Plan*>& plans, const target::Machine& machine,
                                const EmitOptions& options, std::string& error) {
  GpuCode code;
  auto made = emit(variants_of(plans), machine, options, error, &code.scratch_bytes);
  if (!made) return std::nullopt;
  complete(*made, machine, options);
  llvm::raw_string_ostream out(code.bitcode);
  llvm::WriteBitcodeToFile(*made->module, out);
  add_gpu_functions(*made->module);
  code.ptx = generate(*made->module, *made->machine, llvm::CodeGenFileType::AssemblyFile);
  return code;
}

std::string native_code(llvm::Module& m, const target::Machine& level, const EmitOptions& options,
                        llvm::CodeGenFileType kind) {
  std::string error;
  const auto machine = machine_for(level, options.optimization, error);
  if (!machine) base::bug("module::native_code", error);
  complete(m, *machine, level, options);
  return generate(m, *machine, kind);
}

std::optional<std::string> emit_task(const tile::Program& p, const target::Machine& level, TaskForm form,
                                     std::string& error) {
  if ((p.machine.threads() > 1) != level.is_gpu()) {
    error = p.machine.threads() > 1 ? "it is for several threads" : "it is for one thread";
    return std::nullopt;
  }
  auto made = empty_module(level, {}, error);
  if (!made) return std::nullopt;
  emit_task_function(*made->module, p, level);
  check(*made->module, "module::emit_task");
  complete(*made, level, {});
  if (form == TaskForm::object)
    return generate(*made->module, *made->machine, llvm::CodeGenFileType::ObjectFile);
  if (form == TaskForm::assembly)
    return generate(*made->module, *made->machine, llvm::CodeGenFileType::AssemblyFile);
  std::string text;
  llvm::raw_string_ostream out(text);
  made->module->print(out, nullptr);
  return text;
}

std::vector<size_t> context_offsets() {
  llvm::LLVMContext context;
  std::string error;
  const auto machine = machine_for(target::machines().front(), 0, error);
  if (!machine) base::bug("module::context_offsets", error);
  const llvm::DataLayout layout = machine->createDataLayout();
  const llvm::StructLayout* fields = layout.getStructLayout(ContextType(context).type);
  std::vector<size_t> offsets;
  for (const llvm::TypeSize offset : fields->getMemberOffsets()) offsets.push_back(offset.getFixedValue());
  return offsets;
}

std::optional<std::string> emit_device_object(const target::Machine& level, std::string& error) {
  llvm::LLVMContext context;
  auto machine = machine_for(level, 3, error);
  if (!machine) return std::nullopt;
  auto m = device_module(context, false);
  if (auto unread = m->materializeAll())
    base::bug("module::emit_device_object", llvm::toString(std::move(unread)));
  add_abi_version(*m);
  set_level(*m, level, *machine);
  optimise(*m, *machine, 3, false);
  return generate(*m, *machine, llvm::CodeGenFileType::ObjectFile);
}

}  // namespace axon::module
