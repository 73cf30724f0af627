// The definitions of a REPL: one document of a session, which grows by what is typed.
//
// In: phrases. Out: what each is, or what is wrong with it, in places of the phrase. Invariant: a phrase with
// an error leaves the definitions as they were; one that replaces others says what they broke.
#pragma once
#include <map>
#include <set>
#include <string>
#include <vector>

#include "repl/answer.h"
#include "repl/phrase.h"
#include "session/session.h"
#include "source/render.h"

namespace axon::repl {

class Definitions {
 public:
  Definitions(std::vector<std::string> library, source::RenderOptions render);

  /// What became of a phrase: errors, rendered, or what it defines.
  struct Outcome {
    std::string errors;               ///< of the phrase itself; then nothing has changed
    std::string warnings;             ///< of the phrase
    std::vector<Typed> types;         ///< of what it defines
    std::vector<std::string> broken;  ///< of others, that checked before
    std::vector<std::string> mended;  ///< and that did not
    std::string broken_errors;        ///< rendered
  };
  Outcome define(const std::string& phrase);
  /// The expression as a value of that hidden name, kept when it is asked for.
  Outcome evaluate(const std::string& expression, const std::string& name, bool keep);
  /// Takes the definitions of a file instead of those that the last one gave.
  Outcome load(const std::string& path, const std::string& text);

  /// The program of all definitions that check, with the expression as an entry of this name.
  std::string program(const std::string& entry, const std::string& expression) const;
  /// The same without an entry of its own.
  std::string program() const;
  std::string source() const;  ///< the definitions as they were typed, without hidden ones
  const std::string& path() const { return path_; }
  std::vector<Typed> types(bool all = false) const;
  std::string documentation(const std::string& name) const;
  /// A definition that no longer checks, or uses one, and that the text names; empty when there is none.
  std::string broken_in(const std::string& text) const;
  bool defines(const std::string& name) const;
  std::vector<std::string> names() const;  ///< of all that can be seen
  session::Session& session() { return session_; }
  const session::Session& session() const { return session_; }
  const std::string& it() const { return it_; }
  void set_it(std::string name) { it_ = std::move(name); }

 private:
  struct Kept {
    Item item;
    bool loaded = false, hidden = false;
  };
  /// Where each stands in the document: its first byte, and the one behind it.
  using Ranges = std::vector<std::pair<size_t, size_t>>;
  std::string with_it(const std::string& phrase) const;
  Outcome change(std::vector<Kept> wanted, size_t fresh, const std::string& phrase, bool keep);
  std::vector<Kept> without(const std::vector<Item>& replaced) const;
  std::string rendered(const source::Diagnostic& d, const Ranges& ranges, size_t fresh,
                       const std::string& phrase) const;
  std::set<std::string> all_broken() const;
  std::string type_of(const session::Entry& entry) const;

  session::Session session_;
  source::RenderOptions render_;
  std::string path_;
  std::vector<Kept> kept_;
  std::set<std::string> broken_;
  std::string it_;
};

}  // namespace axon::repl
