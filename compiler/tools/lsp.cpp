// etcc lsp: the language server on stdin and stdout, or for one client on a port of this machine.
#include <arpa/inet.h>
#include <fmt/format.h>
#include <malloc.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

#include "lsp/server.h"
#include "tools/common.h"

namespace axon::tools {

namespace {

/// The connection of one client; -1, with a message, when there can be none.
int accept_client(uint16_t port) {
  const int listener = ::socket(AF_INET, SOCK_STREAM, 0);
  const int yes = 1;
  ::setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  int client = -1;
  if (::bind(listener, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0 &&
      ::listen(listener, 1) == 0) {
    fmt::print(stderr, "etcc lsp: waiting for a client at 127.0.0.1:{}\n", port);
    client = ::accept(listener, nullptr, nullptr);
  }
  if (client < 0) fmt::print(stderr, "etcc lsp: port {}: {}\n", port, std::strerror(errno));
  ::close(listener);
  return client;
}

/// What one answer took, the next one takes again: the pages of it are not given back in between.
void keep_memory() {
  constexpr int bytes = 32 << 20;
  mallopt(M_MMAP_THRESHOLD, bytes);
  mallopt(M_TRIM_THRESHOLD, bytes);
}

}  // namespace

Command add_lsp(CLI::App& app) {
  auto options = std::make_shared<CommonOptions>();
  auto port = std::make_shared<uint16_t>(0);
  add_library(app, *options);
  app.add_option("--socket", *port,
                 "serve one client at this port of this machine instead of stdin and stdout")
      ->check(CLI::Range(1, 65535));
  return [options, port] {
    keep_memory();
    std::signal(SIGPIPE, SIG_IGN);  // a client that is gone is the end of its input
    int in = STDIN_FILENO, out = STDOUT_FILENO;
    if (*port != 0) in = out = accept_client(*port);
    if (in < 0) return static_cast<int>(user_error);
    lsp::Server server(in, out, {library_directories(*options)});
    const int status = server.run();
    if (!server.problem().empty()) fmt::print(stderr, "etcc lsp: {}\n", server.problem());
    std::fflush(nullptr);
    std::_Exit(status);  // the thread that reads may wait for input that never comes
  };
}

}  // namespace axon::tools
