// What a declaration asks of the modules around it.
//
// In: modules. Out: answers and, where a log is kept, each question with its answer in words that outlive the
// modules. Invariant: where all questions have the answers that they had, elaboration of the declaration
// meets the same names, and uses the same declarations.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/modules.h"

namespace axon::core {

class Lookups {
 public:
  using Space = DeclKey::Space;
  explicit Lookups(const Modules& modules) : modules_(modules) {}

  DeclId find(const Module& in, Space space, const std::string& name);  ///< invalid when there is none
  DeclId find_in_library(Space space, const std::string& name);         ///< what is seen without import
  /// The module that is imported so, null when it could not be read; nothing when there is no such import.
  std::optional<const Module*> import(const Module& in, const std::string& name);
  bool has_mesh_axis(const Module& in, const std::string& axis);
  /// Every name of a kind, for suggestions.
  std::vector<std::string> names(const Module& in, Space space, bool with_private = true);
  std::vector<std::string> names_of_library();
  std::vector<std::string> mesh_axes(const Module& in);
  const std::map<std::string, std::vector<layout::Axes::MeshAxis>>& meshes(const Module& in);
  /// Whether the word stands in the text of the module more than once.
  bool occurs_again(const Module& in, const std::string& word);

  // What the text of a value decides about how its uses are read.
  /// How many arguments before the tensor a reduction with it takes: none for sum, two for `reduce f unit`.
  size_t reduction_arity(DeclId value);
  /// What it declares in brackets: f[h, ..s, 't].
  const std::vector<syntax::SizeParam>& size_params(DeclId value);

  bool keeps_log = false;
  using Log = std::map<std::string, std::string>;  ///< questions with their answers
  const Log& log() const { return log_; }

 private:
  template <class Question>
  void note(const Question& question);

  const Modules& modules_;
  Log log_;
};

/// All that modules can answer of a declaration of a file, but how often words occur in that: others see no
/// difference between two for which this is the same, as long as their types are.
std::string seen_by_others(const source::SourceManager& sources, const syntax::File& file,
                           const syntax::Decl& d);

/// What modules answer to questions of logs.
class Answers {
 public:
  explicit Answers(const Modules& modules) : modules_(modules) {}
  /// Whether the modules answer all of them so.
  bool are_those_of(const Lookups::Log& log);

 private:
  const Modules& modules_;
  std::unordered_map<std::string, std::string> known_;  ///< by question; most are those of many logs
};

}  // namespace axon::core
