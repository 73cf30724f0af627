// See why.h.
#include "query/why.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <set>

#include "query/hover.h"
#include "query/reading.h"
#include "query/size_places.h"
#include "query/typed.h"
#include "query/why_error.h"

namespace axon::query {

using core::Expr;
using core::ExprId;
using core::Type;
using core::TypeId;
using source::Span;
using Of = Expr::Kind;

namespace {

constexpr unsigned deepest = 4;        // parts of parts that are shown
constexpr size_t longest_quoted = 48;  // columns of an expression that is repeated
constexpr size_t most_constants = 4;   // of which is said where they are written

/// What types mention, in the order in which they do.
struct Mentioned {
  std::vector<shape::Var> sizes;
  std::vector<int64_t> constants;
  std::vector<core::ShapeVarId> shapes;
  std::vector<core::TypeVarId> elements;
};

template <class One>
void add(std::vector<One>& all, const One& one) {
  if (std::find(all.begin(), all.end(), one) == all.end()) all.push_back(one);
}

void collect(const core::TypeStore& types, TypeId id, Mentioned& out) {
  const Type& t = types.types[id];
  const auto size = [&](const shape::Dim& d) {
    for (const shape::Var v : d.vars()) add(out.sizes, v);
    if (const auto number = d.constant()) add(out.constants, *number);
  };
  for (const core::ShapeItem& item : t.shape) {
    if (item.kind == core::ShapeItem::Kind::dim) size(item.dim);
    if (item.kind == core::ShapeItem::Kind::var) add(out.shapes, item.var);
    for (const core::ShapeVarId v : item.join) add(out.shapes, v);
  }
  if (t.kind == Type::Kind::stack) size(t.count);
  if (t.kind == Type::Kind::tensor && !t.elem.elem && t.elem.var.valid()) add(out.elements, t.elem.var);
  for (const TypeId item : t.items) collect(types, item, out);
}

/// Says of the expressions of one declaration why they have their types.
class Derivation {
 public:
  Derivation(const session::Session& session, const Layer& layer)
      : sources_(session.sources()), layer_(layer), typed_(layer.record()), program_(typed_.program()) {}

  /// Of the smallest expression at the stretch; nothing where there is none with a type.
  std::vector<Step> run(Span part) {
    ExprId id = typed_.innermost(part);
    if (!id.valid()) return {};
    id = applied(bound_at(id, part));
    const shape::UseArena use(typed_.arena());
    expression(id, 0);
    origins(id);
    return std::move(steps_);
  }

 private:
  void step(Span span, unsigned depth, std::string text) {
    steps_.push_back({layer_.now(span).value_or(Span{}), one_line(text), depth});
  }
  /// What says more of the last step, without a place of its own.
  void because(unsigned depth, std::string text) { steps_.push_back({{}, one_line(text), depth}); }

  /// At `let` or at the name that it binds, what that stands for; of lets in a row, those of the nearest
  /// behind.
  ExprId bound_at(ExprId id, Span part) const {
    for (ExprId at = id; program_.exprs[at].kind == Of::let; at = program_.exprs[at].args[1]) {
      const ExprId value = program_.exprs[at].args[0];
      if (part.begin <= program_.exprs[value].span.begin) return value;
    }
    return id;
  }

  /// Of a function that is called, the call.
  ExprId applied(ExprId id) const {
    for (uint32_t i = 0; i < program_.exprs.size(); ++i) {
      const Expr& e = program_.exprs[ExprId{i}];
      if (e.kind == Of::apply && e.args[0] == id && typed_.is_known(e.type)) return ExprId{i};
    }
    return id;
  }

  std::string written(ExprId id) const {
    const auto now = layer_.now(program_.exprs[id].span);
    const std::string text = now ? one_line(sources_.text(*now)) : "";
    if (text.empty()) return "this";
    return source::display_width(text) <= longest_quoted ? fmt::format("`{}`", text)
                                                         : fmt::format("`{} ...`", cut(text));
  }
  /// Its beginning, up to a blank.
  static std::string cut(const std::string& text) {
    const size_t blank = text.rfind(' ', longest_quoted);
    return text.substr(0, blank == std::string::npos ? text.find(' ') : blank);
  }

  void expression(ExprId id, unsigned depth) {
    const Expr& e = program_.exprs[id];
    if (!typed_.is_known(e.type)) return;
    step(e.span, depth, fmt::format("{} : {}", written(id), typed_.type(e.type)));
    if (depth < deepest && seen_.insert(id.index).second) reason(e, depth + 1);
  }

  void reason(const Expr& e, unsigned depth) {
    switch (e.kind) {
      case Of::apply:
        return call(e, depth);
      case Of::local:
        return local(e, depth);
      case Of::global:
        return signature(e, depth);
      case Of::number:
        return because(depth, "a literal, of the type that it is written with or used as");
      case Of::boolean:
      case Of::string:
        return because(depth, "it is written so");
      case Of::size:
        return because(depth, fmt::format("the size `{}`", typed_.dim(e.dim)));
      case Of::for_:
        return comprehension(e, depth);
      case Of::let:
        because(depth, "the type of what stands behind `in`");
        return expression(e.args[1], depth);
      case Of::conditional:
        because(depth, "from both branches");
        expression(e.args[1], depth);
        return expression(e.args[2], depth);
      case Of::index:
        because(depth, "what the indices leave of the axes of");
        return expression(e.args[0], depth);
      case Of::rearrange:
        return rearranged(e, depth);
      case Of::lambda:
        return parts({e.args[0]}, depth);
      case Of::tuple:
      case Of::record:
      case Of::field:
      case Of::with_field:
      case Of::with_index:
      case Of::list:
      case Of::check_as:
      case Of::error:
        return parts(e.args, depth);
    }
  }

  void parts(const std::vector<ExprId>& all, unsigned depth) {
    for (const ExprId part : all)
      if (part.valid()) expression(part, depth);
  }

  void call(const Expr& e, unsigned depth) {
    const Expr& head = program_.exprs[e.args[0]];
    if (head.kind == Of::global || head.kind == Of::local)
      signature(head, depth);
    else
      expression(e.args[0], depth);
    for (size_t i = 1; i < e.args.size(); ++i) expression(e.args[i], depth);
  }

  /// The type that something was declared with, and what its variables stand for here.
  void signature(const Expr& head, unsigned depth) {
    const bool global = head.kind == Of::global;
    const core::Scheme& scheme =
        global ? program_.globals[head.global].scheme : program_.locals[head.local].scheme;
    const std::string& name = global ? program_.globals[head.global].name : program_.locals[head.local].name;
    if (!scheme.type.valid() || !typed_.is_known(scheme.type))
      return because(depth, fmt::format("by `{} : {}`", name, typed_.type(head.type)));
    core::Names names(program_.types);
    core::name_variables(program_.types, scheme, names);
    because(depth, fmt::format("by `{} : {}`", name, core::print(program_.types, scheme, names)));
    std::string with;
    const auto say = [&](const std::string& variable, const std::string& value) {
      with += fmt::format("{}{} = {}", with.empty() ? "with " : ", ", variable, value);
    };
    for (const auto& [v, dim] : head.instantiation) say(names.of(v), typed_.dim(dim));
    for (const auto& [v, s] : head.shapes) say(".." + names.of(v), typed_.shape(s));
    if (!with.empty()) because(depth, with);
  }

  void local(const Expr& e, unsigned depth) {
    const core::Local& l = program_.locals[e.local];
    if (l.kind == core::Local::Kind::index) return because(depth, "an index");
    for (const Expr& other : program_.exprs)
      if (other.kind == Of::let && binds(other.params[0], e.local)) {
        step(l.span, depth, fmt::format("`{}` is bound here", l.name));
        return expression(other.args[0], depth);
      }
    step(l.span, depth,
         fmt::format("`{}` is a parameter{}", l.name, stated(e.local) ? ", whose type is stated" : ""));
  }
  static bool binds(const core::Pattern& p, core::LocalId id) {
    return (p.kind == core::Pattern::Kind::name && p.local == id) ||
           std::any_of(p.items.begin(), p.items.end(),
                       [&](const core::Pattern& item) { return binds(item, id); });
  }
  bool stated(core::LocalId id) const {
    const auto& params = typed_.global().params;
    return std::any_of(params.begin(), params.end(),
                       [&](const core::Pattern& p) { return p.annotation && binds(p, id); });
  }

  void comprehension(const Expr& e, unsigned depth) {
    for (const core::Binder& b : e.binders) {
      const core::Local& l = program_.locals[b.local];
      if (b.range)
        step(l.span, depth,
             fmt::format("an axis for `{}`, which runs from 0 to below `{}`{}", l.name, typed_.dim(*b.range),
                         b.bound.valid() ? "" : ", by what it indexes"));
    }
    expression(e.args[0], depth);
  }

  void rearranged(const Expr& e, unsigned depth) {
    std::string with;
    for (const auto& [v, dim] : e.instantiation)
      with += fmt::format("{}{} = {}", with.empty() ? "with " : ", ", shape::var_name(v), typed_.dim(dim));
    if (!with.empty()) because(depth, with);
    parts(e.args, depth);
  }

  // ---- Where sizes, shapes and element types come from

  void origins(ExprId id) {
    Mentioned all;
    collect(program_.types, program_.exprs[id].type, all);
    for (const shape::Var v : all.sizes) size_origin(v);
    for (const core::ShapeVarId v : all.shapes)
      origin(Kind::shape, typed_.names().of(v), [&](const Type& t) {
        return std::any_of(t.shape.begin(), t.shape.end(),
                           [&](const core::ShapeItem& i) { return i.var == v; });
      });
    for (const core::TypeVarId v : all.elements)
      origin(Kind::element, typed_.names().of(v), [&](const Type& t) { return t.elem.var == v; });
    if (all.constants.size() > most_constants) all.constants.resize(most_constants);
    for (const int64_t number : all.constants) constant_origin(id, number);
  }

  /// Says of a variable of the declaration's type where its parameters show it; false where it is none.
  bool origin(Kind kind, const std::string& name, const std::function<bool(const Type&)>& shows) {
    const auto found = places_of_variable(typed_, kind, name);
    if (!found) return false;
    std::string text = found->text;
    if (!text.empty() && text.back() == '.') text.pop_back();
    const size_t where = found->code.find(" where ");
    const std::string facts = where == std::string::npos ? "" : ", with" + found->code.substr(where + 6);
    step(parameter_that(shows), 0, fmt::format("{} is {}{}", shown(kind, name), lower(text), facts));
    return true;
  }
  static std::string shown(Kind kind, const std::string& name) {
    return fmt::format("`{}{}`", kind == Kind::shape ? ".." : kind == Kind::element ? "'" : "", name);
  }
  static std::string lower(std::string text) {
    if (!text.empty() && 'A' <= text[0] && text[0] <= 'Z') text[0] = static_cast<char>(text[0] - 'A' + 'a');
    return text;
  }

  /// The first parameter in whose type a part does; not valid where none has one.
  Span parameter_that(const std::function<bool(const Type&)>& shows) const {
    const core::Global& g = typed_.global();
    const std::function<bool(TypeId)> has = [&](TypeId id) {
      const Type& t = program_.types.types[id];
      return shows(t) || std::any_of(t.items.begin(), t.items.end(), has);
    };
    const Type& f = program_.types.types[g.scheme.type];
    for (size_t i = 0; f.kind == Type::Kind::function && i + 1 < f.items.size() && i < g.params.size(); ++i)
      if (has(f.items[i])) return g.params[i].span;
    return {};
  }

  void size_origin(shape::Var v) {
    const std::string name = typed_.names().of(v);
    const auto shows = [&](const Type& t) {
      return t.count.contains(v) || (t.value && t.value->contains(v)) ||
             std::any_of(t.shape.begin(), t.shape.end(), [&](const core::ShapeItem& i) {
               return i.kind == core::ShapeItem::Kind::dim && i.dim.contains(v);
             });
    };
    if (origin(Kind::size, name, shows)) return;
    for (const Expr& e : program_.exprs)
      for (const core::OpenedSize& opened : e.opens)
        if (opened.size == v) return step(e.span, 0, opened_text(name, opened));
    for (const core::Local& l : program_.locals)
      for (const core::OpenedSize& opened : l.opens)
        if (opened.size == v) return step(l.span, 0, opened_text(name, opened));
  }
  std::string opened_text(const std::string& name, const core::OpenedSize& opened) {
    return fmt::format("`{}` is a size that the data decides{}", name,
                       opened.bound ? fmt::format(", at most `{}`", typed_.dim(*opened.bound)) : "");
  }

  /// A number in an expression, or in the type of a parameter.
  void constant_origin(ExprId id, int64_t number) {
    const std::string text = std::to_string(number);
    const Span whole = program_.exprs[id].span;
    for (const Expr& e : program_.exprs)
      if (e.kind == Of::number && e.text == text && e.span.file == whole.file &&
          whole.begin <= e.span.begin && e.span.end <= whole.end)
        return step(e.span, 0, fmt::format("{} is this number", text));
    const Span parameter = parameter_that([&](const Type& t) {
      return std::any_of(t.shape.begin(), t.shape.end(), [&](const core::ShapeItem& i) {
        return i.kind == core::ShapeItem::Kind::dim && i.dim.is(number);
      });
    });
    if (parameter.valid())
      step(parameter, 0, fmt::format("{} is a size in the type of this parameter", text));
  }

  const source::SourceManager& sources_;
  const Layer& layer_;
  Typed typed_;
  const core::Program& program_;
  std::vector<Step> steps_;
  std::set<uint32_t> seen_;
};

/// What is shown beside a name that is no part of an expression, as where it is bound.
std::vector<Step> of_a_name(const session::Session& session, const std::string& path, uint32_t offset) {
  const auto found = hover(session, path, offset);
  if (!found) return {};
  std::vector<Step> steps = {{found->span, one_line(found->code)}};
  const std::string_view text = found->text;
  if (const std::string first(text.substr(0, text.find('\n'))); !first.empty())
    steps.push_back({{}, first, 1});
  return steps;
}

}  // namespace

std::vector<Step> why(const session::Session& session, const std::string& path, uint32_t offset,
                      const source::Diagnostics& said) {
  const session::Document* const document = session.documents().find(path);
  if (!document) return {};
  const source::FileId file = document->text().source;
  // Where something clashes, what inference made of it says nothing more.
  if (std::vector<Step> steps = why_error(said, file, offset); !steps.empty()) return steps;
  const std::string_view text = session.sources()[file].text();
  if (offset >= text.size() || std::string_view(" \t\r\n").find(text[offset]) != std::string_view::npos)
    return {};
  for (const Reading& reading : readings_at(session, path, offset))
    for (const Layer& layer : reading.layers) {
      if (!layer.record().checked || !layer.then(offset)) continue;
      const auto part = layer.then(Span{file, offset, offset + 1});
      std::vector<Step> found = part ? Derivation(session, layer).run(*part) : std::vector<Step>{};
      if (!found.empty()) return found;
    }
  return of_a_name(session, path, offset);
}

}  // namespace axon::query
