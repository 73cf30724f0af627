// What a random program is built from: choices, a pool of named tensors, parameters made on demand, lines of
// text.
#pragma once
#include <fmt/format.h>

#include <functional>
#include <initializer_list>
#include <iterator>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "generator.h"

namespace axon::differential {

using Dims = std::vector<Dim>;

struct Tensor {
  std::string name;
  Dims dims;
  bool input = false;  ///< given, so that every executor sees the same bits of it
};

class Builder {
 public:
  Builder(uint64_t seed, std::string group);

 protected:
  // ---- choices ----
  int below(int n) { return static_cast<int>(random_() % static_cast<uint64_t>(n)); }
  template <size_t N>
  const char* pick_form(const char* const (&forms)[N]) {
    return forms[below(static_cast<int>(N))];
  }
  Dim size(int i) const { return out_.sizes[static_cast<size_t>(i)].second; }
  Dim layers() const { return size(3); }  ///< the short one: of stacks that loops go through
  /// Where weights are shared mostly the same one, so that there are some to share.
  Dim pick_size() { return size(out_.group.empty() || below(3) == 0 ? below(3) : 0); }
  Dims pick_dims(int rank);
  /// A tensor of one of the ranks; the newest is likelier, so that programs grow deep.
  std::optional<Tensor> pick(std::initializer_list<size_t> ranks);
  std::optional<Tensor> pick_where(const std::function<bool(const Tensor&)>& fits);
  /// A tensor of exactly this shape, made an input when there is none.
  Tensor of_shape(const Dims&);

  // ---- parameters ----
  Tensor input(const Dims&);
  /// A tensor that is a field of the record of weights, or an argument. The name is an expression where the
  /// field has another element type than the program.
  Tensor weight(const Dims&);
  std::string state(const Dims&);
  /// Integers in [0, bound).
  std::string integers(const Dims&, const Dim& bound, const char* elem);
  /// The same where the program looks whether they are below the bound.
  std::string checked_integers(const Dims&, const Dim& bound, const char* elem);
  /// The text of an i64 of the data that is this dimension, which only the data says.
  std::string datum(const Dim& value);
  /// The same as indices of an axis: the axis must not be empty.
  std::string indices(const Dims&, const Dim& axis, const char* elem);
  /// An i64 below `bound` that is a size of the program.
  std::string position(const Dim& bound);
  /// The program is defined only when the dimension, which grows with its sizes, is at least `value`.
  void at_least(const Dim&, int64_t value);

  // ---- lines ----
  static std::string text(const Dim& d) { return d.str(); }
  std::string fresh(const char* prefix) { return fmt::format("{}{}", prefix, next_++); }
  static Dim volume(const Dims&);
  /// Sums of at most two multiples of sizes: composite extents do not grow without end, and are expressions
  /// as well.
  static bool small(const Dims&);
  /// let NAME = expression, of this shape. `cost` comes on top of one operation per operator and element.
  void define(Family, const Dims&, int operators, const Dim& cost, const std::string& expression);
  template <class... Args>
  void define(Family family, const Dims& dims, int operators, const Dim& cost, const char* form,
              const Args&... args) {
    define(family, dims, operators, cost, fmt::format(fmt::runtime(form), args...));
  }
  /// The same for a value that is a result and nothing reads: integers, truth values, states handed back.
  void define_result(Family, const std::string& name, int operators, const Dim& cost,
                     const std::string& expression);
  /// The same for a pair of a tensor of this shape and a state that is handed back.
  void define_with_state(Family, const Dims&, int operators, const Dim& cost, const std::string& expression);
  void count(Family, int operators, const Dim& cost);

  // ---- functions ----
  /// A name that no other function of the file has.
  std::string function_name() { return fmt::format("f{}_{}", out_.seed, next_++); }
  /// fun TEXT, before the entry.
  void declare(const std::string& text) { functions_ += "fun " + text + "\n"; }

  // ---- loops ----
  /// Runs `steps` as the body of a loop: text, tensors and cost are those inside.
  struct Body {
    std::string text;
    std::vector<Tensor> pool;
    Dim cost;
  };
  Body inside(const std::vector<Tensor>& bound, const std::function<void()>& steps);

  Generated finish();

  std::mt19937_64 random_;
  Generated out_;
  std::vector<Tensor> pool_;
  int depth_ = 0;  ///< of loops around the next step

 private:
  std::string record() const { return out_.group.empty() ? fmt::format("w{}", out_.seed) : out_.group; }
  Tensor field(const Dims&, const std::string& elem);
  std::string header() const;
  std::string results() const;

  std::set<std::string> read_;  ///< tensors that a later one reads
  std::vector<std::string> extra_results_;
  std::string functions_;
  std::string body_;
  bool mixed_ = false;  ///< has weights of several element types
  int next_ = 0;
};

}  // namespace axon::differential
