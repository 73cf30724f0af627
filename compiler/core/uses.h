// What the names in the text of a declaration stand for.
//
// In: lowering, which writes down each name as it resolves it. Out: a table of uses, from which the place
// that binds a name, and all others of the same name, are read. Invariants: there is a use for each name that
// is written and stands for something, and none for what sugar adds; a name is bound where the span of its
// use is its binding.
//
// Fields are found by inference. The use of one has the place under which types carry it (Type::places), and
// Vars::same_fields says which of these are one field.
#pragma once
#include "core/modules.h"
#include "source/span.h"

namespace axon::core {

struct Use {
  enum class Kind : uint8_t {
    value,    ///< function, entry, value or primitive: declared
    type,     ///< declared
    layout,   ///< declared
    module,   ///< by the name that it has in the file
    local,    ///< a parameter, or what `let` binds
    index,    ///< a binder of `for`, or of a reduction
    axes,     ///< `..p` of a `for`
    size,     ///< `n` in a type, and where an expression mentions it
    shape,    ///< `..s`
    element,  ///< `'t`
    row,      ///< `..r` of a record
    axis,     ///< a part of an axis of `rearrange`
    mesh,     ///< an axis of a mesh
    field     ///< of a record
  };
  source::Span span;  ///< of the name alone
  Kind kind;
  DeclId declared;       ///< of value, type and layout
  source::Span binding;  ///< of the others, where it is named first; of a field, its place in the type
};

}  // namespace axon::core
