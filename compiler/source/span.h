// Source text: files as bytes, spans as byte ranges in one file, lines and display columns computed on
// demand.
//
// A SourceManager owns every file for the life of a compilation, so string views into a file and spans stay
// valid; only replace() and place_part() end those of the files that they name. add(), load() and replace()
// check the bytes (size, NUL, UTF-8) and report what they find; the text that later stages see is always
// valid UTF-8 without NUL: offending bytes are replaced, one for one, so that offsets stay those of the file.
#pragma once
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"

namespace axon::source {

class Diagnostics;

using FileId = base::Id<struct FileTag>;

/// Bytes [begin, end) of one file. The default span belongs to no file and prints as nothing.
struct Span {
  FileId file;
  uint32_t begin = 0;
  uint32_t end = 0;
  bool valid() const { return file.valid(); }
  uint32_t size() const { return end - begin; }
  friend bool operator==(const Span&, const Span&) = default;
};

/// The smallest span that covers both; an invalid one is ignored.
Span join(Span a, Span b);

/// A place as people count: both from 1, the column in display width (wide characters 2, combining marks 0).
struct Position {
  uint32_t line = 1;
  uint32_t column = 1;
};

/// Text of a file that is made of an earlier piece of it.
struct Repetition {
  uint32_t made;   ///< where it begins
  uint32_t begin;  ///< where the piece is in it
  Span of;         ///< the piece; of the same file
};

class SourceFile {
 public:
  SourceFile(FileId id, std::string name, std::string text);

  FileId id() const { return id_; }
  const std::string& name() const { return name_; }  ///< as given by the user, never made absolute
  std::string_view text() const { return text_; }    ///< valid UTF-8, no NUL; text().data()[size] is 0
  uint32_t size() const { return static_cast<uint32_t>(text_.size()); }

  uint32_t line_count() const { return static_cast<uint32_t>(line_starts_.size()); }
  uint32_t line_of(uint32_t offset) const;  ///< from 1
  uint32_t line_begin(uint32_t line) const { return line_starts_[line - 1]; }
  std::string_view line(uint32_t line) const;  ///< without its end of line
  Position position(uint32_t offset) const;

  /// What is repeated, in order, up to the end of the file.
  void set_repetitions(std::vector<Repetition> all) { repetitions_ = std::move(all); }
  Span original(Span span) const;  ///< where it was written first
  /// What the text is a piece of, and where it lies there; not valid for a file of its own.
  Span piece() const { return piece_; }

 private:
  friend class SourceManager;
  void set_text(std::string text);
  uint32_t original(uint32_t offset) const;
  FileId id_;
  std::string name_;
  std::string text_;
  Span piece_;
  std::vector<uint32_t> line_starts_;
  std::vector<Repetition> repetitions_;
};

class SourceManager {
 public:
  SourceManager() = default;
  SourceManager(const SourceManager&) = delete;
  SourceManager& operator=(const SourceManager&) = delete;

  /// Takes text over, reports what is wrong with it, always gives a file (an empty one when it is too large).
  FileId add(std::string name, std::string text, Diagnostics& diagnostics);
  /// Reads a file; nullopt, with E0005 reported, when it cannot be read.
  std::optional<FileId> load(const std::string& path, Diagnostics& diagnostics);
  /// The same for what is open already, called `name`.
  std::optional<FileId> read(int descriptor, const std::string& name, Diagnostics& diagnostics);

  /// A piece of a file as a file that is read by itself: its places do not move when text around it changes.
  FileId add_part(Span piece);
  /// The part has the text that stands there now.
  void place_part(FileId part, Span piece);
  /// Gives a file another text, and reports what is wrong with it. Its parts have to be placed anew.
  void replace(FileId file, std::string text, Diagnostics& diagnostics);
  Span in_whole(Span span) const;  ///< the same bytes in the file that the span's is a part of, if it is one

  /// The same files under the same ids, one of them with another text; what is wrong with that is reported.
  std::unique_ptr<SourceManager> with(FileId changed, std::string text, Diagnostics& diagnostics) const;

  const SourceFile& operator[](FileId id) const { return files_[id.index]; }
  void set_repetitions(FileId id, std::vector<Repetition> all) {
    files_[id.index].set_repetitions(std::move(all));
  }
  Span original(Span span) const;  ///< where it was written first, in the whole; an invalid one stays
  size_t size() const { return files_.size(); }
  std::string_view text(Span span) const;  ///< the bytes of a span; empty for an invalid one
  std::string describe(Span span) const;   ///< `file:line:column` of where its beginning was written first

 private:
  std::optional<FileId> add_read(const std::string& name, std::optional<std::string> text,
                                 Diagnostics& diagnostics);

  std::deque<SourceFile> files_;  // a deque: references stay valid while files are added
};

/// Columns that a piece of valid UTF-8 takes on a terminal; a tab counts as one column.
uint32_t display_width(std::string_view text);

}  // namespace axon::source
