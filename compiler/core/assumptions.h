// What may be assumed while constraints are stated: facts of the declaration, and facts of the place.
//
// Facts of the place (conditions of branches, ranges of indices, checks that may not be reached) form a
// stack. A constraint takes those of the place where it is stated with it.
#pragma once
#include <optional>
#include <utility>
#include <vector>

#include "core/vars.h"

namespace axon::core {

class Assumptions {
 public:
  explicit Assumptions(Vars& vars) : vars_(vars) {}

  void assume(shape::Fact fact) { given_.push_back(std::move(fact)); }
  /// A shape is stated to broadcast into another one.
  void assume_into(ShapeVarId operand, Shape target) { given_into_.emplace_back(operand, std::move(target)); }
  /// What a shape variable is stated to broadcast into.
  std::vector<Shape> stated_targets(ShapeVarId operand) const;
  /// Whether a lone shape variable is stated to broadcast into this shape, or into its last axes.
  bool is_stated_into(const Shape& operand, const Shape& target) const;
  /// What is known after a check that the program makes: where the check may not be reached, only there.
  void learn(shape::Fact fact) {
    (reached() && context_.size() == checked_.size() ? given_ : context_).push_back(std::move(fact));
  }
  /// A branch or the body of a lambda begins: what is in it may not be reached. Returns what leave() takes.
  size_t enter() {
    ++conditional_;
    return context_.size();
  }
  void leave(size_t context) {
    --conditional_;
    pop_to(context);
  }
  bool reached() const { return conditional_ == 0; }
  /// The same of a branch of an `if`.
  size_t enter_branch() {
    ++branches_;
    return enter();
  }
  void leave_branch(size_t context) {
    --branches_;
    leave(context);
  }
  bool in_branch() const { return branches_ > 0; }
  void push(shape::Fact fact) { context_.push_back(std::move(fact)); }
  /// What `:>` shows: it holds until its `let` body or branch pops it.
  void push_checked(shape::Fact fact) {
    checked_.push_back(context_.size());
    push(std::move(fact));
  }
  size_t context_size() const { return context_.size(); }
  void pop_to(size_t size) {
    context_.resize(size);
    std::erase_if(checked_, [&](size_t at) { return at >= size; });
  }

  const std::vector<shape::Fact>& given() const { return given_; }
  const std::vector<shape::Fact>& context() const { return context_; }
  /// Facts that may help with a goal: what is assumed, the context, and sizes >= 0.
  std::vector<shape::Fact> facts_for(const shape::Fact& goal, const std::vector<shape::Fact>& context) const;
  /// The same where inference is now.
  std::vector<shape::Fact> facts_here(const shape::Fact& goal) const { return facts_for(goal, context_); }

 private:
  Vars& vars_;
  std::vector<shape::Fact> given_;
  std::vector<std::pair<ShapeVarId, Shape>> given_into_;
  std::vector<shape::Fact> context_;  ///< of what is stated now
  std::vector<size_t> checked_;       ///< positions in it of what `:>` shows
  size_t conditional_ = 0;            ///< branches and lambdas around it
  size_t branches_ = 0;               ///< of these, branches
};

}  // namespace axon::core
