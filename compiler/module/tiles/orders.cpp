// See orders.h.
#include "module/tiles/orders.h"

#include "module/order_keys.h"
#include "module/tiles/operations.h"

namespace axon::module::tiles {

namespace {

/// What is known outside of the function, by its place in the array.
struct Given {
  std::vector<std::pair<Var, Dim>> variables;  ///< and their extents
  /// Sizes that only facts mention, as how often a loop around goes, need have no value.
  explicit Given(const Frame& outside, const tile::Program& p, const std::vector<const tile::Loop*>& around) {
    for (const Var v : p.sizes)
      if (outside.find(v)) variables.emplace_back(v, Dim(v) + 1);
    for (const tile::Coordinate& c : p.grid) variables.emplace_back(c.var, c.extent);
    for (const tile::Loop* loop : around) variables.emplace_back(loop->index, loop->extent);
  }
};

/// (place, first, count, keys): the keys of elements first .. first + count - 1, where `first` is the first
/// of a block, or the count is 1.
class KeysEmitter {
 public:
  KeysEmitter(llvm::Function* function, Context& outside, const tile::Loop& loop, const Given& given,
              const std::vector<const tile::Loop*>& around)
      : loop_(loop),
        around_(around),
        f_(function, Graph(), outside.f.level),
        memory_(memory_of(outside, given)),
        c_(f_, outside.p, memory_),
        operations_(c_),
        keys_(outside.p.tiles[loop.order->keys]),
        elements_(keys_.shape.empty() ? 1 : keys_.shape[0]) {}

  void run() { within(0); }

 private:
  /// The frame knows what is given.
  ProgramMemory memory_of(Context& outside, const Given& given) {
    auto& b = f_.b;
    f_.have_integers_of(outside.f);
    f_.region_count = outside.f.region_count + 1;
    ProgramMemory memory;
    uint64_t at = 0;
    const auto next = [&](llvm::Type* type) {
      return b.CreateLoad(type, b.CreateConstGEP1_64(b.getInt64Ty(), f_.function->getArg(0), at++));
    };
    for (size_t t = 0; t < outside.memory.tensors.size(); ++t) memory.tensors.push_back(next(b.getPtrTy()));
    memory.regions = outside.memory.regions;
    memory.check_failed = outside.memory.check_failed;
    if (outside.memory.notes) memory.notes = next(b.getPtrTy());
    for (const auto& [variable, extent] : given.variables) f_.bind(variable, next(b.getInt64Ty()), 0, extent);
    return memory;
  }

  void within(size_t loops) {
    if (loops == around_.size()) return blocks();
    c_.known.ranging(around_[loops]->index, around_[loops]->extent, [&] { within(loops + 1); });
  }

  void blocks() {
    auto& b = f_.b;
    Value *const first = f_.function->getArg(1), *const count = f_.function->getArg(2);
    Value *const size = f_.i64(elements_), *const end = b.CreateAdd(first, count);
    const Axis axis{loop_.index, loop_.extent};
    if (elements_ == 1)
      f_.loop(axis, first, end, LoopKind::plain, [&] { block([&](Value* keys) { store_whole(keys); }); });
    if (elements_ > 1)
      c_.choose(
          b.CreateICmpEQ(count, f_.i64(1)), [&] { one(); },
          [&] {
            Value *const begin = b.CreateUDiv(first, size), *const last = b.CreateUDiv(end, size);
            const std::vector<Dim> whole{loop_.order->count - Dim(elements_) * Dim(loop_.index) - elements_};
            f_.loop(axis, begin, last, LoopKind::plain, [&] {
              c_.known.supposing(whole, [&] { block([&](Value* keys) { store_whole(keys); }); });
            });
            f_.when(b.CreateICmpULT(b.CreateMul(last, size), end),
                    [&] { rest(last, f_.i64(0), b.CreateSub(end, b.CreateMul(last, size))); });
          });
    b.CreateRetVoid();
  }

  void block(const std::function<void(Value*)>& store) {
    c_.scoped([&] {
      c_.known.ranging(loop_.index, loop_.extent, [&] {
        for (const tile::OpId id : loop_.body) operations_.emit(c_.p.ops[id]);
        store(key_of(f_.b, keys_.elem, operations_.elements(loop_.order->keys), loop_.order->descending));
      });
    });
  }

  Value* address(Value* number) { return f_.b.CreateGEP(f_.b.getInt64Ty(), f_.function->getArg(3), number); }
  void store(Value* keys, Value* to) {
    f_.mark(f_.b.CreateAlignedStore(keys, to, llvm::Align(8)), f_.region_count - 1);
  }
  void store_whole(Value* keys) {
    Value* const at = c_.value(Dim(elements_) * Dim(loop_.index));
    store(keys, address(f_.b.CreateNSWSub(at, f_.function->getArg(1))));
  }
  /// Of a block those from one element on to another.
  void rest(Value* number, Value* from, Value* to) {
    auto& b = f_.b;
    f_.with({loop_.index, loop_.extent}, number, [&] {
      block([&](Value* keys) {
        llvm::AllocaInst* const all = f_.variable(keys->getType(), "keys");
        b.CreateStore(keys, all);
        Value* const base = b.CreateMul(number, f_.i64(elements_));
        const Axis lane{shape::fresh_var("lane"), Dim(elements_)};
        f_.loop(lane, from, to, LoopKind::rolled, [&] {
          Value* const at = f_.find(lane.var)->value;
          Value* const key = b.CreateLoad(b.getInt64Ty(), b.CreateGEP(b.getInt64Ty(), all, at));
          store(key, address(b.CreateNSWSub(b.CreateAdd(base, at), f_.function->getArg(1))));
        });
      });
    });
  }
  /// As one element where its operations let it, else out of its block.
  void one() {
    auto& b = f_.b;
    Value *const first = f_.function->getArg(1), *const size = f_.i64(elements_);
    Value *const number = b.CreateUDiv(first, size), *const at = b.CreateURem(first, size);
    const Axis lane{shape::fresh_var("lane"), Dim(elements_)};
    Value* key = nullptr;
    const std::vector<Dim> inside{loop_.order->count - Dim(elements_) * Dim(loop_.index) - Dim(lane.var) - 1};
    f_.with({loop_.index, loop_.extent}, number, [&] {
      f_.with(lane, at, [&] {
        c_.known.ranging(loop_.index, loop_.extent, [&] {
          c_.known.supposing(inside, [&] {
            c_.scoped([&] { key = operations_.element_of(loop_.body, loop_.order->keys, Dim(lane.var)); });
          });
        });
      });
    });
    if (!key) return rest(number, at, b.CreateAdd(at, f_.i64(1)));
    store(key_of(b, keys_.elem, key, loop_.order->descending), address(f_.i64(0)));
  }

  const tile::Loop& loop_;
  const std::vector<const tile::Loop*>& around_;
  Frame f_;
  const ProgramMemory memory_;
  Context c_;
  Operations operations_;
  const tile::Tile& keys_;
  const int64_t elements_;
};

}  // namespace

void emit_order(Context& c, const tile::Loop& loop, const std::vector<const tile::Loop*>& around) {
  auto& b = c.f.b;
  const tile::Order& order = *loop.order;
  const Given given(c.f, c.p, around);
  llvm::Type *const pointer = b.getPtrTy(), *const word = b.getInt64Ty();
  auto* const type = llvm::FunctionType::get(b.getVoidTy(), {pointer, word, word, pointer}, false);
  auto* const keys = llvm::Function::Create(type, llvm::Function::InternalLinkage,
                                            c.f.function->getName() + ".keys", *c.f.function->getParent());
  KeysEmitter(keys, c, loop, given, around).run();

  std::vector<Value*> values = c.memory.tensors;
  if (c.memory.notes) values.push_back(c.memory.notes);
  for (const auto& [variable, extent] : given.variables) values.push_back(c.value(Dim(variable)));
  auto* const place = c.f.variable(llvm::ArrayType::get(word, values.size()), "place");
  for (size_t v = 0; v < values.size(); ++v) b.CreateStore(values[v], b.CreateConstGEP1_64(word, place, v));
  tile::Access row{order.to, {}, {}};
  for (const Dim& d : order.row) row.at.push_back({std::nullopt, d});
  row.at.push_back({std::nullopt, Dim(0)});
  Registers registers(c);
  Accesses accesses(c, registers);
  Value* const words = accesses.address(accesses.spot(row, {}, {{{}}, {0}, 1}));
  auto* const sort = c.f.device("axon_order", b.getVoidTy(), {pointer, pointer, word, pointer, word, word});
  Value* const count = c.value(order.count);
  const int64_t bits = bits_of_key(c.p.tiles[order.keys].elem);
  b.CreateCall(sort, {keys, place, count, words, c.value(order.kept), c.f.i64(bits)});
  // A single key is not compared with any: but for what it checks, none asks for it.
  if (std::any_of(loop.body.begin(), loop.body.end(),
                  [&](tile::OpId id) { return std::holds_alternative<tile::Check>(c.p.ops[id]); }))
    c.f.when(b.CreateICmpEQ(count, c.f.i64(1)), [&] {
      b.CreateCall(keys, {place, c.f.i64(0), count, c.f.variable(word, "key")});
    });
}

}  // namespace axon::module::tiles
