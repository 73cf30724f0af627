// See lsp_process.h.
#include "lsp_process.h"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

#include "lsp/positions.h"

namespace axon::bench {

LspProcess::LspProcess(const std::string& etcc) {
  int to[2], from[2];
  if (::pipe(to) != 0 || ::pipe(from) != 0) std::exit(1);
  child_ = ::fork();
  if (child_ == 0) {
    ::dup2(to[0], 0);
    ::dup2(from[1], 1);
    for (const int end : {to[0], to[1], from[0], from[1]}) ::close(end);
    ::execl(etcc.c_str(), etcc.c_str(), "lsp", nullptr);
    ::_exit(127);
  }
  ::close(to[0]);
  ::close(from[1]);
  to_ = to[1];
  connection_ = std::make_unique<lsp::Connection>(from[0], to[1]);
  capabilities_ = ask("initialize", {{"capabilities", {{"general", {{"positionEncodings", {"utf-8"}}}}}}})
                      .first["capabilities"];
  tell("initialized", Json::object());
}

LspProcess::~LspProcess() {
  ::close(to_);
  ::waitpid(child_, nullptr, 0);
}

std::string LspProcess::next_text() {
  auto message = connection_->read();
  if (message) return std::move(*message);
  fmt::print("the server has ended\n");
  std::exit(1);
}

Json LspProcess::next() { return Json::parse(next_text()); }

void LspProcess::tell(const std::string& method, Json params) {
  connection_->write(Json{{"jsonrpc", "2.0"}, {"method", method}, {"params", std::move(params)}}.dump());
}

std::pair<Json, double> LspProcess::ask(const std::string& method, Json params) {
  const auto begin = std::chrono::steady_clock::now();
  connection_->write(
      Json{{"jsonrpc", "2.0"}, {"id", ++ids_}, {"method", method}, {"params", std::move(params)}}.dump());
  for (;;) {
    const std::string text = next_text();
    const Milliseconds taken =
        std::chrono::steady_clock::now() - begin;  // what a client does with it is not ours
    Json message = Json::parse(text);
    if (message.value("id", Json()) == ids_) {
      return {message.contains("result") ? std::move(message["result"]) : std::move(message), taken.count()};
    }
    unread_.push_back(std::move(message));
  }
}

void LspProcess::open(const std::string& uri, const std::string& text) {
  files_[uri] = {text, 1};
  tell("textDocument/didOpen",
       {{"textDocument", {{"uri", uri}, {"languageId", "axon"}, {"version", 1}, {"text", text}}}});
}

void LspProcess::change(const std::string& uri, const std::string& text) {
  File& file = files_.at(uri);
  const std::string& before = file.text;
  size_t front = 0, back = 0;
  const size_t common = std::min(before.size(), text.size());
  while (front < common && before[front] == text[front]) ++front;
  while (back < common - front && before[before.size() - 1 - back] == text[text.size() - 1 - back]) ++back;
  const lsp::Positions positions(before, lsp::Encoding::utf8);
  const auto place = [&](size_t at) {
    const lsp::Position p = positions.position(static_cast<uint32_t>(at));
    return Json{{"line", p.line}, {"character", p.character}};
  };
  const Json change = {{"range", {{"start", place(front)}, {"end", place(before.size() - back)}}},
                       {"text", text.substr(front, text.size() - front - back)}};
  file.text = text;
  tell("textDocument/didChange", {{"textDocument", {{"uri", uri}, {"version", ++file.version}}},
                                  {"contentChanges", Json::array({change})}});
}

Json LspProcess::diagnostics(const std::string& uri) {
  for (;;) {
    Json message;
    if (unread_.empty()) {
      message = next();
    } else {
      message = std::move(unread_.front());
      unread_.pop_front();
    }
    if (message.value("method", "") == "textDocument/publishDiagnostics" && message["params"]["uri"] == uri &&
        message["params"].value("version", int64_t{0}) == files_.at(uri).version)
      return message["params"]["diagnostics"];
  }
}

}  // namespace axon::bench
