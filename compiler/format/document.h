// A document: text with the places where its lines may break, laid out for a width (after Wadler and Leijen).
//
// In: pieces put together by Documents. Out: render() gives the text. A group is laid out flat when it fits
// in what is left of the line together with what follows it up to the next possible break; else its own
// breaks (not those of groups inside it) become ends of lines. Packing several pieces to a line is a group
// per piece.
//
// Comments are pieces too. One that stood behind a token goes to the end of that line, whatever breaks the
// layout chose meanwhile; one with a line of its own gets one. Both end their line, so every group around a
// comment is broken. No line ends in blanks, and no two empty lines follow each other.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"

namespace axon::format {

using Doc = base::Id<struct DocTag>;

class Documents {
 public:
  Documents();

  Doc empty() const { return Doc{0}; }
  Doc text(std::string_view text);
  Doc line() { return add({Kind::line, {}, {}, 0, 1, false}); }  ///< a blank, or the end of the line
  Doc soft_line() {
    return add({Kind::soft_line, {}, {}, 0, 0, false});
  }                                                                       ///< nothing, or the end of the line
  Doc hard_line() { return add({Kind::hard_line, {}, {}, 0, 0, true}); }  ///< always the end of the line
  Doc blank_line() {
    return add({Kind::blank_line, {}, {}, 0, 0, true});
  }  ///< an empty line before what follows
  Doc comment_behind(std::string_view text);
  Doc comment_line(std::string_view text);

  Doc concat(std::vector<Doc> parts);
  Doc group(Doc inside);
  Doc nest(int columns, Doc inside);  ///< lines inside begin so much further right
  Doc align(Doc inside);              ///< lines inside begin at the column where it begins

  bool is_broken(Doc doc) const { return nodes_[doc.index].broken; }  ///< must it take several lines?

  /// The text of `doc`; it ends with the end of a line, unless there is nothing.
  std::string render(Doc doc, uint32_t width) const;

 private:
  friend class Layout;
  enum class Kind : uint8_t {
    text,
    line,
    soft_line,
    hard_line,
    blank_line,
    comment_behind,
    comment_line,
    concat,
    group,
    nest,
    align
  };
  struct Node {
    Kind kind;
    std::string text;
    std::vector<Doc> parts;
    int columns = 0;      // nest
    uint32_t width = 0;   // laid out flat
    bool broken = false;  // contains what ends a line in any layout
  };
  Doc add(Node node);
  std::vector<Node> nodes_;
};

}  // namespace axon::format
