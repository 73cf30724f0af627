// Every code of diagnostics.def is raised by a test: by its explain page (test_etcc.py runs those of
// commands), by a text made here, or by a test elsewhere that names it.
#include <gtest/gtest.h>

#include <functional>
#include <map>

#include "source/explain.h"
#include "support.h"

namespace axon::source {
namespace {

std::string repeated(std::string_view piece, size_t count) {
  std::string out;
  for (size_t i = 0; i < count; ++i) out += piece;
  return out;
}

/// Texts that would be too long, or not text, for a page.
const std::map<std::string, std::function<std::string()>> made = {
    {"E0001", [] { return std::string((16 << 20) + 1, ' '); }},
    {"E0002", [] { return "val x = 1" + repeated(" + 1", 20'000); }},
    {"E0003", [] { return std::string("val x = 1\0", 10); }},
    {"E0004", [] { return std::string("-- caf\xe9\nval x = 1\n"); }},
    {"E0104", [] { return "val " + std::string(256, 'a') + " = 1\n"; }},
    {"E0106", [] { return "val x = \"" + std::string(1'100'000, 'a') + "\"\n"; }},
    {"E0110", [] { return std::string("-- \xe2\x80\xae\nval x = 1\n"); }},
    {"E0201", [] { return "val x = " + std::string(300, '(') + "1" + std::string(300, ')') + "\n"; }},
    {"E0202", [] { return "val x = [" + repeated("1,\n", 2'000'001) + "1]"; }},
    {"E0203", [] { return repeated("fun = +\n", 200); }},
};

struct Elsewhere {
  const char* code;
  const char* file;
  const char* mention;
};
/// Codes that need files, a bundle or the later stages.
const Elsewhere elsewhere[] = {
    {"E0005", "tests/diagnostics/registry_test.cpp", "/does/not/exist.axn"},
    {"E0407", "tests/diagnostics/modules_test.cpp", "E0407"},
    {"E0408", "tests/diagnostics/modules_test.cpp", "E0408"},
    {"E0409", "tests/diagnostics/modules_test.cpp", "E0409"},
    {"E0590", "tests/shapes/bombs.cpp", "E0590"},
    {"E0592", "tests/pipeline/test_work.cpp", "E0592"},
    {"E0593", "tests/cli/test_output.py", "error[E0593]"},
    {"E0610", "tests/diagnostics/test_etcc.py", "E0610"},
    {"E0611", "tests/diagnostics/test_etcc.py", "E0611"},
    {"E0612", "tests/diagnostics/test_etcc.py", "E0612"},
    {"E9002", "tests/diagnostics/test_etcc.py", "E9002"},
    {"E9003", "tests/session/faults_test.cpp", "E9003"},
    {"E9001", "tests/graph/from_core/test_run.cpp", "E9001"},
    {"E0701", "tests/weights/safetensors_test.cpp", "code::system"},
    {"E0702", "tests/weights/safetensors_test.cpp", "code::limit"},
    {"E0703", "tests/weights/safetensors_test.cpp", "code::format"},
    {"E0704", "tests/weights/safetensors_test.cpp", "code::range"},
    {"E0705", "tests/weights/safetensors_test.cpp", "code::shape"},
    {"E0706", "tests/weights/safetensors_test.cpp", "code::dtype"},
    {"E0707", "tests/weights/shards_test.cpp", "code::shards"},
    {"E0709", "tests/runtime/test_weights.cpp", "E0709"},
    {"E0811", "tests/runtime/test_container.cpp", "not an Axon bundle"},
    {"E0812", "tests/runtime/test_manifest.cpp", "BrokenRules"},
    {"E0813", "tests/runtime/test_container.cpp", "no shared object"},
    {"E0814", "tests/runtime/test_container.cpp", "the bundle has format 2"},
    {"E0826", "tests/runtime/test_sizes.cpp", "overlaps that of"},
    {"E0827", "tests/examples/test_placed.py", "its layout states [1, m] = [1, 3]"},
    {"E0832", "tests/runtime/test_call.cpp", "made no progress"},
};

TEST(Coverage, EveryCodeIsRaised) {
  std::set<std::string> covered;
  for (const Page& page : pages())
    if (page.text.find("```axn bad\n") != std::string_view::npos ||
        page.text.find("```sh bad\n") != std::string_view::npos)
      covered.emplace(code_name(page.code));
  for (const auto& [code, text] : made) EXPECT_TRUE(covered.insert(code).second) << code;
  for (const Elsewhere& e : elsewhere) EXPECT_TRUE(covered.insert(e.code).second) << e.code;
  for (Code code : all_codes()) EXPECT_TRUE(covered.erase(std::string(code_name(code)))) << code_name(code);
  EXPECT_TRUE(covered.empty()) << *covered.begin() << " is in no registry";
}

TEST(Coverage, LongTextsRaiseTheirCode) {
  for (const auto& [code, text] : made) {
    Diagnostics diagnostics;
    SourceManager sources;
    syntax::parse(sources[sources.add("test.axn", text(), diagnostics)], diagnostics);
    bool raised = false;
    for (const Diagnostic& d : diagnostics.in_order_of_report()) raised |= code_name(d.code) == code;
    EXPECT_TRUE(raised) << code;
  }
}

TEST(Coverage, TestsElsewhereNameTheCode) {
  for (const Elsewhere& e : elsewhere) {
    const std::string text = read(std::filesystem::path(AXON_SOURCE_DIR) / e.file);
    EXPECT_NE(text.find(e.mention), std::string::npos) << e.code << " " << e.file;
  }
}

}  // namespace
}  // namespace axon::source
