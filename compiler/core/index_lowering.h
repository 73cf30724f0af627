// Index notation of the syntax tree to the core: `for`, folds over binders, indexing, rearrange, explicit
// sizes.
#pragma once
#include "core/name_lowering.h"

namespace axon::core {

class ExprLowering;

class IndexLowering : LoweringPart {
 public:
  IndexLowering(LoweringContext& c, TypeLowering& types, NameLowering& names, ExprLowering& exprs)
      : LoweringPart(c), types_(types), names_(names), exprs_(exprs) {}

  ExprId for_expr(const std::vector<syntax::Binder>& binders, syntax::ExprId body, source::Span at);
  ExprId reduction(const syntax::ReduceExpr& r, source::Span at);
  ExprId rearrange(const syntax::ReduceExpr& r, source::Span at);
  ExprId reshape(ExprId target, ExprId value, source::Span at);
  ExprId index(const syntax::IndexExpr& i, source::Span at);
  std::vector<IndexItem> indices(const std::vector<syntax::Index>& list);

 private:
  GlobalId find_global(syntax::ExprId id);
  std::vector<AxisGroup> axis_groups(const syntax::ListExpr& l);
  void note_axes(const syntax::ListExpr& l, std::map<std::string, source::Span>& bound);
  bool axis_factors(syntax::ExprId id, AxisGroup& out);
  ExprId explicit_sizes(GlobalId g, const syntax::IndexExpr& i, source::Span at);

  TypeLowering& types_;
  NameLowering& names_;
  ExprLowering& exprs_;
};

}  // namespace axon::core
