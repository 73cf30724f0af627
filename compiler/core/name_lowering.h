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

  /// The parameters of a function: their names come into scope, and an integer scalar among them is a size.
  /// Names that are bound twice side by side are reported.
  std::vector<Pattern> parameters(const std::vector<syntax::PatternId>& patterns);
  /// What `let` binds; the same of its names.
  Pattern let(syntax::PatternId id);
  /// The names that the pattern binds to what is no integer scalar name no size.
  void hide_from_types(const Pattern& pattern, TypeId type);
  void hide_from_types(const Pattern& pattern, ExprId value);
  /// `binding`: where the name was bound before, if it stands for the same.
  LocalId add_local(const std::string& name, source::Span at, Local::Kind kind = Local::Kind::value,
                    source::Span binding = {});

  ExprId name(const std::string& text, source::Span at);
  /// `m.f`: what another module declares.
  ExprId imported(const syntax::Name& qualifier, const syntax::Name& field, source::Span at);
  ExprId prelude(const std::string& name, source::Span at);  ///< a function of the library
  ExprId cast_to(base::Elem elem, source::Span at);

 private:
  Pattern pattern(syntax::PatternId id, bool parameter, size_t since);
  void hide_from_types(LocalId name);
  bool may_be_integer(const Type& type) const;
  void names_differ(const std::vector<syntax::PatternId>& patterns);
  ExprId global(GlobalId g, source::Span at);
  bool may_be_bound(const std::string& name) const;
  void unknown_name(const std::string& name, source::Span at);

  TypeLowering& types_;
  std::vector<source::Span> broken_;  ///< patterns that could not be read
};

}  // namespace axon::core
