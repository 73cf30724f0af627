// One source text, parsed: what most tests of this folder begin with.
#pragma once
#include <fmt/format.h>

#include <string>

#include "source/render.h"
#include "syntax/parse.h"
#include "syntax/print.h"

namespace axon::syntax {

struct Parsed {
  explicit Parsed(std::string text, std::string name = "test.axn")
      : id(sources.add(std::move(name), std::move(text), diagnostics)),
        file(parse(sources[id], diagnostics)) {}

  /// `file:line:col: error[E0101]: message` for each.
  std::string report() const {
    std::string out;
    for (const source::Diagnostic& d : diagnostics.sorted())
      out += fmt::format("{}: {}[{}]: {}\n", sources.describe(d.primary.span),
                         d.severity == source::Severity::error ? "error" : "warning",
                         source::code_name(d.code), d.headline());
    return out;
  }
  std::string tree() const { return print(file); }

  source::Diagnostics diagnostics;
  source::SourceManager sources;
  source::FileId id;
  File file;
};

}  // namespace axon::syntax
