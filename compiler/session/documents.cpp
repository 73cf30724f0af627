// See documents.h.
#include "session/documents.h"

#include <filesystem>
#include <optional>

#include "core/elaborate.h"

namespace axon::session {

namespace fs = std::filesystem;

namespace {

std::optional<std::string> text_on_disk(const std::string& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored) ? source::read_bytes(path) : std::nullopt;
}

}  // namespace

Documents::Entry& Documents::add(const std::string& path, std::string text) {
  Entry& entry = files_[identity(path)];
  entry.path = path;
  if (const auto gone = gone_.find(path); gone != gone_.end()) {
    entry.document = std::move(gone->second);
    entry.document->set_text(std::move(text));
    gone_.erase(gone);
  } else {
    entry.document = std::make_unique<Document>(sources_, path, std::move(text));
  }
  by_source_[entry.document->text().source] = entry.document.get();
  return entry;
}

void Documents::note_change() {
  ++changes_;
  disk_.forget();
}

bool Documents::is_library(const std::string& path) const {
  const std::string file = identity(path);
  for (const std::string& directory : library_)
    if (file.starts_with(identity(directory) + "/")) return true;
  return false;
}

Documents::Files::iterator Documents::remove(Files::iterator file) {
  Document& document = *file->second.document;
  by_source_.erase(document.text().source);
  document.set_text("");
  gone_[sources_[document.text().source].name()] = std::move(file->second.document);
  return files_.erase(file);
}

void Documents::open(const std::string& path, std::string text) {
  const auto found = files_.find(identity(path));
  if (found == files_.end()) {
    note_change();
    add(path, std::move(text)).open = true;
    return;
  }
  found->second.open = true;
  found->second.path = path;
  found->second.document->set_text(std::move(text));
}

void Documents::close(const std::string& path) {
  const auto found = files_.find(identity(path));
  if (found == files_.end() || !found->second.open) return;
  found->second.open = false;
  note_change();
  if (auto text = text_on_disk(path))
    found->second.document->set_text(std::move(*text));
  else
    remove(found);
}

void Documents::reload() {
  note_change();
  for (auto it = files_.begin(); it != files_.end();) {
    Entry& entry = it->second;
    auto text = entry.open ? std::nullopt : text_on_disk(entry.path);
    if (text && *text != sources_[entry.document->text().source].text())
      entry.document->set_text(std::move(*text));
    it = entry.open || text ? std::next(it) : remove(it);
  }
}

const syntax::Text* Documents::read(const std::string& path) {
  if (const Document* const known = find(path)) return &known->text();
  auto text = text_on_disk(path);
  return text ? &add(path, std::move(*text)).document->text() : nullptr;
}

const syntax::Text* Documents::load(const std::string& module) {
  for (const std::string& path : core::places_of_module(module, library_))
    if (const syntax::Text* text = read(path)) return text;
  return nullptr;
}

std::vector<std::string> Documents::paths() const {
  std::vector<std::string> out;
  for (const auto& [identity, entry] : files_) out.push_back(identity);
  return out;
}

Document& Documents::at(const std::string& path) { return *files_.at(identity(path)).document; }

const Document* Documents::find(const std::string& path) const {
  const auto found = files_.find(identity(path));
  return found == files_.end() ? nullptr : found->second.document.get();
}

const Document* Documents::find(source::FileId part) const {
  const auto found = by_source_.find(sources_.in_whole({part, 0, 0}).file);
  return found == by_source_.end() ? nullptr : found->second;
}

}  // namespace axon::session
