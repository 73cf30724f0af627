// See hints.h.
#include "query/hints.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <set>

#include "query/reading.h"
#include "query/typed.h"
#include "syntax/children.h"

namespace axon::query {

namespace stx = axon::syntax;
using core::Expr;
using core::ExprId;
using core::LocalId;
using session::Session;
using source::Span;

namespace {

constexpr size_t longest = 60;  // columns of a hint; what is longer is cut

bool is_letter(char c) {
  return c == '_' || (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

/// The hints of one declaration, read from the text that stands there now and typed by what was checked last.
class Declaration {
 public:
  Declaration(const Session& session, const Reading& reading, std::vector<Hint>& out)
      : sources_(session.sources()), reading_(reading), file_(*reading.entry.part), out_(out) {
    for (const Layer& layer : reading.layers)
      if (layer.record().checked) layers_.emplace_back(&layer, std::make_unique<Typed>(layer.record()));
  }

  void run() {
    const stx::Decl& d = *reading_.entry.decl;
    collect_names(d);
    if (const auto* f = stx::as<stx::FunDecl>(d)) function(*f);
    const Walk walk{*this};
    stx::for_each_child(d, walk);
  }

 private:
  using TypedLayer = std::pair<const Layer*, std::unique_ptr<Typed>>;

  struct Walk {
    Declaration& of;
    void operator()(stx::ExprId id) const {
      of.expression(id);
      stx::for_each_child(of.file_[id], *this);
    }
    template <class Tag>
    void operator()(base::Id<Tag> id) const {
      stx::for_each_child(of.file_[id], *this);
    }
  };

  Span whole(Span part) const { return sources_.in_whole(part); }

  // ---- What was found out

  struct Found {
    Typed* typed = nullptr;
    LocalId local;
  };
  std::optional<Span> then(const Layer& layer, Span part) const {
    const Span now = whole(part);
    const auto begin = layer.then(now.begin), end = layer.then(now.end);
    if (!begin || !end || *end < *begin) return std::nullopt;
    return Span{layer.part(), *begin, *end};
  }
  Found local_at(Span name) const {
    for (const auto& [layer, typed] : layers_)
      if (const auto part = then(*layer, name))
        if (const LocalId id = typed->bound_at(*part);
            id.valid() && (typed->program().locals[id].kind != core::Local::Kind::value ||
                           typed->is_known(typed->program().locals[id].type)))
          return {typed.get(), id};
    return {};
  }
  std::pair<Typed*, ExprId> expression_at(Span part) const {
    for (const auto& [layer, typed] : layers_)
      if (const auto at = then(*layer, part))
        if (const ExprId id = typed->at(*at); id.valid()) return {typed.get(), id};
    return {};
  }

  // ---- Which names a type may use where it is written down

  void collect_names(const stx::Decl& d) {
    for (const Layer& layer : reading_.layers)
      for (const core::Use& use : layer.record().mentions)
        if (use.kind == core::Use::Kind::local || use.kind == core::Use::Kind::index)
          if (const auto at = layer.now(use.span)) locals_.insert(std::string(sources_.text(*at)));
    if (const auto* f = stx::as<stx::FunDecl>(d)) {
      for (const stx::SizeParam& s : f->sizes) written_.insert(s.name.text);
      for (const stx::PatternId p : f->params) collect_types(p);
    }
  }
  void collect_types(stx::PatternId id) {
    const stx::Pattern& p = file_[id];
    if (p.type.valid()) {
      const std::string_view text = sources_.text(file_[p.type].span);
      add_words(text, written_);
    }
    if (const auto* tuple = stx::as<stx::TuplePattern>(p))
      for (const stx::PatternId element : tuple->elements) collect_types(element);
  }
  static void add_words(std::string_view text, std::set<std::string>& out) {
    for (size_t i = 0; i < text.size();) {
      size_t end = i;
      while (end < text.size() && is_letter(text[end])) ++end;
      if (end > i) out.insert(std::string(text.substr(i, end - i)));
      i = std::max(end, i + 1);
    }
  }
  /// Whether all names in a type are known where the declaration's parameters are.
  bool can_be_written(const std::string& type) const {
    static const std::set<std::string> known = {"Stack", "min", "max", "cdiv", "string"};
    std::set<std::string> words;
    add_words(type, words);
    return std::all_of(words.begin(), words.end(), [&](const std::string& word) {
      return written_.count(word) || known.count(word) || base::elem_from_name(word) ||
             (word[0] >= '0' && word[0] <= '9');
    });
  }

  // ---- Signatures

  void function(const stx::FunDecl& f) {
    all_.clear();
    signature_ = true;
    for (const stx::PatternId p : f.params) parameter(p, false);
    if (!f.result.valid() && !f.is_entry) result(f);
  }

  void parameter(stx::PatternId id, bool inside) {
    const stx::Pattern& p = file_[id];
    if (const auto* tuple = stx::as<stx::TuplePattern>(p)) {
      if (!p.type.valid())
        for (const stx::PatternId element : tuple->elements) parameter(element, true);
      return;
    }
    const auto* name = stx::as<stx::NamePattern>(p);
    if (p.type.valid() || !name) return;
    const auto [typed, local] = local_at(name->name.span);
    if (!typed) {
      signature_ = false;
      return;
    }
    const std::string type = typed->type(typed->program().locals[local].type);
    const Span at = whole(name->name.span);
    std::vector<source::Edit> edits;
    if (!inside) edits.push_back({{at.file, at.begin, at.begin}, "(", source::Applicability::safe});
    const core::TypeId id_of_type = typed->program().locals[local].type;
    edits.push_back({{at.file, at.end, at.end},
                     " : " + written(*typed, id_of_type) + (inside ? "" : ")"),
                     source::Applicability::safe});
    if (!is_writable(type) || needs_into(*typed, id_of_type) || holds_bare(*typed, id_of_type) ||
        holds_size(*typed, id_of_type))
      edits.clear();
    add_words(type, bound_);
    signature_ &= !edits.empty();
    all_.insert(all_.end(), edits.begin(), edits.end());
    add(at.end, Hint::Kind::parameter, " : " + type, std::move(edits));
  }

  /// Whether it has axes of which more is known than a type of a parameter says: that they broadcast into
  /// others.
  static bool needs_into(const Typed& typed, core::TypeId id) {
    const core::Type& t = typed.program().types.types[id];
    for (const core::IntoConstraint& i : typed.global().scheme.into)
      for (const core::ShapeItem& item : t.shape)
        if (item.kind == core::ShapeItem::Kind::var && item.var == i.var) return true;
    return std::any_of(t.items.begin(), t.items.end(),
                       [&](core::TypeId item) { return needs_into(typed, item); });
  }

  /// Whether a type can be written where its names are bound by it: each size stands by itself somewhere, and
  /// no name is one that the declaration uses for something else.
  bool is_writable(const std::string& type) const {
    if (type.find_first_of("?/%") != std::string::npos || type.find("..(") != std::string::npos) return false;
    for (size_t i = 1; i + 1 < type.size(); ++i)
      if ((type[i] == '*' || type[i] == '+') && is_letter_of_name(type, i)) return false;
    std::set<std::string> words;
    add_words(type, words);
    return std::none_of(words.begin(), words.end(),
                        [&](const std::string& word) { return locals_.count(word) > 0; });
  }
  /// Whether the operator stands between two names.
  static bool is_letter_of_name(const std::string& type, size_t op) {
    const size_t before = type.find_last_not_of(' ', op - 1), after = type.find_first_not_of(' ', op + 1);
    const auto letter = [](char c) { return is_letter(c) && (c < '0' || c > '9'); };
    return before != std::string::npos && after != std::string::npos && letter(type[before]) &&
           letter(type[after]);
  }

  /// As it is written: a number of an element type that nothing else shows to be one is `'t[]`.
  std::string written(Typed& typed, core::TypeId id) const {
    const core::Type& t = typed.program().types.types[id];
    const bool bare = t.kind == core::Type::Kind::tensor && !t.elem.elem && t.shape.empty();
    return typed.type(id) + (bare ? "[]" : "");
  }
  /// An integer that is a size: which one is inferred, and a written `i64` would be any.
  static bool holds_size(const Typed& typed, core::TypeId id) {
    const core::Type& t = typed.program().types.types[id];
    return t.value || std::any_of(t.items.begin(), t.items.end(),
                                  [&](core::TypeId item) { return holds_size(typed, item); });
  }
  /// A number of an element type inside of another type.
  static bool holds_bare(const Typed& typed, core::TypeId id) {
    const core::Type& t = typed.program().types.types[id];
    return std::any_of(t.items.begin(), t.items.end(), [&](core::TypeId item) {
      const core::Type& part = typed.program().types.types[item];
      return (part.kind == core::Type::Kind::tensor && !part.elem.elem && part.shape.empty()) ||
             holds_bare(typed, item);
    });
  }

  /// The type of the result needs the names that those of the parameters bring.
  void result(const stx::FunDecl& f) {
    for (const auto& [layer, typed] : layers_) {
      const core::Global& g = typed->global();
      if (!typed->is_known(g.scheme.type) || !g.scheme.exists.empty()) continue;
      const core::Type& t = typed->program().types.types[g.scheme.type];
      if (t.kind != core::Type::Kind::function || t.items.size() != f.params.size() + 1) return;
      const std::string type = typed->type(t.items.back());
      const uint32_t at = end_of_head(f);
      if (at == 0) return;
      std::vector<source::Edit> edits;
      std::set<std::string> words;
      add_words(type, words);
      const bool bound = std::all_of(words.begin(), words.end(), [&](const std::string& word) {
        return bound_.count(word) || written_.count(word) || can_be_written(word);
      });
      if (signature_ && bound && t.bound.empty() && type.find_first_of("?/%") == std::string::npos &&
          !holds_bare(*typed, t.items.back())) {
        edits = all_;
        edits.push_back({{reading_.whole.file, at, at},
                         " : " + written(*typed, t.items.back()),
                         source::Applicability::safe});
      }
      return add(at, Hint::Kind::result, " : " + type, std::move(edits));
    }
  }

  /// Behind the last parameter, with its brackets.
  uint32_t end_of_head(const stx::FunDecl& f) const {
    if (f.params.empty()) return 0;
    const Span last = whole(file_[f.params.back()].span);
    const std::string_view text = sources_[last.file].text();
    uint32_t at = last.end;
    const stx::Pattern& p = file_[f.params.back()];
    if (p.type.valid()) at = std::max(at, whole(file_[p.type].span).end);
    uint32_t end = at;
    while (end < text.size() && (text[end] == ' ' || text[end] == '\n' || text[end] == ')')) {
      if (text[end] == ')') at = end + 1;
      ++end;
    }
    return at;
  }

  // ---- Expressions

  void expression(stx::ExprId id) {
    const stx::Expr& e = file_[id];
    if (const auto* lets = stx::as<stx::LetExpr>(e))
      for (const stx::Let& let : lets->lets) value(let);
    if (const auto* lambda = stx::as<stx::LambdaExpr>(e))
      for (const stx::PatternId p : lambda->params) bound(p, false);
    if (const auto* loop = stx::as<stx::ForExpr>(e))
      for (const stx::Binder& b : loop->binders) binder(b);
    if (const auto* binary = stx::as<stx::BinaryExpr>(e)) {
      if (binary->op == stx::BinaryOp::pipe)
        step(*binary);
      else
        broadcast(e, *binary);
    }
    if (stx::as<stx::NameExpr>(e)) call(e);
  }

  /// The name of a function has no hint, its parameters have.
  void value(const stx::Let& let) {
    for (const stx::PatternId p : let.params) bound(p, false);
    if (let.params.empty() && !let.result.valid()) bound(let.pattern, true);
  }

  /// The names of a pattern. `writable`: its types mention nothing that is bound there.
  void bound(stx::PatternId id, bool writable) {
    const stx::Pattern& pattern = file_[id];
    if (pattern.type.valid()) return;
    if (const auto* tuple = stx::as<stx::TuplePattern>(pattern))
      for (const stx::PatternId element : tuple->elements) bound(element, writable);
    const auto* name = stx::as<stx::NamePattern>(pattern);
    if (!name) return;
    const auto [typed, local] = local_at(name->name.span);
    if (!typed) return;
    const core::Local& l = typed->program().locals[local];
    const bool generalised = l.scheme.type.valid();
    const std::string type = generalised ? typed->type(l.scheme) : typed->type(l.type);
    const Span at = whole(name->name.span);
    std::vector<source::Edit> edits;
    if (writable && !generalised && l.opens.empty() && is_writable(type) && can_be_written(type))
      edits.push_back({{at.file, at.end, at.end}, " : " + type, source::Applicability::safe});
    add(at.end, Hint::Kind::value, " : " + type, std::move(edits));
  }

  void binder(const stx::Binder& b) {
    if (b.bound.valid() || b.spread || b.name.text.empty()) return;
    const auto [typed, local] = local_at(b.name.span);
    if (!typed) return;
    for (const Expr& e : typed->program().exprs)
      for (const core::Binder& known : e.binders) {
        if (known.local != local || !known.range) continue;
        const std::string range = typed->dim(*known.range);
        const Span at = whole(b.name.span);
        // written down, it would say less: that the range fits, where now it is the size of each axis
        return add(at.end, Hint::Kind::range, " < " + range, {});
      }
  }

  /// A pipeline over several lines: what each line hands on.
  void step(const stx::BinaryExpr& pipe) {
    for (const stx::ExprId id : {pipe.lhs, pipe.rhs}) {
      const Span at = whole(file_[id].span);
      const std::string_view text = sources_[at.file].text();
      const size_t next = text.find_first_not_of(" \t", at.end);
      if (next == text.npos || text[next] != '\n') continue;
      const bool handed_on = id == pipe.lhs && !stx::as<stx::BinaryExpr>(file_[id]);
      const Span all = id == pipe.lhs ? file_[id].span : source::join(file_[pipe.lhs].span, file_[id].span);
      if (id == pipe.lhs && !handed_on) continue;
      const auto [typed, e] = expression_at(all);
      if (typed) add(at.end, Hint::Kind::step, " : " + typed->type(typed->program().exprs[e].type), {});
    }
  }

  /// An operand that has fewer axes than the result, or an axis of 1 where that has more.
  void broadcast(const stx::Expr& whole_expr, const stx::BinaryExpr& binary) {
    const auto [typed, id] = expression_at(whole_expr.span);
    if (!typed || binary.op == stx::BinaryOp::matmul) return;
    const core::Program& p = typed->program();
    const Expr& e = p.exprs[id];
    if (e.kind != Expr::Kind::apply || e.args.size() != 3) return;
    const core::Type& result = p.types.types[e.type];
    if (result.kind != core::Type::Kind::tensor) return;
    const std::string to = typed->shape(result.shape);
    for (size_t i = 1; i < 3; ++i) {
      const core::TypeId operand = p.exprs[e.args[i]].type;
      if (!operand.valid()) continue;
      const core::Type& t = p.types.types[operand];
      if (t.kind != core::Type::Kind::tensor || t.shape.empty() || typed->shape(t.shape) == to) continue;
      const stx::ExprId written = i == 1 ? binary.lhs : binary.rhs;
      add(whole(file_[written].span).end, Hint::Kind::broadcast, " \u2192 " + to, {});
    }
  }

  /// What a call found for sizes that the callee declares in brackets, where they are not given.
  void call(const stx::Expr& name) {
    const Span at = whole(name.span);
    const std::string_view text = sources_[at.file].text();
    if (at.end < text.size() && text[at.end] == '[') return;
    const auto [typed, id] = expression_at(name.span);
    if (!typed) return;
    const core::Program& p = typed->program();
    const Expr& e = p.exprs[id];
    if (e.kind != Expr::Kind::global || p.globals[e.global].sizes.empty() ||
        !p.globals[e.global].elems.empty())
      return;
    const shape::UseArena use(typed->arena());
    std::string sizes;
    for (const auto& [size, v] : p.globals[e.global].sizes)
      for (const auto& [from, dim] : e.instantiation)
        if (from == v) sizes += (sizes.empty() ? "" : ", ") + typed->dim(dim);
    if (!sizes.empty()) add(at.end, Hint::Kind::sizes, "[" + sizes + "]", {});
  }

  void add(uint32_t at, Hint::Kind kind, std::string label, std::vector<source::Edit> edits) {
    if (source::display_width(label) > longest) {
      size_t cut = longest - 3;
      while (cut > 0 && (static_cast<unsigned char>(label[cut]) & 0xC0) == 0x80) --cut;
      label = label.substr(0, cut) + "...";
    }
    out_.push_back({at, kind, std::move(label), std::move(edits)});
  }

  const source::SourceManager& sources_;
  const Reading& reading_;
  const stx::File& file_;
  std::vector<Hint>& out_;
  std::vector<TypedLayer> layers_;
  std::set<std::string> written_;  ///< names in the types of parameters
  std::set<std::string> bound_;    ///< names in those that are inferred
  std::set<std::string> locals_;   ///< names of parameters, binders and what `let` binds
  std::vector<source::Edit> all_;  ///< of the parameters
  bool signature_ = true;          ///< every parameter has a type, or an edit that writes it
};

}  // namespace

std::vector<Hint> hints(const Session& session, const std::string& path, uint32_t begin, uint32_t end) {
  std::vector<Hint> out;
  for (const Reading& reading : readings_in(session, path, begin, end))
    Declaration(session, reading, out).run();
  std::erase_if(out, [&](const Hint& h) { return h.at < begin || end < h.at; });
  std::stable_sort(out.begin(), out.end(), [](const Hint& a, const Hint& b) { return a.at < b.at; });
  return out;
}

}  // namespace axon::query
