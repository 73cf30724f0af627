// Diagnostics: what the compiler says to its user, as data.
//
// A stage reports into a Diagnostics sink and goes on; nothing is thrown. render.h turns the collected list
// into text for people, one line each, or JSON. Messages say what was observed, quote code in back-ticks, and
// never show a solver term or an internal name. One root cause is one diagnostic: that is the business of
// whoever reports.
//
//   diagnostics.report(error(Code::E0301, at, "inner dimensions of `@` differ")
//                          .label("needs  d = h")
//                          .also(x_span, "`x` is [b, d]")
//                          .known("nothing relates `d` and `h` (both free in the signature)")
//                          .fails_for("b = 1, d = 2, h = 1")
//                          .help("transpose the right operand",
//                                Edit{w_span, "transpose w", Applicability::safe}));
#pragma once
#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "source/limits.h"
#include "source/span.h"

namespace axon::source {

/// Every code of diagnostics.def.
enum class Code : uint16_t {
#define CODE(id, title) id,
#include "source/diagnostics.def"
#undef CODE
};
std::string_view code_name(Code code);   ///< "E0101"
std::string_view code_title(Code code);  ///< the one-line title of the registry
std::optional<Code> code_from_name(std::string_view name);
const std::vector<Code>& all_codes();  ///< in registry order

enum class Severity : uint8_t { error, warning };

/// A marked place. The primary label is underlined with ^, secondary ones with -.
struct Label {
  Span span;
  std::string text;  ///< may be empty: then only the mark is shown
};

/// A line under the snippet: `= known: ...`, `= fails for: ...`, `= note: ...`.
struct Note {
  std::string kind;
  std::string text;
};

/// May a tool apply the edit unasked (safe), or should a person look at it (maybe)?
enum class Applicability : uint8_t { safe, maybe };

/// Replaces the bytes of `span`; an empty span inserts.
struct Edit {
  Span span;
  std::string replacement;
  Applicability applicability = Applicability::maybe;
};

struct Help {
  std::string text;
  std::optional<Edit> edit;
  uint8_t trial =
      0;  ///< 0: shown as it is; else to be tried before, the likeliest (1) first, and dropped if it fails
};

struct Diagnostic {
  Code code{};
  Severity severity = Severity::error;
  std::string message;  ///< the headline; the title of the code when left empty
  Label primary;
  std::vector<Label> secondary;
  std::string body;  ///< sentences after the snippet; wrapped at 80 columns, line breaks are kept
  std::vector<Note> notes;
  std::vector<Help> helps;

  std::string_view headline() const { return message.empty() ? code_title(code) : std::string_view(message); }

  Diagnostic& label(std::string text) {
    primary.text = std::move(text);
    return *this;
  }
  /// A label beside; nothing where it is there already.
  Diagnostic& also(Span span, std::string text) {
    const auto same = [&](const Label& label) { return label.span == span && label.text == text; };
    if (std::none_of(secondary.begin(), secondary.end(), same)) secondary.push_back({span, std::move(text)});
    return *this;
  }
  Diagnostic& text(std::string text) {
    body = std::move(text);
    return *this;
  }
  Diagnostic& note(std::string text) { return add_note("note", std::move(text)); }
  Diagnostic& known(std::string text) { return add_note("known", std::move(text)); }
  Diagnostic& fails_for(std::string text) { return add_note("fails for", std::move(text)); }
  Diagnostic& help(std::string text, std::optional<Edit> edit = std::nullopt) {
    helps.push_back({std::move(text), std::move(edit), 0});
    return *this;
  }

 private:
  Diagnostic& add_note(std::string kind, std::string text) {
    notes.push_back({std::move(kind), std::move(text)});
    return *this;
  }
};

/// The start of a chain as in the comment at the top. An empty message stands for the title of the code.
inline Diagnostic error(Code code, Span at, std::string message = {}) {
  Diagnostic d;
  d.code = code;
  d.message = std::move(message);
  d.primary.span = at;
  return d;
}
inline Diagnostic warning(Code code, Span at, std::string message = {}) {
  Diagnostic d = error(code, at, std::move(message));
  d.severity = Severity::warning;
  return d;
}

/// Where stages report to. Keeps at most limits::diagnostics_kept and counts the rest.
class Diagnostics {
 public:
  void report(Diagnostic diagnostic);
  /// From now on a warning of this code is an error; without a code, every warning.
  void deny(std::optional<Code> code) { denied_.push_back(code); }

  size_t error_count() const { return errors_; }  ///< all that were reported, kept or not
  size_t warning_count() const { return warnings_; }
  bool has_errors() const { return errors_ != 0; }
  size_t dropped() const { return errors_ + warnings_ - all_.size(); }

  const std::vector<Diagnostic>& in_order_of_report() const { return all_; }
  /// Lets a later stage say more about what was reported.
  void revise(const std::function<void(Diagnostic&)>& change) {
    for (Diagnostic& d : all_) change(d);
  }
  /// By file, then position, then order of report; exact repetitions (code, place and text) once.
  std::vector<Diagnostic> sorted() const;

 private:
  std::vector<Diagnostic> all_;
  std::vector<std::optional<Code>> denied_;
  size_t errors_ = 0;
  size_t warnings_ = 0;
};

}  // namespace axon::source
