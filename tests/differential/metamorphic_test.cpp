// Programs that mean the same and must become the same tasks: nothing in the compiler may look at a name, and
// algebra, not spelling, decides what fuses.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cctype>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <set>

#include "executors.h"

namespace axon::differential {
namespace {

std::string read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(in), {});
}

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

/// Every identifier replaced by what `f` makes of it; comments and strings stay.
std::string map_words(const std::string& text, const std::function<std::string(const std::string&)>& f) {
  std::string out;
  for (size_t i = 0; i < text.size();) {
    size_t end = i + 1;
    if (text.compare(i, 2, "--") == 0) {
      end = std::min(text.find('\n', i), text.size());
    } else if (text[i] == '"') {
      end = text.find('"', i + 1) + 1;
    } else if (is_word(text[i])) {
      while (end < text.size() && is_word(text[end])) ++end;
      out += std::isdigit(static_cast<unsigned char>(text[i])) ? text.substr(i, end - i)
                                                               : f(text.substr(i, end - i));
      i = end;
      continue;
    }
    out += text.substr(i, end - i);
    i = end;
  }
  return out;
}

const std::string renamed = "renamed_";

/// The library's definitions in front of the program, every one of them under another name.
std::string with_own_library(const std::string& program) {
  std::string library;
  for (const auto& part : std::filesystem::directory_iterator(AXON_SOURCE_DIR "/stdlib/prelude"))
    library += read_file(part.path());
  std::set<std::string> names;
  for (size_t at = 0; (at = library.find("\nfun ", at)) != std::string::npos;) {
    at += 5;
    size_t end = at;
    while (is_word(library[end])) ++end;
    names.insert(library.substr(at, end - at));
  }
  EXPECT_GT(names.size(), 30u);
  return map_words(library + "\n" + program,
                   [&](const std::string& word) { return names.contains(word) ? renamed + word : word; });
}

/// Task types, buffers and events are named `hint.number`: the hint goes. So does what renaming put before a
/// field that has the name of a function.
std::string without_names(const std::string& text) {
  std::string out;
  for (size_t i = 0; i < text.size();) {
    size_t end = i;
    while (end < text.size() && is_word(text[end])) ++end;
    if (end > i && end + 1 < text.size() && text[end] == '.' &&
        std::isdigit(static_cast<unsigned char>(text[end + 1])) &&
        !std::isdigit(static_cast<unsigned char>(text[i]))) {
      out += "name";
    } else if (end > i) {
      const std::string word = text.substr(i, end - i);
      out += word.starts_with(renamed) ? word.substr(renamed.size()) : word;
    } else {
      out += text[end++];
    }
    i = end;
  }
  return out;
}

std::string tasks_and_plan(const std::string& source) {
  Compiled compiled(source, for_levels(), "plan");
  EXPECT_EQ(compiled.error(), "") << source;
  std::string text;
  for (const CompiledEntry& e : compiled.compilation().entries) {
    for (const plan::Variant& v : e.plan.variants) text += task::print(v.program);
    text += plan::print(e.plan);
  }
  return without_names(text);
}

TEST(Metamorphic, LibraryNamesDoNotMatterToLlama) {
  const std::string program = read_file(AXON_SOURCE_DIR "/examples/models/llama.axn");
  ASSERT_FALSE(program.empty());
  EXPECT_EQ(tasks_and_plan(with_own_library(program)), tasks_and_plan(program));
}

TEST(Metamorphic, LibraryNamesDoNotMatterToGeneratedPrograms) {
  for (uint64_t seed : {3, 11, 42, 77, 123}) {
    const std::string program = generate(seed).source;
    EXPECT_EQ(tasks_and_plan(with_own_library(program)), tasks_and_plan(program)) << program;
  }
}

/// A definition written out where it is used is the same program.
TEST(Metamorphic, DefinitionsWrittenOut) {
  const std::pair<const char*, const char*> pairs[] = {
      {"softmax x", "(let e = exp (x - keep maximum x) in e / keep sum e)"},
      {"rms_norm x w 0.1", "x * rsqrt (keep mean (x * x) + 0.1) * w"},
      {"x @ y", "(for i j => sum c => x[i, c] * y[c, j])"},
      {"attention x x x", "softmax (x @ transpose x / sqrt (real n)) @ x"},
      {"silu (x @ y)", "(let z = x @ y in z * (1.0 / (1.0 + exp (-z))))"},
      {"fold (fn s r => tanh (s + r)) w x", "(let f s r = tanh (r + s) in fold (fn s r => f r s) w x)"},
  };
  for (const auto& [shorter, longer] : pairs) {
    const std::string head = "entry f (x : f32[m, n]) (y : f32[n, k]) (w : f32[n]) = (";
    EXPECT_EQ(tasks_and_plan(head + shorter + ")\n"), tasks_and_plan(head + longer + ")\n")) << shorter;
  }
}

std::vector<task::Family> families_of(const std::string& source) {
  Compiled compiled(source, for_levels(), "plan");
  EXPECT_EQ(compiled.error(), "") << source;
  std::vector<task::Family> families;
  for (const CompiledEntry& e : compiled.compilation().entries)
    for (const task::TaskType& type : e.plan.variants.back().program.types) families.push_back(type.family);
  return families;
}

/// Attention is one online reduction to whatever base and in whatever order it is written; where there may be
/// few queries of many keys, so are its parts.
TEST(Metamorphic, AttentionIsOneTaskTypeInAnySpelling) {
  const char* const spellings[] = {
      "attention q k v",
      "(let s = q @ transpose k * 0.3 let e = exp2 (s - keep maximum s) in (e @ v) / keep sum e)",
      "(let s = q @ transpose k * 0.3 let e = exp2 (s - keep maximum s) in (e / keep sum e) @ v)",
      "(let s = q @ transpose k let e = exp ((s - keep maximum s) * 0.125) in (e @ v) / keep sum e)",
      "(let s = causal 0 (q @ transpose k * 1.5) let p = pow2 (s - keep maximum s) in (p / keep sum p) @ v)",
  };
  for (const std::string spelling : spellings) {
    const std::string head = "fun pow2 x = exp2 x\nentry f (q : f32[m, d]) ";
    EXPECT_EQ(families_of(head + "(k : f32[m, d]) (v : f32[m, e]) = " + spelling + "\n"),
              std::vector<task::Family>{task::Family::online})
        << spelling;
    for (task::Family family : families_of(head + "(k : f32[n, d]) (v : f32[n, e]) = " + spelling + "\n"))
      EXPECT_EQ(family, task::Family::online) << spelling;
  }
}

/// What only looks like it is not fused: base 2 over a maximum of something else.
TEST(Metamorphic, WhatIsNoSoftmaxStaysApart) {
  const std::string source =
      "entry f (q : f32[m, d]) (k : f32[n, d]) (v : f32[n, e]) =\n"
      "  let s = q @ transpose k * 0.3\n  let e = exp2 (s - keep minimum s)\n  in (e @ v) / keep sum e\n";
  EXPECT_GT(families_of(source).size(), 1u);
}

}  // namespace
}  // namespace axon::differential
