// See words.h.
#include "repl/words.h"

#include <fmt/format.h>

#include <map>

#include "base/elem.h"

namespace axon::repl {

namespace {

struct Meaning {
  const char *form, *text;
};

const std::map<std::string, Meaning>& meanings() {
  static const std::map<std::string, Meaning> all = {
      {"fun", {"fun f x = e", "declares a function"}},
      {"entry", {"entry f (x : t) = e", "declares what a host program can call"}},
      {"val", {"val x = e, or val x : t", "declares a value, or states the type of what follows"}},
      {"type", {"type T[n] = t", "names a type"}},
      {"prim", {"prim f : t", "declares what the compiler provides; only in the library"}},
      {"import", {"import m, or import \"file.axn\" as m", "makes what a module declares `m.name`"}},
      {"private", {"private fun f x = e", "hides a declaration from other files"}},
      {"test", {"test \"title\" = e", "a bool that has to be true"}},
      {"layout", {"layout l[n] = ...", "names a layout of elements"}},
      {"mesh", {"mesh m = { x = 4 }", "names a set of devices"}},
      {"as", {"import \"file.axn\" as m", "the name of an import"}},
      {"where", {"fun f (x : [n]) where n % 2 == 0 = e", "states conditions that a caller has to satisfy"}},
      {"let", {"let x = a in e", "names a value in e"}},
      {"in", {"let x = a in e", "ends the names of a `let`"}},
      {"if", {"if c then a else b", "chooses one of two values by one condition"}},
      {"then", {"if c then a else b", "the value where the condition holds"}},
      {"else",
       {"if c then a else b, or x[i else 0.0]",
        "the value where the condition does not hold, or outside of a tensor"}},
      {"for", {"for i => e, or for (i < n) => e", "a tensor of the values of e for each i"}},
      {"fn", {"fn x => e", "a function without a name"}},
      {"with", {"a with [i] = v, or p with f = v", "the same with another element or field"}},
      {"true", {"true : bool", "the condition that holds"}},
      {"false", {"false : bool", "the condition that does not hold"}},
      {"|>", {"x |> f", "f x"}},
      {"&&", {"a && b", "whether both hold; both are evaluated"}},
      {"||", {"a || b", "whether one holds; both are evaluated"}},
      {":>", {"e :> t", "e, of which the type t is stated"}},
      {"->", {"a -> b", "the type of a function"}},
      {"=>", {"fn x => e", "stands before the body of `fn`, `for` and reductions"}},
      {"..", {"[..s, n]", "any number of axes, or the other fields of a record"}},
      {"_", {"fun f _ = e", "what needs no name"}},
  };
  return all;
}

}  // namespace

std::string word_documentation(const std::string& word) {
  if (const auto found = meanings().find(word); found != meanings().end())
    return fmt::format("{}\n{}\n", found->second.form, found->second.text);
  if (const auto elem = base::elem_from_name(word))
    return fmt::format("type {}\nAn element type: {} byte{} for each element. `{} e` converts to it.\n", word,
                       base::elem_bytes(*elem), base::elem_bytes(*elem) == 1 ? "" : "s", word);
  return "";
}

}  // namespace axon::repl
