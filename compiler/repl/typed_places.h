// Where the places of a text of definitions were typed.
//
// In: a text of definitions (kept.h), a phrase, and diagnostics of the text. Out: the same in places of the
// phrase, of the file that was loaded, of an expression whose value is kept, or of the definitions.
// Invariant: nothing that the REPL made itself is shown.
#pragma once
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "repl/kept.h"
#include "source/diagnostic.h"
#include "source/span.h"

namespace axon::repl {

/// The text with every `it_N` as the user knows it.
std::string with_its(std::string text, const std::string& it);

class TypedPlaces {
 public:
  struct Typed {
    std::string phrase;
    std::string loaded_path, loaded_text;  ///< of the file that definitions were taken from
    std::string it;                        ///< the hidden name of the last value
  };
  /// The ranges are those of `text`, and those from `fresh` on were typed in the phrase.
  TypedPlaces(Typed typed, const KeptRanges& ranges, size_t fresh, std::string_view text);

  /// The diagnostic with each place in one of sources(). `document`: the text, among `files`.
  source::Diagnostic moved(source::Diagnostic d, const source::SourceManager& files, source::FileId document);
  /// The words with each place of the program where that was typed. A place is the path of the program, or
  /// its name alone, and behind colons a line and a column.
  std::string moved(std::string words, const source::SourceFile& program, const std::string& path);
  const source::SourceManager& sources() const { return sources_; }

 private:
  using Place = std::pair<source::FileId, uint32_t>;
  source::Span span(size_t begin, size_t end);
  Place place(size_t offset);
  source::FileId value(const Item& item);

  const Typed typed_;
  const KeptRanges& ranges_;
  const size_t fresh_;
  source::SourceManager sources_;
  source::FileId phrase_, loaded_, definitions_;
  std::vector<size_t> its_;
  std::map<const Item*, source::FileId> values_;
  std::map<source::FileId, source::FileId> others_;
};

}  // namespace axon::repl
