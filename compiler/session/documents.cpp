// See documents.h.
#include "session/documents.h"

#include <filesystem>
#include <optional>

#include "core/elaborate.h"
#include "source/files.h"

namespace axon::session {

namespace fs = std::filesystem;

namespace {

std::optional<std::string> text_on_disk(const std::string& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored) ? source::read_bytes(path) : std::nullopt;
}

}  // namespace

void Documents::open(const std::string& path, std::string text) {
  Entry& entry = files_[source::file_identity(path)];
  entry.open = true;
  entry.path = path;
  if (entry.document)
    entry.document->set_text(std::move(text));
  else
    entry.document = std::make_unique<Document>(sources_, path, std::move(text));
}

void Documents::close(const std::string& path) {
  const auto found = files_.find(source::file_identity(path));
  if (found == files_.end() || !found->second.open) return;
  found->second.open = false;
  if (auto text = text_on_disk(path))
    found->second.document->set_text(std::move(*text));
  else
    files_.erase(found);
}

void Documents::reload() {
  for (auto it = files_.begin(); it != files_.end();) {
    Entry& entry = it->second;
    auto text = entry.open ? std::nullopt : text_on_disk(entry.path);
    if (text && *text != sources_[entry.document->text().source].text())
      entry.document->set_text(std::move(*text));
    it = entry.open || text ? std::next(it) : files_.erase(it);
  }
}

const syntax::Text* Documents::read(const std::string& path) {
  const std::string key = source::file_identity(path);
  if (const auto known = files_.find(key); known != files_.end()) return &known->second.document->text();
  auto text = text_on_disk(path);
  if (!text) return nullptr;
  Entry& entry = files_[key];
  entry.path = path;
  entry.document = std::make_unique<Document>(sources_, path, std::move(*text));
  return &entry.document->text();
}

const syntax::Text* Documents::load(const std::string& module) {
  for (const std::string& path : core::places_of_module(module, library_))
    if (const syntax::Text* text = read(path)) return text;
  return nullptr;
}

const Document* Documents::find(const std::string& path) const {
  const auto found = files_.find(source::file_identity(path));
  return found == files_.end() ? nullptr : found->second.document.get();
}

const Document* Documents::find(source::FileId part) const {
  const source::FileId whole = sources_.in_whole({part, 0, 0}).file;
  for (const auto& [key, entry] : files_)
    if (entry.document->text().source == whole) return entry.document.get();
  return nullptr;
}

}  // namespace axon::session
