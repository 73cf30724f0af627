// See scalar.h. One function per kind of operator; casts, arithmetic and monoids are in scalar_ops.cpp.
#include "module/scalar.h"

#include <algorithm>
#include <set>

#include "base/bug.h"
#include "base/work.h"
#include "graph/round.h"

namespace axon::module {

using graph::Op;
using graph::Scalar;
using llvm::Value;

Typed ScalarEmitter::emit(ScalarId id, bool widened) {
  if (const auto other = equal_.find(id); other != equal_.end()) id = other->second;
  const auto key = std::pair(id, widened);
  for (const auto& scope : scopes_)
    if (const auto it = scope.find(key); it != scope.end()) return it->second;
  const Typed value = compute(id, widened);
  scopes_.back()[key] = value;
  return value;
}

Value* ScalarEmitter::emit_as(ScalarId id, Elem elem, bool widened) {
  return converted(emit(id, widened), computed_as(elem));
}

void ScalarEmitter::deciding(ScalarId condition, bool value, const std::function<void()>& body) {
  decided_[condition] = value;
  enter();
  body();
  leave();
  decided_.erase(condition);
}

std::vector<ScalarId> ScalarEmitter::decided() const {
  std::vector<ScalarId> conditions;
  for (const auto& [condition, value] : decided_) conditions.push_back(condition);
  return conditions;
}

void ScalarEmitter::hoist(ScalarId root, Var inner, bool widened) {
  std::vector<ScalarId> stack{root};
  std::set<ScalarId> seen;
  while (!stack.empty()) {
    const ScalarId id = stack.back();
    stack.pop_back();
    if (!seen.insert(id).second) continue;
    if (!depends_on(g_, id, inner)) {
      emit(id, widened);
      continue;
    }
    const Scalar& s = g_.scalars[id];
    const bool choice = s.op == Op::select || s.op == Op::and_ || s.op == Op::or_;
    if (const auto known = decided_.find(s.args.empty() ? id : s.args[0]);
        s.op == Op::select && known != decided_.end()) {
      stack.push_back(s.args[known->second ? 1 : 2]);
      continue;
    }
    for (size_t a = s.args.size(); a-- > 0;)
      if (a == 0 || !choice || !must_be_lazy(s.args[a])) stack.push_back(s.args[a]);
  }
}

Typed ScalarEmitter::compute(ScalarId id, bool widened) {
  base::work(20);
  const Scalar& s = g_.scalars[id];
  switch (s.op) {
    case Op::constant: {
      const Elem elem = computed_as(s.elem);
      if (base::is_float(elem))
        return {llvm::ConstantFP::get(type_of(elem), graph::round_to(s.elem, s.number)), elem};
      return {llvm::ConstantInt::get(type_of(elem), static_cast<uint64_t>(s.integer), true), elem};
    }
    case Op::index:
      return {f_.emit(s.dim), Elem::i64};
    case Op::load:
      return emit_load(s, widened);
    case Op::bounded:
      return emit_bounded(s, widened);
    case Op::require:
      return emit_require(s);
    case Op::cast:
      return emit_cast(s, widened);
    case Op::reduce:
    case Op::online:
    case Op::order:
    case Op::proj:
      base::bug("module::ScalarEmitter", "a reduction inside an expression");
    case Op::not_:
      return {f_.b.CreateNot(emit_as(s.args[0], Elem::boolean, widened)), Elem::boolean};
    case Op::and_:
    case Op::or_:
      return emit_logic(s, widened);
#define CHOICE(name) \
  case Op::name:     \
    return emit_select(s, widened);
#define COMPARISON(name) \
  case Op::name:         \
    return emit_compare(s, widened);
#define LOGIC(name, word, arity)
#define OP(name, word, arity) \
  case Op::name:              \
    break;
#include "base/ops.def"
  }
  const Elem elem = computed_as(widened && base::is_float(s.elem) ? base::accumulator(s.elem) : s.elem);
  return emit_arithmetic(s, elem, widened);
}

// ---- tensors ----

uint32_t ScalarEmitter::scratch_region(uint32_t local) const { return body_.program->buffers.size() + local; }

Value* ScalarEmitter::element_pointer(Value* base, Elem storage, Value* offset) {
  llvm::Type* unit = f_.b.getIntNTy(static_cast<unsigned>(base::elem_bytes(storage)) * 8);
  return f_.b.CreateGEP(unit, base, offset);
}

Value* ScalarEmitter::scratch_base(uint32_t local) {
  return f_.b.CreateGEP(f_.b.getInt8Ty(), f_.function->getArg(1), f_.emit(body_.scratch[local].offset));
}

ScalarEmitter::Address ScalarEmitter::scratch_address(uint32_t local, const std::vector<Dim>& index) {
  const ScratchTensor& tensor = body_.scratch[local];
  Dim offset;
  for (size_t a = 0; a < index.size(); ++a)
    offset = offset + (index[a] - tensor.box[a].low) * tensor.stride[a];
  return {element_pointer(scratch_base(local), tensor.elem, f_.emit(offset)), tensor.elem,
          scratch_region(local)};
}

ScalarEmitter::Address ScalarEmitter::buffer_address(graph::Value target, const std::vector<Dim>& index) {
  const task::Place& place = body_.program->place(target);
  const task::Buffer& buffer = body_.program->buffers[place.buffer];
  std::vector<Dim> full = index;
  if (place.slot) full.insert(full.begin(), *place.slot);
  Value* base = f_.buffer(place.buffer.index);
  return {element_pointer(base, buffer.elem, f_.emit(offset_of(buffer, full))), buffer.elem,
          place.buffer.index};
}

Typed ScalarEmitter::emit_load(const Scalar& s, bool widened) {
  std::vector<Dim> affine(s.args.size());
  std::vector<Value*> other(s.args.size(), nullptr);
  bool depends_on_data = false;
  for (size_t a = 0; a < s.args.size(); ++a) {
    if (const auto index = graph::affine_index(g_, s.args[a])) {
      affine[a] = *index;
    } else {
      other[a] = emit_as(s.args[a], Elem::i64, widened);
      depends_on_data = true;
    }
  }
  const bool local = s.target.is_local();
  const Elem elem = local ? body_.scratch[s.target.output].elem : computed_as(g_.type(s.target).elem);
  if (!depends_on_data) {
    const Address at = local ? scratch_address(s.target.output, affine) : buffer_address(s.target, affine);
    return {load_from(at), elem};
  }
  // Indices from data: bind them to variables of their own, so that one address computation serves both.
  Value* inside = nullptr;
  const auto extents = [&](size_t a) {
    return local ? body_.locals[s.target.output].domain[a].extent : g_.type(s.target).shape[a];
  };
  for (size_t a = 0; a < s.args.size(); ++a) {
    if (!other[a]) continue;
    const Var v = shape::fresh_var("data");
    f_.bind(v, other[a], Frame::of_data, extents(a));
    affine[a] = Dim(v);
    // An empty axis has no element 0 to fall back to when a check has failed.
    Value* some = f_.b.CreateICmpSGT(f_.emit(extents(a)), f_.i64(0));
    inside = inside ? f_.b.CreateAnd(inside, some) : some;
  }
  const auto read = [&] {
    return load_from(local ? scratch_address(s.target.output, affine) : buffer_address(s.target, affine));
  };
  return {merged(inside, elem, read, [&] { return llvm::Constant::getNullValue(type_of(elem)); }), elem};
}

Typed ScalarEmitter::emit_bounded(const Scalar& s, bool widened) {
  Value* index = emit_as(s.args[0], Elem::i64, widened);
  Value* good = f_.b.CreateICmpULT(index, f_.emit(s.dim));
  f_.when(f_.b.CreateNot(good), [&] { f_.check_failed(s.check, index, f_.emit(s.dim - Dim(1))); });
  return {f_.b.CreateSelect(good, index, f_.i64(0)), Elem::i64};
}

Typed ScalarEmitter::emit_require(const Scalar& s) {
  Value* holds = emit_as(s.args[0], Elem::boolean, false);
  Value* found = emit_as(s.args[1], Elem::i64, false);
  Value* wanted = emit_as(s.args[2], Elem::i64, false);
  f_.when(f_.b.CreateNot(holds), [&] { f_.check_failed(s.check, found, wanted); });
  return {f_.i64(0), Elem::i64};
}

// ---- control inside expressions ----

/// Proved from the ranges of the variables alone, whatever the condition around it says.
bool ScalarEmitter::always_in_range(ScalarId id) const {
  const auto [at, fresh] = in_range_.emplace(id, false);
  if (!fresh) return at->second;
  const Scalar& load = g_.scalars[id];
  const auto extent_of = [&](size_t a) {
    return load.target.is_local() ? body_.locals[load.target.output].domain[a].extent
                                  : g_.type(load.target).shape[a];
  };
  std::vector<Fact> facts;
  for (size_t a = 0; a < load.args.size(); ++a) {
    const auto index = graph::affine_index(g_, load.args[a]);
    if (!index) return false;
    const auto var = index->as_var();
    const auto* binding = var ? f_.find(*var) : nullptr;
    if (binding && binding->depth > 0 && binding->extent == extent_of(a)) continue;
    if (facts.empty()) {
      facts = body_.program->facts;
      const auto ranges = f_.ranges();
      facts.insert(facts.end(), ranges.begin(), ranges.end());
    }
    if (shape::prove(facts, shape::less(*index, extent_of(a))).verdict != shape::Verdict::proved)
      return false;
    if (shape::prove(facts, shape::at_least(*index, Dim(0))).verdict != shape::Verdict::proved) return false;
  }
  return in_range_[id] = true;
}

bool ScalarEmitter::must_be_lazy(ScalarId id) const {
  const auto all = graph::scalars_in(g_, id);
  return std::any_of(all.begin(), all.end(), [&](ScalarId part) {
    const Op op = g_.scalars[part].op;
    return op == Op::bounded || op == Op::require || (op == Op::load && !always_in_range(part));
  });
}

namespace {

/// Finds what is evaluated whenever an expression is, in order of the ids: arguments before their users.
class SureParts {
 public:
  explicit SureParts(const Graph& g) : g_(g) {}

  const std::vector<ScalarId>& of(ScalarId id) {
    if (const auto known = known_.find(id); known != known_.end()) return known->second;
    const Scalar& s = g_.scalars[id];
    const bool choice = s.op == Op::select || s.op == Op::and_ || s.op == Op::or_;
    std::vector<ScalarId> parts;
    for (size_t a = 0; a < s.args.size(); ++a)
      if (a == 0 || !choice) parts = either(parts, of(s.args[a]));
    if (s.op == Op::select) parts = either(parts, both(s.args[1], s.args[2]));
    if (s.op != Op::constant && s.op != Op::index) parts.push_back(id);
    return known_[id] = std::move(parts);
  }

  std::vector<ScalarId> both(ScalarId one, ScalarId other) {
    const std::vector<ScalarId>&x = of(one), &y = of(other);
    std::vector<ScalarId> parts;
    std::set_intersection(x.begin(), x.end(), y.begin(), y.end(), std::back_inserter(parts));
    base::work(x.size() + y.size());
    return parts;
  }

 private:
  static std::vector<ScalarId> either(const std::vector<ScalarId>& x, const std::vector<ScalarId>& y) {
    std::vector<ScalarId> parts;
    std::set_union(x.begin(), x.end(), y.begin(), y.end(), std::back_inserter(parts));
    base::work(parts.size());
    return parts;
  }

  const Graph& g_;
  std::map<ScalarId, std::vector<ScalarId>> known_;
};

}  // namespace

void ScalarEmitter::collect_divisions(const Dim& d, std::vector<Frame::Division>& out) {
  for (const auto& term : d.terms())
    for (const auto& atom : term.factors) {
      if (atom.kind() == shape::AtomKind::var) continue;
      collect_divisions(atom.lhs(), out);
      collect_divisions(atom.rhs(), out);
      if (atom.kind() != shape::AtomKind::floor_div && atom.kind() != shape::AtomKind::mod) continue;
      const auto same = [&](const Frame::Division& o) {
        return o.dividend == atom.lhs() && o.divisor == atom.rhs();
      };
      if (std::none_of(out.begin(), out.end(), same)) out.push_back({atom.lhs(), atom.rhs()});
    }
}

void ScalarEmitter::collect_divisions(ScalarId id, std::vector<Frame::Division>& out) const {
  for (ScalarId part : graph::scalars_in(g_, id))
    if (g_.scalars[part].op == Op::index) collect_divisions(g_.scalars[part].dim, out);
}

Value* ScalarEmitter::merged(Value* condition, Elem elem, const std::function<Value*()>& yes,
                             const std::function<Value*()>& no) {
  auto& c = f_.b.getContext();
  auto* then = llvm::BasicBlock::Create(c, "yes", f_.function);
  auto* otherwise = llvm::BasicBlock::Create(c, "no");
  auto* after = llvm::BasicBlock::Create(c, "merged");
  f_.b.CreateCondBr(condition, then, otherwise);
  const auto arm = [&](llvm::BasicBlock* block, const std::function<Value*()>& value) {
    f_.b.SetInsertPoint(block);
    enter();
    Value* result = value();
    leave();
    f_.b.CreateBr(after);
    return std::pair(result, f_.b.GetInsertBlock());
  };
  const auto first = arm(then, yes);
  otherwise->insertInto(f_.function);
  const auto second = arm(otherwise, no);
  after->insertInto(f_.function);
  f_.b.SetInsertPoint(after);
  auto* phi = f_.b.CreatePHI(type_of(elem), 2);
  phi->addIncoming(first.first, first.second);
  phi->addIncoming(second.first, second.second);
  return phi;
}

Typed ScalarEmitter::emit_select(const Scalar& s, bool widened) {
  const Elem elem = computed_as(widened && base::is_float(s.elem) ? base::accumulator(s.elem) : s.elem);
  if (const auto known = decided_.find(s.args[0]); known != decided_.end())
    return {emit_as(s.args[known->second ? 1 : 2], elem, widened), elem};
  Value* condition = emit_as(s.args[0], Elem::boolean, widened);
  const auto yes = [&] { return emit_as(s.args[1], elem, widened); };
  const auto no = [&] { return emit_as(s.args[2], elem, widened); };
  if (must_be_lazy(s.args[1]) || must_be_lazy(s.args[2])) {
    // In each arm it would be made again, and twice as often for every choice around.
    for (ScalarId part : SureParts(g_).both(s.args[1], s.args[2])) emit(part, widened);
    return {merged(condition, elem, yes, no), elem};
  }
  Value* if_true = yes();
  return {f_.b.CreateSelect(condition, if_true, no()), elem};
}

Typed ScalarEmitter::emit_logic(const Scalar& s, bool widened) {
  Value* left = emit_as(s.args[0], Elem::boolean, widened);
  const auto right = [&] { return emit_as(s.args[1], Elem::boolean, widened); };
  if (!must_be_lazy(s.args[1]))
    return {s.op == Op::and_ ? f_.b.CreateAnd(left, right()) : f_.b.CreateOr(left, right()), Elem::boolean};
  if (s.op == Op::and_)
    return {merged(left, Elem::boolean, right, [&] { return f_.b.getFalse(); }), Elem::boolean};
  return {merged(
              left, Elem::boolean, [&] { return f_.b.getTrue(); }, right),
          Elem::boolean};
}

Typed ScalarEmitter::emit_compare(const Scalar& s, bool widened) {
  const Typed a = emit(s.args[0], widened), b = emit(s.args[1], widened);
  const Elem wide = base::elem_bytes(a.elem) >= base::elem_bytes(b.elem) ? a.elem : b.elem;
  Value* x = converted(a, wide);
  Value* y = converted(b, wide);
  return {call(s.op, wide, {x, y}).value, Elem::boolean};
}

}  // namespace axon::module
