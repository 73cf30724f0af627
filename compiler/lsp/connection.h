// Messages of the base protocol over two descriptors.
//
// In: bytes, as `Content-Length: N`, other headers, an empty line and N bytes of JSON. Out: the JSON of one
// message after the other. Invariant: after a message that is malformed the next one is found, unless its
// length cannot be known; then reading ends with a sentence that says why.
#pragma once
#include <cstddef>
#include <optional>
#include <string>

namespace axon::lsp {

/// The longest message that is read: a text as large as a file may be (source/limits.h), escaped.
inline constexpr size_t most_message_bytes = 64u << 20;

class Connection {
 public:
  Connection(int in, int out) : in_(in), out_(out) {}

  /// The next message; nothing at the end of the input, or where no further message can be found.
  std::optional<std::string> read();
  void write(const std::string& message);
  const std::string& problem() const { return problem_; }  ///< why reading ended early; empty when it did not

 private:
  std::optional<std::string> line();
  bool fill();

  const int in_, out_;
  std::string buffer_;
  size_t begin_ = 0;
  std::string problem_;
};

}  // namespace axon::lsp
