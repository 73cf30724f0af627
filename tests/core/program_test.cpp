// What the rest of the compiler reads from a program: instantiations, values, sizes, options.
#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "core/library_names.h"
#include "harness.h"

namespace axon::core {
namespace {

/// The first occurrence of a global of this name in the file's own expressions, searched from the end.
const Expr* occurrence(const Checked& c, const std::string& name) {
  for (uint32_t i = c.program.exprs.size(); i-- > 0;) {
    const Expr& e = c.program.exprs[{i}];
    if (e.kind == Expr::Kind::global && c.program.globals[e.global].name == name) return &e;
  }
  return nullptr;
}

std::string sizes_of(const Expr& e) {
  std::string out;
  for (const auto& [v, d] : e.instantiation) out += shape::var_name(v) + " := " + d.str() + "; ";
  return out;
}

TEST(Program, AnOccurrenceCarriesTheSizesOfItsInstance) {
  const Checked c = check_text("fun f (x : f32[t, 512]) = heads[8, 64] x");
  ASSERT_EQ(c.errors(), "");
  EXPECT_EQ(sizes_of(*occurrence(c, "heads")), "h := 8; k := 64; t := t; ");
}

TEST(Program, TheLibraryHasWhatTheCompilerNames) {
  for (const char* name : library::names) {
    const Checked c = check_text(std::string("fun f = ") + name);
    EXPECT_TRUE(occurrence(c, name)) << name;
  }
}

TEST(Program, SizesAreFoundFromTheUseOfTheResult) {
  const Checked c = check_text("fun f (x : f32[t, 512]) (y : f32[8, t, 64]) = heads x + y");
  ASSERT_EQ(c.errors(), "");
  EXPECT_EQ(sizes_of(*occurrence(c, "heads")), "h := 8; k := 64; t := t; ");
}

TEST(Program, AnOccurrenceCarriesTheElementTypesOfItsInstance) {
  const Checked c = check_text("fun f (ids : i64[n]) : bf16[n, 4] = one_hot ids 4");
  ASSERT_EQ(c.errors(), "");
  const Expr* e = occurrence(c, "one_hot");
  ASSERT_NE(e, nullptr);
  ASSERT_FALSE(e->elems.empty());
  EXPECT_EQ(e->elems.back().second.elem, base::Elem::bf16);
}

TEST(Program, NamesInTypesAreIntegersInTheBody) {
  const Checked c = check_text("fun f (x : [n, d]) = n * d + 1");
  ASSERT_EQ(c.errors(), "");
  const Type& t = c.program.types.types[c.global("f").scheme.type];
  EXPECT_EQ(c.program.types.types[t.items.back()].value->str(), "n*d + 1");
}

TEST(Program, BindersHaveRanges) {
  const Checked c = check_text("fun f (x : f32[n]) = for i => x[i] + 1.0");
  ASSERT_EQ(c.errors(), "");
  const Expr& body = c.program.exprs[c.global("f").body];
  ASSERT_EQ(body.kind, Expr::Kind::for_);
  EXPECT_EQ(body.binders[0].range->str(), "n");
}

TEST(Program, MissingPositionsAreWholeAxes) {
  const Checked c = check_text("fun f (x : f32[n, d, e]) where n >= 1 = x[0]");
  ASSERT_EQ(c.errors(), "");
  const Expr& body = c.program.exprs[c.global("f").body];
  ASSERT_EQ(body.indices.size(), 2u);
  EXPECT_EQ(body.indices[1].kind, IndexItem::Kind::ellipsis);
}

TEST(Program, EveryExpressionIsTyped) {
  const Checked c = check_file(AXON_SOURCE_DIR "/tests/core/entries/decode.axn");
  ASSERT_EQ(c.errors(), "");
  for (const Expr& e : c.program.exprs) EXPECT_TRUE(e.type.valid());
}

TEST(Options, FixASizeOfAnEntry) {
  Options options;
  options.sizes["n"] = 1024;
  const Checked c = check_text("entry f (x : f32[n, d]) = x", options);
  ASSERT_EQ(c.errors(), "");
  EXPECT_EQ(c.type_of("f"), "f32[1024, d] -> f32[1024, d]");
  EXPECT_EQ(c.global("f").entry_sizes->forms.size(), 1u);
}

TEST(Options, ChooseAnElementType) {
  const std::string text = "entry f['t] (x : 't[n]) = x * x";
  EXPECT_EQ(check_text(text).type_of("f"), "f32[n] -> f32[n]");
  Options options;
  options.elems["t"] = base::Elem::bf16;
  EXPECT_EQ(check_text(text, options).type_of("f"), "bf16[n] -> bf16[n]");
}

/// No name is in two parts of the prelude, which every program sees at once.
TEST(Library, IsFreeOfErrors) {
  std::set<std::string> names;
  for (const auto& part : std::filesystem::directory_iterator(AXON_SOURCE_DIR "/stdlib/prelude")) {
    const Checked c = check_file(part.path());
    EXPECT_EQ(c.errors(), "") << part.path();
    EXPECT_FALSE(c.program.own.empty()) << part.path();
    for (GlobalId g : c.program.own) {
      EXPECT_FALSE(c.program.globals[g].doc.empty()) << c.program.globals[g].name;
      EXPECT_TRUE(names.insert(c.program.globals[g].name).second) << c.program.globals[g].name;
    }
  }
  EXPECT_EQ(check_file(AXON_SOURCE_DIR "/stdlib/prelude.axn").errors(), "");
}

/// A program that hides a name of the prelude reaches it by the part that it is in.
TEST(Library, HasPartsToImport) {
  EXPECT_EQ(check_text("import prelude.reduce\nfun sum x = reduce.sum (x * x)\nfun f x = sum x").errors(),
            "");
}

TEST(Library, IsElaboratedOnDemand) {
  const Checked c = check_text("fun f x = relu x");
  size_t checked = 0;
  for (const Global& g : c.program.globals) checked += g.checked;
  EXPECT_LE(checked, 3u);
  EXPECT_LE(c.program.globals.size(), 20u);  // only what is mentioned is a part of the program
}

}  // namespace
}  // namespace axon::core
