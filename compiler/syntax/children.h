// The direct children of a node, of every kind: for_each_child(node, f) calls f with each valid ExprId,
// TypeId, DimId, PatternId and LayoutId in it, in source order. One overload per piece that can hold an id; a
// node that is missing here does not compile.
#pragma once
#include "syntax/ast.h"

namespace axon::syntax {
namespace children {

template <class F>
struct Visitor {
  F& f;

  template <class Tag>
  void operator()(base::Id<Tag> id) {
    if (id.valid()) f(id);
  }
  template <class T>
  void operator()(const std::vector<T>& all) {
    for (const T& one : all) (*this)(one);
  }
  template <class T>
  void operator()(const std::optional<T>& maybe) {
    if (maybe) (*this)(*maybe);
  }
  template <class... Ts>
  void operator()(const std::variant<Ts...>& any) {
    std::visit(*this, any);
  }
  template <class... Ts>
  void each(const Ts&... parts) {
    ((*this)(parts), ...);
  }

  void operator()(const ErrorDim&) {}
  void operator()(const NameDim&) {}
  void operator()(const NumberDim&) {}
  void operator()(const BinaryDim& n) { each(n.lhs, n.rhs); }
  void operator()(const NegateDim& n) { each(n.of); }
  void operator()(const CallDim& n) { each(n.args); }
  void operator()(const Fact& n) { each(n.lhs, n.rhs); }

  void operator()(const DimItem& n) { each(n.dim); }
  void operator()(const SpreadItem&) {}
  void operator()(const AnySpreadItem&) {}
  void operator()(const JoinItem&) {}
  void operator()(const InferItem&) {}
  void operator()(const TypeItem& n) { each(n.type); }
  void operator()(const Item& n) { each(n.node); }
  void operator()(const IntoFact& n) { each(n.target); }
  void operator()(const ClassFact&) {}
  void operator()(const Condition& n) { each(n.node); }
  void operator()(const TypeField& n) { each(n.type); }
  void operator()(const ErrorType&) {}
  void operator()(const NamedType& n) { each(n.items); }
  void operator()(const VariableType& n) { each(n.items); }
  void operator()(const ShapeType& n) { each(n.items); }
  void operator()(const TupleType& n) { each(n.elements); }
  void operator()(const IntegerType& n) { each(n.type); }
  void operator()(const RecordType& n) { each(n.fields); }
  void operator()(const ArrowType& n) { each(n.from, n.to); }
  void operator()(const OwnedType& n) { each(n.type); }
  void operator()(const WeightsType& n) { each(n.type); }
  void operator()(const PlacedType& n) { each(n.type, n.layout); }
  void operator()(const ExistsType& n) { each(n.facts, n.body); }

  void operator()(const Spot& n) { each(n.size); }
  void operator()(const NameLayout& n) { each(n.spots); }
  void operator()(const MapLayout& n) { each(n.from, n.to); }
  void operator()(const OffsetLayout& n) { each(n.amount); }

  void operator()(const ErrorPattern&) {}
  void operator()(const NamePattern&) {}
  void operator()(const WildcardPattern&) {}
  void operator()(const TuplePattern& n) { each(n.elements); }

  void operator()(const ElementIndex& n) { each(n.value); }
  void operator()(const RestIndex&) {}
  void operator()(const SpreadIndex&) {}
  void operator()(const SliceIndex& n) { each(n.first, n.last, n.step); }
  void operator()(const Index& n) { each(n.node); }
  void operator()(const Binder& n) { each(n.bound); }
  void operator()(const FieldValue& n) { each(n.value); }
  void operator()(const Let& n) { each(n.pattern, n.params, n.result, n.where, n.value); }

  void operator()(const ErrorExpr&) {}
  void operator()(const NameExpr&) {}
  void operator()(const NumberExpr&) {}
  void operator()(const StringExpr&) {}
  void operator()(const BoolExpr&) {}
  void operator()(const ApplyExpr& n) { each(n.fn, n.args); }
  void operator()(const TupleExpr& n) { each(n.elements); }
  void operator()(const ListExpr& n) { each(n.elements); }
  void operator()(const RecordExpr& n) { each(n.fields); }
  void operator()(const LambdaExpr& n) { each(n.params, n.body); }
  void operator()(const LetExpr& n) { each(n.lets, n.body); }
  void operator()(const IfExpr& n) { each(n.condition, n.then_value, n.else_value); }
  void operator()(const ForExpr& n) { each(n.binders, n.body); }
  void operator()(const ReduceExpr& n) { each(n.head, n.args, n.body); }
  void operator()(const WithIndexExpr& n) { each(n.base, n.indices, n.value); }
  void operator()(const WithFieldExpr& n) { each(n.base, n.value); }
  void operator()(const CheckExpr& n) { each(n.value, n.type); }
  void operator()(const BinaryExpr& n) { each(n.lhs, n.rhs); }
  void operator()(const NegateExpr& n) { each(n.value); }
  void operator()(const FieldExpr& n) { each(n.base); }
  void operator()(const IndexExpr& n) { each(n.base, n.indices, n.otherwise); }

  void operator()(const Dim& n) { each(n.node); }
  void operator()(const Type& n) { each(n.node); }
  void operator()(const Layout& n) { each(n.parts); }
  void operator()(const Pattern& n) { each(n.node, n.type); }
  void operator()(const Expr& n) { each(n.node); }

  void operator()(const ErrorDecl&) {}
  void operator()(const FunDecl& n) { each(n.params, n.result, n.where, n.body); }
  void operator()(const ValueDecl& n) { each(n.body); }
  void operator()(const SignatureDecl& n) { each(n.type, n.where); }
  void operator()(const TypeDecl& n) { each(n.type); }
  void operator()(const LayoutDecl& n) { each(n.layout); }
  void operator()(const MeshDecl& n) { each(n.fields); }
  void operator()(const ImportDecl&) {}
  void operator()(const TestDecl& n) { each(n.body); }
  void operator()(const Decl& n) { each(n.node); }
};

}  // namespace children

template <class Node, class F>
void for_each_child(const Node& node, F&& f) {
  children::Visitor<F>{f}(node);
}

}  // namespace axon::syntax
