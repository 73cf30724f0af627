// See size_places.h.
#include "query/size_places.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <vector>

namespace axon::query {

using core::ShapeItem;
using core::Type;
using core::TypeId;

namespace {

constexpr size_t most_places = 4;  // that are named

/// Calls `look` with each part of the parameters' types that is a tensor, a stack or a number, and its name.
void for_each_leaf(const Typed& typed, const std::function<void(const Type&, const std::string&)>& look) {
  const core::Program& p = typed.program();
  const core::Global& g = typed.global();
  const std::function<void(TypeId, const std::string&)> walk = [&](TypeId id, const std::string& path) {
    const Type& t = p.types.types[id];
    switch (t.kind) {
      case Type::Kind::tensor:
        return look(t, path);
      case Type::Kind::stack:
        look(t, path);
        return walk(t.items[0], path);
      case Type::Kind::tuple:
        for (size_t i = 0; i < t.items.size(); ++i) walk(t.items[i], fmt::format("{}.{}", path, i));
        return;
      case Type::Kind::record:
        for (size_t i = 0; i < t.items.size(); ++i) walk(t.items[i], path + "." + t.fields[i]);
        return;
      case Type::Kind::function:
      case Type::Kind::var:
      case Type::Kind::string:
      case Type::Kind::error:
        return;
    }
  };
  if (!g.scheme.type.valid()) return;
  const Type& t = p.types.types[g.scheme.type];
  if (t.kind != Type::Kind::function) return;
  for (size_t i = 0; i + 1 < t.items.size() && i < g.params.size(); ++i)
    walk(t.items[i], core::parameter_path(p, g, i));
}

std::string joined(std::vector<std::string> places) {
  places.erase(std::unique(places.begin(), places.end()), places.end());
  const bool more = places.size() > most_places;
  if (more) places.resize(most_places);
  return fmt::format("{}{}", fmt::join(places, ", "), more ? ", ..." : "");
}

/// Counted from the end behind axes whose number is open.
long axis_number(const core::Shape& shape, size_t i) {
  const auto at = shape.begin() + static_cast<long>(i);
  const bool open =
      std::any_of(shape.begin(), at, [](const ShapeItem& s) { return s.kind != ShapeItem::Kind::dim; });
  return open ? at - shape.end() : at - shape.begin();
}

VariableText size_text(Typed& typed, shape::Var v, const std::string& name) {
  std::vector<std::string> places, products;
  for_each_leaf(typed, [&](const Type& t, const std::string& path) {
    if (t.kind == Type::Kind::stack && t.count.as_var() == v)
      places.push_back(fmt::format("the number of layers of `{}`", path));
    if (t.value && t.value->as_var() == v) places.push_back(fmt::format("the value of `{}`", path));
    for (size_t i = 0; i < t.shape.size(); ++i) {
      if (t.shape[i].kind != ShapeItem::Kind::dim || !t.shape[i].dim.contains(v)) continue;
      const std::string axis = fmt::format("axis {} of `{}`", axis_number(t.shape, i), path);
      if (t.shape[i].dim.as_var() == v)
        places.push_back(axis);
      else
        products.push_back(fmt::format("{} is `{}`", axis, typed.dim(t.shape[i].dim)));
    }
  });
  if (places.empty()) places = std::move(products);
  std::string facts;
  for (const core::Requirement& f : typed.global().scheme.where)
    if (f.lhs.contains(v) || f.rhs.contains(v)) facts += (facts.empty() ? "" : ", ") + typed.fact(f);
  return {declaration_text(name, "i64" + (facts.empty() ? "" : " where " + facts)),
          places.empty() ? "A size." : fmt::format("A size: {}.", joined(std::move(places)))};
}

VariableText shape_text(Typed& typed, core::ShapeVarId v, const std::string& name) {
  std::vector<std::string> places;
  for_each_leaf(typed, [&](const Type& t, const std::string& path) {
    for (const ShapeItem& item : t.shape)
      if (item.kind == ShapeItem::Kind::var && item.var == v) places.push_back(fmt::format("`{}`", path));
  });
  return {".." + name, places.empty() ? "Any number of axes."
                                      : fmt::format("Any number of axes: of {}.", joined(std::move(places)))};
}

VariableText element_text(Typed& typed, core::TypeVarId v, const std::string& name) {
  std::vector<std::string> places;
  for_each_leaf(typed, [&](const Type& t, const std::string& path) {
    if (t.kind == Type::Kind::tensor && !t.elem.elem && t.elem.var == v)
      places.push_back(fmt::format("`{}`", path));
  });
  const char* const cls = core::class_name(typed.program().types.vars[v].cls);
  return {fmt::format("'{}{}{}", name, cls ? " : " : "", cls ? cls : ""),
          places.empty() ? "An element type."
                         : fmt::format("The element type of {}.", joined(std::move(places)))};
}

}  // namespace

std::optional<VariableText> places_of_variable(Typed& typed, Kind kind, const std::string& name) {
  const shape::UseArena use(typed.arena());
  const core::Scheme& s = typed.global().scheme;
  if (kind == Kind::size)
    for (const shape::Var v : s.dims)
      if (typed.names().of(v) == name) return size_text(typed, v, name);
  if (kind == Kind::shape)
    for (const core::ShapeVarId v : s.shapes)
      if (typed.names().of(v) == name) return shape_text(typed, v, name);
  if (kind == Kind::element)
    for (const core::TypeVarId v : s.types)
      if (typed.names().of(v) == name) return element_text(typed, v, name);
  return std::nullopt;
}

}  // namespace axon::query
