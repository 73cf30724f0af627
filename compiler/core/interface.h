// What a checked declaration is to those that use it.
//
// In: a declaration of a program that was elaborated. Out: its Interface, which needs neither that program
// nor its arena, and makes the declaration known to another program without elaborating it again. Invariant:
// of two interfaces with one fingerprint, either can stand for the other: no use of the declaration can tell
// them apart, in what it becomes or in what is said of it. How a use is read is no matter of the interface:
// that asks for the text of the declaration (lookups.h).
#pragma once
#include <string>
#include <vector>

#include "core/elaborator.h"
#include "shape/arena.h"

namespace axon::core {

class Interface {
 public:
  /// Of a function, value, entry or primitive that is checked, in the elaborator's arena.
  Interface(const Elaborator& e, GlobalId g);
  Interface(const Interface&) = delete;
  Interface& operator=(const Interface&) = delete;

  /// The global becomes what it is here: one of an elaborator that has not looked at it. Its arena is the
  /// current one.
  void give(Elaborator& e, GlobalId g) const;
  const std::string& fingerprint() const { return fingerprint_; }

 private:
  std::string described() const;

  mutable shape::Arena arena_;
  TypeStore types_;
  Vars vars_{types_};
  Global global_;
  uint32_t variables_ = 0;  ///< of sizes
  std::vector<syntax::SizeParam> declared_;
  bool not_read_ = false;
  std::vector<DeclKey> aliases_;  ///< declared types that are named, by GlobalId
  std::string fingerprint_;
};

}  // namespace axon::core
