// How the sizes of an entry follow from its arguments. See entry.cpp.
#pragma once
#include "core/reporter.h"

namespace axon::core {

class SizeSolver;

class EntryChecker : InferencePart {
 public:
  EntryChecker(InferenceContext& c, Reporter& reporter) : InferencePart(c), reporter_(reporter) {}

  /// Fills Global::entry_sizes; reports what a caller cannot pass, and sizes that no argument determines.
  void check_entry(const Scheme& scheme);

 private:
  /// What a caller cannot pass, and what its parameter needs instead; empty where nothing helps.
  struct Unbindable {
    std::string what, help;
  };
  bool first_order(TypeId t, Unbindable& why);
  void observe(TypeId t, const std::string& path, source::Span at, EntrySizes& out);
  /// A parameter or result: what messages call it, and what its parts are.
  struct Port {
    std::string what;
    source::Span at;
    std::vector<shape::Var> exists;  ///< sizes that the data decides
    bool written = false, weights = false, in_stack = false;
  };
  std::optional<std::string> why_not_taken(const Type& t, const Port& port) const;  // entry_layouts.cpp
  bool takes_layouts(TypeId t, Port port);
  bool takes_all_layouts(const Global& g, const std::vector<TypeId>& params, const Scheme& scheme);
  void observe_strides(TypeId t, const std::string& path, source::Span at, EntrySizes& out);
  std::string words_of(source::Span part, source::Span whole) const;
  bool observe_all(const Global& g, const std::vector<TypeId>& params, EntrySizes& sizes,
                   std::vector<bool>& of_weights);
  bool refuse_undetermined(const Global& g, const Scheme& scheme, SizeSolver& solver);
  std::optional<std::string> use_that_gives(shape::Var v) const;
  void add_checks(const Global& g, const Scheme& scheme, EntrySizes& sizes) const;

  Reporter& reporter_;
};

}  // namespace axon::core
