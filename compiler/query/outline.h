// What the syntax tree of a file says without any types: its declarations, what can be folded, and what
// encloses a place.
//
// In: a loaded file of a session. Out: spans in the whole file, in order. Invariant: spans that are returned
// together lie inside of each other or apart.
#pragma once
#include <string>
#include <vector>

#include "session/session.h"

namespace axon::query {

struct Symbol {
  enum class Kind : uint8_t {
    function,
    entry,
    value,
    primitive,
    type,
    layout,
    mesh,
    module,
    test,
    field,
    size
  } kind;
  std::string name;
  source::Span name_span, whole;
  std::vector<Symbol> parts;  ///< sizes of a function or type, fields of a type
};

std::vector<Symbol> symbols(const session::Session& session, const std::string& path);

struct Fold {
  source::Span span;
  bool comment = false;
};

/// Declarations, and runs of comments, of more than one line.
std::vector<Fold> folds(const session::Session& session, const std::string& path);

/// The word at the place and all nodes of the tree that hold it, the innermost first; the last is the whole
/// file.
std::vector<source::Span> enclosing(const session::Session& session, const std::string& path,
                                    uint32_t offset);

}  // namespace axon::query
