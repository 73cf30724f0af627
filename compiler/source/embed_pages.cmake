# cmake -D OUTPUT=FILE -D FOLDER=explain -P embed_pages.cmake: the explain pages as a C++ table, in the order of their
# names. The same pages give the same bytes.
file(GLOB pages ${FOLDER}/E*.md)
list(SORT pages)
set(text "// Made by embed_pages.cmake from explain/*.md.\n#include \"source/explain.h\"\n\n")
string(APPEND text "namespace axon::source {\n\nconst std::vector<Page>& pages() {\n")
string(APPEND text "  static const std::vector<Page> all = {\n")
foreach(page ${pages})
  get_filename_component(code ${page} NAME_WE)
  file(READ ${page} content)
  string(APPEND text "      {Code::${code}, R\"page(${content})page\"},\n")
endforeach()
string(APPEND text "  };\n  return all;\n}\n\n}  // namespace axon::source\n")
file(WRITE ${OUTPUT} "${text}")
