// The code registry as a table, and the sink.
#include "source/diagnostic.h"

#include <algorithm>
#include <tuple>

namespace axon::source {
namespace {

struct Row {
  Code code;
  std::string_view name, title;
};
constexpr Row rows[] = {
#define CODE(id, title) {Code::id, #id, title},
#include "source/diagnostics.def"
#undef CODE
};

// Without a file: first. Then by file and position.
auto place(const Diagnostic& d) {
  Span at = d.primary.span;
  return std::tuple(at.valid(), at.file.index, at.begin, at.end);
}

}  // namespace

std::string_view code_name(Code code) { return rows[static_cast<size_t>(code)].name; }
std::string_view code_title(Code code) { return rows[static_cast<size_t>(code)].title; }

std::optional<Code> code_from_name(std::string_view name) {
  for (const Row& row : rows)
    if (row.name == name) return row.code;
  return std::nullopt;
}

const std::vector<Code>& all_codes() {
  static const std::vector<Code> codes = [] {
    std::vector<Code> all;
    for (const Row& row : rows) all.push_back(row.code);
    return all;
  }();
  return codes;
}

void Diagnostics::report(Diagnostic diagnostic) {
  for (const std::optional<Code>& code : denied_)
    if (!code || *code == diagnostic.code) diagnostic.severity = Severity::error;
  ++(diagnostic.severity == Severity::error ? errors_ : warnings_);
  if (all_.size() < limits::diagnostics_kept) all_.push_back(std::move(diagnostic));
}

std::vector<Diagnostic> Diagnostics::sorted() const {
  std::vector<Diagnostic> result = all_;
  std::stable_sort(result.begin(), result.end(),
                   [](const Diagnostic& a, const Diagnostic& b) { return place(a) < place(b); });
  auto same = [](const Diagnostic& a, const Diagnostic& b) {
    return a.code == b.code && a.primary.span == b.primary.span && a.headline() == b.headline();
  };
  result.erase(std::unique(result.begin(), result.end(), same), result.end());
  return result;
}

}  // namespace axon::source
