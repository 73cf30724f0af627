// What a session knows of one declaration.
#pragma once
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/interface.h"
#include "core/lookups.h"
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

struct Record {
  // What it was found out from. Where all of that is as it was, so is the rest.
  core::Lookups::Log names;
  std::vector<std::pair<source::FileId, uint64_t>> texts;   ///< parts, with their revisions
  std::vector<std::pair<core::DeclKey, std::string>> uses;  ///< with the fingerprints of their interfaces
  bool circular = false;

  std::vector<source::Diagnostic> reports;
  std::unique_ptr<core::Interface> interface;  ///< null for a type or a layout
  std::unique_ptr<Checked> checked;
};

}  // namespace axon::session
