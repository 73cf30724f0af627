// See meet_layouts.h.
#include "core/meet_layouts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "core/layouts.h"
#include "layout/canonical.h"
#include "layout/convert.h"
#include "layout/evaluate.h"

namespace axon::core {

using layout::Layout;
using shape::Dim;
using shape::Fact;
using source::Code;
using source::error;

void MetLayouts::add(TypeId parameter, TypeId argument, Meeting meeting) {
  vars_.work();
  const Type p = vars_[vars_.head(parameter)], a = vars_[vars_.head(argument)];
  if (p.kind != a.kind) return;
  if (p.kind == Type::Kind::tensor && !p.layout.empty() && !a.layout.empty()) {
    meeting.parameter = p;
    meeting.argument = a;
    meetings_[meeting.expr.index].push_back(meeting);
  }
  if (p.kind != Type::Kind::tuple && p.kind != Type::Kind::record && p.kind != Type::Kind::stack) return;
  meeting.is_part = true;
  for (size_t i = 0; i < p.items.size(); ++i) {
    const auto field = std::find(a.fields.begin(), a.fields.end(), p.fields.empty() ? "" : p.fields[i]);
    const size_t k = p.fields.empty() ? i : static_cast<size_t>(field - a.fields.begin());
    if (k < a.items.size()) add(p.items[i], a.items[k], meeting);
  }
}

void MetLayouts::check() {
  for (const auto& [expr, all] : meetings_)
    for (const Meeting& one : all) check(one);
}

/// What is known of the sizes of both.
std::vector<Fact> MetLayouts::facts(const Layout& a, const Layout& b) const {
  Dim all;
  for (const Layout* layout : {&a, &b})
    for (const auto* iters : {&layout->shards, &layout->replicas})
      for (const layout::Iter& iter : *iters) {
        std::vector<shape::Var> vars = iter.extent.vars();
        iter.stride.collect_vars(vars);
        for (const shape::Var v : vars) all = all + Dim(v);
      }
  return solver_.facts_for(shape::at_least(all, 0), {});
}

void MetLayouts::check(const Meeting& meeting) {
  const auto known = [&](Type t) {
    Vars::each_size(t, [&](const Dim& d) { return vars_.zonk(d); });
    return layout_of(t.layout);
  };
  const auto wanted = known(meeting.parameter), found = known(meeting.argument);
  if (!wanted || !found || layout::size(*wanted) != layout::size(*found)) return;  // is an error elsewhere
  const std::vector<Fact> facts = this->facts(*wanted, *found);
  if (layout::same(*found, *wanted, facts) != true) report(meeting, *wanted, *found, facts);
}

namespace {

std::string place(const Layout& layout, int64_t index) {
  std::vector<std::string> points;
  for (const layout::Point& point : layout::points(layout, index)) {
    std::string one;
    for (const auto& [axis, at] : point)
      one += fmt::format("{}{} {}", one.empty() ? "" : ", ", axis.name, at);
    points.push_back(one);
  }
  constexpr size_t most = 4;
  if (points.size() > most) points.resize(most), points.emplace_back("...");
  return fmt::format("{}", fmt::join(points, " and "));
}

/// What moves on each axis: `all-gather on x, all-to-all on m`; empty where that is not decided.
std::string movement(const Layout& from, const Layout& to, const layout::Axes& axes,
                     const std::vector<Fact>& facts) {
  const auto conversion = layout::conversion(from, to, {}, facts, axes);
  if (!conversion) return "";
  std::vector<std::string> parts;
  for (const auto& [axis, moves] : conversion->axes)
    if (moves == layout::Movement::within_thread)
      parts.emplace_back("a copy to other places in memory");
    else if (moves != layout::Movement::same)
      parts.push_back(fmt::format("{} on `{}`", layout::name(moves), axis.name));
  return parts.empty() ? "nothing moves" : fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace

void MetLayouts::report(const Meeting& m, const Layout& wanted, const Layout& found,
                        const std::vector<Fact>& facts) {
  layout::Shape shape;
  for (const ShapeItem& item : vars_.zonk(m.argument.shape)) shape.push_back(item.dim);
  layout::Axes axes;
  for (const auto& [mesh, devices] : e_.lookups.meshes(*e_.infos[g_.index].module))
    axes.add_mesh(mesh, devices);
  const std::string subject = reporter_.describe(m.expr);
  auto d = error(Code::E0333, p_.exprs[m.expr].span);
  d.label(fmt::format("{}{} is {}", m.is_part ? "a part of " : "", subject,
                      reporter_.show(vars_.add(m.argument))))
      .text(fmt::format("{} {} is {}.", m.is_part ? "That part of parameter" : "Parameter", m.words,
                        reporter_.show(vars_.add(m.parameter))));
  const auto differ = find_difference(found, wanted, shape, facts);
  std::string moves = movement(found, wanted, axes, facts);
  if (differ) {
    std::vector<std::string> sizes;
    for (const auto& [v, value] : differ->sizes)
      sizes.push_back(fmt::format("{} = {}", reporter_.names().of(v), value));
    d.note(fmt::format("{}element [{}] is the first that they place differently: at {}, and at {}",
                       sizes.empty() ? "" : fmt::format("for {} ", fmt::join(sizes, ", ")),
                       fmt::join(differ->element, ", "), place(differ->first, differ->index),
                       place(differ->second, differ->index)));
    if (moves.empty()) moves = movement(differ->first, differ->second, axes, {});
  } else {
    d.note("it is not known that they place every element alike");
  }
  if (!moves.empty()) d.note("the conversion: " + moves);
  if (!m.is_part)
    d.help(fmt::format("state the conversion: `let y : {} = {} in`, and pass y",
                       reporter_.show(vars_.add(m.parameter)), e_.sources.text(p_.exprs[m.expr].span)));
  reporter_.report(std::move(d));
}

}  // namespace axon::core
