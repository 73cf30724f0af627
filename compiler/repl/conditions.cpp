// See conditions.h.
#include "repl/conditions.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "repl/answer.h"
#include "syntax/parse.h"

namespace axon::repl {

using shape::Dim;
using shape::Fact;
using shape::Var;
using source::Span;
namespace stx = axon::syntax;

namespace {

/// What stands before the conditions, so that the grammar of declarations reads them.
constexpr std::string_view before = "val conditions : i64 where\n";

/// What the grammar of declarations says, where no declaration was typed but conditions.
std::string of_conditions(std::string text) {
  static constexpr std::pair<std::string_view, std::string_view> words[] = {
      {"the end of the declaration", "the end of the condition"},
      {"a declaration, ", ""},
      {"a declaration or ", ""}};
  for (const auto& [of_declarations, here] : words)
    if (const size_t at = text.find(of_declarations); at != std::string::npos)
      text.replace(at, of_declarations.size(), here);
  return text;
}

/// The diagnostics of a program of which the user has typed what follows `before`.
std::string rendered(const source::Diagnostics& found, const std::string& typed,
                     const source::RenderOptions& options) {
  source::SourceManager sources;
  source::Diagnostics ignored, moved;
  const source::FileId file = sources.add("repl", typed, ignored);
  const auto move = [&](Span& span) {
    if (!span.valid()) return;
    const auto place = [&](uint32_t at) {
      return static_cast<uint32_t>(std::min(at - std::min<size_t>(at, before.size()), typed.size()));
    };
    span = {file, place(span.begin), place(span.end)};
  };
  for (source::Diagnostic d : found.sorted()) {
    d.message = of_conditions(std::move(d.message));
    move(d.primary.span);
    for (source::Label& label : d.secondary) move(label.span);
    for (source::Help& help : d.helps)
      if (help.edit) move(help.edit->span);
    moved.report(std::move(d));
  }
  return source::render_human(moved, sources, options);
}

}  // namespace

Dim Conditions::size_named(const std::string& name) {
  const auto known = names_.find(name);
  const Var size = known == names_.end() ? shape::fresh_var(name) : known->second;
  names_.emplace(name, size);
  if (std::find(sizes_.begin(), sizes_.end(), size) == sizes_.end()) sizes_.push_back(size);
  return Dim(size);
}

std::string Conditions::read(const std::string& text) {
  source::SourceManager sources;
  source::Diagnostics found;
  const source::FileId id = sources.add("repl", std::string(before) + text, found);
  const stx::File file = stx::parse(sources[id], found);
  if (found.has_errors()) return rendered(found, text, render_);
  const auto* conditions = file.decls.size() == 1 ? stx::as<stx::SignatureDecl>(file.decls[0]) : nullptr;
  if (!conditions) return "error: expected conditions about sizes, such as `n % 8 == 0, n < m`\n";
  Conditions wanted = *this;
  const core::WrittenSizes reader(
      {sources, file, [&](const stx::Name& name) { return wanted.size_named(name.text); },
       [] { return Dim(shape::fresh_var("n")); }, [&](source::Diagnostic d) { found.report(std::move(d)); }});
  for (const stx::Condition& c : conditions->where) {
    const auto* written = std::get_if<stx::Fact>(&c.node);
    if (!written) {
      found.report(source::error(source::Code::E0405, c.span, "this is no condition about sizes"));
      continue;
    }
    const Fact fact = reader.fact(*written);
    if (shape::too_complex(fact.lhs) || shape::too_complex(fact.rhs))
      found.report(source::error(source::Code::E0590, c.span, "this condition is too large"));
    wanted.facts_.push_back(fact);
    wanted.texts_.push_back(in_one_line(sources.text(c.span)));
  }
  if (found.has_errors()) return rendered(found, text, render_);
  if (wanted.facts_.size() > most_conditions || wanted.sizes_.size() > most_sizes)
    return fmt::format("error: more than {} conditions, or {} sizes, are too many at once\n", most_conditions,
                       most_sizes);
  *this = std::move(wanted);
  return "";
}

std::vector<Fact> not_negative(const std::vector<Var>& sizes) {
  std::vector<Fact> out;
  out.reserve(sizes.size());
  for (const Var v : sizes) out.push_back(shape::at_least(Dim(v), 0));
  return out;
}

std::vector<Fact> Conditions::known() const {
  std::vector<Fact> all = facts_;
  for (const Fact& fact : not_negative(sizes_)) all.push_back(fact);
  return all;
}

std::string values_text(const std::vector<Var>& sizes, const shape::Assignment& values) {
  std::string out;
  for (const Var v : sizes)
    if (const auto value = values.find(v); value != values.end())
      out += fmt::format("{}{} = {}", out.empty() ? "" : ", ", shape::var_name(v), value->second);
  return out;
}

}  // namespace axon::repl
