// A function under construction: variables with their values, dimensions as arithmetic, loops, memory.
//
// In: an empty llvm::Function whose first argument is the launch context. Every shape::Var in scope has a
// value and a depth (0: the same all through the function; each loop adds one). Dimensions are emitted with
// what changes least innermost in the expression tree, so that loop-invariant parts are whole subtrees, which
// LLVM hoists.
//
// Invariant: variables are non-negative; a divisor that might be zero is made one (its result is then never
// used).
#pragma once
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "target/machine.h"

namespace axon::module {

using base::computed_as;
using graph::Axis;
using graph::Elem;
using graph::Graph;
using graph::ScalarId;
using shape::Dim;
using shape::Fact;
using shape::Var;

/// Field numbers of axon_kernel_context, and its type. A test compares the offsets with runtime/device/abi.h.
struct ContextType {
  enum Field : unsigned {
    sizes,
    buffers,
    events,
    event_offset,
    epoch,
    workers,
    scratch,
    scratch_bytes,
    failed,
    failed_value,
    cancel,
    services
  };
  explicit ContextType(llvm::LLVMContext&);
  llvm::StructType* type;
};

/// Address spaces of a GPU.
constexpr unsigned global_memory = 1, shared_memory = 3;

enum class LoopKind : uint8_t {
  plain,     ///< as LLVM sees fit
  unrolled,  ///< its body is so short that some iterations are put together
  rolled     ///< its iterations stay apart
};

class Frame {
 public:
  Frame(llvm::Function*, const Graph&, const target::Machine&);

  llvm::IRBuilder<> b;
  llvm::Function* function;
  const target::Machine& level;

  llvm::Value* context() const { return function->getArg(0); }
  llvm::Value* context_field(ContextType::Field, llvm::Type*);  ///< loaded once, at entry
  llvm::Value* buffer(uint32_t number);  ///< base address, loaded once; of a GPU in its global memory
  /// Of a GPU: what the threads of a block share, as much as the launch gives it.
  llvm::Value* shared_memory();
  llvm::Value* i64(int64_t value) { return b.getInt64(static_cast<uint64_t>(value)); }

  // ---- variables and dimensions ----
  struct Binding {
    llvm::Value* value;
    int depth;
    Dim extent;  ///< the variable runs over 0 .. extent-1 at most
  };
  static constexpr int of_data = INT32_MAX;  ///< depth of an index that the data decides
  void bind(Var, llvm::Value*, int depth, const Dim& extent);
  /// 0 <= v < extent for every variable that a loop has bound, around what is emitted now. Of others, 0 <= v,
  /// but for integers of the data: an axis that no loop runs over may be empty.
  std::vector<Fact> ranges() const;
  const Binding* find(Var) const;
  llvm::Value* emit(const Dim&);
  /// What is emitted until the end of body() is used only where the facts hold: minima and maxima that they
  /// decide are not computed.
  void supposing(std::vector<Fact> facts, const std::function<void()>& body);
  bool may_be_negative(Var v) const { return integers_.count(v) > 0; }
  /// Of a function that another one calls, with the same variables.
  void have_integers_of(const Frame& other) { integers_ = other.integers_; }
  llvm::Value* emit(const Fact&);  ///< i1

  /// for (v = low; v < end; ++v) body(). `prepare` runs once before the first iteration, and only if there is
  /// one.
  void loop(const Axis& axis, llvm::Value* low, llvm::Value* end, LoopKind, const std::function<void()>& body,
            const std::function<void()>& prepare = nullptr);
  /// for (v = 0; goes_on(v); ++v) body(). Afterwards `count` is how many iterations there were.
  void loop_while(const Axis& axis, Var count, const std::function<llvm::Value*(llvm::Value*)>& goes_on,
                  const std::function<void()>& body);
  /// body() with a value for the variable, known to lie in the axis.
  void with(const Axis& axis, llvm::Value* value, const std::function<void()>& body);
  void when(llvm::Value* condition, const std::function<void()>& body);
  /// Records the first failed check of a launch, with the value that failed and what it was held against.
  void check_failed(uint32_t check, llvm::Value* value, llvm::Value* against) {
    check_failed(context(), check, value, against);
  }
  void check_failed(llvm::Value* context, uint32_t check, llvm::Value* value, llvm::Value* against);
  llvm::Value* none_failed();  ///< i1: so far, as far as this worker can see
  /// A stack slot, made in the entry block; LLVM turns it into a register.
  llvm::AllocaInst* variable(llvm::Type*, const std::string& name);

  // ---- memory ----
  /// Accesses to different regions (buffers, scratch tensors) never overlap.
  void mark(llvm::Instruction* access, uint32_t region);
  uint32_t region_count = 0;  ///< set before the first access

  /// Calls the function of the context's services at an offset (axon_services in runtime/device/abi.h).
  llvm::Value* call_service(size_t offset, llvm::Type* result, const std::vector<llvm::Value*>& args);
  llvm::Function* device(const std::string& name, llvm::Type* result, std::vector<llvm::Type*> params);

 private:
  /// Without the minima and maxima that are decided where code is emitted now.
  Dim decided(const Dim&);
  Dim decided(const shape::Atom&);
  llvm::Value* emit_term(const shape::Term&);
  llvm::Value* emit_atom(const shape::Atom&);
  int depth_of(const Dim&) const;
  int depth_of(const shape::Term&) const;
  int depth_of(const shape::Atom&) const;
  bool is_nonnegative(const Dim&) const;
  bool is_positive(const Dim&) const;
  llvm::Value* positive_divisor(const Dim&);
  llvm::MDNode* loop_metadata(LoopKind);
  llvm::IRBuilder<> at_entry();

  ContextType context_type_;
  std::map<Var, Binding> variables_;
  std::set<Var> integers_;  ///< those that may be negative
  std::vector<Fact> supposed_;
  std::map<const void*, Dim> decided_;       ///< by node, where `supposed_` holds
  std::map<uint64_t, llvm::Value*> loaded_;  ///< by kind and number
  int depth_ = 1;
  std::vector<llvm::MDNode*> scopes_;  ///< one alias scope per region
  std::vector<llvm::MDNode*> others_;  ///< per region: the scopes of all others
};

}  // namespace axon::module
