// See explain_why.h.
#include "tools/explain_why.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "query/why.h"
#include "tools/place.h"

namespace axon::tools {

namespace {

using Json = nlohmann::json;

/// `3:14`; of another file its name before that; empty where there is no place.
std::string shown_place(const source::SourceManager& sources, source::Span span, source::FileId asked) {
  if (!span.valid()) return "";
  const source::Position at = sources[span.file].position(span.begin);
  const std::string place = fmt::format("{}:{}", at.line, at.column);
  return span.file == asked ? place : sources[span.file].name() + ":" + place;
}

void print_text(const source::SourceManager& sources, const std::vector<query::Step>& steps,
                source::FileId asked) {
  size_t width = 0;
  for (const query::Step& step : steps)
    width = std::max(width, shown_place(sources, step.span, asked).size());
  for (const query::Step& step : steps)
    fmt::print("{:<{}}  {}{}\n", shown_place(sources, step.span, asked), width,
               std::string(step.depth * 2, ' '), step.text);
}

void print_json(const source::SourceManager& sources, const std::vector<query::Step>& steps) {
  Json all = Json::array();
  for (const query::Step& step : steps) {
    Json one = {{"text", step.text}, {"depth", step.depth}};
    if (step.span.valid()) {
      const source::SourceFile& file = sources[step.span.file];
      one.update(place_json(file, step.span, file.name()));
    }
    all.push_back(std::move(one));
  }
  fmt::print("{}\n", all.dump(2, ' ', false, Json::error_handler_t::replace));
}

}  // namespace

int explain_why(const WhyOptions& o) {
  const auto place = parse_place(o.at);
  if (!place) {
    fmt::print(stderr, "etcc: --why {}: a place is FILE:LINE:COLUMN, both from 1\n", o.at);
    return usage;
  }
  session::Session session(library_directories(o.common), {});
  const syntax::Text* const text = session.documents().read(place->file);
  if (!text) {
    fmt::print(stderr, "etcc: {} cannot be read\n", place->file);
    return user_error;
  }
  const source::Diagnostics said = session.check(place->file);
  const uint32_t offset = offset_of(session.sources()[text->source], place->position);
  const auto steps = query::why(session, place->file, offset, said);
  if (o.json)
    print_json(session.sources(), steps);
  else
    print_text(session.sources(), steps, text->source);
  if (steps.empty() && !o.json) fmt::print(stderr, "etcc: there is nothing to say of {}\n", o.at);
  return steps.empty() ? user_error : ok;
}

}  // namespace axon::tools
