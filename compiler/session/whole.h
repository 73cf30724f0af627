// A file of a session as one program, for what comes behind the core.
//
// In: a session that has checked the file. Out: the program that elaboration of the file at once gives, and
// what each declaration of it is made of. Invariant: two declarations that are made of the same texts are the
// same in both programs.
#pragma once
#include <memory>
#include <string>

#include "session/session.h"

namespace axon::session {

struct Whole {
  shape::Arena arena;  ///< the one to use while something of it is looked at
  syntax::File file;
  core::Program program;
};

/// With places in the whole file; null where there are errors.
std::unique_ptr<Whole> whole_program(Session& session, const std::string& path);

/// The texts of the declaration and of all that it uses.
std::string texts_of(const Session& session, const core::DeclKey& key);

}  // namespace axon::session
