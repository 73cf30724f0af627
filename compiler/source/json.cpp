// Diagnostics as JSON: one object per diagnostic, with every span as bytes and as line and column.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "source/render.h"

namespace axon::source {
namespace {

using Json =
    nlohmann::ordered_json;  // keys in the order written here, so that the same input gives the same bytes

Json place(Span span, const SourceManager& sources) {
  if (!span.valid()) return nullptr;
  const SourceFile& file = sources[span.file];
  Position begin = file.position(span.begin), end = file.position(span.end);
  return {{"file", file.name()},    {"begin", span.begin},  {"end", span.end},         {"line", begin.line},
          {"column", begin.column}, {"end_line", end.line}, {"end_column", end.column}};
}

Json label(const Label& label, const SourceManager& sources) {
  return {{"span", place(label.span, sources)}, {"text", label.text}};
}

Json object(const Diagnostic& d, const SourceManager& sources) {
  Json notes = Json::array(), helps = Json::array(), secondary = Json::array();
  for (const Label& l : d.secondary) secondary.push_back(label(l, sources));
  for (const Note& note : d.notes) notes.push_back({{"kind", note.kind}, {"text", note.text}});
  for (const Help& help : d.helps) {
    Json entry = {{"text", help.text}};
    if (help.edit) {
      bool safe = help.edit->applicability == Applicability::safe;
      entry["edit"] = {{"span", place(help.edit->span, sources)},
                       {"replacement", help.edit->replacement},
                       {"applicability", safe ? "safe" : "maybe"}};
    }
    helps.push_back(std::move(entry));
  }
  return {
      {"code", code_name(d.code)},         {"severity", d.severity == Severity::error ? "error" : "warning"},
      {"message", d.headline()},           {"primary", label(d.primary, sources)},
      {"secondary", std::move(secondary)}, {"body", d.body},
      {"notes", std::move(notes)},         {"helps", std::move(helps)}};
}

}  // namespace

std::string render_json(const Diagnostics& diagnostics, const SourceManager& sources) {
  Json all = Json::array();
  for (const Diagnostic& d : diagnostics.sorted()) all.push_back(object(d, sources));
  if (const size_t left = diagnostics.dropped()) {
    Diagnostic rest;
    rest.message = fmt::format("... and {} more", left);
    all.push_back(object(rest, sources));
    all.back()["code"] = nullptr;
  }
  return all.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace axon::source
