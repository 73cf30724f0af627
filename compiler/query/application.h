// What a place of a text that is being written is an argument of.
//
// In: a text and a place in it; the text need not be a program, neither before the place nor behind it. Out:
// the applications and records around the place, with the position that it has in each. Invariants: only
// tokens are looked at, so the answer is the same for broken text; what binds names, such as `sum k =>`, is
// no application.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace axon::query {

/// One of several expressions beside each other: `f`, `p.w`, `x[i]`, `(a + b)`.
struct Operand {
  uint32_t begin = 0, end = 0;    ///< in the whole text
  std::vector<std::string> path;  ///< of names with points between them, and what stands in brackets behind
  std::vector<Operand> inside;    ///< of `(f x)`, which is an application and nothing else, f and x
  bool binder = false;            ///< it may stand before `=>`: a name, or `(i < n)`
};

struct Application {
  enum class Kind : uint8_t {
    call,   ///< `f x y`, and `x |> f`
    sizes,  ///< `f[8, 64]`
    record  ///< `{w = e}`
  } kind = Kind::call;
  Operand head;                  ///< what is applied; of a record nothing
  size_t argument = 0;           ///< the position of the place among the arguments or sizes, from 0
  bool piped = false;            ///< an argument is to the left of `|>`
  bool is_argument = false;      ///< of a record, one of the application that comes next
  std::vector<std::string> set;  ///< of a record, the fields that are written `w =`
  std::string field;  ///< of a record, the one whose value is at the place, or what is typed of its name
};

/// The innermost first.
std::vector<Application> applications_at(std::string_view text, uint32_t offset);

}  // namespace axon::query
