// One text that is edited, in parts.
//
// In: the text of a file, again and again. Out: its declarations, read part by part (syntax/parts.h), under
// file ids that stay while the text around them changes. Invariant: two parts of one id and revision have the
// same text; what was found out from the one holds of the other.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "source/diagnostic.h"
#include "source/span.h"
#include "syntax/ast.h"

namespace axon::session {

class Document {
 public:
  Document(source::SourceManager& sources, const std::string& path, std::string text);

  void set_text(std::string text);
  /// Until release(), no part of now is given up: then the text is again what it is now, in the same parts of
  /// the same revisions, whatever it was in between.
  void hold();
  void release();
  /// What tells the text from the one that is held, if one is: parts that only one of them has, in order.
  struct Difference {
    std::vector<const syntax::File*> held, now;
  };
  Difference difference() const;
  const syntax::Text& text() const { return text_; }
  /// Another number whenever the text was replaced.
  uint64_t version() const { return version_; }
  /// What was reported while the bytes and the parts were read.
  std::vector<source::Diagnostic> reports() const;
  /// Another number whenever the text of the part is another one; 0 for what is no part of this document.
  uint64_t revision(source::FileId part) const;

 private:
  struct Part {
    source::FileId id;
    uint64_t revision = 0;
    bool first = false;  ///< and has documentation, which at its beginning may be that of the file
    std::string text;
    syntax::File file;
    source::Diagnostics found;
  };
  struct Piece {
    source::Span span;
    std::string_view text;
    bool first;
    std::shared_ptr<Part> part;  ///< what becomes of it
  };
  struct Held {
    std::string text;
    source::Diagnostics bytes;
    std::vector<Piece> pieces;
    uint64_t version;
  };
  std::vector<Piece> pieces() const;
  void keep_equal(std::vector<Piece>& pieces);
  void read(Piece& piece);
  void give_up(std::shared_ptr<Part> part);
  void place(std::vector<Piece> pieces);

  source::SourceManager& sources_;
  source::Diagnostics bytes_;
  std::vector<std::shared_ptr<Part>> parts_;
  std::vector<std::shared_ptr<Part>> unused_;  ///< their ids are given to parts to come
  std::optional<Held> held_;
  syntax::Text text_;
  uint64_t revisions_ = 0, version_ = 0, versions_ = 0;
  std::map<source::FileId, uint64_t> revision_of_;  ///< of each part
};

}  // namespace axon::session
