// The pages of the reference; see pages.h.
#include "tools/doc/pages.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace axon::tools {

namespace {

const char* kind_name(DocItem::Kind kind) {
  switch (kind) {
    case DocItem::Kind::entry:
      return "entry";
    case DocItem::Kind::function:
      return "function";
    case DocItem::Kind::value:
      return "value";
    case DocItem::Kind::type:
      return "type";
    case DocItem::Kind::primitive:
      return "primitive";
  }
  return "";
}

/// `base`: the way from the page to the folder of index.html.
std::string page(const std::string& title, const std::string& base, const std::string& nav,
                 const std::string& main) {
  return fmt::format(R"html(<!DOCTYPE html>
<html lang="en" data-base="{1}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{0}</title>
<link rel="stylesheet" href="{1}style.css">
</head>
<body>
<header>
<a class="title" href="{1}index.html">Reference</a>
<input id="search" type="search" autocomplete="off" aria-label="Search"
 placeholder="Search names, types and text ( / )">
<button id="theme" type="button">light / dark</button>
<ul id="results"></ul>
</header>
<div class="columns">
<nav><div class="inside">
{2}</div></nav>
<main>
{3}</main>
</div>
<script src="{1}search.js"></script>
</body>
</html>
)html",
                     escaped(title), base, nav, main);
}

std::string page_of(const DocModule& m) { return m.name + ".html"; }
std::string source_page_of(const DocModule& m) { return "source/" + m.name + ".html"; }
/// Types and values may share a name, so types have anchors of their own.
std::string anchor(const DocItem& item) {
  return (item.kind == DocItem::Kind::type ? "type." : "") + item.name;
}

std::string list_of_modules(const std::vector<DocModule>& modules, const std::string& base) {
  std::string out = "<ul>\n";
  for (const DocModule& m : modules)
    out += fmt::format("<li><a href=\"{}{}\">{}</a></li>\n", base, page_of(m), escaped(m.name));
  return out + "</ul>\n";
}

std::string item_html(const DocModule& m, const DocItem& item) {
  const bool is_type = item.kind == DocItem::Kind::type;
  const std::string signature = is_type ? item.type : item.name + " : " + item.type;
  return fmt::format(
      "<section class=\"item\" id=\"{0}\">\n<h3><a href=\"#{0}\">{1}</a><span class=\"params\">{2}</span>"
      "<a class=\"source\" href=\"{3}#L{4}\">source</a></h3>\n<pre "
      "class=\"signature\"><code>{5}</code></pre>\n{6}</section>\n",
      anchor(item), escaped(item.name), escaped(item.params), source_page_of(m), item.line,
      source_html(signature), doc_html(item.doc));
}

std::string module_page(const DocModule& m, const std::vector<DocModule>& all) {
  std::string nav = "<ul>\n", main = fmt::format("<h1>{}</h1>\n{}", escaped(m.name), doc_html(m.doc));
  const std::string* section = nullptr;
  size_t sections = 0;
  for (const DocItem& item : m.items) {
    if (!item.section.empty() && (!section || *section != item.section)) {
      const size_t number = ++sections;
      main += fmt::format("<h2 id=\"section-{}\">{}</h2>\n", number, escaped(item.section));
      nav += fmt::format("</ul>\n<a href=\"#section-{}\">{}</a>\n<ul>\n", number, escaped(item.section));
    }
    section = &item.section;
    nav += fmt::format("<li><a href=\"#{}\"><code>{}</code></a></li>\n", anchor(item), escaped(item.name));
    main += item_html(m, item);
  }
  nav += "</ul>\n<hr>\n" + list_of_modules(all, "");
  return page(m.name, "", nav, main);
}

std::string source_page(const DocModule& m, const std::vector<DocModule>& all) {
  // Colours do not reach over ends of lines: no token does.
  std::string main = fmt::format("<h1>{}</h1>\n<pre class=\"file\"><code>", escaped(m.file)), line;
  size_t number = 0;
  const std::string html = source_html(m.text);
  const auto end_line = [&] {
    ++number;
    main += fmt::format("<span class=\"line\" id=\"L{0}\"><span class=\"number\">{0}</span>{1}</span>",
                        number, line);
    line.clear();
  };
  for (char c : html) {
    if (c == '\n')
      end_line();
    else
      line += c;
  }
  if (!line.empty()) end_line();
  main += "</code></pre>\n";
  return page(m.file, "../", list_of_modules(all, "../"), main);
}

std::string index_page(const std::vector<DocModule>& modules) {
  std::string main = "<h1>Modules</h1>\n<table>\n";
  for (const DocModule& m : modules)
    main += fmt::format("<tr><td><a href=\"{}\">{}</a></td><td>{}</td></tr>\n", page_of(m), escaped(m.name),
                        escaped(summary(m.doc)));
  main += "</table>\n";
  return page("Reference", "", list_of_modules(modules, ""), main);
}

std::string search_index(const std::vector<DocModule>& modules) {
  auto entries = nlohmann::ordered_json::array();
  for (const DocModule& m : modules)
    for (const DocItem& item : m.items)
      entries.push_back({{"name", item.name},
                         {"module", m.name},
                         {"kind", kind_name(item.kind)},
                         {"type", item.type},
                         {"summary", summary(item.doc)},
                         {"url", page_of(m) + "#" + anchor(item)}});
  return entries.dump(1) + "\n";
}

}  // namespace

std::map<std::string, std::string> doc_pages(const std::vector<DocModule>& modules) {
  std::map<std::string, std::string> files;
  files["index.html"] = index_page(modules);
  files["style.css"] = doc_style;
  files["search.json"] = search_index(modules);
  // A page opened from a disk may not fetch a file, so the script brings the index along.
  files["search.js"] = "const index = " + files["search.json"] + doc_search;
  for (const DocModule& m : modules) {
    files[page_of(m)] = module_page(m, modules);
    files[source_page_of(m)] = source_page(m, modules);
  }
  return files;
}

}  // namespace axon::tools
