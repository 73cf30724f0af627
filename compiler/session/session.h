// The front end with a memory: files stay loaded, and each declaration is checked again only where its text
// or the type of something that it uses has changed.
//
// In: texts of files. Out: what elaboration of each file finds, in places of the whole files. Invariant: the
// answers are those of a session that has just begun with the same texts.
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "session/documents.h"
#include "session/record.h"
#include "session/round.h"

namespace axon::session {

/// A declaration of a file as it stands there now, with what was found out when it was checked last.
struct Entry {
  core::DeclKey key;
  const syntax::File* part = nullptr;
  const syntax::Decl* decl = nullptr;
  const Record* record = nullptr;  ///< null where it was not checked yet
  const ReadPart* read = nullptr;  ///< of the record, what became of this part; null where there is no record
  bool current = false;            ///< the record is of the text that stands there
};

class Session {
 public:
  Session(std::vector<std::string> library, core::Options options)
      : documents_(std::move(library)), options_(std::move(options)) {}

  Documents& documents() { return documents_; }
  const Documents& documents() const { return documents_; }
  const source::SourceManager& sources() const { return documents_.sources(); }

  /// What is said of the file, of what it imports, and of all that it uses. The file has to be there.
  source::Diagnostics check(const std::string& path);
  /// The same, with the edits that were drafted for errors and not tried yet (try_edits.h).
  source::Diagnostics check_with_drafts(const std::string& path);
  /// Brings up to date what the names in the file stand for: checks what was edited, and what sees another
  /// declaration under a name than before. What uses those is left as it is, so the names of fields, which
  /// types decide, may be as they were.
  void check_changed(const std::string& path);
  /// Whether the file was checked, and neither it nor what it imports has another text now.
  bool is_checked(const std::string& path) const;
  /// Whether the file was checked, whatever its text was then.
  bool was_checked(const std::string& path) const;
  /// Brings up to date what is known of all values that the file sees in other modules, whether it uses them
  /// or not.
  void check_visible(const std::string& path);
  /// Whether something is known of each of these, if only of what they were before an edit.
  bool is_visible_known(const std::string& path) const;
  /// Gives the file another text while the callback looks at what is said of that. All is as before
  /// afterwards. Returns the work: how many expressions were checked anew.
  size_t with_text(const std::string& path, const std::string& text,
                   const std::function<void(const source::Diagnostics&)>& look);
  /// The same, of what is said of the file itself. Where other declarations see no difference, those that
  /// nothing was said of are not looked at: nothing is said of them.
  size_t with_edited(const std::string& path, const std::string& text,
                     const std::function<void(const source::Diagnostics&)>& look);
  /// The types of its declarations, one line each; of the last check of the file.
  std::string types(const std::string& path) const;
  size_t checked() const { return checked_; }  ///< declarations that the last check looked at anew

  /// The declarations of a loaded file, in order. A `val` that states the type of another has the record of
  /// that.
  std::vector<Entry> declarations(const std::string& path) const;
  /// Those of the parts that a stretch of the file touches.
  std::vector<Entry> declarations_in(const std::string& path, uint32_t begin, uint32_t end) const;
  /// The file that the name of an import stands for in the file, as of its last check; empty where none does.
  std::string imported(const std::string& path, const std::string& name) const;
  /// The values that every file sees without an import, as of the last check of any.
  const std::vector<core::DeclKey>& prelude() const { return prelude_; }
  /// Where it is declared now; nothing when it no longer is.
  std::optional<Entry> find(const core::DeclKey& key) const;
  const Records& records() const { return records_; }
  const core::Options& options() const { return options_; }

 private:
  struct View;
  struct Trial;
  static std::vector<core::DeclId> declarations_of(const View& view);
  source::Diagnostics run(View& view);
  source::Diagnostics reports(const View& view) const;
  bool are_used(const std::vector<core::DeclKey>& declared, const std::string& module) const;
  bool run_edited(View& view, const Document& document, const ReplacedRecords& before);
  source::Diagnostic in_whole(source::Diagnostic d) const;
  void forget_gone(const core::Modules& modules);
  void find_record(Entry& entry, const Document& document) const;

  Documents documents_;
  core::Options options_;
  Records records_;
  struct Program {
    std::string module;                                      ///< its identity
    std::vector<core::DeclKey> declarations;                 ///< in order
    std::map<std::string, std::string> imports;              ///< the file of each, by its name
    std::vector<std::pair<source::FileId, uint64_t>> texts;  ///< it read, with their versions
    uint64_t changes = 0;                                    ///< of the documents
  };
  std::map<std::string, Program> programs_;  ///< files that were checked, by what they are
  std::vector<core::DeclKey> prelude_;
  std::vector<core::DeclKey> gone_;  ///< that have records and are declared no longer, the last at the end
  size_t checked_ = 0;
};

}  // namespace axon::session
