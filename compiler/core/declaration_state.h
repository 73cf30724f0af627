// A declaration can be inferred again, to find out more about an error in it or in a call of it.
#pragma once
#include <vector>

#include "core/elaborator.h"

namespace axon::core {

/// The expressions and locals of a declaration as they were, while inference writes into them; put back at
/// the end.
class DeclarationState {
 public:
  DeclarationState(Program& p, const DeclInfo& i, GlobalId g)
      : program(p), info(i), id(g), global(p.globals[g]) {
    for (uint32_t e = info.first_expr; e < info.end_expr; ++e) exprs.push_back(p.exprs[{e}]);
    for (uint32_t l = info.first_local; l < info.end_local; ++l) locals.push_back(p.locals[{l}]);
  }
  ~DeclarationState() {
    for (size_t i = 0; i < exprs.size(); ++i)
      program.exprs[{info.first_expr + static_cast<uint32_t>(i)}] = exprs[i];
    for (size_t i = 0; i < locals.size(); ++i)
      program.locals[{info.first_local + static_cast<uint32_t>(i)}] = locals[i];
    program.globals[id] = global;
  }
  DeclarationState(const DeclarationState&) = delete;
  DeclarationState& operator=(const DeclarationState&) = delete;

 private:
  Program& program;
  const DeclInfo info;
  GlobalId id;
  Global global;
  std::vector<Expr> exprs;
  std::vector<Local> locals;
};

}  // namespace axon::core
