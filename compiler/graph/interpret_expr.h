// Expressions compiled for evaluation: shared by interpret() and Evaluator.
//
// A scalar becomes a tree of Code with variables in numbered slots; index dimensions become sums of slots.
// What depends on fewer variables than its user, or is used twice, keeps its last value and recomputes it
// only after one of its variables has changed: that hoists and memoises without a separate pass. `select`
// evaluates one side only.
#pragma once
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "graph/interpret.h"

namespace axon::graph {

/// A Dim over slots. `linear` covers nearly all; `terms` the rest (products of atoms).
struct DimCode {
  int64_t constant = 0;
  std::vector<std::pair<int64_t, uint32_t>> linear;  // coefficient, slot
  struct Factor {
    shape::AtomKind kind = shape::AtomKind::var;
    uint32_t slot = 0;
    std::shared_ptr<DimCode> lhs, rhs;
  };
  struct Term {
    int64_t coefficient = 0;
    std::vector<Factor> factors;
  };
  std::vector<Term> terms;
  std::vector<std::pair<uint32_t, struct Code*>> defined;  // slots of variables that have a definition
};

struct Code {
  enum class Round : uint8_t { none, f32, narrow, integer } round = Round::none;
  Op op = Op::constant;
  Elem elem = Elem::f32;  // that the result is rounded to
  bool float_args = false;
  bool memo = false;
  std::vector<Code*> args;
  std::vector<uint32_t> slots;  // of the variables it depends on
  uint64_t computed_at = 0;
  Number value;                  // constant, or the last value
  DimCode dim;                   // index; bounded: the extent
  uint32_t tensor = 0;           // load: number of the tensor read
  std::vector<DimCode> indices;  // load; where args[i] is set, that instead
  std::vector<int64_t> point;    // load: scratch
  Monoid monoid = Monoid::sum;
  std::vector<std::pair<uint32_t, DimCode>> binders;  // slot, extent: may depend on the binders before
  bool base2 = false, or_zero = false;
  double scale = 1;
  uint32_t component = 0, check = 0;
  std::vector<double> online;  // components of the last evaluation
  bool descending = false;
  std::vector<double> scores;  // online, as evaluated last
  double top = 0;              // online: the greatest of them
  std::vector<uint32_t>
      row_slots;             // order, online: of the variables that its keys and how many there are depend on
  std::vector<int64_t> row;  // order: the positions, as evaluated last
  uint64_t row_at = 0;       // order, online: when its row was evaluated
};

/// What is said where the check fails while a program runs, with `{lhs}` and `{rhs}` for its sides.
inline std::string words_of(const Check& check) {
  return check.fact || check.effect ? check.message : check.message + index_words;
}
/// A check's message with `{lhs}` and `{rhs}` replaced by the values of its two sides; `?` for one without.
std::string fill_sides(std::string message, std::optional<int64_t> lhs, std::optional<int64_t> rhs);

class ScalarInterpreter {
 public:
  ScalarInterpreter(const Graph& graph, Precision precision) : g(graph), precision_(precision) {}

  void bind(Var v, int64_t value);
  /// Gives a variable the value that the scalar has wherever a dimension mentions it.
  void define(Var v, ScalarId value) { definitions_.emplace(v.id, value); }
  /// Whether loads out of range give 0, as in a branch that is not taken, or fail.
  void set_guarded(bool guarded) { guarded_ = guarded; }
  /// What loads of `v` read; must outlive the evaluations. Not used with a reader.
  void provide(Value v, const Tensor* tensor);
  void read_through(Reader reader) { reader_ = std::move(reader); }
  /// Drops remembered values: contents of tensors have changed.
  void forget() { forgotten_at_ = ++clock_; }

  Code* compile(ScalarId root);
  DimCode compile(const Dim& dim) {
    std::vector<uint32_t> uses;
    return compile_dim(dim, uses);
  }
  int64_t value(const DimCode& code) { return dim(code); }
  Number run(Code* code);
  std::optional<int64_t> evaluate(const Dim& dim);
  void fail(const std::string& what) {
    if (error.empty()) error = what;
  }
  std::string error;

 private:
  struct Slot {
    int64_t value = 0;
    uint64_t changed_at = 0;
    bool bound = false;
  };
  const Graph& g;
  Precision precision_;
  Reader reader_;
  bool guarded_ = false;
  std::unordered_map<uint32_t, ScalarId> definitions_;  // variable -> value
  std::unordered_map<uint32_t, uint32_t> slot_of_;      // variable -> slot
  std::vector<Slot> slots_;
  std::map<Value, uint32_t> tensor_of_;
  std::vector<const Tensor*> tensors_;
  std::vector<Value> tensor_values_;
  std::deque<Code> codes_;
  std::unordered_map<uint64_t, Code*> compiled_;  // scalar and whether it is inside a reduction
  uint64_t clock_ = 1, forgotten_at_ = 1;

  uint32_t slot(Var v);
  uint32_t tensor(Value v);
  DimCode compile_dim(const Dim& dim, std::vector<uint32_t>& uses);
  Code* compile_node(ScalarId id, bool inside);
  uint32_t use(Var v, DimCode& code, std::vector<uint32_t>& uses);
  int64_t dim(const DimCode& d);
  int64_t factor(const DimCode::Factor& f);

  void set(uint32_t slot, int64_t value) {
    slots_[slot].value = value;
    slots_[slot].changed_at = ++clock_;
    slots_[slot].bound = true;
  }
  bool still_valid(const std::vector<uint32_t>& slots, uint64_t computed_at) const {
    if (computed_at < forgotten_at_) return false;
    for (uint32_t s : slots)
      if (slots_[s].changed_at > computed_at) return false;
    return true;
  }
  Number compute(Code& c);
  Number load(Code& c);
  Number reduce(Code& c);
  void online(Code& c);
  Number order(Code& c);
  Number real_op(const Code& c);
  Number integer_op(const Code& c);
  double rounded(const Code& c, double value) const;
  /// Calls `step` at every point of the binders from `first` on, in row-major order.
  template <class Step>
  void each_point(Code& c, const Step& step, size_t first = 0);
};

}  // namespace axon::graph
