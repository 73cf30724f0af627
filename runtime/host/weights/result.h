// Errors of weight files, and the value-or-error that every function here returns. No exception leaves this
// folder except std::bad_alloc, and allocations are only made from sizes that the file on disk justifies.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

namespace axon::weights {

struct Error {
  std::string code;     ///< one of the codes below
  std::string message;  ///< a sentence without a final period; names the file, the tensor or the line
};

namespace code {
constexpr const char* system = "E0701";   ///< a file cannot be opened, read, mapped or written
constexpr const char* limit = "E0702";    ///< a named limit is exceeded
constexpr const char* format = "E0703";   ///< the bytes are not of the file's format
constexpr const char* range = "E0704";    ///< byte ranges overlap, leave holes or leave the file
constexpr const char* shape = "E0705";    ///< a shape overflows, or does not fit its bytes
constexpr const char* dtype = "E0706";    ///< an element type that is unknown or cannot be converted
constexpr const char* shards = "E0707";   ///< a shard index and its shards do not agree
constexpr const char* map = "E0708";      ///< a binding map that cannot be read
constexpr const char* binding = "E0709";  ///< a parameter that the weights do not fit
}  // namespace code

template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::move(value)) {}      // NOLINT: `return value;`
  Result(Error error) : state_(std::move(error)) {}  // NOLINT: `return Error{...};`
  explicit operator bool() const { return state_.index() == 0; }
  T& operator*() { return std::get<0>(state_); }
  const T& operator*() const { return std::get<0>(state_); }
  T* operator->() { return &std::get<0>(state_); }
  const T* operator->() const { return &std::get<0>(state_); }
  const Error& error() const { return std::get<1>(state_); }

 private:
  std::variant<T, Error> state_;
};

/// An operation without a value: empty when it went well.
using Status = std::optional<Error>;

/// Concatenates strings and integers.
template <class... Parts>
std::string text(const Parts&... parts) {
  std::string out;
  const auto add = [&out](const auto& part) {
    using Part = std::decay_t<decltype(part)>;
    if constexpr (std::is_integral_v<Part> && !std::is_same_v<Part, char>)
      out += std::to_string(part);
    else
      out += part;
  };
  (add(parts), ...);
  return out;
}

/// How many bytes the first character of a text has; 0 where it is a control character or no UTF-8.
size_t printed_bytes(std::string_view text);

/// A name from a file, safe to print: in back-ticks, control characters and what is no UTF-8 escaped, shortened
/// when very long.
std::string printable(std::string_view name);

}  // namespace axon::weights
