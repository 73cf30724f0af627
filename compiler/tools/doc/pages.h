// The reference as static pages: what is documented as data, and that data as HTML.
//
// In: modules, each with its declarations in source order. Out: files by path: index.html, a page per module,
// its source with a line to link to, search.json, and a style and a script that need no network. The same
// modules give the same bytes.
#pragma once
#include <map>
#include <string>
#include <vector>

namespace axon::tools {

struct DocItem {
  enum class Kind : uint8_t { entry, function, value, type, primitive } kind = Kind::function;
  std::string name;
  std::string params;   ///< as written: `x (first, second)`
  std::string type;     ///< inferred, in source syntax; of a type: its declaration
  std::string doc;      ///< text of the `--|` comment
  std::string section;  ///< the last `-- ---- Title ----` before it; may be empty
  uint32_t line = 1;
};

struct DocModule {
  std::string name;  ///< dotted: `nn.layers`
  std::string file;  ///< as shown
  std::string doc;
  std::string text;  ///< the source
  std::vector<DocItem> items;
};

std::map<std::string, std::string> doc_pages(const std::vector<DocModule>& modules);

// markup.cpp
std::string escaped(std::string_view text);
std::string doc_html(const std::string& doc);        ///< paragraphs, lists, `code`, examples
std::string source_html(const std::string& source);  ///< tokens in colour, on one or several lines
std::string summary(const std::string& doc);         ///< its first sentence, plain

extern const char* const doc_style;   ///< style.css
extern const char* const doc_search;  ///< search.js

}  // namespace axon::tools
