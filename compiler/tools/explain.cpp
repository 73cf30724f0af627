// etcc explain [CODE]: the page of a diagnostic code, or the list of all codes. The pages are compiled in.
#include "source/explain.h"

#include <fmt/format.h>

#include "tools/common.h"

namespace axon::tools {

Command add_explain(CLI::App& app) {
  auto code = std::make_shared<std::string>();
  app.add_option("CODE", *code, "a code such as E0301; all codes when left out");
  return [code] {
    if (code->empty()) {
      fmt::print("{}", source::explain_all());
      return static_cast<int>(ok);
    }
    std::string name = *code;
    if (name.starts_with('e')) name[0] = 'E';
    const auto known = source::code_from_name(name);
    if (!known) {
      fmt::print(stderr, "etcc: there is no code {}; `etcc explain` lists all\n", *code);
      return static_cast<int>(usage);
    }
    fmt::print("{}", source::explain(*known));
    return static_cast<int>(ok);
  };
}

}  // namespace axon::tools
