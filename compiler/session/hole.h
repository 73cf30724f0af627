// A declaration of a loaded file that is being written, elaborated with a hole at one place.
//
// In: a session, whose records say what the other declarations are, and the text of the declaration with some
// name where the hole is. Out: what inference finds there (core/hole.h), and what is bound around it.
// Invariants: the session stays as it is; the same texts and records give the same answers; the work is
// limited.
#pragma once
#include <functional>
#include <optional>
#include <string>

#include "core/hole.h"
#include "core/print.h"
#include "session/session.h"

namespace axon::session {

class Hole {
 public:
  using Fit = core::Hole::Fit;
  using Kind = core::Hole::Kind;

  Kind kind() const { return inferred_.kind(); }
  Fit fit(const core::DeclKey& value);
  /// What is bound at that place of the text, by its name.
  std::optional<core::LocalId> local(uint32_t at, size_t size) const;
  Fit fit(core::LocalId value) { return inferred_.fit(value); }
  Fit fit(core::TypeId type) { return inferred_.fit(type); }
  Fit fit_integer();  ///< a size

  /// What is wanted there; the type of a field's record.
  core::TypeId wanted() const { return inferred_.wanted(); }
  core::TypeId record() const { return inferred_.record(); }
  core::TypeId type_of(core::LocalId local) const;
  /// As it is known.
  const core::Type& operator[](core::TypeId type) const;
  /// Empty where nothing is known of it.
  std::string print(core::TypeId type);

 private:
  friend class HoleElaboration;
  Hole(core::Elaborator& e, core::Hole& inferred, const Records& records, source::FileId part)
      : e_(e), inferred_(inferred), records_(records), part_(part) {}
  core::Elaborator& e_;
  core::Hole& inferred_;
  const Records& records_;
  source::FileId part_;
};

/// `part`: of the file, the one to have this text; `at`, `size`: where the name is that becomes the hole.
/// False where no declaration with a body could be read there: then `ask` was not called.
bool with_hole(const Session& session, const std::string& path, source::FileId part, std::string text,
               uint32_t at, uint32_t size, const std::function<void(Hole&)>& ask);

}  // namespace axon::session
