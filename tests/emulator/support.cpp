// See support.h.
#include "support.h"

#include <llvm/AsmParser/Parser.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/IRReader/IRReader.h>
#include <llvm/Linker/Linker.h>
#include <llvm/Support/SourceMgr.h>
#include <llvm/Support/raw_ostream.h>

#include <map>

namespace axon::emulator {

namespace {

std::unique_ptr<llvm::Module> read(const std::string& path, llvm::LLVMContext& context) {
  llvm::SMDiagnostic error;
  std::unique_ptr<llvm::Module> module = llvm::parseIRFile(path, error, context);
  if (module == nullptr) {
    error.print(path.c_str(), llvm::errs());
    std::abort();
  }
  return module;
}

constexpr const char* frame = R"(
target datalayout = "e-i64:64-i128:128-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"
!nvvm.annotations = !{!0}
!0 = !{ptr @k, !"kernel", i32 1}
)";

}  // namespace

Program& compiled(const std::string& name, int bug) {
  static std::map<std::pair<std::string, int>, std::unique_ptr<Program>> programs;
  std::unique_ptr<Program>& program = programs[{name, bug}];
  if (program == nullptr) {
    llvm::LLVMContext context;
    auto module = read(std::string(AXON_KERNELS) + "/" + name + "_" + std::to_string(bug) + ".bc", context);
    llvm::Linker::linkModules(*module, read(std::string(AXON_TEST_DIR) + "/kernels/prims.ll", context),
                              llvm::Linker::LinkOnlyNeeded);
    program = std::make_unique<Program>(*module, name);
    for (const Finding& finding : program->findings()) ADD_FAILURE() << name << ": " << finding.message;
  }
  return *program;
}

std::unique_ptr<Program> from_text(const std::string& text) {
  llvm::LLVMContext context;
  llvm::SMDiagnostic error;
  std::unique_ptr<llvm::Module> module = llvm::parseAssemblyString(frame + text, error, context);
  if (module == nullptr) {
    error.print("text", llvm::errs());
    std::abort();
  }
  return std::make_unique<Program>(*module, "k");
}

}  // namespace axon::emulator
