// Where an argument whose layout is stated meets a parameter that states one.
//
// In: the types of arguments and parameters, as applications are inferred. Out: an error for each pair of
// stated layouts that is not one layout, once the sizes of the declaration are solved. Values have no layout:
// what an operator makes, or what passes through a variable of a type, states none.
#pragma once
#include <map>

#include "core/reporter.h"
#include "layout/layout.h"

namespace axon::core {

class MetLayouts : InferencePart {
 public:
  MetLayouts(InferenceContext& c, Reporter& reporter) : InferencePart(c), reporter_(reporter) {}

  /// The argument is passed to the parameter, which the words are of. Nothing is decided yet.
  void note(TypeId parameter, TypeId argument, ExprId expr, const std::string& words) {
    meetings_.erase(expr.index);
    add(parameter, argument, {{}, {}, expr, words, false});
  }
  void check();

 private:
  struct Meeting {
    Type parameter, argument;  ///< tensors
    ExprId expr;
    std::string words;
    bool is_part;  ///< of the argument
  };
  void add(TypeId parameter, TypeId argument, Meeting meeting);
  void check(const Meeting&);
  std::vector<shape::Fact> facts(const layout::Layout&, const layout::Layout&) const;
  void report(const Meeting&, const layout::Layout& wanted, const layout::Layout& found,
              const std::vector<shape::Fact>& facts);

  Reporter& reporter_;
  std::map<uint32_t, std::vector<Meeting>> meetings_;  ///< by expression, the last time that it was inferred
};

}  // namespace axon::core
