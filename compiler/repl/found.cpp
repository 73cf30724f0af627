// See found.h.
#include "repl/found.h"

#include <nlohmann/json.hpp>
#include <set>

#include "source/render.h"

namespace axon::repl {

using Json = nlohmann::json;

namespace {

/// The files of all places in it.
void add_files(const Json& part, std::set<std::string>& names) {
  if (part.is_object() && part.contains("file")) names.insert(part["file"].get<std::string>());
  if (part.is_structured())
    for (const Json& inner : part) add_files(inner, names);
}

class FoundReader {
 public:
  explicit FoundReader(const Json& files) {
    for (const Json& file : files) out_.files.push_back({file["name"], file["text"]});
  }
  Found read(const Json& diagnostics) {
    for (const Json& d : diagnostics)
      if (d["code"].is_string()) out_.diagnostics.push_back(diagnostic(d));
    return std::move(out_);
  }

 private:
  source::Span span(const Json& place) const {
    for (size_t i = 0; i < out_.files.size(); ++i)
      if (place.is_object() && out_.files[i].name == place["file"].get<std::string>())
        return {source::FileId{static_cast<uint32_t>(i)}, place["begin"], place["end"]};
    return {};
  }
  source::Label label(const Json& one) const { return {span(one["span"]), one["text"]}; }
  source::Help help(const Json& one) const {
    source::Help help{one["text"], std::nullopt, 0};
    if (!one.contains("edit")) return help;
    const Json& edit = one["edit"];
    const bool safe = edit["applicability"] == "safe";
    help.edit = source::Edit{span(edit["span"]), edit["replacement"],
                             safe ? source::Applicability::safe : source::Applicability::maybe};
    return help;
  }
  source::Diagnostic diagnostic(const Json& one) const {
    source::Diagnostic d;
    d.code = source::code_from_name(one["code"].get<std::string>()).value();
    d.severity = one["severity"] == "error" ? source::Severity::error : source::Severity::warning;
    d.message = one["message"];
    d.primary = label(one["primary"]);
    for (const Json& l : one["secondary"]) d.secondary.push_back(label(l));
    d.body = one["body"];
    for (const Json& note : one["notes"]) d.notes.push_back({note["kind"], note["text"]});
    for (const Json& h : one["helps"]) d.helps.push_back(help(h));
    return d;
  }

  Found out_;
};

}  // namespace

std::string found_json(const source::Diagnostics& diagnostics, const source::SourceManager& sources) {
  const Json all = Json::parse(source::render_json(diagnostics, sources));
  std::set<std::string> names;
  add_files(all, names);
  Json files = Json::array();
  for (uint32_t i = 0; i < sources.size(); ++i) {
    const source::SourceFile& file = sources[source::FileId{i}];
    if (names.erase(file.name()) != 0) files.push_back({{"name", file.name()}, {"text", file.text()}});
  }
  return Json({{"diagnostics", all}, {"files", files}}).dump(-1, ' ', false, Json::error_handler_t::replace);
}

Found read_found(const std::string& text) {
  const Json all = Json::parse(text, nullptr, false);
  return all.is_object() ? FoundReader(all["files"]).read(all["diagnostics"]) : Found();
}

}  // namespace axon::repl
