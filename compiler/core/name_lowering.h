// Patterns and names of the syntax tree: what binds a local, and what a name at some place stands for.
//
// In: a pattern, or a name with the scope that it stands in. Out: Patterns with their locals, occurrences of
// locals and globals. A name that nothing has is reported here, once, with the nearest one that there is.
#pragma once
#include "core/type_lowering.h"

namespace axon::core {

class NameLowering : LoweringPart {
 public:
  NameLowering(LoweringContext& c, TypeLowering& types) : LoweringPart(c), types_(types) {}

  /// Its names come into scope. `parameter`: an integer scalar among them is a size.
  Pattern pattern(syntax::PatternId id, bool parameter);
  /// Reports names that are bound twice side by side.
  void names_differ(const std::vector<syntax::PatternId>& patterns);
  LocalId add_local(const std::string& name, source::Span at, Local::Kind kind = Local::Kind::value);

  ExprId name(const std::string& text, source::Span at);
  /// `m.f`: what another module declares.
  ExprId imported(const std::string& qualifier, const syntax::Name& field, source::Span at);
  ExprId prelude(const std::string& name, source::Span at);  ///< a function of the library
  ExprId cast_to(base::Elem elem, source::Span at);

 private:
  ExprId global(GlobalId g, source::Span at);
  void unknown_name(const std::string& name, source::Span at);

  TypeLowering& types_;
};

}  // namespace axon::core
