# Writes OUTPUT: a C++ file with the texts of web/ in FOLDER as string constants. A literal has a limit in some compilers,
# so each script is one of its own, which the next one continues.
file(READ ${FOLDER}/web/page.html template)
file(READ ${FOLDER}/web/page.css style)
set(scripts)
foreach(name ${SCRIPTS})
  file(READ ${FOLDER}/web/${name} script)
  string(APPEND scripts "R\"~~~~(${script})~~~~\"\n")
endforeach()
file(WRITE ${OUTPUT} "#include \"page/assets.h\"\n
namespace axon::page {
const char* const page_template = R\"~~~~(${template})~~~~\";
const char* const page_style = R\"~~~~(${style})~~~~\";
const char* const page_script = ${scripts};
}  // namespace axon::page\n")
