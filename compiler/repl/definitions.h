// The definitions of a REPL: one document of a session, which grows by what is typed.
//
// In: phrases. Out: what each is, or what is wrong with it, in places of the phrase. Invariant: a phrase with
// an error leaves the definitions as they were; one that replaces others says what they broke.
#pragma once
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "query/context_counts.h"
#include "repl/answer.h"
#include "repl/kept.h"
#include "session/session.h"
#include "source/render.h"

namespace axon::repl {

class TypedPlaces;

class Definitions {
 public:
  Definitions(std::vector<std::string> library, source::RenderOptions render);

  /// What became of a phrase: errors, rendered, or what it defines.
  struct Outcome {
    std::string errors;                     ///< of the phrase itself; then nothing has changed
    std::vector<source::Diagnostic> found;  ///< the same
    std::string warnings;                   ///< of the phrase
    std::vector<Typed> types;               ///< of what it defines
    std::vector<std::string> broken;        ///< of others, that checked before
    std::vector<std::string> mended;        ///< and that did not
    std::string broken_errors;              ///< rendered
  };
  Outcome define(const std::string& phrase);
  /// The expression as a value of that hidden name, kept when it is asked for.
  Outcome evaluate(const std::string& expression, const std::string& name, bool keep);
  /// How many parameters the value of the expression has; 0 for one with an error.
  size_t parameters_of(const std::string& expression);
  /// The expression as the entry of a program, which it becomes to be run (program()): its errors. A function
  /// becomes one of so many parameters.
  Outcome run_check(const std::string& expression, size_t parameters = 0);
  /// Checks a declaration of that name beside the definitions, which stay as they are, and shows what was
  /// found out about it where it is right.
  using Look = std::function<void(const session::Record&)>;
  Outcome probe(const std::string& declaration, const std::string& name, const Look& look);
  /// Takes the definitions of a file instead of those that the last one gave; none where it has errors.
  Outcome load(const std::string& path, const std::string& text);

  /// The program of all definitions that check, with the expression as an entry of the name entry().
  std::string program(const std::string& expression, size_t parameters = 0) const;
  /// The same without an entry of its own.
  std::string program() const;
  std::string entry() const { return free_name("it"); }
  /// What was found in the program that runs the expression, rendered. What it says of places of the program
  /// is of where they were typed from then on.
  std::string as_typed(Found& found, const std::string& expression, size_t parameters = 0) const;
  /// The definitions as they were typed, without hidden ones, for a file in that folder. `problem` is why
  /// they cannot be there.
  std::string source(const std::string& folder, std::string& problem) const;
  const std::string& path() const { return path_; }
  std::vector<Typed> types(bool all = false);
  /// The imports, types, layouts and meshes as they were typed.
  std::vector<std::string> others() const;
  std::string documentation(const std::string& name);
  std::string documentation(const std::string& name, const session::Entry& entry) const;
  /// As its declaration has it; empty where no value that checks has this name.
  std::string type_of_name(const std::string& name);
  /// A definition that no longer checks, or uses one, and that the text names; empty when there is none.
  std::string broken_in(const std::string& text) const;
  /// The error that the text cannot be evaluated because of that, with what is wrong with the definition; not
  /// failed when there is none.
  Answer why_broken(const std::string& text) const;
  bool defines(const std::string& name) const;
  size_t loaded() const;                   ///< how many of them are those of a file
  bool is_value(const std::string& name);  ///< here, or of a module
  /// The declaration that a name stands for, checked where that can be; nothing when there is none.
  std::optional<session::Entry> find(const std::string& name);
  /// A name like this one that no definition has.
  std::string free_name(std::string name) const;
  std::vector<std::string> names();  ///< of all that can be seen
  std::vector<std::string> imports() const;
  /// What may stand for the last word of a phrase that is being typed, which begins there.
  std::vector<std::string> completions(const std::string& phrase, size_t word);
  session::Session& session() { return session_; }
  const session::Session& session() const { return session_; }
  const std::string& it() const { return it_; }
  void set_it(std::string name) { it_ = std::move(name); }

 private:
  std::string with_it(const std::string& phrase) const;
  Kept entry_of(const std::string& expression, size_t parameters) const;
  source::Diagnostics checked(const std::string& path);
  void bring_up_to_date();
  /// What is wrong with a definition, and that rendered.
  struct Broken {
    std::vector<source::Diagnostic> found;
    std::string text;
  };
  using Errors = std::map<std::string, Broken>;  ///< by the definition that they are about
  Errors sort_errors(const std::vector<Kept>& wanted, size_t fresh, const std::string& phrase,
                     const KeptRanges& ranges, Outcome& outcome);
  void compare_broken(const std::vector<Kept>& wanted, const Errors& errors, Outcome& outcome) const;
  void read_types(const std::vector<Kept>& wanted, size_t fresh, const Look& look, Outcome& outcome) const;
  Outcome change(std::vector<Kept> wanted, size_t fresh, const std::string& phrase, bool keep,
                 const Look& look = {});
  std::vector<Kept> without(const std::vector<Item>& replaced) const;
  std::string rendered(const source::Diagnostic& d, const KeptRanges& ranges, size_t fresh,
                       const std::string& phrase) const;
  std::string rendered(source::Diagnostic d, const TypedPlaces& places) const;
  std::optional<session::Entry> value_here(const std::string& name) const;
  std::vector<Kept> checked_definitions() const;
  std::set<std::string> all_broken() const;
  std::string type_of(const session::Entry& entry) const;

  session::Session session_;
  source::RenderOptions render_;
  std::string path_;
  std::string loaded_path_, loaded_text_;  ///< of the file that definitions were taken from
  std::vector<Kept> kept_;
  Errors broken_;  ///< of what no longer checks
  std::string it_;
  query::ContextCounts counts_;
};

}  // namespace axon::repl
