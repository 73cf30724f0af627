// One entry: its parameters become inputs, its sizes closed forms, its body's value the results.
//
// A parameter has an input for each of its leaves, named by its path: of one that is marked `weights` they
// are weights, of a consumed one (`*`) states. Of others an i64 scalar that is used as a size is a size,
// everything else an argument.
#include <fmt/format.h>

#include <algorithm>

#include "base/bug.h"
#include "base/work.h"
#include "core/layouts.h"
#include "graph/from_core/evaluator.h"
#include "graph/passes/passes.h"
#include "layout/strided.h"

namespace axon::graph {

using core::Pattern;
using core::Type;

namespace {

/// Evaluates one entry, and owns the parts that do.
class EntryEvaluator : Part {
 public:
  explicit EntryEvaluator(Context& context)
      : Part(context),
        sizes_(context),
        bounds_(context, sizes_),
        builder_(context, sizes_, bounds_),
        checks_(context, sizes_, bounds_, builder_),
        checked_(context, sizes_, bounds_, builder_, checks_),
        evaluator_(context, sizes_, bounds_, builder_, checked_, checks_) {}
  std::optional<Graph> run(core::GlobalId id);

 private:
  void inputs(const core::Global& entry, Environment& env);
  Val input_tree(core::TypeId type, const std::string& path, bool consumed, bool weight,
                 const std::vector<Dim>& lead);
  Val input_pattern(const Pattern& pattern, const std::string& path, Environment& env);
  void sizes(const core::Global& entry);
  void facts(const core::Global& entry);
  void learn_axes(const core::Global& entry);
  void learn(const core::Global& entry, const Fact& fact, const std::string& message);
  bool require_when_run(const core::Global& entry, const Fact& fact, const std::string& message);
  std::optional<layout::Layout> place_of(const Type& type, const std::vector<Dim>& shape);
  void results(const Val& value, core::TypeId type, const std::string& path);

  std::map<std::string, uint32_t> input_numbers_;  // by path
  SizeEnvironment sizes_;
  BoundsChecker bounds_;
  GraphBuilder builder_;
  RuntimeChecks checks_;
  CheckedIntegers checked_;
  CoreEvaluator evaluator_;
};

}  // namespace

std::optional<Graph> from_core(const core::Program& program, core::GlobalId entry,
                               source::Diagnostics& diagnostics, const source::SourceManager* sources) {
  Context context(program, diagnostics, sources);
  try {
    return EntryEvaluator(context).run(entry);
  } catch (const base::TooMuchWork&) {  // the context is where evaluation stood
    const std::string& inner = program.globals[context.calls.back()].name;
    diagnostics.report(
        source::error(source::Code::E0592, context.span_here(),
                      fmt::format("entry `{}` is too large to compile", program.globals[entry].name))
            .label(context.calls.size() > 1 ? fmt::format("`{}` is evaluated for this", inner)
                                            : "evaluating this takes too much work")
            .text(
                fmt::format("A function is compiled anew for every use of it. So far there are {} operations "
                            "in {} steps.",
                            context.graph.scalars.size(), context.graph.nodes.size()))
            .help("write what repeats as `iterate`, `fold` or `scan`: it is compiled once"));
    return std::nullopt;
  }
}

std::optional<Graph> EntryEvaluator::run(core::GlobalId id) {
  const core::Global& entry = p.globals[id];
  if (entry.has_error || !entry.body.valid()) return std::nullopt;
  g.name = entry.name;
  g.root = g.regions.add({});
  regions_ = {g.root};
  context_.calls = {id};
  context_.spans = {entry.span};
  context_.file = entry.span.file;
  env_ = std::make_shared<Environment>();
  inputs(entry, *env_);
  if (failed_) return std::nullopt;
  sizes(entry);
  facts(entry);
  if (failed_) return std::nullopt;
  Val value = evaluator_.evaluate(entry.body);
  if (failed_) return std::nullopt;
  const Type& type = p.types.types[entry.scheme.type];
  results(value, entry.params.empty() ? entry.scheme.type : type.items.back(), "");
  if (failed_) return std::nullopt;
  eliminate_dead_code(g, context_.unneeded_checks);
  if (const std::string problem = limit_integers(g); !problem.empty())
    return unsupported(problem), std::nullopt;
  std::vector<std::string> broken = verify(g, Extents::dynamic);
  if (!broken.empty()) base::bug("from_core", broken[0] + "\n" + print(g));
  return std::move(g);
}

// ---- inputs ----

void EntryEvaluator::inputs(const core::Global& entry, Environment& env) {
  for (size_t i = 0; i < entry.params.size(); ++i) {
    const Pattern& pattern = entry.params[i];
    Val v = input_pattern(pattern, core::parameter_path(p, entry, i), env);
    if (failed_) return;
    evaluator_.bind(pattern, v, env);
  }
}

Val EntryEvaluator::input_pattern(const Pattern& pattern, const std::string& path, Environment& env) {
  if (pattern.kind == Pattern::Kind::tuple && !pattern.annotation) {
    std::vector<Val> items;
    for (size_t i = 0; i < pattern.items.size(); ++i)
      items.push_back(input_pattern(pattern.items[i], path + "." + std::to_string(i), env));
    return Val::tuple(std::move(items));
  }
  core::TypeId type;
  if (pattern.kind == Pattern::Kind::name && p.locals[pattern.local].type.valid()) {
    type = p.locals[pattern.local].type;
  } else if (pattern.annotation) {
    type = *pattern.annotation;
  }
  if (!type.valid()) return Val::tuple({});  // () and _ take nothing that could be read
  return input_tree(type, path, pattern.consumed, pattern.weights, {});
}

Val EntryEvaluator::input_tree(core::TypeId id, const std::string& path, bool consumed, bool weight,
                               const std::vector<Dim>& lead) {
  const Type& t = p.types.types[id];
  consumed |= t.consumed;
  Val v;
  switch (t.kind) {
    case Type::Kind::tensor:
      break;
    case Type::Kind::tuple:
    case Type::Kind::record:
      v.kind = t.kind == Type::Kind::tuple ? Val::Kind::tuple : Val::Kind::record;
      v.fields = t.fields;
      for (size_t i = 0; i < t.items.size(); ++i)
        v.items.push_back(input_tree(t.items[i],
                                     path + "." + (t.fields.empty() ? std::to_string(i) : t.fields[i]),
                                     consumed, weight, lead));
      return v;
    case Type::Kind::stack: {
      std::vector<Dim> longer = lead;
      longer.push_back(t.count);
      return input_tree(t.items[0], path, consumed, weight, longer);
    }
    default:
      return fail(source::Code::E0603, fmt::format("`{}` is no tensor and no structure of tensors", path));
  }
  Input input;
  input.path = path;
  input.type.elem = evaluator_.elem_of(t.elem);
  input.type.shape = lead;
  for (const core::ShapeItem& item : t.shape) {
    if (item.kind != core::ShapeItem::Kind::dim)
      return fail(source::Code::E0603, fmt::format("the number of axes of `{}` is not fixed", path));
    input.type.shape.push_back(item.dim);
  }
  input.place = place_of(t, input.type.shape);
  if (input.place && layout::is_row_major(*input.place, input.type.shape)) input.place.reset();
  bool size = input.type.shape.empty() && input.type.elem == Elem::i64 && t.value && t.value->as_var();
  input.kind = consumed ? InputKind::state
               : weight ? InputKind::weight
               : size   ? InputKind::scalar_size
                        : InputKind::argument;
  if (input.kind == InputKind::scalar_size) input.size = t.value->as_var();
  uint32_t number = static_cast<uint32_t>(g.inputs.size());
  input_numbers_[path] = number;
  Node n;
  n.op = NodeOp::input;
  n.region = g.root;
  n.types = {input.type};
  n.input = number;
  NodeId node = g.nodes.add(std::move(n));
  g.regions[g.root].nodes.push_back(node);
  g.inputs.push_back(input);
  if (input.size) return builder_.scalar(index_of(g, Dim(*input.size)));
  return Val::of(builder_.array_of(input.type, {node, 0}));
}

// ---- sizes and facts ----

bool SizeEnvironment::is_size(Var v) const {
  return std::any_of(g.sizes.begin(), g.sizes.end(), [&](const Size& s) { return s.var == v; });
}

void EntryEvaluator::sizes(const core::Global& entry) {
  auto add = [&](Size s) {
    s.name = shape::var_name(s.var);
    if (!sizes_.is_size(s.var)) g.sizes.push_back(std::move(s));
  };
  if (entry.entry_sizes) {
    for (const auto& [name, var] : entry.entry_sizes->given)
      add({var, name, Size::From::parameter, 0, 0, {}, 1});
    for (const core::ClosedForm& form : entry.entry_sizes->forms) {
      const core::Observation& seen = entry.entry_sizes->observations[form.observation];
      auto input = input_numbers_.find(seen.argument);
      if (input == input_numbers_.end()) base::bug("from_core", "no argument `" + seen.argument + "`");
      // An integer of another type than i64 is data and not a size.
      if (!seen.axis && g.inputs[input->second].kind != InputKind::scalar_size) continue;
      const Size::From from = seen.stride ? Size::From::stride : Size::From::axis;
      Size s{form.size, "", from, input->second, seen.axis.value_or(0), seen.dim, form.power};
      if (!seen.axis) s.from = Size::From::scalar;
      add(std::move(s));
    }
  }
  for (uint32_t i = 0; i < g.inputs.size(); ++i)
    if (g.inputs[i].size) add({*g.inputs[i].size, "", Size::From::scalar, i, 0, {}, 1});
  if (!entry.entry_sizes) return;
  for (Size& s : g.sizes)
    for (Var integer : entry.entry_sizes->integers)
      if (s.from == Size::From::scalar && s.var == integer) s.range = shape::integer_range();
}

namespace {

/// The dimensions that a type mentions.
void add_dims(const core::TypeStore& types, core::TypeId id, std::vector<Dim>& out) {
  if (!id.valid()) return;
  const core::Type& type = types.types[id];
  for (const core::ShapeItem& item : type.shape)
    if (item.kind == core::ShapeItem::Kind::dim) out.push_back(item.dim);
  for (core::TypeId item : type.items) add_dims(types, item, out);
}

}  // namespace

void EntryEvaluator::facts(const core::Global& entry) {
  for (const Size& s : g.sizes) {
    if (s.is_integer()) continue;
    Fact nonnegative = shape::at_most(Dim(0), Dim(s.var));
    g.facts.push_back(nonnegative);
    if (s.from == Size::From::scalar)
      g.checks.push_back({nonnegative,
                          {},
                          {},
                          fmt::format("`{}` is {{rhs}}; a size is at least 0", g.inputs[s.input].path)});
  }
  // First those that show the ranges of integers, which the others need.
  for (const bool first : {true, false}) {
    if (!first) learn_axes(entry);
    if (!entry.entry_sizes) continue;
    for (const core::SizeCheck& c : entry.entry_sizes->checks)
      if (nests_no_integer(g, c.fact) == first && (first || !c.inferred || has_exact_operands(g, c.fact)))
        learn(entry, c.fact,
              fmt::format("{} needs {}; the sides are {{lhs}} and {{rhs}}", c.text, c.fact.str()));
    narrow_integers(g);
  }
  for (const Fact& f : g.facts) sizes_.learn_rewrite(f);
}

/// Learns of the axes in the entry's type that integers decide that they are sizes, and exact.
void EntryEvaluator::learn_axes(const core::Global& entry) {
  const Dim most(static_cast<int64_t>(shape::size_range().high));
  std::vector<Dim> stated;
  add_dims(p.types, entry.scheme.type, stated);
  for (const Dim& d : stated) {
    const Dim here = sizes_.resolve(d);
    if (!reads_integer(g, here) || !sizes_.over_sizes(here)) continue;
    for (const Dim& part : inexact_operands(g, here)) {
      if (is_exact(g, part)) continue;  // by what was learned of the parts before
      const std::string large = fmt::format(
          "`{}` is too large: the integers of a program's sizes end at 2^62, "
          "and this is ",
          part.str());
      learn(entry, shape::at_most(part, Dim(largest_integer)), large + "{lhs}");
      learn(entry, shape::at_least(part, Dim(-largest_integer)), large + "{rhs}");
      narrow_integers(g);
    }
    learn(entry, shape::at_least(here, Dim(0)),
          fmt::format("an axis has {} elements, and that is {{rhs}}", here.str()));
    learn(entry, shape::at_most(here, most),
          fmt::format("an axis has {} elements: {{lhs}} are too many", here.str()));
  }
  narrow_integers(g);
}

/// Makes the fact known, and checks it: at the call, or, where it mentions integers of other types than i64,
/// when the launch begins.
void EntryEvaluator::learn(const core::Global& entry, const Fact& fact, const std::string& message) {
  const bool repeated = std::any_of(g.facts.begin(), g.facts.end(), [&](const Fact& f) {
    return f.lhs == fact.lhs && f.rhs == fact.rhs && f.relation == fact.relation;
  });
  if (repeated) return;
  const auto& exists = entry.scheme.exists;  // facts of sizes that the entry computes
  for (const Dim& side : {fact.lhs, fact.rhs})
    for (Var v : side.vars())
      if (!sizes_.is_size(v)) {
        if (std::find(exists.begin(), exists.end(), v) != exists.end()) return;
        if (!require_when_run(entry, fact, message))
          unsupported(fmt::format("a size that depends on `{}`: {}", shape::var_name(v), fact.str()));
        return;
      }
  if (never_holds(g, fact))
    return void(fail(source::Code::E0502, fmt::format("`{}` holds for no sizes up to 2^48", fact.str())));
  check_at_call(g, fact, message);
}

/// False when the fact mentions what is neither a size nor an integer among the arguments.
bool EntryEvaluator::require_when_run(const core::Global& entry, const Fact& fact,
                                      const std::string& message) {
  std::map<Var, NodeId> arguments;
  std::map<Var, ScalarId> values;
  for (const core::ClosedForm& form : entry.entry_sizes->forms) {
    const core::Observation& seen = entry.entry_sizes->observations[form.observation];
    const auto input = input_numbers_.find(seen.argument);
    if (seen.axis || seen.dim != Dim(form.size) || input == input_numbers_.end()) continue;
    for (uint32_t n = 0; n < g.nodes.size(); ++n)
      if (const Node& node = g.nodes[NodeId{n}]; node.op == NodeOp::input && node.input == input->second) {
        arguments.emplace(form.size, NodeId{n});
        values.emplace(form.size, cast(g, Elem::i64, load(g, {NodeId{n}, 0}, {}, node.types[0].elem)));
      }
  }
  for (const Dim& side : {fact.lhs, fact.rhs})
    for (Var v : side.vars())
      if (!sizes_.is_size(v) && !values.count(v)) return false;
  checks_.require(
      fact, [&](const Dim& d) { return substitute(g, index_of(g, d), values); }, message);
  std::vector<Fact> known = g.facts;
  known.push_back(fact);
  for (const auto& [integer, argument] : arguments)
    if (const auto most =
            shape::bounds_of(Dim(integer), known, [&](Var v) { return sizes_.is_size(v); }).high)
      context_.most_of_arguments.emplace(argument, *most);
  return true;
}

/// An equality c*t == rest, with t a quotient or another atom, replaces c*t by rest.
void SizeEnvironment::learn_rewrite(const Fact& fact) {
  if (fact.relation != shape::Relation::eq) return;
  for (const auto& [side, other] : {std::pair(fact.lhs, fact.rhs), std::pair(fact.rhs, fact.lhs)})
    for (const shape::Term& t : side.terms()) {
      if (t.factors.size() != 1 || t.factors[0].kind() == shape::AtomKind::var) continue;
      rewrites_.push_back({t.factors[0], t.coefficient, other - (side - product_of(t))});
      return;
    }
}

/// One monomial as a dimension.
Dim SizeEnvironment::product_of(const shape::Term& term) {
  Dim product(term.coefficient);
  for (const shape::Atom& a : term.factors) {
    switch (a.kind()) {
      case shape::AtomKind::var:
        product = product * Dim(a.var());
        break;
      case shape::AtomKind::floor_div:
        product = product * floor_div(a.lhs(), a.rhs());
        break;
      case shape::AtomKind::mod:
        product = product * mod(a.lhs(), a.rhs());
        break;
      case shape::AtomKind::min:
        product = product * min(a.lhs(), a.rhs());
        break;
      case shape::AtomKind::max:
        product = product * max(a.lhs(), a.rhs());
        break;
    }
  }
  return product;
}

Dim SizeEnvironment::rewritten(const Dim& dim) const {
  Dim now = dim;
  for (const Rewrite& r : rewrites_) {
    Dim sum(0);
    for (shape::Term t : now.terms()) {
      auto at = std::find(t.factors.begin(), t.factors.end(), r.atom);
      if (at == t.factors.end() || t.coefficient % r.coefficient != 0) {
        sum = sum + product_of(t);
        continue;
      }
      t.factors.erase(at);
      t.coefficient /= r.coefficient;
      sum = sum + product_of(t) * r.replacement;
    }
    now = sum;
  }
  return now;
}

// ---- places and results ----

/// Where a tensor of the type lies, from its first element on; the checker has seen that a call can take it.
std::optional<layout::Layout> EntryEvaluator::place_of(const Type& type, const std::vector<Dim>& shape) {
  if (type.kind != Type::Kind::tensor || type.layout.empty()) return std::nullopt;
  std::vector<Dim> stated;
  for (const core::ShapeItem& item : type.shape) stated.push_back(item.dim);
  const auto layout = core::layout_of(type.layout);
  const auto strides = layout ? layout::strides_of(*layout, stated) : layout.refusal();
  if (!strides || strides->size() != shape.size()) base::bug("from_core", "an entry states no strides");
  std::vector<Dim> here;
  for (const Dim& stride : *strides) here.push_back(sizes_.resolve(stride));
  return layout::strided(shape, here);
}

void EntryEvaluator::results(const Val& value, core::TypeId id, const std::string& path) {
  const Type& type = p.types.types[id];
  const auto item = [&](size_t i) {
    if (!value.fields.empty())
      i = static_cast<size_t>(std::find(type.fields.begin(), type.fields.end(), value.fields[i]) -
                              type.fields.begin());
    return i < type.items.size() ? type.items[i] : id;  // a stack is one tensor
  };
  switch (value.kind) {
    case Val::Kind::array: {
      const Value result = builder_.store(*value.array, {});
      g.results.push_back({path, result, place_of(type, g.type(result).shape)});
      return;
    }
    case Val::Kind::tuple:
    case Val::Kind::record:
      for (size_t i = 0; i < value.items.size(); ++i) {
        std::string name = value.fields.empty() ? std::to_string(i) : value.fields[i];
        results(value.items[i], item(i), path.empty() ? name : path + "." + name);
      }
      return;
    default:
      fail(source::Code::E0603, "an entry gives tensors back, or structures of tensors");
  }
}

}  // namespace axon::graph
