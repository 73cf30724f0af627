// Failures inside the runtime, and the value-or-failure that its functions return. The C interface turns them
// into a status and an axon_error; no exception but std::bad_alloc travels through this folder.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "axon/axon.h"
#include "host/weights/result.h"

namespace axon::host {

using weights::printable;
using weights::text;

struct Failure {
  axon_status status = AXON_OK;
  std::string code;  ///< one of the codes below, or one of the weights folder
  std::string text;
};

namespace code {
constexpr const char* misuse = "E0801";       ///< a handle, name or number that the interface does not have
constexpr const char* system = "E0802";       ///< memory, a file or a thread that cannot be had
constexpr const char* container = "E0811";    ///< bytes that are not a bundle, or a damaged one
constexpr const char* manifest = "E0812";     ///< a manifest that cannot be read
constexpr const char* image = "E0813";        ///< machine code that cannot be loaded
constexpr const char* version = "E0814";      ///< a bundle of another version
constexpr const char* machine = "E0815";      ///< a bundle for another machine or instruction-set level
constexpr const char* missing = "E0821";      ///< an input or size that was not given
constexpr const char* type = "E0822";         ///< an argument of the wrong element type or rank
constexpr const char* shape = "E0823";        ///< axes that do not agree
constexpr const char* requirement = "E0824";  ///< a fact about sizes that does not hold
constexpr const char* index = "E0825";        ///< an element that is out of range
constexpr const char* memory = "E0826";       ///< arguments that overlap or are misaligned
constexpr const char* strides = "E0827";      ///< memory that does not lie as a layout states
constexpr const char* program = "E0831";      ///< a check inside the program
constexpr const char* hang = "E0832";         ///< no progress
}  // namespace code

template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::move(value)) {}            // NOLINT: `return value;`
  Result(Failure failure) : state_(std::move(failure)) {}  // NOLINT: `return Failure{...};`
  explicit operator bool() const { return state_.index() == 0; }
  T& operator*() { return std::get<0>(state_); }
  const T& operator*() const { return std::get<0>(state_); }
  T* operator->() { return &std::get<0>(state_); }
  const T* operator->() const { return &std::get<0>(state_); }
  Failure& failure() { return std::get<1>(state_); }

 private:
  std::variant<T, Failure> state_;
};

/// An operation without a value: empty when it went well.
using Status = std::optional<Failure>;

/// Replaces `{lhs}` and `{rhs}` in a check's words by the values of its two sides; false: there are none.
inline bool fill_sides(std::string& words, const std::string& lhs, const std::string& rhs) {
  bool filled = false;
  for (const auto& [place, value] : {std::pair("{lhs}", lhs), std::pair("{rhs}", rhs)})
    if (const size_t at = words.find(place); at != std::string::npos) {
      words.replace(at, 5, value);
      filled = true;
    }
  return filled;
}
/// The same of two numbers. What is said of an index differs where its axis has no element for it: that is
/// what the compiler's `no_element` stands for.
inline bool fill_sides(std::string& words, int64_t lhs, int64_t rhs) {
  constexpr std::string_view index_words = ": {lhs} is not in 0 .. {rhs}";
  constexpr int64_t no_element = -(int64_t{1} << 62);
  const bool none = rhs < 0, hidden = lhs == no_element;
  if (const size_t at = words.find(index_words); at != std::string::npos && (none || hidden)) {
    words.replace(at, index_words.size(),
                  none ? ": the axis has no elements" : ": the axis has no such element");
    return true;
  }
  return fill_sides(words, std::to_string(lhs), std::to_string(rhs));
}

inline Failure misuse(std::string what) { return {AXON_MISUSE, code::misuse, std::move(what)}; }
inline Failure system_failure(std::string what) { return {AXON_SYSTEM, code::system, std::move(what)}; }
inline Failure bad_weights(const weights::Error& error) {
  return {AXON_BAD_WEIGHTS, error.code, error.message};
}

}  // namespace axon::host
