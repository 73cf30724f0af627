// Orders: the device sorts one row after the other in the memory of the result (runtime/device/order.h), and
// asks for keys by a function of their own, with the arguments of the task and the place of the row.
#include <algorithm>
#include <optional>

#include "module/order_keys.h"
#include "module/task_emitter.h"

namespace axon::module {

using llvm::Value;

namespace {

/// (place, first, count, keys) -> the keys function, whose other arguments lie in `place`.
llvm::Function* with_place(llvm::Function* keys) {
  auto& c = keys->getContext();
  llvm::Type *const pointer = llvm::PointerType::getUnqual(c), *const word = llvm::Type::getInt64Ty(c);
  auto* const type = llvm::FunctionType::get(llvm::Type::getVoidTy(c), {pointer, word, word, pointer}, false);
  auto* const function = llvm::Function::Create(type, llvm::Function::InternalLinkage,
                                                keys->getName() + ".at", *keys->getParent());
  llvm::IRBuilder<> b(llvm::BasicBlock::Create(c, "entry", function));
  std::vector<Value*> args;
  for (unsigned a = 0; a + 3 < keys->arg_size(); ++a) {
    Value* const at = b.CreateConstGEP1_64(word, function->getArg(0), a);
    args.push_back(b.CreateLoad(keys->getArg(a)->getType(), at));
  }
  for (unsigned a = 1; a < 4; ++a) args.push_back(function->getArg(a));
  b.CreateCall(keys, args);
  b.CreateRetVoid();
  return function;
}

/// The greater of the two values that a key can have; nullopt where it can have others.
std::optional<int64_t> greater_of_two(const Graph& g, ScalarId id) {
  const Scalar& key = g.scalars[id];
  if (key.elem == Elem::boolean) return 1;
  if (!base::is_integer(key.elem)) return std::nullopt;
  if (key.op == Op::cast && g.scalars[key.args[0]].elem == Elem::boolean) return 1;
  if (key.op != Op::select) return std::nullopt;
  const Scalar &one = g.scalars[key.args[1]], &other = g.scalars[key.args[2]];
  const bool differ = one.op == Op::constant && other.op == Op::constant && one.integer != other.integer;
  return differ ? std::optional(std::max(one.integer, other.integer)) : std::nullopt;
}

}  // namespace

void TaskEmitter::run_order(llvm::Function* keys) {
  auto& b = f_.b;
  const auto& order = g_.scalars[body_.outputs[0].body];
  llvm::Type *const pointer = b.getPtrTy(), *const word = b.getInt64Ty();
  auto* const place = f_.variable(llvm::ArrayType::get(word, keys->arg_size()), "place");
  const auto store = [&](Value* value, size_t number) {
    b.CreateStore(value, b.CreateConstGEP1_64(word, place, number));
  };
  for (unsigned a = 0; a < first_free_argument_; ++a) store(f_.function->getArg(a), a);
  auto* const sort = f_.device("axon_order", b.getVoidTy(), {pointer, pointer, word, pointer, word, word});
  llvm::Function* const keys_at = with_place(keys);
  const Nest rows{{body_.domain.begin(), body_.domain.end() - 1},
                  {body_.spans.begin(), body_.spans.end() - 1},
                  {},
                  false,
                  false,
                  {}};
  const bool of_two_values = greater_of_two(g_, order.args[0]).has_value();
  const int64_t key_bits = of_two_values ? 1 : bits_of_key(computed_as(g_.scalars[order.args[0]].elem));
  emit_nest(rows, [&] {
    std::vector<Dim> row;
    for (const Axis& a : rows.axes) {
      store(f_.find(a.var)->value, first_free_argument_ + row.size());
      row.push_back(Dim(a.var));
    }
    row.push_back(Dim(0));
    Value* const words = s_.buffer_address({body_.type->node, 0}, row).pointer;
    b.CreateCall(sort, {keys_at, place, f_.emit(order.binders[0].extent), words,
                        f_.emit(body_.domain.back().extent), f_.i64(key_bits)});
  });
  b.CreateRetVoid();
}

void TaskEmitter::run_keys() {
  auto& b = f_.b;
  const auto& order = g_.scalars[body_.outputs[0].body];
  const Axis& binder = order.binders[0];
  unsigned argument = first_free_argument_;
  for (size_t a = 0; a + 1 < body_.domain.size(); ++a)
    f_.bind(body_.domain[a].var, f_.function->getArg(argument++), 1, body_.domain[a].extent);
  const auto given = [&](const char* name) {
    const Var var = shape::fresh_var(name);
    f_.bind(var, f_.function->getArg(argument++), 1, binder.extent + Dim(1));
    return Dim(var);
  };
  const Dim first = given("first"), count = given("count");
  Value* const keys = f_.function->getArg(argument);
  const uint32_t region = f_.region_count - 1;
  const auto greater = greater_of_two(g_, order.args[0]);
  emit_nest({{binder}, {{first, first + count, binder.extent}}, {order.args[0]}, false, true, {}}, [&] {
    const Typed element = s_.emit(order.args[0], false);
    Value* const number = b.CreateNSWSub(f_.find(binder.var)->value, f_.emit(first));
    Value* const key = greater ? one_bit_key(element, *greater, order.descending)
                               : key_of(b, element.elem, element.value, order.descending);
    f_.mark(b.CreateStore(key, b.CreateGEP(b.getInt64Ty(), keys, number)), region);
  });
  b.CreateRetVoid();
}

/// The upper bit says whether the element is the greater one of two.
Value* TaskEmitter::one_bit_key(const Typed& element, int64_t greater, bool descending) {
  auto& b = f_.b;
  Value* const value = llvm::ConstantInt::get(element.value->getType(), static_cast<uint64_t>(greater), true);
  Value* const bit = descending ? b.CreateICmpNE(element.value, value) : b.CreateICmpEQ(element.value, value);
  return b.CreateShl(b.CreateZExt(bit, b.getInt64Ty()), 63);
}

}  // namespace axon::module
