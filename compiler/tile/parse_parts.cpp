// See parse_parts.h.
#include "tile/parse_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>

#include "tile/pointwise.h"

namespace axon::tile {

Dim PartsReader::size() {
  const Dim out = dim();
  if (shape::too_complex(out)) fail("this expression is too large");
  return out;
}

std::vector<Fact> PartsReader::conditions() {
  std::vector<Fact> out = facts();
  for (const Fact& f : out)
    if (shape::too_complex(f.lhs) || shape::too_complex(f.rhs)) fail("this expression is too large");
  return out;
}

Box PartsReader::box(size_t rank) {
  Box out;
  expect("[");
  list("]", [&] {
    const Dim low = size();
    expect(":");
    out.push_back({low, size()});
  });
  require(failed() || out.size() == rank, "one interval per axis is expected");
  return out;
}

Elem PartsReader::elem() {
  const auto found = base::elem_from_name(name());
  if (!found) fail("an element type is expected");
  return found.value_or(Elem::f32);
}

std::string PartsReader::fresh_name(const char* what) {
  std::string out = name();
  if (knows(out) || tensors_.contains(out) || tiles_.contains(out))
    fail(fmt::format("`{}` is declared twice; a {} needs a name of its own", out, what));
  return out;
}

Use PartsReader::use() {
  Use out;
  out.tile = known(tiles_, "tile");
  expect("[");
  if (failed()) return out;
  const Tile& of = tile(out);
  list("]", [&] {
    const std::string word = name();
    if (failed()) return;
    const auto found = labels_.find(word);
    if (out.labels.size() == of.shape.size()) return fail("the tile has fewer axes");
    const int64_t extent = of.shape[out.labels.size()];
    if (found != labels_.end()) {
      if (found->second.second != extent)
        return fail(fmt::format("`{}` is an axis of {} and of {}", word, found->second.second, extent));
      if (has(out, found->second.first)) return fail(fmt::format("`{}` names two axes of one tile", word));
      out.labels.push_back(found->second.first);
    } else {
      const std::string fresh = knows(word) || tensors_.contains(word) || tiles_.contains(word) ? "" : word;
      if (fresh.empty()) return fail(fmt::format("`{}` is no label: something else is called so", word));
      const Var v = declare(word, shape::fresh_var(word));
      labels_[word] = {v, extent};
      out.labels.push_back(v);
    }
  });
  require(failed() || out.labels.size() == of.shape.size(), "one label per axis is expected");
  return out;
}

Use PartsReader::use_of_known() {
  const size_t before = labels_.size();
  Use out = use();
  require(failed() || labels_.size() == before, "a label is used that the operation does not have");
  return out;
}

Var PartsReader::label() {
  const auto found = labels_.find(name());
  if (found == labels_.end()) return fail("this is no label"), Var();
  return found->second.first;
}

Index PartsReader::index() {
  Index out;
  std::string word;
  if (next_is_name(word) && tiles_.contains(word)) {
    out.table = use_of_known();
    if (!failed()) require(base::is_integer(tile(*out.table).elem), "an index tile has integers");
    if (accept("+")) out.dim = size();
  } else {
    out.dim = size();
  }
  return out;
}

Access PartsReader::access() {
  Access out;
  std::string word;
  size_t rank = 0;
  if (next_is_name(word) && tensors_.contains(word)) {
    out.tensor = known(tensors_, "tensor");
    rank = program_.tensors[out.tensor].shape.size();
  } else {
    out.tile = known(tiles_, "tensor or tile");
    if (!failed()) rank = program_.tiles[out.tile].shape.size();
  }
  expect("[");
  list("]", [&] { out.at.push_back(index()); });
  require(failed() || out.at.size() == rank, "one index per axis is expected");
  if (accept("in")) expect("runs"), out.in_runs = true;
  return out;
}

Bounds PartsReader::bounds(Elem elem) {
  Bounds out;
  if (accept("if")) out.facts = conditions();
  if (accept("fill")) out.fill = literal_of(elem);
  return out;
}

Number PartsReader::literal_of(Elem elem) {
  const std::string text = literal();
  Number out;
  const char* end = text.data() + text.size();
  if (base::is_float(elem)) {
    char* read = nullptr;
    out.real = std::strtod(text.c_str(), &read);
    if (read != text.c_str() + text.size() || text.empty() || text.find('x') != std::string::npos)
      fail("a number is expected");
    out = cast(out, elem, elem);
  } else {
    const auto [read, error] = std::from_chars(text.data(), end, out.integer);
    if (error != std::errc() || read != end) fail("an integer is expected");
    if (cast(out, elem, elem).integer != out.integer)
      fail(fmt::format("{} has no number `{}`", base::elem_name(elem), text));
  }
  return out;
}

Pointwise PartsReader::monoid(Elem) {
  const auto found = find_op(name());
  if (!found || !is_monoid(*found)) fail("add, mul, min, max, and or or is expected");
  return found.value_or(Pointwise::add);
}

bool PartsReader::has(const Use& use, Var v) const {
  return std::find(use.labels.begin(), use.labels.end(), v) != use.labels.end();
}
bool PartsReader::all_in(const Use& part, const Use& whole) const {
  return std::all_of(part.labels.begin(), part.labels.end(), [&](Var v) { return has(whole, v); });
}

void PartsReader::define(const Use& use) {
  if (failed()) return;
  const Space space = tile(use).space;
  require(space == Space::registers || space == Space::scratch,
          "an operation writes a tile in registers or in scratch");
}

}  // namespace axon::tile
