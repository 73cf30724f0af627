// Evaluation needs no inference: whatever size an expression mentions is a size of the scheme, an index, or
// opened by an expression or a name of the declaration; whatever shape a rank binder ranges over is over
// variables that an occurrence instantiates.
#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "harness.h"

namespace axon::core {
namespace {

class Declaration {
 public:
  Declaration(const Program& p, const Global& g) : p_(p) {
    know(g.scheme);
    for (const auto& [name, v] : g.sizes) dims_.insert(v.id);
    for (const Pattern& param : g.params) bind(param);
    walk(g.body);
  }
  /// What is mentioned and not known, with the place.
  std::string missing(const source::SourceManager& sources) {
    std::string out;
    for (const auto& [id, at] : used_dims_)
      if (!dims_.count(id)) out += "size at " + std::string(sources.text(at)) + "\n";
    for (const auto& [id, at] : used_shapes_)
      if (!shapes_.count(id)) out += "shape at " + std::string(sources.text(at)) + "\n";
    return out;
  }
  size_t opened() const { return opened_; }
  size_t ranks() const { return ranks_; }

 private:
  void know(const Scheme& s) {
    for (shape::Var v : s.dims) dims_.insert(v.id);
    for (ShapeVarId v : s.shapes) shapes_.insert(v.index);
  }
  void open(const std::vector<OpenedSize>& opens) {
    opened_ += opens.size();
    for (const OpenedSize& o : opens) dims_.insert(o.size.id);
  }
  void bind(LocalId id) {
    const Local& l = p_.locals[id];
    know(l.scheme);
    open(l.opens);
    const auto value = l.type.valid() ? p_.types.types[l.type].value : std::nullopt;
    if (l.kind == Local::Kind::index && value) dims_.insert(value->as_var()->id);
  }
  /// An integer of an argument of a function that is a value is what it is called with.
  void bind_argument(TypeId id) {
    const Type& t = p_.types.types[id];
    if (const auto v = t.value ? t.value->as_var() : std::nullopt) dims_.insert(v->id);
    for (TypeId item : t.items) bind_argument(item);
  }
  void bind(const Pattern& p) {
    if (p.local.valid()) bind(p.local);
    for (const Pattern& item : p.items) bind(item);
  }
  void use(const shape::Dim& d, source::Span at) {
    for (shape::Var v : d.vars()) used_dims_.emplace(v.id, at);
  }
  void use(const Shape& s, source::Span at, bool variables) {
    for (const ShapeItem& item : s) {
      if (item.kind == ShapeItem::Kind::dim) use(item.dim, at);
      if (!variables) continue;
      if (item.kind == ShapeItem::Kind::var) used_shapes_.emplace(item.var.index, at);
      for (ShapeVarId v : item.join) used_shapes_.emplace(v.index, at);
    }
  }
  void use(TypeId id, source::Span at) {
    const Type& t = p_.types.types[id];
    if (t.kind == Type::Kind::function) return;  // its parameters are of each call
    use(t.shape, at, false);
    if (t.kind == Type::Kind::stack) use(t.count, at);
    for (TypeId item : t.items) use(item, at);
  }
  void walk(ExprId id) {
    if (!id.valid()) return;
    const Expr& e = p_.exprs[id];
    open(e.opens);
    for (const Pattern& p : e.params) {
      bind(p);
      if (e.kind == Expr::Kind::lambda && p.local.valid()) bind_argument(p_.locals[p.local].type);
    }
    for (const Binder& b : e.binders) {
      bind(b.local);
      walk(b.bound);
      if (b.range) use(*b.range, e.span);
      ranks_ += p_.locals[b.local].kind == Local::Kind::rank;
      for (const Shape& s : b.joined) use(s, e.span, true);
    }
    use(e.type, e.span);
    for (const auto& [v, d] : e.instantiation) use(d, e.span);
    for (const auto& [v, s] : e.shapes) use(s, e.span, false);
    for (const OpenedSize& o : e.opens) use(o.number, e.span);
    for (ExprId a : e.args) walk(a);
    for (const IndexItem& i : e.indices)
      for (ExprId part : {i.point, i.start, i.stop, i.step}) walk(part);
  }

  const Program& p_;
  std::set<uint32_t> dims_, shapes_;
  std::map<uint32_t, source::Span> used_dims_, used_shapes_;
  size_t opened_ = 0, ranks_ = 0;
};

TEST(Opens, EverySizeIsFoundWhereItIsMentioned) {
  std::vector<std::string> files;
  for (const char* folder :
       {"/tests/core/types", "/tests/core/entries", "/examples", "/stdlib", "/stdlib/prelude"})
    for (const std::string& file : files_in(std::string(AXON_SOURCE_DIR) + folder, ".axn"))
      files.push_back(file);
  size_t opened = 0, ranks = 0;
  for (const std::string& file : files) {
    const Checked c = check_path(file, {});
    for (GlobalId id : c.program.own) {
      const Global& g = c.program.globals[id];
      if (!g.body.valid() || g.has_error) continue;
      Declaration d(c.program, g);
      EXPECT_EQ(d.missing(*c.sources), "") << g.name << " of " << file;
      opened += d.opened();
      ranks += d.ranks();
    }
  }
  EXPECT_GT(opened, 20u);
  EXPECT_GT(ranks, 5u);
}

}  // namespace
}  // namespace axon::core
