// See shape_query.h.
#include "repl/shape_query.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>

#include "shape/arena.h"
#include "shape/candidates.h"
#include "shape/conditions.h"
#include "shape/solutions.h"

namespace axon::repl {

using shape::Dim;
using shape::Fact;
using shape::Solutions;
using shape::Var;
using shape::Verdict;

namespace {

constexpr size_t all_shown = 1000;  ///< solutions that are shown where there are no more
constexpr size_t first_shown = 3;   ///< where there are
constexpr size_t more_shown = 20;   ///< by each `:more`

std::string quoted(const std::string& text) { return "`" + text + "`"; }

/// "`a`", "`a` and `b`", "`a`, `b` and `c`".
std::string listed(const std::vector<std::string>& texts) {
  std::string out;
  for (size_t i = 0; i < texts.size(); ++i)
    out += (i == 0 ? "" : i + 1 == texts.size() ? " and " : ", ") + quoted(texts[i]);
  return out;
}

/// Those that are needed to prove one of the goals, in words; none of them says only that a size is not
/// negative.
std::vector<std::string> needed(const Conditions& conditions, const std::vector<Fact>& facts,
                                const std::vector<Fact>& goals) {
  std::vector<std::string> texts;
  for (const size_t i : shape::needed_facts(facts, goals))
    if (i < conditions.texts().size()) texts.push_back(conditions.texts()[i]);
  return texts;
}

/// The verdict over all sizes that satisfy what is known; counter-examples with sizes of at least 1 where
/// that will do, since those read better.
shape::Answer judged(const Fact& goal, const std::vector<Fact>& known, const std::vector<Var>& sizes) {
  shape::Answer answer = shape::prove(known, goal);
  if (answer.verdict == Verdict::proved) return answer;
  std::vector<Fact> positive = known;
  for (const Var v : sizes) positive.push_back(shape::at_least(Dim(v), 1));
  const shape::Answer readable = shape::prove(positive, goal);
  return readable.verdict == Verdict::refuted ? readable : answer;
}

std::string undecided(const shape::Answer& answer) {
  if (answer.by == "too large") return "not decided: it is too large for the prover";
  return fmt::format("not decided within the prover's limit of {} steps", shape::ProverLimits().z3_rlimit);
}

std::string verdict_text(const shape::Answer& answer, const std::vector<Var>& sizes) {
  if (answer.verdict == Verdict::proved) return "proved";
  if (answer.verdict == Verdict::unknown) return undecided(answer);
  const std::string values = values_text(sizes, answer.counter_example);
  return values.empty() ? "refuted" : "refuted for " + values;
}

Table table_of(const Solutions& solutions, const std::vector<Var>& sizes, size_t from, size_t end) {
  Table table;
  for (const Var v : sizes) table.head.push_back(shape::var_name(v));
  for (size_t i = from; i < end; ++i) {
    std::vector<std::string>& row = table.rows.emplace_back();
    for (const int64_t value : solutions.found[i]) row.push_back(std::to_string(value));
  }
  return table;
}

/// Why facts contradict each other: "`a < b` and `b < a` contradict each other".
std::string contradiction(const std::vector<std::string>& texts) {
  if (texts.size() == 1) return quoted(texts[0]) + " never holds";
  return listed(texts) + " contradict each other";
}

/// The same fact without what both of its sides have, and without a negative size on the left.
Fact balanced(Fact fact) {
  for (const Var v : fact.lhs.vars()) {
    const auto left = fact.lhs.linear_in(v), right = fact.rhs.linear_in(v);
    if (!left || !right) continue;
    const auto a = left->first.constant(), b = right->first.constant();
    if (!a || !b || (*a != *b && *a >= 0)) continue;
    fact.lhs = left->second;
    fact.rhs = Dim(*b - *a) * Dim(v) + right->second;
  }
  return fact;
}

/// The facts with the sizes that one of them gives a number replaced by it in the others.
std::vector<Fact> with_known_sizes(const std::vector<Fact>& facts) {
  shape::Substitution known;
  std::vector<Fact> out;
  for (const Fact& fact : facts)
    if (fact.relation == shape::Relation::eq && fact.lhs.as_var() && fact.rhs.constant())
      known.emplace(*fact.lhs.as_var(), fact.rhs);
  const auto mentions = [&](const Dim& side) {
    return std::any_of(known.begin(), known.end(), [&](const auto& one) { return side.contains(one.first); });
  };
  for (const Fact& fact : facts) {
    const bool is_known = fact.lhs.as_var() && fact.rhs.constant();
    if (is_known || (!mentions(fact.lhs) && !mentions(fact.rhs)))
      out.push_back(fact);
    else
      out.push_back(balanced({fact.lhs.substitute(known), fact.relation, fact.rhs.substitute(known)}));
  }
  return out;
}

/// All conditions in their simplest form.
std::vector<std::string> simplest(const Conditions& all) {
  std::vector<std::string> out;
  for (const Fact& fact : shape::simplified(with_known_sizes(all.facts()), not_negative(all.sizes())))
    out.push_back(fact.str());
  return out;
}

/// The texts behind the head, with commas, in lines of 80 columns where none is longer by itself.
std::string in_lines(const std::string& head, const std::vector<std::string>& texts) {
  constexpr size_t columns = 80;
  const std::string indent(std::max<size_t>(head.size(), 2), ' ');
  std::string out = head;
  size_t column = head.size();
  for (size_t i = 0; i < texts.size(); ++i) {
    const std::string piece = texts[i] + (i + 1 < texts.size() ? "," : "");
    const size_t width = source::display_width(piece);
    if (i > 0 && column + 1 + width > columns) {
      out += "\n" + indent;
      column = indent.size();
    } else if (i > 0) {
      out += ' ';
      ++column;
    }
    out += piece;
    column += width;
  }
  return out + "\n";
}

}  // namespace

ShapeQuery::Assumed ShapeQuery::assumed_of(const std::set<std::string>& sizes) const {
  shape::Arena arena;
  const shape::UseArena use(arena);
  std::vector<std::set<std::string>> mentioned;
  for (const std::string& text : assumed_) {
    Conditions one(render_);
    static_cast<void>(one.read(text));
    mentioned.emplace_back();
    for (const Var v : one.sizes()) mentioned.back().insert(shape::var_name(v));
  }
  std::set<std::string> reached = sizes;
  const auto concerns = [&](const std::set<std::string>& names) {
    return std::any_of(names.begin(), names.end(), [&](const auto& name) { return reached.contains(name); });
  };
  for (size_t before = 0; before != reached.size();) {
    before = reached.size();
    for (const auto& names : mentioned)
      if (concerns(names)) reached.insert(names.begin(), names.end());
  }
  Assumed out;
  for (size_t i = 0; i < assumed_.size(); ++i)
    if (concerns(mentioned[i])) out.conditions.push_back(assumed_[i]);
  std::set_difference(reached.begin(), reached.end(), sizes.begin(), sizes.end(),
                      std::inserter(out.beside, out.beside.end()));
  return out;
}

void ShapeQuery::add_assumptions(Conditions& conditions) const {
  if (assumed_.empty()) return;
  Conditions all = conditions;
  for (const std::string& text : assumed_) static_cast<void>(all.read(text));
  const size_t own = conditions.facts().size();
  const std::vector<Fact> kept(all.facts().begin() + static_cast<std::ptrdiff_t>(own), all.facts().end());
  std::vector<Var> reach = conditions.sizes();
  for (const size_t i : shape::connected(kept, reach)) static_cast<void>(conditions.read(assumed_[i]));
}

/// The conditions of a question, and behind them what is assumed. What is wrong with them; empty when nothing
/// is.
std::string ShapeQuery::read(Conditions& conditions, const Question& question) const {
  if (std::string error = conditions.read(question.conditions); !error.empty()) return error;
  ShapeQuery as_then(render_);
  as_then.assumed_ = question.assumed;
  as_then.add_assumptions(conditions);
  return "";
}

Answer ShapeQuery::assume(const std::string& text) {
  shape::Arena arena;
  const shape::UseArena use(arena);
  Conditions fresh(render_);
  if (const std::string error = fresh.read(text); !error.empty()) return error_answer(error);
  if (assumed_.size() + fresh.texts().size() > most_conditions)
    return error_answer(
        fmt::format("error: no more than {} facts are kept; see `:forget`\n", most_conditions));
  Conditions all = fresh;
  add_assumptions(all);
  const shape::Answer answer = shape::prove_empty(all.known());
  if (answer.verdict == Verdict::proved) {
    last_ = {Question::Kind::consistent, text, assumed_};
    return error_answer("error: " + contradiction(needed(all, all.known(), {})) + "\n");
  }
  std::string said;
  for (const std::string& one : fresh.texts()) {
    if (std::find(assumed_.begin(), assumed_.end(), one) != assumed_.end()) continue;
    assumed_.push_back(one);
    said += fmt::format("{}  {}\n", assumed_.size(), one);
  }
  if (answer.verdict == Verdict::unknown)
    said += "whether any sizes satisfy all of this is " + undecided(answer) + "\n";
  return text_answer(said);
}

Answer ShapeQuery::facts() const {
  if (assumed_.empty()) return text_answer("nothing is assumed\n");
  std::string text;
  const size_t width = std::to_string(assumed_.size()).size();
  for (size_t i = 0; i < assumed_.size(); ++i) text += fmt::format("{:>{}}  {}\n", i + 1, width, assumed_[i]);
  return text_answer(text);
}

Answer ShapeQuery::forget(const std::string& which) {
  if (which.empty()) {
    assumed_.clear();
    return text_answer("");
  }
  std::vector<size_t> places;
  const char* at = which.data();
  const char* const end = at + which.size();
  while (at != end) {
    if (*at == ' ' || *at == ',') {
      ++at;
      continue;
    }
    size_t number = 0;
    const auto [next, status] = std::from_chars(at, end, number);
    if (status != std::errc() || number == 0 || number > assumed_.size())
      return error_answer("error: expected numbers of facts, as `:facts` shows them\n");
    places.push_back(number - 1);
    at = next;
  }
  std::sort(places.rbegin(), places.rend());
  places.erase(std::unique(places.begin(), places.end()), places.end());
  for (const size_t place : places) assumed_.erase(assumed_.begin() + static_cast<std::ptrdiff_t>(place));
  return assumed_.empty() ? text_answer("") : facts();
}

Answer ShapeQuery::prove(const std::string& text) {
  shape::Arena arena;
  const shape::UseArena use(arena);
  Conditions goals(render_);
  if (const std::string error = goals.read(text); !error.empty()) return error_answer(error);
  last_ = {Question::Kind::prove, text, assumed_};
  Table table{{"condition", "verdict"}, {}};
  size_t width = 0;
  for (const std::string& one : goals.texts()) width = std::max(width, one.size());
  std::string said;
  for (size_t i = 0; i < goals.facts().size(); ++i) {
    Conditions known(render_);
    static_cast<void>(known.read(goals.texts()[i]));
    const Fact goal = known.facts()[0];
    add_assumptions(known);
    std::vector<Fact> facts = known.known();
    facts.erase(facts.begin());
    const std::string verdict = verdict_text(judged(goal, facts, known.sizes()), known.sizes());
    table.rows.push_back({goals.texts()[i], verdict});
    said += goals.facts().size() == 1 ? verdict : fmt::format("{:<{}}  {}", goals.texts()[i], width, verdict);
    said += "\n";
  }
  Answer answer = text_answer(said);
  answer.table = std::move(table);
  return answer;
}

Answer ShapeQuery::solve(const std::string& text) {
  last_ = {Question::Kind::solve, text, assumed_};
  return solutions(0, all_shown);
}

Answer ShapeQuery::more() {
  if (last_.kind != Question::Kind::solve || last_.shown == 0)
    return error_answer("error: nothing was solved that has more solutions\n");
  return solutions(last_.shown, more_shown);
}

/// Those from a place on, `count` of them at most; of the first ones all or few.
Answer ShapeQuery::solutions(size_t from, size_t count) {
  shape::Arena arena;
  const shape::UseArena use(arena);
  Conditions all(render_);
  if (const std::string error = read(all, last_); !error.empty()) {
    last_ = {};
    return error_answer(error);
  }
  shape::SolutionLimits limits;
  limits.most = from + count;
  limits.steps += 20 * from;
  const Solutions found = shape::solutions_of(all.facts(), all.sizes(), limits);
  const bool are_all = found.end == Solutions::End::all;
  if (found.found.empty() || all.sizes().empty()) {
    last_.shown = 0;
    if (!found.found.empty()) return text_answer("this holds, and mentions no size\n");
    if (!are_all)
      return text_answer(fmt::format(
          "no solution among the first {} values that were tried; there may be others\n", limits.steps));
    const bool proved = shape::prove_empty(all.known()).verdict == Verdict::proved;
    const std::vector<std::string> core = proved ? needed(all, all.known(), {}) : std::vector<std::string>();
    return text_answer("no solution" + (core.empty() ? "" : ": " + contradiction(core)) + "\n");
  }
  const size_t end = from == 0 && !are_all ? std::min(first_shown, found.found.size()) : found.found.size();
  Answer answer = table_answer(table_of(found, all.sizes(), from, end));
  if (from == 0 && !are_all) {
    const std::vector<std::string> simple = simplest(all);
    answer.text = (simple.empty() ? "it holds for all sizes\n" : in_lines("", simple)) + answer.text;
  }
  last_.shown = are_all ? 0 : end;
  if (found.end == Solutions::End::most) answer.text += "there are more: `:more`\n";
  if (found.end == Solutions::End::limited)
    answer.text += fmt::format("there may be others beyond the first {} values that were tried{}\n",
                               limits.steps, found.found.size() > end ? ": `:more`" : "");
  if (found.end == Solutions::End::far)
    answer.text += fmt::format("there may be others of more than {}{}\n", shape::largest_candidate,
                               found.found.size() > end ? ": `:more`" : "");
  return answer;
}

Answer ShapeQuery::why() const {
  shape::Arena arena;
  const shape::UseArena use(arena);
  switch (last_.kind) {
    case Question::Kind::none:
      return error_answer("error: nothing was asked\n");
    case Question::Kind::prove:
      return why_of_proofs();
    case Question::Kind::consistent:
    case Question::Kind::solve:
      return why_of_solutions();
  }
  return {};
}

/// How a condition follows from what is known, or values for which it does not.
static std::string derivation(const Conditions& known, const std::vector<Fact>& facts, const Fact& goal,
                              const std::string& text) {
  const shape::Answer answer = judged(goal, facts, known.sizes());
  if (answer.verdict == Verdict::unknown)
    return fmt::format("{} is neither proved nor refuted: {}\n", quoted(text), undecided(answer));
  if (answer.verdict == Verdict::refuted) {
    const std::string values = values_text(known.sizes(), answer.counter_example);
    const auto lhs = goal.lhs.evaluate_wide(answer.counter_example),
               rhs = goal.rhs.evaluate_wide(answer.counter_example);
    std::string said = quoted(text) + " does not follow\n";
    if (!values.empty()) said += fmt::format("  let {}\n", values);
    for (size_t i = 1; i < known.texts().size(); ++i)
      said += fmt::format("  then {} holds, as is assumed\n", quoted(known.texts()[i]));
    std::vector<std::string> sides;
    for (const auto& [side, value] : {std::pair(goal.lhs, lhs), std::pair(goal.rhs, rhs)})
      if (value && !side.constant() && !side.as_var())
        sides.push_back(fmt::format("{} is {}", quoted(side.str()), static_cast<int64_t>(*value)));
    if (!sides.empty()) said += fmt::format("  but {}\n", fmt::join(sides, " and "));
    return said;
  }
  std::vector<std::string> used;
  bool of_sizes = false;
  for (const size_t i : shape::needed_facts(facts, {goal})) {
    if (i + 1 < known.texts().size())
      used.push_back(known.texts()[i + 1]);
    else
      of_sizes = true;
  }
  if (used.empty())
    return fmt::format("{} holds for all {}\n", quoted(text),
                       of_sizes ? "sizes, which are not negative" : "integers");
  return fmt::format("{} follows from {}{}\n", quoted(text), listed(used),
                     of_sizes ? ", and that no size is negative" : "");
}

Answer ShapeQuery::why_of_proofs() const {
  Conditions goals(render_);
  static_cast<void>(goals.read(last_.conditions));
  std::string said;
  for (const std::string& text : goals.texts()) {
    Conditions known(render_);
    static_cast<void>(read(known, {Question::Kind::prove, text, last_.assumed}));
    std::vector<Fact> facts = known.known();
    facts.erase(facts.begin());
    said += derivation(known, facts, known.facts()[0], text);
  }
  return text_answer(said);
}

Answer ShapeQuery::why_of_solutions() const {
  Conditions all(render_);
  static_cast<void>(read(all, last_));
  if (shape::prove_empty(all.known()).verdict == Verdict::proved) {
    const std::vector<Fact> known = all.known();
    const std::vector<size_t> core = shape::needed_facts(known, {});
    std::string said = contradiction(needed(all, known, {}));
    if (!core.empty() && core.back() >= all.texts().size()) said += ", since no size is negative";
    return text_answer(said + "\n");
  }
  Conditions own(render_);
  static_cast<void>(own.read(last_.conditions));
  std::vector<std::string> assumed(all.texts().begin() + static_cast<std::ptrdiff_t>(own.texts().size()),
                                   all.texts().end());
  const std::vector<std::string> simple = simplest(all);
  std::string said = in_lines("asked:     ", own.texts());
  if (!assumed.empty()) said += in_lines("assumed:   ", assumed);
  if (simple.empty())
    said += "that is:   it holds for all sizes\n";
  else if (simple.size() < all.facts().size())
    said += in_lines("that is:   ", simple);
  return text_answer(said + "The values that this leaves open were tried in order, the smallest first.\n");
}

}  // namespace axon::repl
