// See constraints.h.
#include "repl/constraints.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "query/typed.h"
#include "repl/conditions.h"
#include "source/explain.h"

namespace axon::repl {

namespace {

/// The facts that the `where` of a function states, over the sizes of its type.
std::vector<shape::Fact> stated_facts(const session::Entry& entry, const core::Scheme& scheme,
                                      const source::SourceManager& sources) {
  Conditions stated({});
  for (const shape::Var v : scheme.dims) stated.name(shape::var_name(v), v);
  if (const auto* function = syntax::as<syntax::FunDecl>(*entry.decl))
    for (const syntax::Condition& c : function->where)
      static_cast<void>(stated.read(std::string(sources.text(c.span))));
  return stated.facts();
}

}  // namespace

Answer constraints_of(const std::string& name, const session::Entry& entry,
                      const source::SourceManager& sources) {
  query::Typed typed(*entry.record);
  const shape::UseArena use(typed.arena());
  const core::Scheme& scheme = typed.global().scheme;
  const std::string type = typed.declared();
  Table table{{"condition", "because"}, {}};
  for (const core::IntoConstraint& into : scheme.into)
    table.rows.push_back({fmt::format("..{} into {}", typed.names().of(into.var), typed.shape(into.target)),
                          "the one is broadcast to the other"});
  const std::vector<shape::Fact> stated = stated_facts(entry, scheme, sources);
  for (const core::Requirement& fact : scheme.where) {
    const bool is_stated = std::any_of(stated.begin(), stated.end(), [&](const shape::Fact& f) {
      return f.lhs == fact.lhs && f.rhs == fact.rhs && f.relation == fact.relation;
    });
    table.rows.push_back({typed.fact(fact), is_stated ? "stated in its `where`" : "needed by its body"});
  }
  for (const core::TypeVarId v : scheme.types)
    if (const char* cls = core::class_name(typed.program().types.vars[v].cls))
      table.rows.push_back({fmt::format("'{} : {}", typed.names().of(v), cls), "of the operations on it"});
  Answer answer = table.rows.empty() ? text_answer("it has no conditions\n") : table_answer(table, false);
  answer.text = query::declaration_text(name, type) + "\n" + answer.text;
  answer.types = {{name, type}};
  return answer;
}

std::string explanation(const std::vector<source::Diagnostic>& errors) {
  std::string text;
  std::set<source::Code> said;
  for (const source::Diagnostic& d : errors) {
    if (d.headline() != source::code_title(d.code) || !d.notes.empty())
      text += fmt::format("{}: {}\n", source::code_name(d.code), d.headline());
    for (const source::Note& note : d.notes) text += fmt::format("  {}: {}\n", note.kind, note.text);
  }
  for (const source::Diagnostic& d : errors)
    if (said.insert(d.code).second) text += (text.empty() ? "" : "\n") + source::explain(d.code);
  return text;
}

}  // namespace axon::repl
