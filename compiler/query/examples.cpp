// See examples.h.
#include "query/examples.h"

#include <fmt/format.h>

#include <algorithm>

#include "query/workspace.h"
#include "syntax/examples.h"

namespace axon::query {

using session::Session;
using source::Span;

namespace {

/// The beginning of a name that occurs nowhere in the text.
std::string unused_name(std::string_view text) {
  std::string name = "example_";
  while (text.find(name) != std::string_view::npos) name += "_";
  return name;
}

}  // namespace

ExampleText::ExampleText(const Session& session, const std::string& path) {
  const session::Document* const document = session.documents().find(path);
  if (!document) return;
  text_ = session.sources()[document->text().source].text();
  const std::string name = unused_name(text_);
  for (const syntax::File* part : document->text().parts)
    for (const syntax::Comment& comment : part->comments) {
      const auto example = syntax::example_in(comment, session.sources()[part->source]);
      if (!example) continue;
      const Span span = session.sources().in_whole(*example);
      text_ += fmt::format("\nval {}{} = ", name, examples_.size());
      examples_.push_back({span, static_cast<uint32_t>(text_.size())});
      text_ += session.sources().text(span);
    }
  text_ += "\n";
}

bool ExampleText::mentions(std::string_view word) const {
  return std::any_of(examples_.begin(), examples_.end(), [&](const Example& e) {
    return has_word(std::string_view(text_).substr(e.value_from, e.span.size()), word);
  });
}

std::optional<Span> ExampleText::in_example(Span place) const {
  for (const Example& e : examples_)
    if (e.value_from <= place.begin && place.end <= e.value_from + e.span.size())
      return Span{place.file, place.begin - e.value_from + e.span.begin,
                  place.end - e.value_from + e.span.begin};
  return std::nullopt;
}

std::optional<Span> ExampleText::in_value(Span place) const {
  for (const Example& e : examples_)
    if (e.span.begin <= place.begin && place.end <= e.span.end)
      return Span{place.file, place.begin - e.span.begin + e.value_from,
                  place.end - e.span.begin + e.value_from};
  return std::nullopt;
}

}  // namespace axon::query
