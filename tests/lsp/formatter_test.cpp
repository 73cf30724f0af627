// Declarations that are laid out one by one give what the whole file gives.
#include "lsp/formatter.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

#include "format/format.h"

namespace axon::lsp {
namespace {

namespace fs = std::filesystem;

std::optional<std::string> at_once(const std::string& text) {
  source::SourceManager sources;
  source::Diagnostics found;
  const source::FileId file = sources.add("a.axn", text, found);
  return found.has_errors() ? std::nullopt : format::format(sources[file], found);
}

TEST(Formatter, GivesWhatTheWholeFileGives) {
  Formatter formatter;
  std::mt19937 random(3);
  for (const char* folder :
       {"stdlib", "examples", "tests/format", "tests/core", "tests/diagnostics", "tests/syntax"})
    for (const auto& entry : fs::recursive_directory_iterator(fs::path(AXON_SOURCE_DIR) / folder)) {
      if (entry.path().extension() != ".axn") continue;
      std::ostringstream read;
      read << std::ifstream(entry.path(), std::ios::binary).rdbuf();
      std::string text = read.str();
      if (text.size() > 100'000) continue;
      for (int edit = 0; edit < 4; ++edit) {
        EXPECT_EQ(formatter.format("a.axn", text), at_once(text)) << entry.path() << "\n" << text;
        if (text.empty()) break;
        const size_t at = random() % text.size();
        if (edit == 1)
          text.erase(at, 1);
        else
          text.insert(text.find('\n', at) == text.npos ? 0 : text.find('\n', at) + 1,
                      edit == 0 ? "\n" : "-- more\n");
      }
    }
}

TEST(Formatter, OfSmallTexts) {
  Formatter formatter;
  for (const char* text :
       {"", "\n\n", "-- only\n", "--| of the file\n\n", "--| of f\nfun f x=x",
        "\n\nfun f x=x\n\n\n\nfun g x=x\n", "fun f x=x -- behind\n-- before\nfun g x=x\n-- last",
        "fun f x=x\r\n\r\nfun g x=x\r\n", "fun f x=x\n\n-- end\n\n", "fun f x=(x\nfun g x=x\n",
        "  fun f x=x\nfun g x=x\n", "fun f x=x\n  \n\t\nfun g x=x\n"})
    EXPECT_EQ(formatter.format("a.axn", text), at_once(text)) << text;
}

}  // namespace
}  // namespace axon::lsp
