// One declaration of the syntax tree to the core: its Global and its DeclInfo.
#pragma once
#include "core/expr_lowering.h"

namespace axon::core {

class DeclLowering : LoweringPart {
 public:
  explicit DeclLowering(LoweringContext& c)
      : LoweringPart(c),
        types_(c),
        names_(c, types_),
        indices_(c, types_, names_, exprs_),
        exprs_(c, types_, names_, indices_) {}

  void run();

 private:
  void lower_function(const syntax::FunDecl& f);
  void lower_value(syntax::ExprId value);
  void lower_unread();
  void lower_alias(const syntax::TypeDecl& d);
  void lower_layout(const syntax::LayoutDecl& d);
  void lower_signature(const syntax::SignatureDecl& s);
  void find_primitive();

  TypeLowering types_;
  NameLowering names_;
  IndexLowering indices_;
  ExprLowering exprs_;
};

}  // namespace axon::core
