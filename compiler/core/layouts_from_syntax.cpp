// Layouts of the syntax tree to the core: what `layout` and `mesh` declare, and what is written after `@` in
// a type.
//
// `S` (shards) and `R` (replicas) are given; other names are declared layouts. Axes are those of the machine
// and of the meshes that the file declares; an axis that is left out is memory. A type with a layout that
// means nothing for its tensor (layouts.h) is refused here.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <utility>

#include "core/layouts.h"
#include "core/type_lowering.h"

namespace axon::core {

using source::Code;
using source::error;
using source::Span;
namespace stx = axon::syntax;

/// The declared layout of that name; reports a name that nothing declares, and a wrong number of sizes.
/// Invalid after an error, and of `S` and `R`.
GlobalId TypeLowering::find_layout(const stx::Name& name, bool mapped, size_t given) {
  if (name.text == "S" || name.text == "R") return {};
  const DeclId found = e_.lookups.find(*module_, DeclKey::Space::layouts, name.text);
  if (!found.valid()) {
    std::vector<std::string> known = e_.lookups.names(*module_, DeclKey::Space::layouts);
    known.insert(known.begin(), {"S", "R"});
    auto d = error(Code::E0410, name.span, fmt::format("no layout is called `{}`", name.text));
    if (auto other = nearest(name.text, known))
      d.help(fmt::format("a similar name is `{}`", *other),
             source::Edit{name.span, *other, source::Applicability::maybe});
    report(std::move(d));
    return {};
  }
  note(Use::Kind::layout, name.span, found);
  const GlobalId layout = e_.global(found);
  const auto* declared = stx::as<stx::LayoutDecl>(*e_.infos[layout.index].written);
  if (!declared) return not_read(), GlobalId{};
  if (mapped || declared->params.size() != given) {
    report(error(Code::E0318, name.span,
                 counts_differ(name.text, "parameter", declared->params.size(),
                               mapped ? "strides" : std::to_string(given)))
               .also(p_.globals[layout].span, "declared here"));
    return {};
  }
  auto& uses = e_.infos[g_.index].uses;
  if (std::find(uses.begin(), uses.end(), layout) == uses.end()) uses.push_back(layout);
  return layout;
}

/// What is declared, with the sizes in place of its parameters: lowered anew in a scope of its own. Of one
/// that contains itself, which is reported where it is declared, nothing.
std::vector<LayoutPart> TypeLowering::meaning_of(GlobalId g, const std::vector<LayoutSpot>& sizes) {
  if (std::find(open_aliases_.begin(), open_aliases_.end(), g) != open_aliases_.end()) {
    not_read();
    return {};
  }
  const DeclInfo& info = e_.infos[g.index];
  const auto& decl = *stx::as<stx::LayoutDecl>(*info.written);
  std::vector<ScopeEntry> scope;
  for (size_t i = 0; i < sizes.size(); ++i)
    scope.push_back(
        {decl.params[i].name.text, {}, sizes[i].size, ScopeEntry::Seen::anywhere, decl.params[i].name.span});
  scope_.swap(scope);
  open_aliases_.push_back(g);
  const stx::File* const file = std::exchange(file_, info.written.file);
  Module* const module = std::exchange(module_, info.module);
  const Unbound unbound = std::exchange(unbound_, Unbound::refuse);
  std::vector<LayoutPart> out = layout(decl.layout);
  unbound_ = unbound;
  module_ = module;
  file_ = file;
  open_aliases_.pop_back();
  scope_.swap(scope);
  return out;
}

void TypeLowering::check_layout_axis(const stx::Name& axis) {
  const layout::Axes machine;
  if (machine.find(axis.text)) return;
  if (e_.lookups.has_mesh_axis(*module_, axis.text)) return note(Use::Kind::mesh, axis.span, Span{});
  std::vector<std::string> known = e_.lookups.mesh_axes(*module_);
  known.insert(known.begin(), {"gpu", "node", "m"});
  auto d = error(Code::E0410, axis.span, fmt::format("no mesh has an axis `{}`", axis.text));
  if (auto other = nearest(axis.text, known))
    d.help(fmt::format("a similar name is `{}`", *other),
           source::Edit{axis.span, *other, source::Applicability::maybe});
  report(std::move(d));
}

/// `strides`: what becomes of a name there that names no size yet.
LayoutPart TypeLowering::layout_part(const stx::LayoutPart& written, Unbound strides) {
  auto spots = [&](const std::vector<stx::Spot>& list) {
    std::vector<LayoutSpot> out;
    for (const stx::Spot& s : list) {
      if (s.axis) check_layout_axis(*s.axis);
      out.push_back({dim(s.size), s.axis ? s.axis->text : std::string()});
    }
    return out;
  };
  LayoutPart part;
  const auto named = [&](const stx::NameLayout& n) {
    part.name = n.name.text;
    part.from = spots(n.spots);
    const GlobalId declared = find_layout(n.name, false, n.spots.size());
    if (declared.valid()) part.meaning = meaning_of(declared, part.from);
  };
  const auto mapped = [&](const stx::MapLayout& m) {
    part.kind = LayoutPart::Kind::map;
    part.name = m.name.text;
    find_layout(m.name, true, 0);
    if (m.from.size() != m.to.size())
      report(error(Code::E0318, m.name.span,
                   fmt::format("{} extents have {} strides", m.from.size(), m.to.size())));
    part.from = spots(m.from);
    const Unbound unbound = std::exchange(unbound_, strides);
    part.to = spots(m.to);
    unbound_ = unbound;
  };
  const auto offset = [&](const stx::OffsetLayout& o) {
    part.kind = LayoutPart::Kind::offset;
    check_layout_axis(o.axis);
    part.from = {{dim(o.amount), o.axis.text}};
  };
  std::visit(stx::Overloaded{named, mapped, offset}, written);
  return part;
}

/// Sizes in it are sizes of the type. Only a stride of an argument may name a new one: the memory of each
/// call says what that is.
std::vector<LayoutPart> TypeLowering::layout(stx::LayoutId id) {
  const Unbound strides = entry_ && top_level_ ? unbound_ : Unbound::refuse;
  const Unbound unbound = std::exchange(unbound_, Unbound::refuse);
  std::vector<LayoutPart> out;
  for (const stx::LayoutPart& written : file().layouts[id].parts)
    out.push_back(layout_part(written, strides));
  unbound_ = unbound;
  return out;
}

TypeId TypeLowering::placed_type(const stx::PlacedType& p, stx::TypeId id) {
  if (may_be_weights_.count({file_, id})) may_be_weights_.insert({file_, p.type});
  const size_t errors = e_.diagnostics->error_count();
  Type placed = e_.vars[type(p.type)];
  placed.layout = layout(p.layout);
  placed.alias.places = false;
  if (e_.diagnostics->error_count() == errors && !e_.infos[g_.index].not_read)
    check_placed(placed, file().layouts[p.layout].span);
  return e_.vars.add(std::move(placed));
}

void TypeLowering::check_placed(const Type& placed, Span at) {
  const auto refuse = [&](std::string why) {
    why[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(why[0])));
    report(error(Code::E0332, at).text(why + "."));
  };
  if (placed.kind == Type::Kind::error) return;
  if (placed.kind != Type::Kind::tensor || !known_rank(placed.shape))
    return refuse("a layout is of one tensor, all axes of which are written");
  layout::Shape shape;
  for (const ShapeItem& item : placed.shape) shape.push_back(item.dim);
  layout::Axes axes;
  for (const auto& [mesh, devices] : e_.lookups.meshes(*module_)) axes.add_mesh(mesh, devices);
  const auto meant = layout_of(placed.layout);
  if (!meant) return refuse(meant.why());
  if (auto why = why_misfit(*meant, shape, axes)) refuse(std::move(*why));
}

}  // namespace axon::core
