// Diagnostics as SARIF 2.1.0, the form that code hosts and editors read: one run, the rules that occur with
// their explain pages, results with places and, where an edit is known, fixes.
#include <map>
#include <nlohmann/json.hpp>

#include "source/explain.h"
#include "source/render.h"

namespace axon::source {
namespace {

using Json = nlohmann::ordered_json;  // keys in the order written here: the same input gives the same bytes

/// Columns count code points (columnKind), from 1; `end` is exclusive.
size_t column(const SourceFile& file, uint32_t line, uint32_t offset) {
  std::string_view text = file.text().substr(file.line_begin(line), offset - file.line_begin(line));
  size_t count = 1;
  for (char c : text) count += (static_cast<unsigned char>(c) & 0xc0) != 0x80;
  return count;
}

Json region(Span span, const SourceFile& file) {
  uint32_t begin = file.line_of(span.begin), end = file.line_of(span.end);
  return {{"startLine", begin},       {"startColumn", column(file, begin, span.begin)},
          {"endLine", end},           {"endColumn", column(file, end, span.end)},
          {"byteOffset", span.begin}, {"byteLength", span.size()}};
}

/// A relative reference: what a URI cannot hold as it is is written %XX.
std::string uri(const std::string& name) {
  static constexpr std::string_view plain = "-._~/!$&'()*+,;=@";
  std::string out;
  for (char c : name) {
    auto byte = static_cast<unsigned char>(c);
    bool letter = (byte | 32) >= 'a' && (byte | 32) <= 'z';
    if (letter || (byte >= '0' && byte <= '9') || plain.find(c) != std::string_view::npos) {
      out += c;
    } else {
      out += '%';
      out += "0123456789ABCDEF"[byte >> 4];
      out += "0123456789ABCDEF"[byte & 15];
    }
  }
  return out;
}

Json physical(Span span, const SourceManager& sources) {
  const SourceFile& file = sources[span.file];
  return {{"artifactLocation", {{"uri", uri(file.name())}}}, {"region", region(span, file)}};
}

Json location(const Label& label, const SourceManager& sources) {
  Json out = {{"physicalLocation", physical(label.span, sources)}};
  if (!label.text.empty()) out["message"] = {{"text", label.text}};
  return out;
}

std::string message(const Diagnostic& d) {
  std::string text(d.headline());
  if (!d.primary.text.empty()) text += "\n" + d.primary.text;
  if (!d.body.empty()) text += "\n" + d.body;
  for (const Note& note : d.notes) text += "\n" + note.kind + ": " + note.text;
  for (const Help& help : d.helps) text += "\nhelp: " + help.text;
  return text;
}

Json result(const Diagnostic& d, size_t rule, const SourceManager& sources) {
  Json out = {{"ruleId", code_name(d.code)},
              {"ruleIndex", rule},
              {"level", d.severity == Severity::error ? "error" : "warning"},
              {"message", {{"text", message(d)}}},
              {"locations", Json::array()}};
  if (d.primary.span.valid()) out["locations"].push_back(location(d.primary, sources));
  Json related = Json::array(), fixes = Json::array();
  for (const Label& label : d.secondary)
    if (label.span.valid()) related.push_back(location(label, sources));
  for (size_t i = 0; i < related.size(); ++i) related[i]["id"] = i;
  for (const Help& help : d.helps) {
    if (!help.edit || !help.edit->span.valid()) continue;
    const SourceFile& file = sources[help.edit->span.file];
    bool safe = help.edit->applicability == Applicability::safe;
    Json replacement = {{"deletedRegion", region(help.edit->span, file)},
                        {"insertedContent", {{"text", help.edit->replacement}}}};
    Json change = {{"artifactLocation", {{"uri", uri(file.name())}}},
                   {"replacements", Json::array({std::move(replacement)})}};
    fixes.push_back({{"description", {{"text", help.text}}},
                     {"artifactChanges", Json::array({std::move(change)})},
                     {"properties", {{"applicability", safe ? "safe" : "maybe"}}}});
  }
  if (!related.empty()) out["relatedLocations"] = std::move(related);
  if (!fixes.empty()) out["fixes"] = std::move(fixes);
  return out;
}

Json rule(Code code) {
  return {{"id", code_name(code)},
          {"shortDescription", {{"text", code_title(code)}}},
          {"help", {{"text", explain(code)}, {"markdown", explain(code)}}}};
}

}  // namespace

std::string render_sarif(const Diagnostics& diagnostics, const SourceManager& sources) {
  const std::vector<Diagnostic> sorted = diagnostics.sorted();
  std::map<Code, size_t> index;  // by code, so that the rules are in the order of the registry
  for (const Diagnostic& d : sorted) index.emplace(d.code, 0);
  Json rules = Json::array(), results = Json::array();
  for (auto& [code, position] : index) {
    position = rules.size();
    rules.push_back(rule(code));
  }
  for (const Diagnostic& d : sorted) results.push_back(result(d, index.at(d.code), sources));
  Json driver = {{"name", "etcc"}, {"version", "0.1.0"}, {"rules", std::move(rules)}};
  Json run = {{"tool", {{"driver", std::move(driver)}}},
              {"columnKind", "unicodeCodePoints"},
              {"results", std::move(results)}};
  Json log = {{"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
              {"version", "2.1.0"},
              {"runs", Json::array({std::move(run)})}};
  return log.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace axon::source
