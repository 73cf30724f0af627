// The types that inference found in one declaration, in words.
//
// In: the record of a declaration that was checked. Out: its expressions and names by the places where they
// are written, and their types as text. Invariant: a size, shape or element type has the name here that the
// type of the declaration has for it (`check --types`).
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/print.h"
#include "session/record.h"
#include "shape/arena.h"

namespace axon::query {

class Typed {
 public:
  explicit Typed(const session::Record& record);
  const core::Program& program() const { return program_; }
  const core::Global& global() const { return program_.globals[checked_.global]; }

  /// The arena to use while sizes are looked at otherwise than by this class.
  shape::Arena& arena() const { return checked_.arena; }

  /// Its type with what it requires, without its name; empty where it has none.
  std::string declared();
  std::string type(core::TypeId type);
  std::string type(const core::Scheme& scheme);
  std::string dim(const shape::Dim& d);
  std::string fact(const shape::Fact& f);
  std::string shape(const core::Shape& s);
  core::Names& names() { return names_; }
  /// Whether inference found it out: it has a type that is not wrong somewhere.
  bool is_known(core::TypeId type) const;

  /// The smallest expression with a type whose text holds the stretch; invalid where there is none.
  core::ExprId innermost(source::Span part) const;
  /// The expression that is written exactly there, the outermost; invalid where there is none.
  core::ExprId at(source::Span part) const;
  /// The local that is bound there; invalid where there is none.
  core::LocalId bound_at(source::Span part) const;

 private:
  session::Checked& checked_;
  const core::Program& program_;
  core::Names names_;
};

/// The text of a type taken apart: what stands between arrows, and behind `where`. One that is no function
/// has no parameters.
struct TypeText {
  std::vector<std::string> parameters;
  std::string result, where;
};
TypeText parts_of_type(std::string_view type);

/// With every run of blanks as one.
std::string one_line(std::string_view text);

/// `name : type`, in lines of 80 columns where the type can be broken: before arrows and `where`, under the
/// name's colon.
std::string declaration_text(const std::string& name, std::string_view type);

}  // namespace axon::query
