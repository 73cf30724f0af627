// See widen.h.
#include "module/widen.h"

#include <llvm/ADT/PostOrderIterator.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include <algorithm>
#include <map>
#include <optional>

#include "base/bug.h"

namespace axon::module {

namespace {

using llvm::Value;

bool is_number(const llvm::Type* type) { return type->isIntegerTy() || type->isFloatingPointTy(); }

llvm::Type* on_lanes(llvm::Type* number, unsigned lanes) {
  if (!is_number(number)) base::bug("module::widened", "an argument or a result is no number");
  return llvm::FixedVectorType::get(number, lanes);
}

// ---- what has a form on vectors ----

bool is_vector_intrinsic(llvm::Intrinsic::ID id) {
  return llvm::isTriviallyVectorizable(id) || id == llvm::Intrinsic::is_fpclass;
}

/// The same in all lanes, and no argument of the vector form.
bool is_scalar_operand(llvm::Intrinsic::ID id, unsigned n) {
  return llvm::isVectorIntrinsicWithScalarOpAtArg(id, n) || (id == llvm::Intrinsic::is_fpclass && n == 1);
}

/// `n` -1: the result.
bool is_overloaded_at(llvm::Intrinsic::ID id, int n) {
  if (id == llvm::Intrinsic::is_fpclass) return n == 0;
  return llvm::isVectorIntrinsicWithOverloadTypeAtArg(id, n);
}

/// A load from a table, which is never changed.
bool is_table_load(const llvm::Instruction& i) {
  const auto* load = llvm::dyn_cast<llvm::LoadInst>(&i);
  if (!load || !load->isSimple() || !is_number(load->getType())) return false;
  const auto* table =
      llvm::dyn_cast<llvm::GlobalVariable>(llvm::getUnderlyingObject(load->getPointerOperand()));
  return table && table->isConstant();
}

/// Without effect, and defined for whatever operands: may be computed in lanes that do not need it.
bool is_free_of_effects(const llvm::Instruction& i) {
  if (llvm::isa<llvm::GetElementPtrInst>(i)) return true;
  if (!is_number(i.getType())) return false;
  if (llvm::isa<llvm::BinaryOperator>(i)) return !i.isIntDivRem();
  if (const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&i))
    return is_vector_intrinsic(call->getIntrinsicID());
  return llvm::isa<llvm::UnaryOperator, llvm::CastInst, llvm::CmpInst, llvm::SelectInst, llvm::FreezeInst,
                   llvm::PHINode>(i) &&
         std::all_of(i.op_begin(), i.op_end(), [](const Value* v) { return is_number(v->getType()); });
}

bool is_simple_terminator(const llvm::Instruction& i) {
  return llvm::isa<llvm::BranchInst>(i) || llvm::isa<llvm::ReturnInst>(i);
}

/// No loops, and nothing but what has a form on vectors. What may be out of bounds where its block does not
/// run stands in the entry.
bool has_vector_form(llvm::Function& f) {
  std::map<const llvm::BasicBlock*, size_t> order;
  for (const llvm::BasicBlock* block : llvm::ReversePostOrderTraversal<llvm::Function*>(&f)) {
    order.emplace(block, order.size());
    const bool always_runs = block->isEntryBlock();
    for (const llvm::Instruction& i : *block)
      if (!(i.isTerminator() ? is_simple_terminator(i) : is_free_of_effects(i)) &&
          !(always_runs && is_table_load(i)))
        return false;
  }
  for (const auto& [block, place] : order)
    for (const llvm::BasicBlock* next : llvm::successors(block))
      if (order.at(next) <= place) return false;
  return true;
}

// ---- the body ----

/// Writes the body of `wide`: that of `scalar`, which has a vector form, on all lanes, in one block.
class Widening {
 public:
  Widening(llvm::Function& scalar, llvm::Function& wide, unsigned lanes)
      : scalar_(scalar), lanes_(lanes), b_(llvm::BasicBlock::Create(wide.getContext(), "", &wide)) {
    for (unsigned n = 0; n < scalar.arg_size(); ++n) wide_[scalar.getArg(n)] = wide.getArg(n);
  }

  void run() {
    Value* result = nullptr;
    for (llvm::BasicBlock* block : llvm::ReversePostOrderTraversal<llvm::Function*>(&scalar_))
      for (llvm::Instruction& i : *block) {
        if (const auto* back = llvm::dyn_cast<llvm::ReturnInst>(&i)) {
          Value* value = of(back->getReturnValue());
          result = result ? b_.CreateSelect(guard(block), value, result) : value;
        } else if (!i.isTerminator()) {
          wide_[&i] = widen(i);
        }
      }
    b_.CreateRet(result);
  }

 private:
  llvm::Type* type_of(const Value& v) const { return llvm::FixedVectorType::get(v.getType(), lanes_); }

  /// The value in all lanes. What no lane changes, as a table's address, is one pointer.
  Value* of(Value* v) const {
    if (const auto it = wide_.find(v); it != wide_.end()) return it->second;
    auto* const constant = llvm::dyn_cast<llvm::Constant>(v);
    if (!constant) base::bug("module::Widening", "a value before its definition");
    if (constant->getType()->isPointerTy()) return constant;
    return llvm::ConstantVector::getSplat(llvm::ElementCount::getFixed(lanes_), constant);
  }

  Value* operand(const llvm::User& i, unsigned n) const { return of(i.getOperand(n)); }

  Value* widen(llvm::Instruction& i) {
    Value* const made = make(i);
    if (auto* const instruction = llvm::dyn_cast<llvm::Instruction>(made);
        instruction && instruction->getOpcode() == i.getOpcode())
      instruction->copyIRFlags(&i);
    return made;
  }

  Value* make(llvm::Instruction& i) {
    if (llvm::isa<llvm::UnaryOperator>(i))
      return b_.CreateUnOp(static_cast<llvm::Instruction::UnaryOps>(i.getOpcode()), operand(i, 0));
    if (llvm::isa<llvm::BinaryOperator>(i))
      return b_.CreateBinOp(static_cast<llvm::Instruction::BinaryOps>(i.getOpcode()), operand(i, 0),
                            operand(i, 1));
    if (const auto* cast = llvm::dyn_cast<llvm::CastInst>(&i))
      return b_.CreateCast(cast->getOpcode(), operand(i, 0), type_of(i));
    if (const auto* compare = llvm::dyn_cast<llvm::CmpInst>(&i))
      return b_.CreateCmp(compare->getPredicate(), operand(i, 0), operand(i, 1));
    if (llvm::isa<llvm::SelectInst>(i)) return b_.CreateSelect(operand(i, 0), operand(i, 1), operand(i, 2));
    if (llvm::isa<llvm::FreezeInst>(i)) return b_.CreateFreeze(operand(i, 0));
    if (auto* const phi = llvm::dyn_cast<llvm::PHINode>(&i)) return choice(*phi);
    if (const auto* at = llvm::dyn_cast<llvm::GetElementPtrInst>(&i)) return address(*at);
    if (const auto* load = llvm::dyn_cast<llvm::LoadInst>(&i)) return elements(*load);
    return intrinsic(llvm::cast<llvm::IntrinsicInst>(i));
  }

  Value* address(const llvm::GetElementPtrInst& at) {
    std::vector<Value*> indices;
    for (Value* index : at.indices()) indices.push_back(of(index));
    return b_.CreateGEP(at.getSourceElementType(), of(at.getOperand(0)), indices);
  }

  Value* elements(const llvm::LoadInst& load) {
    Value* const from = of(load.getOperand(0));
    const auto one = [&](Value* pointer) {
      return b_.CreateAlignedLoad(load.getType(), pointer, load.getAlign());
    };
    if (!from->getType()->isVectorTy()) return b_.CreateVectorSplat(lanes_, one(from));
    Value* all = llvm::PoisonValue::get(type_of(load));
    for (unsigned lane = 0; lane < lanes_; ++lane)
      all = b_.CreateInsertElement(all, one(b_.CreateExtractElement(from, lane)), lane);
    return all;
  }

  Value* intrinsic(const llvm::IntrinsicInst& call) {
    const llvm::Intrinsic::ID id = call.getIntrinsicID();
    std::vector<llvm::Type*> types;
    std::vector<Value*> args;
    if (is_overloaded_at(id, -1)) types.push_back(type_of(call));
    for (unsigned n = 0; n < call.arg_size(); ++n) {
      Value* const arg = call.getArgOperand(n);
      args.push_back(is_scalar_operand(id, n) ? arg : of(arg));
      if (is_overloaded_at(id, static_cast<int>(n))) types.push_back(args.back()->getType());
    }
    return b_.CreateIntrinsic(id, types, args);
  }

  // ---- branches ----

  /// The value of the edge that a lane has come over; where it never comes here, any.
  Value* choice(llvm::PHINode& phi) {
    Value* value = of(phi.getIncomingValue(0));
    for (unsigned n = 1; n < phi.getNumIncomingValues(); ++n)
      value =
          b_.CreateSelect(edge(phi.getIncomingBlock(n), phi.getParent()), of(phi.getIncomingValue(n)), value);
    return value;
  }

  /// In which lanes the block runs. Where it does not, conditions may be poison: they do not count there.
  Value* guard(llvm::BasicBlock* block) {
    if (const auto it = guards_.find(block); it != guards_.end()) return it->second;
    Value* runs = block->isEntryBlock() ? of(b_.getTrue()) : nullptr;
    for (llvm::BasicBlock* before : llvm::predecessors(block)) {
      Value* const comes = edge(before, block);
      runs = runs ? b_.CreateOr(runs, comes) : comes;
    }
    return guards_[block] = runs;
  }

  Value* edge(llvm::BasicBlock* from, const llvm::BasicBlock* to) {
    const auto* branch = llvm::cast<llvm::BranchInst>(from->getTerminator());
    Value* const runs = guard(from);
    if (branch->isUnconditional() || branch->getSuccessor(0) == branch->getSuccessor(1)) return runs;
    Value* const condition = of(branch->getCondition());
    return b_.CreateLogicalAnd(runs, branch->getSuccessor(0) == to ? condition : b_.CreateNot(condition));
  }

  llvm::Function& scalar_;
  const unsigned lanes_;
  llvm::IRBuilder<> b_;
  std::map<const Value*, Value*> wide_;
  std::map<const llvm::BasicBlock*, Value*> guards_;
};

/// The scalar function, lane by lane. It stays a function: written out for each lane it would be long.
void call_for_each_lane(llvm::Function& scalar, llvm::Function& wide, unsigned lanes) {
  llvm::IRBuilder<> b(llvm::BasicBlock::Create(wide.getContext(), "", &wide));
  Value* all = llvm::PoisonValue::get(wide.getReturnType());
  for (unsigned lane = 0; lane < lanes; ++lane) {
    std::vector<Value*> args;
    for (llvm::Argument& arg : wide.args()) args.push_back(b.CreateExtractElement(&arg, lane));
    llvm::CallInst* const call = b.CreateCall(&scalar, args);
    call->setIsNoInline();
    all = b.CreateInsertElement(all, call, lane);
  }
  b.CreateRet(all);
}

// ---- which there are ----

/// A copy that has the bodies of what it calls, but for those that are never inlined.
llvm::Function* with_callees(llvm::Function& scalar) {
  llvm::ValueToValueMapTy same;
  llvm::Function* const copy = llvm::CloneFunction(&scalar, same);
  std::vector<llvm::CallBase*> calls;
  const auto find = [&](llvm::Function& f) {
    for (llvm::BasicBlock& block : f)
      for (llvm::Instruction& i : block)
        if (auto* call = llvm::dyn_cast<llvm::CallBase>(&i)) calls.push_back(call);
  };
  find(*copy);
  while (!calls.empty()) {
    llvm::CallBase* const call = calls.back();
    calls.pop_back();
    const llvm::Function* const callee = call->getCalledFunction();
    if (!callee || callee->isDeclaration() || !callee->doesNotRecurse() ||
        callee->hasFnAttribute(llvm::Attribute::NoInline))
      continue;
    llvm::InlineFunctionInfo inlined;
    if (llvm::InlineFunction(*call, inlined).isSuccess())
      calls.insert(calls.end(), inlined.InlinedCallSites.begin(), inlined.InlinedCallSites.end());
  }
  return copy;
}

struct Declared {
  llvm::Function* wide;
  std::string scalar;
  unsigned lanes;
};

std::optional<Declared> as_widened(llvm::Function& f) {
  if (!f.isDeclaration() || f.isIntrinsic()) return std::nullopt;
  const auto [name, count] = f.getName().rsplit(".x");
  unsigned lanes = 0;
  if (count.getAsInteger(10, lanes)) return std::nullopt;
  return Declared{&f, name.str(), lanes};
}

llvm::FunctionType* type_on_lanes(llvm::FunctionType* type, unsigned lanes) {
  std::vector<llvm::Type*> params;
  for (llvm::Type* param : type->params()) params.push_back(on_lanes(param, lanes));
  return llvm::FunctionType::get(on_lanes(type->getReturnType(), lanes), params, false);
}

}  // namespace

llvm::Function* widened(llvm::Module& m, const std::string& name, llvm::Type* result,
                        const std::vector<llvm::Type*>& params, unsigned lanes) {
  auto* const type = llvm::FunctionType::get(result, params, false);
  m.getOrInsertFunction(name, type);
  auto wide = m.getOrInsertFunction(name + ".x" + std::to_string(lanes), type_on_lanes(type, lanes));
  return llvm::cast<llvm::Function>(wide.getCallee());
}

void define_widened(llvm::Module& m) {
  std::vector<Declared> all;
  for (llvm::Function& f : m)
    if (auto declared = as_widened(f)) all.push_back(std::move(*declared));
  std::map<std::string, llvm::Function*> copies;
  for (const auto& [wide, name, lanes] : all) {
    llvm::Function* const scalar = m.getFunction(name);
    if (!scalar || scalar->isDeclaration()) base::bug("module::define_widened", "there is no " + name);
    if (wide->getFunctionType() != type_on_lanes(scalar->getFunctionType(), lanes))
      base::bug("module::define_widened", "another type than that of " + name);
    llvm::Function*& copy = copies[name];
    if (!copy) copy = with_callees(*scalar);
    wide->setLinkage(llvm::GlobalValue::InternalLinkage);
    wide->addFnAttr(llvm::Attribute::AlwaysInline);
    if (has_vector_form(*copy))
      Widening(*copy, *wide, lanes).run();
    else
      call_for_each_lane(*scalar, *wide, lanes);
  }
  for (const auto& [name, copy] : copies) copy->eraseFromParent();
}

}  // namespace axon::module
