// The tokens of a file with what stands between them, handed out in order.
//
// The printer walks the tree and names each token that it writes; the cursor checks that it comes next and
// gives its text together with the comments before it. So nothing that was written can get lost, and no tree
// can be printed as another program: a mismatch is a bug, never a changed file. The one freedom is
// parentheses: those that the printer does not ask for are passed over, and their comments move on.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "format/document.h"
#include "syntax/tokens.h"

namespace axon::format {

/// Do empty lines before a token and its comments matter? Between declarations and between lets they do.
enum class Blanks : uint8_t { dropped, kept };

class Cursor {
 public:
  Cursor(const source::SourceFile& file, syntax::TokenStream stream, Documents& documents);

  /// The next token, which is spelled `text`.
  Doc token(std::string_view text);
  /// The last of the `)` that come next.
  Doc last_closing();
  /// The next token that is no parenthesis: a name, number or string as it is spelled.
  Doc any();
  /// The comments before the next token; taken first, they do not break the group that begins with it.
  Doc before(Blanks blanks = Blanks::dropped);
  Doc behind();  ///< the comment behind the last token, on its line
  Doc rest();    ///< the comments after the last token of all

  /// Pairs of parentheses directly around the bytes [begin, end).
  int parentheses_around(uint32_t begin, uint32_t end) const;
  /// Whether a comment stands between what ends at this byte and the last `)` behind it.
  bool is_comment_inside(uint32_t end) const;

 private:
  std::string_view text(const syntax::Token& token) const;
  bool is_parenthesis(const syntax::Token& token) const;
  void pass();  ///< moves on over the next token; its comments wait
  void gather(size_t token);
  Doc waiting(Blanks blanks);

  struct Waiting {
    std::string_view text;
    bool own_line;  // else behind the text before it
    bool blank_before;
  };
  const source::SourceFile& file_;
  syntax::TokenStream stream_;
  Documents& documents_;
  std::vector<size_t> closing_;  // of a `(`: the number of the `)` that belongs to it
  size_t next_ = 0;
  size_t comment_ = 0;
  bool gathered_ = false;         // are the comments before the next token in waiting_?
  std::vector<Waiting> waiting_;  // comments that the next piece of text will bring
  bool blank_ = false;            // an empty line stands directly before the next token
};

}  // namespace axon::format
