# Writes OUTPUT: a C++ file with the text of style.css and search.js in FOLDER as string constants.
file(READ ${FOLDER}/style.css style)
file(READ ${FOLDER}/search.js search)
file(WRITE ${OUTPUT} "#include \"tools/doc/pages.h\"\n
namespace axon::tools {
const char* const doc_style = R\"~~~~(${style})~~~~\";
const char* const doc_search = R\"~~~~(${search})~~~~\";
}  // namespace axon::tools\n")
