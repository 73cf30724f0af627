// See queue.h.
#include "lsp/queue.h"

#include <algorithm>

namespace axon::lsp {

namespace {

/// How deep the brackets of a JSON text are nested. Copies and output of a value take one call for each.
size_t depth_of(std::string_view text) {
  size_t depth = 0, most = 0;
  bool in_string = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string && c == '\\')
      ++i;
    else if (c == '"')
      in_string = !in_string;
    else if (!in_string && (c == '[' || c == '{'))
      most = std::max(most, ++depth);
    else if (!in_string && (c == ']' || c == '}') && depth != 0)
      --depth;
  }
  return most;
}

bool is_id(const Json& id) { return id.is_string() || id.is_number_integer(); }

}  // namespace

Json parse_message(std::string_view text) {
  constexpr size_t most_depth = 200;
  if (depth_of(text) > most_depth) return Json(Json::value_t::discarded);
  return Json::parse(text, nullptr, false);
}

void Queue::add(Json message) {
  constexpr size_t most_cancelled = 1000;  // of requests that do not come
  const std::lock_guard held(lock_);
  const bool cancels = message.is_object() && message.value("method", Json()) == "$/cancelRequest";
  if (cancels) {
    const Json id =
        message.value("params", Json()).is_object() ? message["params"].value("id", Json()) : Json();
    if (cancelled_.size() == most_cancelled) cancelled_.clear();
    if (is_id(id)) cancelled_.insert(id);
  } else {
    messages_.push_back(std::move(message));
  }
  arrived_.notify_all();
}

void Queue::read(Connection& connection) {
  while (auto message = connection.read()) add(parse_message(*message));
  const std::lock_guard held(lock_);
  ended_ = true;
  arrived_.notify_all();
}

std::optional<Json> Queue::next() {
  std::unique_lock held(lock_);
  arrived_.wait(held, [&] { return !messages_.empty() || ended_; });
  if (messages_.empty()) return std::nullopt;
  Json out = std::move(messages_.front());
  messages_.pop_front();
  return out;
}

bool Queue::empty() {
  const std::lock_guard held(lock_);
  return messages_.empty();
}

bool Queue::is_cancelled(const Json& id) {
  const std::lock_guard held(lock_);
  return cancelled_.erase(id) > 0;
}

}  // namespace axon::lsp
