// etcc explain CODE: the page of a diagnostic code. Pages are source/explain/E0312.md, compiled in.
#include <fmt/format.h>
#include "source/diagnostic.h"
#include "tools/common.h"

namespace axon::tools {

Command add_explain(CLI::App& app) {
  auto code = std::make_shared<std::string>();
  app.add_option("CODE", *code, "a code such as E0301")->required();
  return [code] {
    const auto known = source::code_from_name(*code);
    if (!known) {
      fmt::print(stderr, "etcc: there is no code {}\n", *code);
      return static_cast<int>(usage);
    }
    fmt::print("{}: {}\n", source::code_name(*known), source::code_title(*known));
    return static_cast<int>(ok);
  };
}

}  // namespace axon::tools
