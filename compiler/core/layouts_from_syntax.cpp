// Layouts of the syntax tree to the core: what `layout` and `mesh` declare, and what is written after `@` in
// a type.
//
// `S` (shards) and `R` (replicas) are given; other names are declared layouts. Axes are those of the machine
// and of the meshes that the file declares; an axis that is left out is memory. Sizes in a layout are sizes
// of the type.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "core/type_lowering.h"

namespace axon::core {

using source::Code;
using source::error;
using source::Span;
namespace stx = axon::syntax;

namespace {
constexpr std::array machine_axes = {"gpu", "node", "block", "warpgroup", "warp", "lane", "thread", "m"};
}

/// The declared layout of that name; reports a name that nothing declares, and a wrong number of sizes.
void TypeLowering::check_layout_name(const stx::Name& name, bool mapped, size_t given) {
  if (name.text == "S" || name.text == "R") return;
  const DeclId found = e_.lookups.find(*module_, DeclKey::Space::layouts, name.text);
  if (!found.valid()) {
    std::vector<std::string> known = e_.lookups.names(*module_, DeclKey::Space::layouts);
    known.insert(known.begin(), {"S", "R"});
    auto d = error(Code::E0410, name.span, fmt::format("no layout is called `{}`", name.text));
    if (auto other = nearest(name.text, known))
      d.help(fmt::format("a similar name is `{}`", *other),
             source::Edit{name.span, *other, source::Applicability::maybe});
    return report(std::move(d));
  }
  note(Use::Kind::layout, name.span, found);
  const GlobalId layout = e_.global(found);
  const auto* declared = stx::as<stx::LayoutDecl>(*e_.infos[layout.index].written);
  if (!declared) return not_read();
  if (mapped || declared->params.size() != given)
    report(error(Code::E0318, name.span,
                 counts_differ(name.text, "parameter", declared->params.size(),
                               mapped ? "strides" : std::to_string(given)))
               .also(p_.globals[layout].span, "declared here"));
  auto& uses = e_.infos[g_.index].uses;
  if (std::find(uses.begin(), uses.end(), layout) == uses.end()) uses.push_back(layout);
}

void TypeLowering::check_layout_axis(const stx::Name& axis) {
  if (std::find(machine_axes.begin(), machine_axes.end(), axis.text) != machine_axes.end()) return;
  if (e_.lookups.has_mesh_axis(*module_, axis.text)) return note(Use::Kind::mesh, axis.span, Span{});
  std::vector<std::string> known = e_.lookups.mesh_axes(*module_);
  known.insert(known.begin(), machine_axes.begin(), machine_axes.end());
  auto d = error(Code::E0410, axis.span, fmt::format("no mesh has an axis `{}`", axis.text));
  if (auto other = nearest(axis.text, known))
    d.help(fmt::format("a similar name is `{}`", *other),
           source::Edit{axis.span, *other, source::Applicability::maybe});
  report(std::move(d));
}

std::vector<LayoutPart> TypeLowering::layout(stx::LayoutId id) {
  const Unbound unbound = std::exchange(unbound_, Unbound::refuse);
  auto spots = [&](const std::vector<stx::Spot>& list) {
    std::vector<LayoutSpot> out;
    for (const stx::Spot& s : list) {
      if (s.axis) check_layout_axis(*s.axis);
      out.push_back({dim(s.size), s.axis ? s.axis->text : std::string()});
    }
    return out;
  };
  std::vector<LayoutPart> out;
  for (const stx::LayoutPart& written : file().layouts[id].parts) {
    LayoutPart part;
    std::visit(stx::Overloaded{
                   [&](const stx::NameLayout& n) {
                     part.name = n.name.text;
                     check_layout_name(n.name, false, n.spots.size());
                     part.from = spots(n.spots);
                   },
                   [&](const stx::MapLayout& m) {
                     part.kind = LayoutPart::Kind::map;
                     part.name = m.name.text;
                     check_layout_name(m.name, true, 0);
                     if (m.from.size() != m.to.size())
                       report(error(Code::E0318, m.name.span,
                                    fmt::format("{} extents have {} strides", m.from.size(), m.to.size())));
                     part.from = spots(m.from);
                     part.to = spots(m.to);
                   },
                   [&](const stx::OffsetLayout& o) {
                     part.kind = LayoutPart::Kind::offset;
                     check_layout_axis(o.axis);
                     part.from = {{dim(o.amount), o.axis.text}};
                   }},
               written);
    out.push_back(std::move(part));
  }
  unbound_ = unbound;
  return out;
}

}  // namespace axon::core
