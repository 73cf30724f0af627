// The files of a session: those that are open, as they are edited, and those on disk that they import.
//
// In: texts of open files, and directories of library modules. Out: each file in parts. Invariant: a file is
// known by the place that it has without links, and what is open stands before what is on disk for all that
// import it.
#pragma once
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "session/document.h"
#include "source/files.h"

namespace axon::session {

class Documents {
 public:
  explicit Documents(std::vector<std::string> library) : library_(std::move(library)) {}
  Documents(const Documents&) = delete;
  Documents& operator=(const Documents&) = delete;

  /// Opens the file with this text, or gives it another one.
  void open(const std::string& path, std::string text);
  void close(const std::string& path);  ///< from now on it is what is on disk
  /// The document of a file that is loaded, for a trial (Document::hold).
  Document& at(const std::string& path);
  /// Reads again what has changed on disk and is not open.
  void reload();

  /// core::Loader: a path that ends in .axn, or the dotted name of a library module; null when there is none.
  const syntax::Text* load(const std::string& module);
  /// Another number whenever a file may have come or gone.
  uint64_t changes() const { return changes_; }
  const std::vector<std::string>& library() const { return library_; }
  /// Whether the file lies in one of the directories of the library.
  bool is_library(const std::string& path) const;
  /// What the path is (source::file_identity), as of the last time that files may have come or gone.
  const std::string& identity(const std::string& path) const { return disk_.identity(path); }
  source::Paths& disk() const { return disk_; }
  std::vector<std::string> paths() const;  ///< of all files that are loaded, by what they are
  bool has(const std::string& identity) const { return files_.count(identity) != 0; }
  /// The file at the path, whatever it is called; null when there is none.
  const syntax::Text* read(const std::string& path);
  const Document* find(const std::string& path) const;  ///< null for what was not loaded
  const Document* find(source::FileId part) const;      ///< the document that it is a part of
  source::SourceManager& sources() { return sources_; }
  const source::SourceManager& sources() const { return sources_; }

 private:
  struct Entry {
    std::unique_ptr<Document> document;
    bool open = false;
    std::string path;  ///< as it was asked for
  };
  using Files = std::map<std::string, Entry>;
  Entry& add(const std::string& path, std::string text);
  Files::iterator remove(Files::iterator file);

  source::SourceManager sources_;
  std::vector<std::string> library_;
  void note_change();
  mutable source::Paths disk_;
  uint64_t changes_ = 0;
  Files files_;  ///< by identity
  /// Of files that are no longer there, by what they were called: empty, until one comes again.
  std::map<std::string, std::unique_ptr<Document>> gone_;
  std::map<source::FileId, const Document*> by_source_;
};

}  // namespace axon::session
