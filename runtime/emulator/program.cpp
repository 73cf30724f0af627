// See emulator.h: compilation, and the preparation of a run.
#include <fmt/format.h>
#include <llvm/Bitcode/BitcodeReader.h>
#include <llvm/Bitcode/BitcodeWriter.h>
#include <llvm/Demangle/Demangle.h>
#include <llvm/ExecutionEngine/Orc/LLJIT.h>
#include <llvm/IR/DiagnosticHandler.h>
#include <llvm/IR/DiagnosticInfo.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Support/raw_ostream.h>

#include <mutex>
#include <new>

#include "emulator/engine.h"
#include "emulator/hooks.h"

namespace axon::emulator {

namespace {

void prepare_llvm() {
  static std::once_flag once;
  std::call_once(once, [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
  });
}

/// A run may change what the module's variables hold; the next begins with this.
struct Variable {
  std::string name;
  void* base;
  bool writable;
  std::vector<std::byte> initial;
};

void define_hooks(llvm::orc::LLJIT& jit) {
  llvm::orc::SymbolMap symbols;
  const auto define = [&](const char* name, auto* function) {
    symbols[jit.mangleAndIntern(name)] = {llvm::orc::ExecutorAddr::fromPtr(function),
                                          llvm::JITSymbolFlags::Exported};
  };
  define("axon_emulator_access", &axon_emulator_access);
  define("axon_emulator_range", &axon_emulator_range);
  define("axon_emulator_fence", &axon_emulator_fence);
  define("axon_emulator_step", &axon_emulator_step);
  define("axon_emulator_shared", &axon_emulator_shared);
  define("axon_emulator_primitive", &axon_emulator_primitive);
  llvm::cantFail(jit.getMainJITDylib().define(llvm::orc::absoluteSymbols(std::move(symbols))));
  jit.getMainJITDylib().addGenerator(llvm::cantFail(
      llvm::orc::DynamicLibrarySearchGenerator::GetForCurrentProcess(jit.getDataLayout().getGlobalPrefix())));
}

}  // namespace

struct Program::Code {
  std::vector<Finding> findings;
  std::string too_large;  ///< functions whose variables do not fit a stack
  Retargeted made;
  std::unique_ptr<llvm::orc::LLJIT> jit;
  Entry entry = nullptr;
  std::vector<Variable> variables;
  Stacks stacks;

  void refuse(std::string why) { findings.push_back({Kind::unsupported, std::move(why)}); }
  void compile(const llvm::Module&, std::string_view kernel);
  void watch_stacks(llvm::Module&);
  void look_up();
  void check(const Launch&);
  void arrange(Memory&, const Launch&);
};

void Program::Code::compile(const llvm::Module& original, std::string_view kernel) {
  prepare_llvm();
  auto context = std::make_unique<llvm::LLVMContext>();
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  llvm::WriteBitcodeToFile(original, stream);
  std::unique_ptr<llvm::Module> module = llvm::cantFail(llvm::parseBitcodeFile(
      llvm::MemoryBufferRef(llvm::StringRef(bytes.data(), bytes.size()), ""), *context));
  made = retarget(*module, kernel);
  for (const std::string& problem : made.problems) refuse(problem);
  if (!findings.empty()) return;
  llvm::orc::JITTargetMachineBuilder machine =
      llvm::cantFail(llvm::orc::JITTargetMachineBuilder::detectHost());
  machine.setCodeGenOptLevel(llvm::CodeGenOptLevel::None);
  jit = llvm::cantFail(llvm::orc::LLJITBuilder().setJITTargetMachineBuilder(std::move(machine)).create());
  module->setTargetTriple(jit->getTargetTriple().str());
  module->setDataLayout(jit->getDataLayout());
  std::string wrong;
  llvm::raw_string_ostream wrong_stream(wrong);
  if (llvm::verifyModule(*module, &wrong_stream)) return refuse("retargeted code is not valid: " + wrong);
  define_hooks(*jit);
  watch_stacks(*module);
  llvm::cantFail(jit->addIRModule(llvm::orc::ThreadSafeModule(std::move(module), std::move(context))));
  look_up();
}

/// Code that is not optimised has a place on the stack for nearly every value: how much, code generation
/// says.
void Program::Code::watch_stacks(llvm::Module& module) {
  for (llvm::Function& function : module)
    function.addFnAttr("warn-stack-size", std::to_string(Stacks::most_of_a_function));
  const auto note = [](const llvm::DiagnosticInfo* information, void* code) {
    const auto* size = llvm::dyn_cast<llvm::DiagnosticInfoStackSize>(information);
    if (size == nullptr) return;
    static_cast<Code*>(code)->too_large +=
        fmt::format("{}{} needs {} bytes of stack", static_cast<Code*>(code)->too_large.empty() ? "" : ", ",
                    llvm::demangle(std::string_view(size->getFunction().getName())), size->getStackSize());
  };
  module.getContext().setDiagnosticHandlerCallBack(note, this);
}

void Program::Code::look_up() {
  auto address = jit->lookup(entry_name);
  if (!address) return refuse(llvm::toString(address.takeError()));
  if (!too_large.empty()) return refuse(too_large);
  entry = address->toPtr<Entry>();
  for (const GlobalVariable& variable : made.globals) {
    auto* base = llvm::cantFail(jit->lookup(variable.symbol)).toPtr<std::byte*>();
    variables.push_back({variable.name, base, variable.writable, {base, base + variable.bytes}});
  }
}

/// What a launch must have, before anything is reserved for it.
void Program::Code::check(const Launch& launch) {
  if (launch.arguments.size() != made.parameters)
    refuse(fmt::format("{} arguments for {} parameters", launch.arguments.size(), made.parameters));
  if (launch.threads < 1 || static_cast<uint64_t>(launch.threads) > made.most_threads ||
      launch.threads > 1024)
    refuse(fmt::format("{} threads in a block", launch.threads));
  if (launch.blocks < 1 || thread_id(2 * static_cast<uint32_t>(launch.blocks), 0) > most_thread_ids)
    refuse(fmt::format("{} blocks", launch.blocks));
}

void Program::Code::arrange(Memory& memory, const Launch& launch) {
  for (const Region& region : launch.regions)
    memory.add(region.name, region.base, region.bytes, region.writable);
  for (const Variable& variable : variables) {
    memory.add(variable.name, variable.base, variable.initial.size(), variable.writable);
    if (variable.writable)
      std::copy(variable.initial.begin(), variable.initial.end(), static_cast<std::byte*>(variable.base));
  }
  const auto blocks = static_cast<uint32_t>(launch.blocks);
  if (!memory.reserve_shared(made.shared, launch.shared_bytes, blocks))
    refuse(
        fmt::format("{} bytes of dynamic shared memory in each of {} blocks", launch.shared_bytes, blocks));
  try {
    if (const std::string overlap = memory.arrange(launch.options.check); !overlap.empty())
      refuse(fmt::format("{} overlap", overlap));
  } catch (const std::bad_alloc&) {
    refuse("there is no memory to keep accesses of all regions in");
  }
  if (!stacks.reserve(static_cast<size_t>(blocks) * static_cast<size_t>(launch.threads)))
    refuse("there is no memory for the stacks of all threads");
}

Program::Program(const llvm::Module& module, std::string_view kernel) : code_(std::make_unique<Code>()) {
  code_->compile(module, kernel);
}

Program::~Program() = default;

const std::vector<Finding>& Program::findings() const { return code_->findings; }

Report Program::run(const Launch& launch) {
  Report refused;
  refused.findings = code_->findings;
  if (!refused.ok()) return refused;
  Memory memory;
  code_->check(launch);
  if (code_->findings.empty()) code_->arrange(memory, launch);
  if (!code_->findings.empty()) {
    std::swap(refused.findings, code_->findings);  // of this launch alone
    return refused;
  }
  return Engine(code_->made, code_->entry, launch, memory, code_->stacks).run();
}

}  // namespace axon::emulator
