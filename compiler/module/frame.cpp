// See frame.h.
#include "module/frame.h"

#include <llvm/IR/MDBuilder.h>

#include <algorithm>

#include "base/bug.h"

namespace axon::module {

using llvm::Value;

ContextType::ContextType(llvm::LLVMContext& c) {
  llvm::Type* pointer = llvm::PointerType::getUnqual(c);
  llvm::Type* word = llvm::Type::getInt32Ty(c);
  llvm::Type* wide = llvm::Type::getInt64Ty(c);
  type = llvm::StructType::get(
      c, {pointer, pointer, pointer, pointer, word, word, pointer, wide, pointer, pointer, pointer, pointer});
}

Frame::Frame(llvm::Function* f, const Graph& g, const target::Machine& l)
    : b(f->getContext()), function(f), level(l), context_type_(f->getContext()) {
  // The entry block holds loads of the context and stack slots; code starts in the next one.
  auto* entry = llvm::BasicBlock::Create(f->getContext(), "entry", f);
  auto* start = llvm::BasicBlock::Create(f->getContext(), "start", f);
  b.SetInsertPoint(entry);
  b.CreateBr(start);
  b.SetInsertPoint(start);
  for (uint32_t s = 0; s < g.sizes.size(); ++s) {
    auto at = at_entry();
    auto* table = context_field(ContextType::sizes, b.getPtrTy());
    auto* size =
        at.CreateLoad(b.getInt64Ty(), at.CreateConstGEP1_64(b.getInt64Ty(), table, s), g.sizes[s].name);
    size->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(b.getContext(), {}));
    // Extents lie far below 2^56; knowing it, LLVM sees that no index arithmetic wraps.
    if (g.sizes[s].is_integer()) {
      integers_.insert(g.sizes[s].var);
    } else {
      size->setMetadata(llvm::LLVMContext::MD_range,
                        llvm::MDBuilder(b.getContext())
                            .createRange(llvm::APInt(64, 0), llvm::APInt(64, uint64_t{1} << 56)));
    }
    bind(g.sizes[s].var, size, 0, Dim(g.sizes[s].var) + Dim(1));
  }
}

llvm::IRBuilder<> Frame::at_entry() { return llvm::IRBuilder<>(function->getEntryBlock().getTerminator()); }

Value* Frame::context_field(ContextType::Field field, llvm::Type* type) {
  Value*& value = loaded_[uint64_t{1} << 40 | field];
  if (!value) {
    auto at = at_entry();
    auto* load = at.CreateLoad(type, at.CreateStructGEP(context_type_.type, context(), field));
    load->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(b.getContext(), {}));
    value = load;
  }
  return value;
}

Value* Frame::buffer(uint32_t number) {
  Value* table = context_field(ContextType::buffers, b.getPtrTy());
  Value*& value = loaded_[uint64_t{2} << 40 | number];
  if (!value) {
    auto at = at_entry();
    auto* load = at.CreateLoad(b.getPtrTy(), at.CreateConstGEP1_64(b.getPtrTy(), table, number));
    load->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(b.getContext(), {}));
    value = load;
    if (level.is_gpu())
      value = at.CreateAddrSpaceCast(load, llvm::PointerType::get(b.getContext(), global_memory));
  }
  return value;
}

Value* Frame::shared_memory() {
  constexpr const char* name = "axon_shared";
  llvm::Module& m = *function->getParent();
  if (llvm::GlobalVariable* made = m.getNamedGlobal(name)) return made;
  auto* memory = new llvm::GlobalVariable(m, llvm::ArrayType::get(b.getInt8Ty(), 0), false,
                                          llvm::GlobalValue::ExternalLinkage, nullptr, name, nullptr,
                                          llvm::GlobalValue::NotThreadLocal, module::shared_memory);
  memory->setAlignment(llvm::Align(128));
  return memory;
}

Value* Frame::call_service(size_t offset, llvm::Type* result, const std::vector<Value*>& args) {
  Value* services = context_field(ContextType::services, b.getPtrTy());
  Value* function =
      b.CreateLoad(b.getPtrTy(), b.CreateConstGEP1_64(b.getPtrTy(), services, offset / sizeof(void*)));
  std::vector<llvm::Type*> params;
  for (Value* arg : args) params.push_back(arg->getType());
  return b.CreateCall(llvm::FunctionType::get(result, params, false), function, args);
}

void Frame::check_failed(Value* context, uint32_t check, Value* value, Value* against) {
  auto* report = device("axon_check_failed", b.getVoidTy(),
                        {b.getPtrTy(), b.getInt32Ty(), b.getInt64Ty(), b.getInt64Ty()});
  b.CreateCall(report, {context, b.getInt32(check), value, against});
}

Value* Frame::none_failed() {
  auto* failed =
      b.CreateAlignedLoad(b.getInt32Ty(), context_field(ContextType::failed, b.getPtrTy()), llvm::Align(4));
  failed->setAtomic(llvm::AtomicOrdering::Monotonic);
  return b.CreateICmpEQ(failed, b.getInt32(0));
}

llvm::AllocaInst* Frame::variable(llvm::Type* type, const std::string& name) {
  llvm::IRBuilder<> at(&function->getEntryBlock(), function->getEntryBlock().begin());
  return at.CreateAlloca(type, nullptr, name);
}

llvm::Function* Frame::device(const std::string& name, llvm::Type* result, std::vector<llvm::Type*> params) {
  auto callee =
      function->getParent()->getOrInsertFunction(name, llvm::FunctionType::get(result, params, false));
  auto* const made = llvm::cast<llvm::Function>(callee.getCallee());
  if (level.is_gpu()) made->setConvergent();  // threads may wait for each other in it
  return made;
}

// ---- dimensions ----

void Frame::bind(Var v, Value* value, int depth, const Dim& extent) {
  variables_[v] = {value, depth, extent};
}

const Frame::Binding* Frame::find(Var v) const {
  const auto it = variables_.find(v);
  return it == variables_.end() ? nullptr : &it->second;
}

std::vector<Fact> Frame::ranges() const {
  std::vector<Fact> facts;
  for (const auto& [var, binding] : variables_) {
    if (may_be_negative(var)) continue;
    facts.push_back(shape::at_least(Dim(var), Dim(0)));
    // What the data decides is in its axis only where it has been checked, and an empty axis has no element.
    if (binding.depth > 0 && binding.depth < of_data) facts.push_back(shape::less(Dim(var), binding.extent));
  }
  return facts;
}

int Frame::depth_of(const shape::Atom& atom) const {
  if (atom.kind() != shape::AtomKind::var) return std::max(depth_of(atom.lhs()), depth_of(atom.rhs()));
  const Binding* binding = find(atom.var());
  if (!binding) base::bug("module::Frame", "no value for the variable `" + shape::var_name(atom.var()) + "`");
  return binding->depth;
}

int Frame::depth_of(const shape::Term& term) const {
  int depth = 0;
  for (const auto& factor : term.factors) depth = std::max(depth, depth_of(factor));
  return depth;
}

int Frame::depth_of(const Dim& d) const {
  int depth = 0;
  for (const auto& term : d.terms()) depth = std::max(depth, depth_of(term));
  return depth;
}

bool Frame::is_nonnegative(const Dim& d) const {
  return std::all_of(d.terms().begin(), d.terms().end(), [&](const shape::Term& term) {
    return term.coefficient >= 0 &&
           std::all_of(term.factors.begin(), term.factors.end(), [&](const shape::Atom& a) {
             switch (a.kind()) {
               case shape::AtomKind::var:
                 return integers_.count(a.var()) == 0;
               case shape::AtomKind::mod:
                 return is_nonnegative(a.rhs());
               case shape::AtomKind::floor_div:
               case shape::AtomKind::min:
                 return is_nonnegative(a.lhs()) && is_nonnegative(a.rhs());
               case shape::AtomKind::max:
                 return is_nonnegative(a.lhs()) || is_nonnegative(a.rhs());
             }
             return false;
           });
  });
}

bool Frame::is_positive(const Dim& d) const {
  if (d.constant()) return *d.constant() > 0;
  const auto& terms = d.terms();
  const bool has_constant = std::any_of(terms.begin(), terms.end(),
                                        [](const auto& t) { return t.factors.empty() && t.coefficient > 0; });
  if (has_constant && is_nonnegative(d)) return true;
  if (terms.size() != 1 || terms[0].coefficient != 1 || terms[0].factors.size() != 1) return false;
  const shape::Atom& a = terms[0].factors[0];
  return a.kind() == shape::AtomKind::max && (is_positive(a.lhs()) || is_positive(a.rhs()));
}

void Frame::supposing(std::vector<Fact> facts, const std::function<void()>& body) {
  facts.insert(facts.end(), supposed_.begin(), supposed_.end());
  std::swap(facts, supposed_);
  std::map<const void*, Dim> outer;
  std::swap(outer, decided_);
  body();
  std::swap(outer, decided_);
  std::swap(facts, supposed_);
}

Dim Frame::decided(const Dim& d) {
  if (const auto it = decided_.find(d.node()); it != decided_.end()) return it->second;
  Dim sum;
  for (const auto& term : d.terms()) {
    Dim product(term.coefficient);
    for (const auto& factor : term.factors) product = product * decided(factor);
    sum = sum + product;
  }
  return decided_[d.node()] = shape::overflowed(sum) ? d : sum;
}

Dim Frame::decided(const shape::Atom& atom) {
  if (atom.kind() == shape::AtomKind::var) return Dim(atom.var());
  const Dim x = decided(atom.lhs()), y = decided(atom.rhs());
  if (atom.kind() == shape::AtomKind::floor_div) return shape::floor_div(x, y);
  if (atom.kind() == shape::AtomKind::mod) return shape::mod(x, y);
  const bool least = atom.kind() == shape::AtomKind::min;
  std::vector<Fact> facts = ranges();
  facts.insert(facts.end(), supposed_.begin(), supposed_.end());
  // What our own solver does not see is computed.
  const shape::ProverLimits without_z3 = {.max_terms = 0};
  const auto at_most = [&](const Dim& a, const Dim& b) {
    return shape::prove(facts, shape::at_most(a, b), without_z3).verdict == shape::Verdict::proved;
  };
  if (at_most(x, y)) return least ? x : y;
  if (at_most(y, x)) return least ? y : x;
  return least ? shape::min(x, y) : shape::max(x, y);
}

Value* Frame::emit(const Dim& given) {
  const Dim d = supposed_.empty() ? given : decided(given);
  if (const auto constant = d.constant()) return i64(*constant);
  std::vector<std::pair<int, const shape::Term*>> terms;
  for (const auto& term : d.terms()) terms.emplace_back(depth_of(term), &term);
  // Outer variables first; at each depth what is added before what is subtracted, constants with depth 0.
  std::stable_sort(terms.begin(), terms.end(), [](const auto& x, const auto& y) {
    if (x.first != y.first) return x.first < y.first;
    return (x.second->coefficient > 0) > (y.second->coefficient > 0);
  });
  Value* sum = nullptr;
  for (const auto& [depth, term] : terms) {
    if (!sum) {
      sum = emit_term(*term);
      continue;
    }
    if (term->coefficient < 0) {
      shape::Term positive = *term;
      positive.coefficient = -positive.coefficient;
      sum = b.CreateNSWSub(sum, emit_term(positive));
    } else {
      sum = b.CreateNSWAdd(sum, emit_term(*term));
    }
  }
  return sum;
}

Value* Frame::emit_term(const shape::Term& term) {
  std::vector<std::pair<int, const shape::Atom*>> factors;
  for (const auto& factor : term.factors) factors.emplace_back(depth_of(factor), &factor);
  std::stable_sort(factors.begin(), factors.end(),
                   [](const auto& x, const auto& y) { return x.first < y.first; });
  Value* product = term.coefficient == 1 && !factors.empty() ? nullptr : i64(term.coefficient);
  for (const auto& [depth, factor] : factors) {
    Value* value = emit_atom(*factor);
    product = product ? b.CreateNSWMul(product, value) : value;
  }
  return product;
}

Value* Frame::emit_atom(const shape::Atom& atom) {
  switch (atom.kind()) {
    case shape::AtomKind::var:
      return find(atom.var())->value;
    case shape::AtomKind::min:
      return b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, emit(atom.lhs()), emit(atom.rhs()));
    case shape::AtomKind::max:
      return b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, emit(atom.lhs()), emit(atom.rhs()));
    case shape::AtomKind::floor_div:
    case shape::AtomKind::mod:
      break;
  }
  const bool quotient = atom.kind() == shape::AtomKind::floor_div;
  Value* p = emit(atom.lhs());
  Value* q = positive_divisor(atom.rhs());
  if (is_nonnegative(atom.lhs()) && is_nonnegative(atom.rhs()))
    return quotient ? b.CreateUDiv(p, q) : b.CreateURem(p, q);
  Value* remainder = b.CreateSRem(p, q);
  Value* fix =
      b.CreateAnd(b.CreateICmpNE(remainder, i64(0)), b.CreateICmpSLT(b.CreateXor(remainder, q), i64(0)));
  if (quotient) return b.CreateSub(b.CreateSDiv(p, q), b.CreateZExt(fix, b.getInt64Ty()));
  return b.CreateAdd(remainder, b.CreateSelect(fix, q, i64(0)));
}

Value* Frame::positive_divisor(const Dim& divisor) {
  Value* q = emit(divisor);
  if (is_positive(divisor)) return q;
  if (is_nonnegative(divisor)) return b.CreateBinaryIntrinsic(llvm::Intrinsic::umax, q, i64(1));
  return b.CreateSelect(b.CreateICmpEQ(q, i64(0)), i64(1), q);
}

Value* Frame::emit(const Fact& fact) {
  Value* lhs = emit(fact.lhs);
  Value* rhs = emit(fact.rhs);
  switch (fact.relation) {
    case shape::Relation::eq:
      return b.CreateICmpEQ(lhs, rhs);
    case shape::Relation::ne:
      return b.CreateICmpNE(lhs, rhs);
    case shape::Relation::le:
      return b.CreateICmpSLE(lhs, rhs);
    case shape::Relation::lt:
      return b.CreateICmpSLT(lhs, rhs);
  }
  base::bug("module::Frame", "an unknown relation");
}

// ---- control flow ----

namespace {

constexpr uint32_t unrolled_iterations = 4;

}  // namespace

void Frame::when(Value* condition, const std::function<void()>& body) {
  auto* then = llvm::BasicBlock::Create(b.getContext(), "then", function);
  auto* after = llvm::BasicBlock::Create(b.getContext(), "after");
  b.CreateCondBr(condition, then, after);
  b.SetInsertPoint(then);
  body();
  b.CreateBr(after);
  after->insertInto(function);
  b.SetInsertPoint(after);
}

llvm::MDNode* Frame::loop_metadata(LoopKind kind) {
  auto& c = b.getContext();
  std::vector<llvm::Metadata*> parts{nullptr};
  parts.push_back(llvm::MDNode::get(c, llvm::MDString::get(c, "llvm.loop.mustprogress")));
  if (kind == LoopKind::unrolled)
    parts.push_back(llvm::MDNode::get(c, {llvm::MDString::get(c, "llvm.loop.unroll.count"),
                                          llvm::ConstantAsMetadata::get(b.getInt32(unrolled_iterations))}));
  else
    parts.push_back(llvm::MDNode::get(
        c, llvm::MDString::get(c, kind == LoopKind::rolled ? "llvm.loop.unroll.disable"
                                                           : "llvm.loop.unroll.runtime.disable")));
  auto* node = llvm::MDNode::getDistinct(c, parts);
  node->replaceOperandWith(0, node);
  return node;
}

void Frame::loop(const Axis& axis, Value* low, Value* end, LoopKind kind, const std::function<void()>& body,
                 const std::function<void()>& prepare) {
  const Binding* outer = find(axis.var);
  const std::optional<Binding> hidden = outer ? std::optional(*outer) : std::nullopt;
  when(b.CreateICmpSLT(low, end), [&] {
    if (prepare) prepare();
    auto* before = b.GetInsertBlock();
    auto* block = llvm::BasicBlock::Create(b.getContext(), "loop", function);
    auto* after = llvm::BasicBlock::Create(b.getContext(), "done");
    b.CreateBr(block);
    b.SetInsertPoint(block);
    auto* index = b.CreatePHI(b.getInt64Ty(), 2, shape::var_name(axis.var));
    index->addIncoming(low, before);
    bind(axis.var, index, ++depth_, axis.extent);
    body();
    --depth_;
    auto* next = b.CreateAdd(index, i64(1), "", true, true);
    index->addIncoming(next, b.GetInsertBlock());
    auto* branch = b.CreateCondBr(b.CreateICmpSLT(next, end), block, after);
    branch->setMetadata(llvm::LLVMContext::MD_loop, loop_metadata(kind));
    after->insertInto(function);
    b.SetInsertPoint(after);
  });
  if (hidden)
    variables_[axis.var] = *hidden;
  else
    variables_.erase(axis.var);
}

void Frame::with(const Axis& axis, Value* value, const std::function<void()>& body) {
  const Binding* outer = find(axis.var);
  const std::optional<Binding> hidden = outer ? std::optional(*outer) : std::nullopt;
  bind(axis.var, value, ++depth_, axis.extent);
  body();
  --depth_;
  if (hidden)
    variables_[axis.var] = *hidden;
  else
    variables_.erase(axis.var);
}

void Frame::loop_while(const Axis& axis, Var count, const std::function<Value*(Value*)>& goes_on,
                       const std::function<void()>& body) {
  auto* before = b.GetInsertBlock();
  auto* head = llvm::BasicBlock::Create(b.getContext(), "decide", function);
  auto* block = llvm::BasicBlock::Create(b.getContext(), "loop");
  auto* after = llvm::BasicBlock::Create(b.getContext(), "done");
  b.CreateBr(head);
  b.SetInsertPoint(head);
  auto* index = b.CreatePHI(b.getInt64Ty(), 2, shape::var_name(axis.var));
  index->addIncoming(i64(0), before);
  b.CreateCondBr(goes_on(index), block, after);
  block->insertInto(function);
  b.SetInsertPoint(block);
  bind(axis.var, index, ++depth_, axis.extent);
  body();
  variables_.erase(axis.var);
  --depth_;
  index->addIncoming(b.CreateAdd(index, i64(1), "", true, true), b.GetInsertBlock());
  b.CreateBr(head);
  after->insertInto(function);
  b.SetInsertPoint(after);
  bind(count, index, depth_, Dim(graph::step_limit + 1));
}

void Frame::mark(llvm::Instruction* access, uint32_t region) {
  auto& c = b.getContext();
  if (scopes_.empty() && region_count > 0) {
    llvm::MDBuilder metadata(c);
    auto* domain = metadata.createAnonymousAliasScopeDomain("task");
    for (uint32_t r = 0; r < region_count; ++r) scopes_.push_back(metadata.createAnonymousAliasScope(domain));
    for (uint32_t r = 0; r < region_count; ++r) {
      std::vector<llvm::Metadata*> all(scopes_.begin(), scopes_.end());
      all.erase(all.begin() + r);
      others_.push_back(llvm::MDNode::get(c, all));
    }
  }
  if (region < scopes_.size()) {
    access->setMetadata(llvm::LLVMContext::MD_alias_scope, llvm::MDNode::get(c, {scopes_[region]}));
    access->setMetadata(llvm::LLVMContext::MD_noalias, others_[region]);
  }
}

}  // namespace axon::module
