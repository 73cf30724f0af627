// What is applied around a place, with the parameter that the place is for; also in half-written text.
#include "query/signature.h"

#include <gtest/gtest.h>

#include "../sanitized.h"
#include "query/application.h"
#include "session/support.h"

namespace axon::query {
namespace {

/// `f «x : f32» : f32`: the label with the parameter that is active in marks.
std::string shown(const Signature& s) {
  std::string out = s.label;
  const auto [begin, end] = s.parameters.at(s.active);
  out.insert(end, "»");
  out.insert(begin, "«");
  return out;
}

class Signatures : public ::testing::Test {
 protected:
  /// At `^` of a text. The text without it, or the one that is given, was checked before.
  std::vector<Signature> at(std::string text, const std::string& before = {}) {
    const size_t place = text.find('^');
    text.erase(place, 1);
    session_.documents().open(path, before.empty() ? text : before);
    session_.check(path);
    session_.documents().open(path, text);
    return signatures(session_, path, static_cast<uint32_t>(place));
  }
  std::string of(const std::string& text, const std::string& before = {}) {
    std::string out;
    for (const Signature& s : at(text, before)) out += (out.empty() ? "" : "\n") + shown(s);
    return out;
  }
  static constexpr const char* path = "/nowhere/a.axn";
  session::Session session_{session::library(), {}};
};

const std::string scale = "fun scale (x : f32[n]) (factor : f32) : f32[n] = x * factor\n";
const std::string first = "scale («x : f32[n]») (factor : f32) : f32[n]",
                  second = "scale (x : f32[n]) («factor : f32») : f32[n]";

TEST_F(Signatures, SayWhichParameterAPlaceIsFor) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"fun g y = scale ^", first},
      {"fun g y = scale ^y 2.0", first},
      {"fun g y = scale y^ 2.0", first},
      {"fun g y = scale y ^", second},
      {"fun g y = scale y 2.^0", second},
      {"fun g y = scale y -2.0^", second},
      {"fun g y = scale y (2.0 + ^)", second},
      {"fun g y = scale y (2.0 + 1.0)^", second},
      {"fun g y = scale y[^] 2.0", first},
      {"fun g y = scale y[0:2]^ 2.0", first},
      {"fun g y = scale y.w.v ^", second},
      {"fun g y = (scale y) ^", second},
      {"fun g y = ((scale y) ^)", second},
      {"fun g y = 1.0 + scale ^ * 3.0", first},
      {"fun g y = scale [1.0, ^2.0] 2.0", first},
      {"fun g y = scale y (-- what\n  ^2.0)", second},
      {"fun g y =\n  scale\n    y\n    ^2.0", second},
      {"fun g y =\r\n\tscale\r\n\ty ^", second},
      {"fun g y = let z = scale ^ in z", first},
      {"fun g y = if true then scale ^ else y", first},
      {"fun g y = for i => scale ^", first},
      {"fun g y = sum i => scale ^", first},
      {"fun g y = scale (sum i => y[^i])", first},
      {"fun g y = {a = scale ^}", first},
      {"fun g y = \"𝛼λ\" + scale ^", first},
      {"test \"𝛼\" = scale ^", first},
      {"fun g y = scale (scale ^y 1.0) 2.0", first},
      {"fun g y = scale (scale y 1.0) ^2.0", second}};
  for (const auto& [text, wanted] : cases) EXPECT_EQ(of(scale + text + "\n"), wanted) << text;
}

TEST_F(Signatures, GoOutWhereNothingMoreCanBeGiven) {
  EXPECT_EQ(of(scale + "fun g y = scale (scale y 1.0 ^) 2.0\n"), first);
  EXPECT_EQ(of(scale + "fun g y = scale (y ^) 2.0\n"), first);
  EXPECT_EQ(of(scale + "fun g y = scale y 1.0 ^\n"), "");
  EXPECT_EQ(of(scale + "val k = 1.0\nfun g y = k ^\n"), "");
}

TEST_F(Signatures, OfPipelines) {
  EXPECT_EQ(of(scale + "fun g y = y |> scale ^\n"), first);
  EXPECT_EQ(of(scale + "fun g y = 2.0 |> scale y ^\n"), "") << "what is piped is the factor";
  EXPECT_EQ(of(scale + "fun g y = 2.0^ |> scale y\n"), second);
  EXPECT_EQ(of(scale + "fun g y = 2.0 +^ 1.0\n  |> scale y |> sin\n"), second);
  EXPECT_EQ(of(scale + "fun g y = let z = 2.0^ in z |> scale y\n"), "");
  EXPECT_EQ(of(scale + "fun g y = (2.0^) |> scale y\n"), second);
  EXPECT_EQ(of(scale + "fun g y = y |> sin^ |> scale\n"), first);
  EXPECT_EQ(of(scale + "fun g y = y\n  |> scale ^\n  |> sin\n"), first);
}

TEST_F(Signatures, NothingWhereNothingIsApplied) {
  for (const char* text : {"fun g^ y = y",
                           "fun g (y^ : f32[n]) = y",
                           "fun g (y : f32[^n]) = y",
                           "fun g y : f32[n]^ = y",
                           "fun g y = ^",
                           "fun g y = ^scale y 2.0",
                           "fun g y = sc^ale y 2.0",
                           "fun g y = scale^ y 2.0",
                           "fun g y = (scale^) y 2.0",
                           "fun g y = scale y 2.0 + ^",
                           "fun g y = y -- scale ^",
                           "fun g y = let scale ^= y in y",
                           "fun g y = for sum ^ => y",
                           "fun g y = sum k^ => y[k]",
                           "fun g y = sum i (k^ < 3) => y[k]",
                           "fun g y = fn scale ^ => y",
                           "fun g y = y.^",
                           "fun g y = (^y)",
                           "fun g y = y with w = ^y",
                           "fun g y = scale ^=> y",
                           "import conv^",
                           "type scale[n] = f32[^n]",
                           "fun g y = scale y 2.0\n\n^",
                           "fun g y = scale y\n^",
                           "fun g y = scale y\n\n  ^",
                           "^",
                           "fun g (x : f32[n]) where n >= max ^1 = x",
                           "fun g y = for (i < y^) => 1.0"})
    EXPECT_EQ(of(scale + text + "\n"), "") << text;
  EXPECT_EQ(of("^"), "");
}

TEST_F(Signatures, OfEverythingThatCanBeApplied) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"fun g y = reduce max ^", "reduce (_ : 't -> 't -> 't) («_ : 't») (_ : 't[..s, n]) : 't[..s]"},
      {"fun g y = reduce max ^0.0 k => y[k]",
       "reduce (_ : 't -> 't -> 't) («_ : 't») (_ : 't[..s, n]) : 't[..s]"},
      {"fun g y = argmax ^", "argmax («_ : 't[..s, n]») : i64[..s] where 1 <= n, 't : num"},
      {"fun g y = f16 ^", "f16 («_ : 't[..a]») : f16[..a]"},
      {"fun g y = softmax ^", "softmax («x : 't[..s, n]») : 't[..s, n] where 't : float"},
      {"import position as r\nfun g y = r.rope_halves ^",
       "r.rope_halves («x : 't[..b, t, 2*c]») (cosines : 't[t, c]) (sines : 't[t, c]) : 't[..b, t, 2*c] "
       "where "
       "'t : num"},
      {"fun g (y : f32[n]) = let twice z (k : f32) = z * k in twice y ^",
       "twice (z : f32[..a]) («k : f32») : f32[..a]"},
      {"fun g (f : f32[n] -> f32 -> f32) x = f x ^", "f (_ : f32[n]) («_ : f32») : f32"},
      {"fun g x = (fn (a, b) c => a - b + c) (x, x) ^",
       "(fn (a, b) c => a - b + c) ((a, b) : ('t[..x], 't[..x])) («c : 't[..b]») : 't[..(x|b)]"},
      {"type T = {f : f32 -> f32}\nfun g (t : T) = t.f ^", "t.f («_ : f32») : f32"},
      {"fun f (x, y) () _ = x + y + 1.0\nfun g x = f ^",
       "f («(x, y) : ('t[..a], 't[..b])») () (_ : 'u) : 't[..(a|b)] where 't : float"},
      {"fun take (n : i64) (x : [m]) where n <= m = x[:n]\nfun g x = take 3 ^",
       "take (n : i64) («x : 't[m]») : 't[n] where n <= m"},
      {"val added = fold add 0.0\nfun g x = added ^", "added («_ : 't[n]») : 't where 't : float"},
      {"val h : f32[n] -> f32[n]\nfun h x = x\nfun g y = h ^", "h («x : f32[n]») : f32[n]"},
      {"fun c (b : bool) (x : f32[n]) = if b then concat x x else x\nfun g y = c ^",
       "c («b : bool») (x : f32[n]) : ?k <= 2*n, k >= n. f32[k]"}};
  for (const auto& [text, wanted] : cases) EXPECT_EQ(of(text + "\n"), wanted) << text;
}

TEST_F(Signatures, OfDeclaredSizes) {
  const std::string heads =
      "fun heads[h, 't] (x : 't[t, h*k]) : 't[h, t, k] = rearrange x [t, h*k] => [h, t, k]\n";
  EXPECT_EQ(of(heads + "fun g y = heads[^8] y\n"), "heads[«h», 't] (x : 't[t, h*k]) : 't[h, t, k]");
  EXPECT_EQ(of(heads + "fun g y = heads[8, ^\n"), "heads[h, «'t»] (x : 't[t, h*k]) : 't[h, t, k]");
  EXPECT_EQ(of(heads + "fun g y = heads[8] ^y\n"), "heads[h, 't] («x : 't[t, h*k]») : 't[h, t, k]");
  EXPECT_EQ(of(heads + "fun g y = y[^]\n"), "");
}

TEST_F(Signatures, InTextThatIsBeingWritten) {
  const std::string before = scale + "fun g (y : f32[m]) = let both a b = a + b in both y y\n";
  EXPECT_EQ(of(scale + "fun g (y : f32[m]) = let both a b = a + b in both y (scale (^\n", before), first);
  EXPECT_EQ(of(scale + "fun g (y : f32[m]) = let both a b = a + b in 2.0 * both y ^ + nowhere y)\n", before),
            "both (a : 't[..a]) («b : 't[..b]») : 't[..(a|b)] where 't : num");
  EXPECT_EQ(of("fun scale (x : f32[n]) (factor : f32) : f32[n] = x * facto\nfun g y = scale y ^\n", scale),
            second)
      << "of the last text that was right";
  EXPECT_EQ(of("fun f x (y : f32[n]) = x +\nfun g y = f y ^\n"), "f x «(y : f32[n])»");
  EXPECT_EQ(of(scale + "fun g y = scale y (let z = (y in ^z\n"), second);
  EXPECT_EQ(of(scale + "fun g y = scale y ^"), second) << "at the end of the file";
}

TEST_F(Signatures, WhatIsBoundNearerHides) {
  EXPECT_EQ(of(scale + "fun g scale = scale ^\n"), "");
  EXPECT_EQ(of(scale + "fun g (scale : f32 -> f32) = scale ^\n"), "scale («_ : f32») : f32");
  EXPECT_EQ(of("fun softmax (own : f32) = own\nfun g y = softmax ^\n"), "softmax («own : f32») : f32");
}

TEST_F(Signatures, OfRecords) {
  const std::string types =
      "type Layer[d, f] = { up : f32[d, f],\n  down : f32[f, d] }\ntype Other = {up : f32}\n"
      "fun layer (x : f32[t, d]) (l : Layer[d, f]) = relu (x @ l.up) @ l.down\n";
  const std::string up = "Layer[d, f] = {«up : f32[d, f]», down : f32[f, d]}",
                    down = "Layer[d, f] = {up : f32[d, f], «down : f32[f, d]»}";
  EXPECT_EQ(of(types + "fun g x = layer x {^\n"), up);
  EXPECT_EQ(of(types + "fun g x = layer x {up = ^\n"), up);
  EXPECT_EQ(of(types + "fun g x = layer x {up = x, ^}\n"), down);
  EXPECT_EQ(of(types + "fun g x = layer x {up = x, do^}\n"), down);
  EXPECT_EQ(of(types + "fun g x = layer x {^, down = x}\n"), up);
  EXPECT_EQ(of(types + "fun g x = {up = ^x}\n"), up + "\nOther = {«up : f32»}");
  EXPECT_EQ(of(types + "fun g x = {down = x, up = sin (x + ^x)}\n"),
            "sin («_ : 't[..a]») : 't[..a] where 't : float");
  EXPECT_EQ(of(types + "fun g x = {down = x, up = (x + ^x)}\n"), up);
  EXPECT_EQ(of(types + "fun g x = {down = x, sideways = ^x}\n"), "");
  EXPECT_EQ(of(types + "fun g x = {^}\n"), "");
  EXPECT_EQ(of(types + "fun g x = layer {up = x, down = x ^} x\n"), down)
      << "the text of a record that is no layer yet";
}

TEST_F(Signatures, HaveTheDocumentationOfWhatIsApplied) {
  const auto found = at("--| Twice x.\n--| >>> twice 1.0\n--| 2\nfun twice x = x + x\nfun g y = twice ^\n");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].documentation, "Twice x.\n```axon\n>>> twice 1.0\n2\n```");
  EXPECT_EQ(at("fun g y = (fn x => x) ^\n").at(0).documentation, "");
}

/// No place of any program, whole or cut off there, gives a parameter that is not in its label.
TEST_F(Signatures, AreWholeAtEveryPlaceOfEveryProgram) {
  size_t found = 0;
  for (const std::string& file : sampled(session::programs({"examples", "stdlib/prelude"}))) {
    const std::string text = session::read(file);
    session_.documents().open(path, text);
    session_.check(path);
    for (uint32_t i = 0; i <= text.size(); i += 13)
      for (const Signature& s : signatures(session_, path, i)) {
        ++found;
        ASSERT_LT(s.active, s.parameters.size()) << s.label;
        for (const auto& [begin, end] : s.parameters) {
          ASSERT_LT(begin, end) << s.label;
          ASSERT_LE(end, s.label.size());
        }
        ASSERT_EQ(s.label.find('\n'), std::string::npos) << s.label;
        ASSERT_EQ(s.label.find('?'), s.label.find("?k")) << file << i << s.label;
      }
    const std::string half = text.substr(0, text.size() / 2);
    for (uint32_t i = 0; i <= half.size() && i < 2000; ++i) applications_at(half, i);
  }
  EXPECT_GT(found, sampled_floor(300u));
}

}  // namespace
}  // namespace axon::query
