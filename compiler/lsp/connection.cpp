// See connection.h.
#include "lsp/connection.h"

#include <fmt/format.h>
#include <strings.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>

namespace axon::lsp {

namespace {

constexpr size_t most_header_bytes = 4096;

/// The number behind the name, when the line is that header.
std::optional<std::string> header(const std::string& line, std::string_view name) {
  const size_t colon = line.find(':');
  if (colon != name.size() || strncasecmp(line.c_str(), name.data(), name.size()) != 0) return std::nullopt;
  const size_t first = line.find_first_not_of(" \t", colon + 1);
  if (first == std::string::npos) return "";
  return line.substr(first, line.find_last_not_of(" \t") - first + 1);
}

}  // namespace

/// Reads more; false at the end of the input.
bool Connection::fill() {
  buffer_.erase(0, begin_);
  begin_ = 0;
  char bytes[1 << 16];
  ssize_t count = -1;
  do count = ::read(in_, bytes, sizeof bytes);
  while (count < 0 && errno == EINTR);
  if (count <= 0) return false;
  buffer_.append(bytes, static_cast<size_t>(count));
  return true;
}

/// A header line without its end; nothing at the end of the input, or where a line is too long.
std::optional<std::string> Connection::line() {
  for (;;) {
    const size_t end = buffer_.find('\n', begin_);
    if (end != std::string::npos) {
      std::string out = buffer_.substr(begin_, end - begin_);
      begin_ = end + 1;
      if (out.ends_with('\r')) out.pop_back();
      return out;
    }
    if (buffer_.size() - begin_ > most_header_bytes) {
      problem_ = "a header line is longer than 4,096 bytes";
      return std::nullopt;
    }
    const bool partial = buffer_.size() > begin_;
    if (!fill()) {
      if (partial) problem_ = "the input ends in the middle of a header";
      return std::nullopt;
    }
  }
}

std::optional<std::string> Connection::read() {
  std::optional<size_t> length;
  for (;;) {
    const auto next = line();
    if (!next) {
      if (length && problem_.empty()) problem_ = "the input ends in the middle of a message";
      return std::nullopt;
    }
    if (next->empty()) {
      if (length) break;
      problem_ = "a message has no Content-Length";
      return std::nullopt;
    }
    if (const auto value = header(*next, "Content-Length")) {
      size_t number = 0;
      const auto [end, failed] = std::from_chars(value->data(), value->data() + value->size(), number);
      if (failed != std::errc{} || end != value->data() + value->size() || number > most_message_bytes) {
        problem_ =
            fmt::format("Content-Length is `{}`: a number up to {} is expected", *value, most_message_bytes);
        return std::nullopt;
      }
      length = number;
    }
  }
  while (buffer_.size() - begin_ < *length)
    if (!fill()) {
      problem_ = "the input ends in the middle of a message";
      return std::nullopt;
    }
  std::string out = buffer_.substr(begin_, *length);
  begin_ += *length;
  return out;
}

void Connection::write(const std::string& message) {
  const std::string all = fmt::format("Content-Length: {}\r\n\r\n{}", message.size(), message);
  for (size_t done = 0; done < all.size();) {
    const ssize_t count = ::write(out_, all.data() + done, all.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return;  // nobody listens: reading will end as well
    done += static_cast<size_t>(count);
  }
}

}  // namespace axon::lsp
