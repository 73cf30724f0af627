// One source text, parsed: what most tests of this folder begin with.
#pragma once
#include <string>

#include "source/render.h"
#include "syntax/parse.h"
#include "syntax/print.h"

namespace axon::syntax {

struct Parsed {
  explicit Parsed(std::string text, std::string name = "test.axn")
      : id(sources.add(std::move(name), std::move(text), diagnostics)),
        file(parse(sources[id], diagnostics)) {}

  std::string report() const { return source::render_short(diagnostics, sources, {.max_errors = 0}); }
  std::string tree() const { return print(file); }

  source::Diagnostics diagnostics;
  source::SourceManager sources;
  source::FileId id;
  File file;
};

}  // namespace axon::syntax
