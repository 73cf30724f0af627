// What the names in a file stand for.
//
// In: a loaded file of a session. Out: each name that is written in it, with what it stands for, in order.
// Invariants: two names stand for the same thing exactly where their meanings are equal, in whatever files
// they are; the spans of names do not overlap.
#pragma once
#include <compare>
#include <optional>
#include <string>
#include <vector>

#include "core/uses.h"
#include "query/reading.h"

namespace axon::query {

using Kind = core::Use::Kind;

struct Meaning {
  Kind kind = Kind::value;
  core::SharedKey declared;  ///< of values, types and layouts
  /// Of all others the place, in the file that it stands in now, that binds it. Of a field it is the first
  /// of all places in types that are of this field.
  source::Span binding;
  /// A file of the library is one, also where it is checked as a program besides that.
  friend bool operator==(const Meaning& a, const Meaning& b);
};

struct Mention {
  source::Span span;  ///< of the name alone, in the whole file
  Meaning meaning;
  bool binds = false;       ///< the name is declared or bound here
  source::Span field = {};  ///< of a field: what says that there is one, of the type that it is read of here
};

/// Whether other declarations and files can mention something of the kind.
bool is_seen_outside(Kind kind);

/// All names in the file that stand for something. What was read last of an edited text is looked at where
/// the text is the same.
std::vector<Mention> mentions(const session::Session& session, const std::string& path);
/// Those of the declarations that a stretch of the file touches.
std::vector<Mention> mentions_in(const session::Session& session, const std::string& path, uint32_t begin,
                                 uint32_t end);
/// The name that the place lies in, or at the end of.
std::optional<Mention> mention_at(const session::Session& session, const std::string& path, uint32_t offset);
/// All names of the files that are loaded which have this meaning, by file and place.
std::vector<Mention> mentions_of(const session::Session& session, const Meaning& meaning);
/// Those in the declaration at the place, and in the `val` that states its type, of what is seen in them
/// alone.
std::vector<Mention> mentions_beside(const session::Session& session, const std::string& path,
                                     uint32_t offset, const Meaning& meaning);
/// Those in these files, which are loaded.
std::vector<Mention> mentions_of(const session::Session& session, const Meaning& meaning,
                                 const std::vector<std::string>& paths);
/// Where it is declared or bound: the name there; nothing where that was edited away.
std::optional<source::Span> definition(const session::Session& session, const Meaning& meaning);
/// Of the name at its place: of a field it is in the declared type that the value has there, else in one that
/// the file can see.
std::optional<source::Span> definition(const session::Session& session, const Mention& mention);

}  // namespace axon::query
