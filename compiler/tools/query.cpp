// etcc query WHAT --at FILE:LINE:COLUMN: what an editor would show at a place of a file, as text or as JSON.
//
// Lines and columns are those of diagnostics: from 1, columns in display width. Exit 1 where there is nothing
// to say.
#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "query/hints.h"
#include "query/hover.h"
#include "query/imports.h"
#include "query/mentions.h"
#include "query/references.h"
#include "query/workspace.h"
#include "tools/common.h"
#include "tools/place.h"

namespace axon::tools {

namespace {

using Json = nlohmann::json;

struct QueryOptions {
  CommonOptions common;
  std::string what, at;
  bool json = false;
};

/// One answer: where it is, and what is said.
struct Line {
  source::Span span;
  std::string text;
};

std::string_view line_at(const source::SourceManager& sources, source::Span span) {
  const source::SourceFile& file = sources[span.file];
  return file.line(file.line_of(span.begin));
}

/// The files beside this one.
std::vector<std::string> files_beside(const std::string& path) {
  query::Workspace workspace;
  workspace.set_folders({std::filesystem::absolute(path).parent_path().string()});
  return workspace.files();
}

std::vector<Line> answer(const QueryOptions& o, session::Session& session, uint32_t offset) {
  std::vector<Line> out;
  const auto& sources = session.sources();
  const std::string path = parse_place(o.at)->file;
  if (o.what == "type") {
    if (const auto found = query::hover(session, path, offset))
      out.push_back({found->span, found->code + (found->text.empty() ? "" : "\n\n" + found->text)});
    return out;
  }
  if (o.what == "hints") {
    const source::FileId file = session.documents().find(path)->text().source;
    for (const query::Hint& hint : query::hints(session, path, 0, sources[file].size()))
      out.push_back({{file, hint.at, hint.at}, hint.label});
    return out;
  }
  const auto mention = query::mention_at(session, path, offset);
  const auto add = [&](source::Span span) { out.push_back({span, std::string(line_at(sources, span))}); };
  if (!mention) {
    const auto import = query::imported_at(session, path, offset);
    if (import && o.what == "def") add(*import);
    return out;
  }
  if (o.what == "def") {
    if (const auto place = query::definition(session, *mention)) add(*place);
  } else {
    for (const query::Mention& m : query::references(session, path, offset, files_beside(path))) add(m.span);
  }
  return out;
}

/// A file as whoever asked writes paths: relative where the question was.
std::string shown_name(const QueryOptions& o, const std::string& name) {
  namespace fs = std::filesystem;
  if (fs::path(parse_place(o.at)->file).is_absolute() || !fs::path(name).is_absolute()) return name;
  std::error_code failed;
  const fs::path relative = fs::proximate(name, failed);
  return failed ? name : relative.string();
}

void show(const QueryOptions& o, const source::SourceManager& sources, const std::vector<Line>& lines) {
  Json all = Json::array();
  for (const Line& line : lines) {
    const source::SourceFile& file = sources[line.span.file];
    const std::string name = shown_name(o, file.name());
    if (o.json) {
      all.push_back(place_json(file, line.span, name));
      all.back()["text"] = line.text;
    } else if (o.what == "type") {
      fmt::print("{}\n", line.text);
    } else {
      const source::Position from = file.position(line.span.begin);
      fmt::print("{}:{}:{}: {}\n", name, from.line, from.column, line.text);
    }
  }
  if (o.json) fmt::print("{}\n", all.dump(2, ' ', false, Json::error_handler_t::replace));
}

int run_query(const QueryOptions& o) {
  const auto place = parse_place(o.at);
  if (!place) {
    fmt::print(stderr, "etcc: --at {}: a place is FILE:LINE:COLUMN, both from 1\n", o.at);
    return usage;
  }
  session::Session session(library_directories(o.common), {});
  const syntax::Text* const text = session.documents().read(place->file);
  if (!text) {
    fmt::print(stderr, "etcc: {} cannot be read\n", place->file);
    return user_error;
  }
  session.check(place->file);
  const auto lines = answer(o, session, offset_of(session.sources()[text->source], place->position));
  show(o, session.sources(), lines);
  if (lines.empty() && !o.json) fmt::print(stderr, "etcc: there is nothing to say of {}\n", o.at);
  return lines.empty() ? user_error : ok;
}

}  // namespace

Command add_query(CLI::App& app) {
  auto o = std::make_shared<QueryOptions>();
  app.add_option("WHAT", o->what,
                 "type: of what stands there; def: where it is declared; refs: where it stands; hints: what "
                 "is inferred in the file")
      ->required()
      ->check(CLI::IsMember({"type", "def", "refs", "hints"}));
  app.add_option("--at", o->at, "FILE:LINE:COLUMN")->required();
  app.add_flag("--json", o->json, "as JSON on stdout");
  app.add_option_function<std::string>(
         "--error-format", [o](const std::string& format) { o->json |= format == "json"; },
         "as other commands have it: json for JSON on stdout")
      ->check(CLI::IsMember({"human", "short", "json"}));
  add_library(app, o->common);
  return [o] { return run_query(*o); };
}

}  // namespace axon::tools
