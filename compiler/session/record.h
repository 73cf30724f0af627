// What a session knows of one declaration.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/interface.h"
#include "core/lookups.h"
#include "core/shared_weights.h"
#include "shape/arena.h"
#include "source/diagnostic.h"

namespace axon::session {

/// A declaration as it was checked, in an arena of its own: the one to use while something of it is looked
/// at.
struct Checked {
  shape::Arena arena;
  core::Program program;
  core::GlobalId global;
};

/// A part that a declaration was read from, as it was then.
struct ReadPart {
  source::FileId id;
  uint64_t revision = 0;
  std::string text;
};

struct Record {
  std::vector<ReadPart> own;  ///< that of the declaration, and that of the `val` that states its type
  // What it was found out from. Where all of that is as it was, so is the rest.
  core::Lookups::Log names;
  std::vector<std::pair<source::FileId, uint64_t>> texts;   ///< parts, with their revisions
  std::vector<std::pair<core::DeclKey, std::string>> uses;  ///< with the fingerprints of their interfaces
  bool circular = false;
  bool fault = false;  ///< a bug of ours ended its check, which is tried again

  /// What the names in its text stand for, in order of their places, in their parts; `declared` of a Use
  /// counts in `named`. The name of a size that is the value of a parameter stands for the parameter, and a
  /// part of an axis that no axis binds for the size of its name.
  std::vector<core::Use> mentions;
  std::vector<core::SharedKey> named;
  /// Places of fields in types that are of one field (Vars::same_fields).
  std::vector<std::pair<source::Span, source::Span>> same_fields;
  std::vector<source::Diagnostic> reports;
  std::optional<bool> function;  ///< whether it is one; nothing where its type is not known
  bool entry = false;
  bool good = false;                  ///< nothing was reported, and all of its text was read
  std::unique_ptr<Record> last_good;  ///< of an earlier text, where this one is not good and there was one
  std::optional<core::EntryWeights> weights;   ///< of an entry without errors
  std::unique_ptr<core::Interface> interface;  ///< null for a type or a layout
  std::unique_ptr<Checked> checked;
};

}  // namespace axon::session
