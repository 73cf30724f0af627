// Words, numbers and dimensions of the texts of tile programs, task programs and plans.
//
// The first failure counts: it is kept with the number of its line, and from then on nothing is accepted, so
// no loop of a reader needs its own way out.
#pragma once
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "shape/prover.h"

namespace axon::shape {

class TextReader {
 public:
  explicit TextReader(const std::string& text) : text_(text) {}

 protected:
  static constexpr size_t any_number = UINT32_MAX;

  void fail(const std::string& message);
  bool failed() const { return !error_.empty(); }
  const std::string& error() const { return error_; }
  bool at_end() const { return at_ == text_.size(); }
  int line() const { return line_; }

  bool accept(std::string_view word);
  void expect(std::string_view word);
  /// Is this the next character but spaces?
  bool next_is(char);
  std::string word();                    ///< up to a space, a comma or an opening bracket
  std::string name();                    ///< letters, digits and `_`, no digit first
  std::string literal();                 ///< of a number: `-1.5e-07`, `inf`
  bool next_is_name(std::string& name);  ///< the name that stands next; the reader stays where it is
  std::string rest_of_line();
  std::string quoted();
  int64_t number();
  uint32_t id(char letter, size_t limit);  ///< a letter and a number below `limit`
  void end_of_line();
  size_t indentation() const;  ///< spaces at the beginning of this line, where the reader stands

  /// Names that dimensions may mention.
  Var declare(const std::string& name, Var);
  void forget(const std::string& name) { variables_.erase(name); }
  void forget_names() { variables_.clear(); }
  bool knows(const std::string& name) const { return variables_.contains(name); }
  std::optional<Dim> size_named(std::string_view name) const {
    const auto known = variables_.find(std::string(name));
    return known == variables_.end() ? std::nullopt : std::optional(Dim(known->second));
  }
  Dim dim();
  std::vector<Dim> dims(std::string_view open, std::string_view close);
  std::vector<Fact> facts();
  /// What `read` takes from the front of the text; where that is nothing, the reader stays where it is.
  template <class T>
  std::optional<T> take(std::optional<T> (*read)(std::string_view&)) {
    std::string_view rest = std::string_view(text_).substr(at_);
    std::optional<T> taken = read(rest);
    if (taken) at_ = text_.size() - rest.size();
    return taken;
  }
  /// Items up to `close`, separated by commas.
  void list(std::string_view close, const std::function<void()>& item);

 private:
  void space();

  const std::string& text_;
  size_t at_ = 0;
  int line_ = 1;
  std::string error_;
  std::map<std::string, Var> variables_;
};

}  // namespace axon::shape
