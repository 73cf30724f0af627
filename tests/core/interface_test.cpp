// Interfaces: what users of a declaration can see of it changes its fingerprint, and nothing else does; what
// is given to another program is what was taken from the first.
#include "core/interface.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <map>

#include "../sanitized.h"
#include "harness.h"

namespace axon::core {
namespace {

class Elaborated {
 public:
  explicit Elaborated(const std::string& text, const std::string& path = "test.axn")
      : file_(syntax::parse(sources_[sources_.add(path, text, found_)], found_)),
        modules_(sources_, paths_, std::ref(loader_), found_),
        own_(modules_.open_program({file_.source, {&file_}}, "")) {
    const shape::UseArena use(arena_);
    Elaborator e(sources_, modules_, own_, found_, options_);
    for (DeclId d : own_.in_order) {
      e.check(e.global(d));
      if (modules_[d].kind != Global::Kind::type)
        interfaces_[d] = std::make_unique<Interface>(e, e.global(d));
    }
  }

  std::string fingerprint(const std::string& name) const {
    return interfaces_.at(modules_.find({own_.identity, DeclKey::Space::values, name}))->fingerprint();
  }
  /// The interfaces of all declarations, given to a program that looks at none of them.
  void expect_same_when_given() {
    shape::Arena arena;
    const shape::UseArena use(arena);
    Elaborator e(sources_, modules_, own_, found_, options_);
    for (const auto& [d, interface] : interfaces_) {
      const GlobalId g = e.global(d);
      interface->give(e, g);
      EXPECT_EQ(Interface(e, g).fingerprint(), interface->fingerprint()) << modules_[d].name;
    }
  }

 private:
  source::SourceManager sources_;
  source::Diagnostics found_;
  LibraryLoader loader_{sources_, found_, {AXON_SOURCE_DIR "/stdlib"}};
  const syntax::File file_;
  source::Paths paths_;
  Modules modules_;
  const Module& own_;
  const Options options_;
  shape::Arena arena_;
  std::map<DeclId, std::unique_ptr<Interface>> interfaces_;
};

/// Two texts of a declaration f, which stands at the same place in both.
struct Texts {
  const char* what;
  std::string one, other;
};

const Texts seen[] = {
    {"element type", "fun f (x : f32[n]) = x", "fun f (x : f64[n]) = x"},
    {"size", "fun f (x : f32[2*n]) = x", "fun f (x : f32[3*n]) = x"},
    {"rank", "fun f (x : f32[n]) = x", "fun f (x : f32[n, n]) = x"},
    {"name of a size", "fun f (x : f32[n]) = x", "fun f (x : f32[m]) = x"},
    {"name of a shape", "fun f (x : f32[..s]) = x", "fun f (x : f32[..t]) = x"},
    {"name of a type", "fun f (x : 's[n]) = x", "fun f (x : 't[n]) = x"},
    {"where it is stated", "fun f (x : f32[n]) = x", "fun f (x :  f32[n]) = x"},
    {"class of elements", "fun f (x : 't[n]) where 't : float = 1", "fun f (x : 't[n]) where 't : num = 1"},
    {"field", "fun f (x : f32[n]) = {a = x}", "fun f (x : f32[n]) = {b = x}"},
    {"place of a field", "fun f (x : f32[n]) = {a = x}", "fun f (x : f32[n]) = { a = x}"},
    {"other fields", "fun f p = sum p.a", "fun f (p : {a : f32[n]}) = sum p.a"},
    {"declared type", "fun f (x : A) = x\ntype A = f32[3]\ntype B = f32[3]",
     "fun f (x : B) = x\ntype A = f32[3]\ntype B = f32[3]"},
    {"argument of a declared type", "fun f (x : A[2]) = 1\ntype A[n] = f32[3]",
     "fun f (x : A[4]) = 1\ntype A[n] = f32[3]"},
    {"layout", "fun f (x : f32[8] @ S[8]) = x", "fun f (x : f32[8] @ S[4]) = x"},
    {"value", "val f = 3", "val f = 4"},
    {"values of elements", "val f = [3, 4]", "val f = [3, 5]"},
    {"range of elements", "val f = for (i < 3) => i", "val f = for (i < 3) => i % 2"},
    {"condition", "fun f (x : f32[n]) where 1 <= n = 1", "fun f (x : f32[n]) where 2 <= n = 1"},
    {"broadcast", "fun f (x : f32[..a]) (y : f32[n, m]) where ..a into [n, m] = 1",
     "fun f (x : f32[..a]) (y : f32[n, m]) where ..a into [m, n] = 1"},
    {"size of the data", "val f : bool[n] -> ?k <= n. i64[k]\nfun f x = nonzero x",
     "val f : bool[n] -> ?j <= n. i64[j]\nfun f x = nonzero x"},
    {"bound of one", "val f : bool[n] -> ?k <= n. i64[k]\nfun f x = nonzero x",
     "val f : bool[n] -> ?k <= 2*n. i64[k]\nfun f x = nonzero x"},
    {"what evaluation checks", "fun f (x : f32[n]) (k : i64) = x[k]",
     "fun f (x : f32[n]) (k : i64) where 0 <= k, k < n = x[k]"},
    {"given up", "fun f (x : f32[n]) = x with [0] = 1.0", "fun f (x : *f32[n]) = x with [0] = 1.0"},
    {"weights", "entry f (x : f32[n]) = sum x", "entry f (x : weights f32[n]) = sum x"},
    {"declared sizes", "fun f[h, k] (x : f32[h, k]) = 1", "fun f[k, h] (x : f32[h, k]) = 1"},
    {"kind", "fun   f (x : f32[n]) = sum x", "entry f (x : f32[n]) = sum x"},
    {"what it is a view of", "fun f (x : f32[n]) (y : f32[n]) = (x, y)",
     "fun f (x : f32[n]) (y : f32[n]) = (y, x)"},
    {"error", "fun f (x : f32[n]) : f32[n] = x", "fun f (x : f32[n]) : f32[n] = true"},
    {"error in a name", "fun f (x : f32[n]) : f32[n] = true", "fun f (x : f32[n]) : f32[n] = y"},
};

const Texts not_seen[] = {
    {"body", "fun f (x : f32[n]) = x + 1.0", "fun f (x : f32[n]) = exp (x * 2.0)"},
    {"names inside", "fun f (x : f32[n]) = let y = x in y", "fun f (x : f32[n]) = let z = x in z"},
    {"documentation", "--| one\nfun f (x : f32[n]) = x", "--| two\nfun f (x : f32[n]) = x"},
    {"other declarations", "fun f (x : f32[n]) = x",
     "fun f (x : f32[n]) = x\ntype A = f32[3]\nfun g x = f x"},
    {"what it uses", "fun f (x : f32[n]) = g x\nfun g (x : f32[n]) = x + 1.0",
     "fun f (x : f32[n]) = g x\nfun g (x : f32[m]) = x + 2.0"},
};

std::string fingerprint(const std::string& text) { return Elaborated(text + "\n").fingerprint("f"); }

TEST(Fingerprint, ChangesWithWhatUsersSee) {
  for (const Texts& t : seen) EXPECT_NE(fingerprint(t.one), fingerprint(t.other)) << t.what;
}

TEST(Fingerprint, StaysWithWhatTheyDoNot) {
  for (const Texts& t : not_seen) EXPECT_EQ(fingerprint(t.one), fingerprint(t.other)) << t.what;
}

TEST(Interface, IsGivenAsItWasTaken) {
  for (const Texts& t : seen)
    for (const std::string& text : {t.one, t.other}) Elaborated(text + "\n").expect_same_when_given();
  size_t programs = 0;
  for (const char* folder : {"stdlib", "examples"})
    for (const auto& entry :
         std::filesystem::recursive_directory_iterator(std::filesystem::path(AXON_SOURCE_DIR) / folder))
      if (entry.path().extension() == ".axn" && programs++ % one_of == 0)
        Elaborated(read(entry.path().string()), entry.path().string()).expect_same_when_given();
}

}  // namespace
}  // namespace axon::core
