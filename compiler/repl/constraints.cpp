// See constraints.h.
#include "repl/constraints.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "query/typed.h"
#include "source/explain.h"

namespace axon::repl {

Answer constraints_of(const std::string& name, const session::Record& record) {
  query::Typed typed(record);
  const shape::UseArena use(typed.arena());
  const core::Scheme& scheme = typed.global().scheme;
  const std::string type = typed.declared();
  Table table{{"condition", "because"}, {}};
  for (const core::IntoConstraint& into : scheme.into)
    table.rows.push_back({fmt::format("..{} into {}", typed.names().of(into.var), typed.shape(into.target)),
                          "the one is broadcast to the other"});
  for (const core::Requirement& fact : scheme.where)
    table.rows.push_back({typed.fact(fact), "of its sizes"});
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
