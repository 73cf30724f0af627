// See modules_on_disk.h.
#include "query/modules_on_disk.h"

#include <algorithm>
#include <filesystem>
#include <map>

#include "core/modules.h"
#include "source/files.h"
#include "syntax/parse.h"

namespace axon::query {

namespace fs = std::filesystem;
using session::Session;

namespace {

constexpr size_t most_entries = 1'000;  // of one directory

void list(const std::string& directory, const std::string& without, std::map<std::string, bool>& out) {
  std::error_code ignored;
  size_t left = most_entries;
  for (fs::directory_iterator at(directory, ignored), end; at != end && left-- > 0; at.increment(ignored)) {
    const std::string name = at->path().filename();
    if (name.starts_with(".")) continue;
    if (at->is_directory(ignored)) {
      out.emplace(name, true);
    } else if (at->path().extension() == ".axn") {
      const bool is_it = without.ends_with("/" + name) && source::file_identity(at->path()) == without;
      if (!is_it) out[at->path().stem()] = false;
    }
  }
}

std::vector<OnDisk> in_order(const std::map<std::string, bool>& all) {
  std::vector<OnDisk> out;
  for (const auto& [name, directory] : all) out.push_back({name, directory});
  return out;
}

/// Seen without import.
bool is_always_there(const std::string& module) { return module == "prim" || module == "prelude"; }

void add_keys(const syntax::File& file, const std::string& identity, std::vector<core::DeclKey>& out) {
  for (const syntax::Decl& d : file.decls) {
    auto named = core::declared_name(d);
    if (named && !d.is_private && !syntax::as<syntax::TestDecl>(d))
      out.push_back({identity, named->first, std::move(named->second)});
  }
}

}  // namespace

std::vector<OnDisk> on_disk(const Session& session, const std::string& path, const std::string& below,
                            bool library) {
  const std::string beside = fs::path(path).parent_path(), own = source::file_identity(path);
  std::map<std::string, bool> out;
  const fs::path normal = fs::path(below).lexically_normal();
  if (normal.is_absolute() || normal.string().starts_with("..")) return {};
  list((beside.empty() ? "." : beside) + "/" + below, own, out);
  if (library)
    for (const std::string& directory : session.documents().library())
      list(directory + "/" + below, own, out);
  if (library && below.empty())
    std::erase_if(out, [](const auto& one) { return is_always_there(one.first); });
  return in_order(out);
}

std::vector<std::string> library_modules(const Session& session) {
  std::map<std::string, bool> all;
  for (const std::string& directory : session.documents().library()) list(directory, "", all);
  std::vector<std::string> out;
  for (const auto& [name, directory] : all)
    if (!directory && !is_always_there(name)) out.push_back(name);
  return out;
}

LibraryModule library_module(const Session& session, const std::string& name) {
  LibraryModule out;
  if (name.empty() || is_always_there(name)) return out;
  for (const std::string& place : core::places_of_module(name, session.documents().library())) {
    const std::string identity = source::file_identity(place);
    if (const session::Document* const known = session.documents().find(place)) {
      for (const syntax::File* part : known->text().parts) add_keys(*part, identity, out.keys);
    } else {
      std::error_code ignored;
      const auto text = fs::is_regular_file(place, ignored) ? source::read_bytes(place) : std::nullopt;
      if (!text) continue;
      source::SourceManager sources;
      source::Diagnostics unheard;
      add_keys(syntax::parse(sources[sources.add(place, *text, unheard)], unheard), identity, out.keys);
    }
    out.file = place;
    return out;
  }
  return out;
}

}  // namespace axon::query
