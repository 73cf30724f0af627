// Diagnostics as text: for people (snippets, marks, notes), one line each, JSON or SARIF.
#pragma once
#include <string>

#include "source/diagnostic.h"

namespace axon::source {

struct RenderOptions {
  bool color = false;                             ///< ANSI colours; the caller decides (terminal, NO_COLOR)
  size_t max_errors = limits::diagnostics_shown;  ///< more are counted in a last line; 0: all
};

std::string render_human(const Diagnostic&, const SourceManager&, const RenderOptions& = {});
std::string render_human(const Diagnostics&, const SourceManager&, const RenderOptions& = {});
/// All that render_human says but the text of the program, in lines that stand by themselves:
/// `file:line:col: error[E0101]: message`, then `file:line:col: note: ...` and `help:` for the same diagnostic.
std::string render_short(const Diagnostics&, const SourceManager&, const RenderOptions& = {});
/// An array of objects, one per diagnostic, spans as bytes and as line and column; where more were reported than
/// are kept, a last one without a code says how many.
std::string render_json(const Diagnostics&, const SourceManager&);
/// A SARIF 2.1.0 log: one run with rules, results, related places and fixes.
std::string render_sarif(const Diagnostics&, const SourceManager&);

}  // namespace axon::source
