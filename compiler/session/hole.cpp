// See hole.h.
#include "session/hole.h"

#include <algorithm>

#include "base/bug.h"
#include "core/check.h"
#include "syntax/parse.h"

namespace axon::session {

namespace stx = axon::syntax;
using core::DeclId;
using core::GlobalId;
using source::Span;

namespace {

constexpr uint32_t most_expressions = 4'000;  // of a declaration
constexpr uint32_t most_polls = 40;           // of inference with all that is tried

/// Ends what takes too long.
class Limit : public base::Interrupt {
 public:
  void poll() override {
    if (++polls_ > most_polls) throw base::Cancelled{};
  }
  void leave(const std::function<void()>&) override {}
  void enter() override {}

 private:
  uint32_t polls_ = 0;
};

/// Makes the name at the span the hole; false where there is no name in an expression.
bool make_hole(stx::File& file, Span span) {
  for (stx::Expr& e : file.exprs) {
    if (auto* name = std::get_if<stx::NameExpr>(&e.node); name && e.span == span) {
      name->name.clear();
      return true;
    }
    stx::Name* field = nullptr;
    if (auto* f = std::get_if<stx::FieldExpr>(&e.node)) field = &f->field;
    if (auto* w = std::get_if<stx::WithFieldExpr>(&e.node)) field = &w->field;
    if (field && field->span == span) {
      field->text.clear();
      return true;
    }
  }
  return false;
}

}  // namespace

Hole::Fit Hole::fit(const core::DeclKey& value) {
  const auto record = records_.find(value);
  if (record == records_.end() || !record->second.interface) return Fit::open;
  const DeclId d = e_.modules.find(value);
  if (!d.valid()) return Fit::open;
  const GlobalId g = e_.global(d);
  if (e_.infos[g.index].state == core::DeclInfo::State::unseen) record->second.interface->give(e_, g);
  if (e_.infos[g.index].state != core::DeclInfo::State::done) return Fit::open;
  return inferred_.fit(g);
}

Hole::Fit Hole::fit_integer() { return inferred_.fit(e_.vars.scalar(base::Elem::i64)); }

std::optional<core::LocalId> Hole::local(uint32_t at, size_t size) const {
  const Span span{part_, at, at + static_cast<uint32_t>(size)};
  for (uint32_t i = e_.program.locals.size(); i-- > 0;)
    if (e_.program.locals[{i}].span == span) return core::LocalId{i};
  return std::nullopt;
}

core::TypeId Hole::type_of(core::LocalId local) const { return e_.program.locals[local].type; }

const core::Type& Hole::operator[](core::TypeId type) const { return e_.vars[e_.vars.head(type)]; }

std::string Hole::print(core::TypeId type) {
  if (!type.valid()) return "";
  type = e_.vars.zonk(type);
  const core::Type& t = e_.vars[type];
  if (t.kind == core::Type::Kind::error || t.kind == core::Type::Kind::var) return "";
  core::Names names(e_.program.types);
  return core::print(e_.program.types, type, names);
}

/// What stays as long as the hole is looked at.
class HoleElaboration {
 public:
  HoleElaboration(const Session& session, const std::string& path, source::FileId part, std::string text)
      : session_(session),
        part_(part),
        sources_(session.sources().with(part, std::move(text), unheard_)),
        file_(syntax::parse((*sources_)[part], unheard_)),
        modules_(
            *sources_, session.documents().disk(), [this](const std::string& module) { return load(module); },
            unheard_),
        text_(session.documents().find(path)->text()) {
    for (const stx::File*& one : text_.parts)
      if (one->source == part) one = &file_;
  }

  bool run(Span hole, const std::function<void(Hole&)>& ask) {
    if (!make_hole(file_, hole)) return false;
    const core::Module& own = modules_.open_program(text_, session_.options().root);
    const auto d = std::find_if(own.in_order.begin(), own.in_order.end(), [&](DeclId one) {
      const core::Written& written = modules_[one].written;
      return written.file == &file_ && written->span.begin <= hole.begin && hole.end <= written->span.end;
    });
    if (d == own.in_order.end()) return false;
    const shape::UseArena use(arena_);
    core::Elaborator e(*sources_, modules_, own, unheard_, session_.options());
    e.only_counting = true;
    Limit limit;
    base::detail::polls = 0;
    const base::Interruptible limited(limit);
    bool asked = false;
    try {
      infer(e, e.global(*d), [&](core::Hole& inferred) {
        Hole out(e, inferred, session_.records(), part_);
        asked = true;
        ask(out);
      });
    } catch (const base::Cancelled&) {
    } catch (const core::TooComplex&) {
    } catch (const base::InternalError&) {  // the check of the declaration says so
    }
    return asked;
  }

 private:
  const stx::Text* load(const std::string& module) const {
    for (const std::string& path : core::places_of_module(module, session_.documents().library()))
      if (const Document* const found = session_.documents().find(path)) return &found->text();
    return nullptr;
  }

  void infer(core::Elaborator& e, GlobalId g, const std::function<void(core::Hole&)>& ask) {
    e.read(g);
    const core::DeclInfo& info = e.infos[g.index];
    if (info.end_expr - info.first_expr > most_expressions) return;
    e.given = [this](DeclId used) -> const core::Interface* {
      const auto record = session_.records().find(modules_.key(used));
      return record == session_.records().end() ? nullptr : record->second.interface.get();
    };
    for (const GlobalId used : std::vector(info.uses)) give(e, used);
    e.vars.begin_declaration();
    core::Checker(e, g).infer_around_hole(ask);
  }

  /// What is known of a declaration; one that was not checked yet is checked here.
  static void give(core::Elaborator& e, GlobalId g) {
    if (e.infos[g.index].state != core::DeclInfo::State::unseen) return;
    if (const core::Interface* const known = e.given(e.infos[g.index].id)) return known->give(e, g);
    e.check(g);
  }

  const Session& session_;
  const source::FileId part_;
  source::Diagnostics unheard_;
  shape::Arena arena_;
  std::unique_ptr<source::SourceManager> sources_;
  stx::File file_;
  core::Modules modules_;
  stx::Text text_;
};

bool with_hole(const Session& session, const std::string& path, source::FileId part, std::string text,
               uint32_t at, uint32_t size, const std::function<void(Hole&)>& ask) {
  return HoleElaboration(session, path, part, std::move(text)).run({part, at, at + size}, ask);
}

}  // namespace axon::session
