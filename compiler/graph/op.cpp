// See op.h.
#include "graph/op.h"

#include <algorithm>

namespace axon::graph {

using base::Elem;

OpClass class_of(Op op) {
  switch (op) {
#define CLASS(name, which) \
  case Op::name:           \
    return OpClass::which;
#define ARITHMETIC(name, arity) CLASS(name, arithmetic)
#define ROUNDING(name) CLASS(name, rounding)
#define UNARY(name, length) CLASS(name, function)
#define BINARY(name, length) CLASS(name, function)
#define COMPARISON(name) CLASS(name, comparison)
#define LOGIC(name, word, arity) CLASS(name, logic)
#define CHOICE(name) CLASS(name, choice)
#define STRUCTURAL(name) CLASS(name, structural)
#include "graph/ops.def"
#undef CLASS
  }
  return OpClass::structural;
}

std::optional<base::Pointwise> pointwise_of(Op op) {
  switch (op) {
#define STRUCTURAL(name) case Op::name:
#define OP(name, word, arity) \
  case Op::name:              \
    return base::Pointwise::name;
#include "graph/ops.def"
    break;
  }
  return std::nullopt;
}

const char* op_name(Op op) {
  switch (op) {
#define OP(name, word, arity) \
  case Op::name:              \
    return word;
#include "graph/ops.def"
  }
  return "?";
}

size_t arity_of(Op op) {
  switch (op) {
#define OP(name, word, arity) \
  case Op::name:              \
    return arity;
#include "graph/ops.def"
  }
  return any_arity;
}

std::optional<Op> pointwise_op(std::string_view name, size_t arity) {
  static constexpr Op all[] = {
#define OP(name, word, arity) Op::name,
#include "base/ops.def"
  };
  const auto found = std::find_if(std::begin(all), std::end(all),
                                  [&](Op op) { return name == op_name(op) && arity == arity_of(op); });
  return found == std::end(all) ? std::nullopt : std::optional(*found);
}

Elem result_elem(Op op, const std::vector<Elem>& args) {
  switch (class_of(op)) {
    case OpClass::comparison:
    case OpClass::logic:
      return Elem::boolean;
    case OpClass::choice:
      return args.at(1);
    case OpClass::arithmetic:
    case OpClass::rounding:
    case OpClass::function:
    case OpClass::structural:
      break;
  }
  return args.at(0);
}

namespace {

constexpr Infix infixes[] = {{Op::or_, "||", 1},
                             {Op::and_, "&&", 2},
                             {Op::eq, "==", comparison_level},
                             {Op::ne, "!=", comparison_level},
                             {Op::lt, "<", comparison_level},
                             {Op::le, "<=", comparison_level},
                             {Op::add, "+", 4},
                             {Op::sub, "-", 4},
                             {Op::mul, "*", 5},
                             {Op::div, "/", 5},
                             {Op::mod, "%", 5}};

template <class Test>
const Infix* found_infix(const Test& test) {
  const Infix* const found = std::find_if(std::begin(infixes), std::end(infixes), test);
  return found == std::end(infixes) ? nullptr : found;
}

}  // namespace

const Infix* infix_of(Op op) {
  return found_infix([&](const Infix& i) { return i.op == op; });
}
const Infix* infix_called(std::string_view text) {
  return found_infix([&](const Infix& i) { return text == i.text; });
}

}  // namespace axon::graph
