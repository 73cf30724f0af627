// The three types that the language description states, character for character up to the names of variables.
#include <gtest/gtest.h>

#include <cctype>
#include <map>

#include "harness.h"

namespace axon::core {
namespace {

/// Renames size and shape variables in order of appearance; spaces and line breaks become one space.
std::string up_to_names(const std::string& text) {
  std::map<std::string, std::string> shapes, sizes;
  std::string out;
  bool in_join = false;
  for (size_t i = 0; i < text.size();) {
    const char c = text[i];
    if (std::isspace(static_cast<unsigned char>(c))) {
      if (!out.empty() && out.back() != ' ') out += ' ';
      ++i;
      continue;
    }
    if (!std::isalpha(static_cast<unsigned char>(c))) {
      if (c == '(') in_join = out.ends_with("..");
      if (c == ')') in_join = false;
      out += c;
      ++i;
      continue;
    }
    std::string name;
    while (i < text.size() && std::isalnum(static_cast<unsigned char>(text[i]))) name += text[i++];
    const bool element = out.ends_with("'"), shape = in_join || out.ends_with("..");
    if (element || name == "where" || name == "into") {
      out += name;
    } else {
      auto& names = shape ? shapes : sizes;
      out += names.try_emplace(name, std::string(1, shape ? 'S' : 'D').append(std::to_string(names.size())))
                 .first->second;
    }
  }
  return out;
}

class StatedTypes : public testing::Test {
 protected:
  Checked c = check_file(AXON_SOURCE_DIR "/tests/core/types/language.axn");
};

TEST_F(StatedTypes, RmsNorm) {
  EXPECT_EQ(c.type_of("rms_norm"),
            "'t[..s, n] -> 't[..w] -> 't[..e] -> 't[..s, n]   where ..w into [..s, n], ..e into [..s, 1], 't "
            ": float");
}

TEST_F(StatedTypes, Attention) {
  EXPECT_EQ(
      up_to_names(c.type_of("attend")),
      up_to_names("'t[..a, m, d] -> 't[..b, n, d] -> 't[..c, n, e] -> 't[..(a|b|c), m, e] where 't : float"));
}

TEST_F(StatedTypes, Mlp) {
  EXPECT_EQ(
      up_to_names(c.type_of("mlp")),
      up_to_names("'t[..a, m, i] -> ('t[..b, i, h], 't[..c], 't[..d, h, o], 't[..e]) -> 't[..(a|b|d), m, o]\n"
                  "where ..c into [..(a|b), m, h], ..e into [..(a|b|d), m, o], 't : float"));
}

TEST_F(StatedTypes, AreOverFloats) {
  for (const char* name : {"rms_norm", "attend", "mlp"}) {
    const Scheme& s = c.global(name).scheme;
    ASSERT_EQ(s.types.size(), 1u) << name;
    EXPECT_EQ(c.program.types.vars[s.types[0]].cls, ElemClass::flt) << name;
  }
}

}  // namespace
}  // namespace axon::core
