// Expressions of the syntax tree to the core: names resolved, sugar gone, no types yet. core.h states the
// desugaring.
#pragma once
#include "core/index_lowering.h"

namespace axon::core {

class ExprLowering : LoweringPart {
 public:
  ExprLowering(LoweringContext& c, TypeLowering& types, NameLowering& names, IndexLowering& indices)
      : LoweringPart(c), types_(types), names_(names), indices_(indices) {}

  ExprId expr(syntax::ExprId id);
  ExprId apply(ExprId fn, std::vector<ExprId> args, source::Span at);

 private:
  ExprId number(const std::string& text, bool is_float, source::Span at);
  ExprId list(const syntax::ListExpr& l, source::Span at);
  ExprId binary(const syntax::BinaryExpr& b, source::Span at);
  ExprId lets(const syntax::LetExpr& l, size_t from, source::Span at);
  ExprId let_value(const syntax::Let& l);
  bool is_reshape(syntax::ExprId fn);

  TypeLowering& types_;
  NameLowering& names_;
  IndexLowering& indices_;
};

}  // namespace axon::core
