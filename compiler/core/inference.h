// What the inference of one declaration shares between its parts.
//
// In: a lowered declaration (decl_from_syntax.cpp). Out: its type scheme, and a type on each of its
// expressions. Hindley-Milner over structure and element types; sizes and shapes are constraints for the
// solver. Types are pushed down where they are known (parameters of a lambda that is an argument) and
// otherwise flow up. The parts:
//   Checker        check.h          the order of the steps for one declaration
//   ExprChecker    check_expr.h     expressions and applications (check_arithmetic.cpp: of integers)
//   IndexChecker   check_index.h    `for`, indexing, slices, updates, rearrange
//   SizeChecker    check_size.h     expressions that are used as sizes
//   SizeNames      size_names.h     names that stand for sizes, found before inference
//   PatternBinder  bind_pattern.h   parameters and names of `let`
//   Instantiator   instantiate.h    a scheme at one of its uses
//   Generaliser    generalise.h     what inference left open becomes a scheme, and its `where`
//   OpenedSizes    opened_sizes.h   sizes that depend on data
//   LoopScopes     loop_scopes.h    which variables belong to one iteration of a `for`
//   WriteBack      write_back.h     solved types into the program
//   EntryChecker   entry.h          how sizes follow from the arguments of an entry
//   Reporter       reporter.h       what the user reads
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "core/elaborator.h"
#include "core/unify.h"

namespace axon::core {

/// A fact of a scheme's `where` that inference found, and the expression that needs it.
struct WhyFact {
  shape::Fact fact;
  source::Span span;
  source::Span within;  ///< the whole indexing or application; not valid when there is none
};

struct InferenceContext {
  InferenceContext(Elaborator& e, GlobalId g)
      : elaborator(e), global(g), solver(e.vars), unifier(e.vars, solver) {}
  InferenceContext(const InferenceContext&) = delete;
  InferenceContext& operator=(const InferenceContext&) = delete;

  Elaborator& elaborator;
  GlobalId global;  ///< the declaration
  Solver solver;
  Unifier unifier;
  base::Store<WhyTag, Why> whys;
  std::vector<LocalId> scope;         ///< the names that are bound where inference is now
  std::vector<WhyFact> fact_sources;  ///< of the facts that generalisation adds to the scheme
  bool failed = false;                ///< an error was reported, or stands in what is pending
};

/// Access to the context, under the names that all parts use for it.
class InferencePart {
 protected:
  explicit InferencePart(InferenceContext& c)
      : e_(c.elaborator),
        p_(c.elaborator.program),
        vars_(c.elaborator.vars),
        solver_(c.solver),
        unifier_(c.unifier),
        g_(c.global),
        whys_(c.whys),
        scope_(c.scope),
        fact_sources_(c.fact_sources),
        failed_(c.failed) {}

  /// Records where a constraint comes from; every constraint is stated with one.
  WhyId why(source::Span span, std::string what, TypeId expected = {}, TypeId found = {}, ExprId expr = {}) {
    return whys_.add({span, std::move(what), expected, found, expr, {}, LeftToRun::never});
  }
  /// The size that an integer scalar of this type is known to equal.
  std::optional<shape::Dim> value_of(TypeId t) const {
    const Type& type = vars_[vars_.head(t)];
    if (type.kind != Type::Kind::tensor || !type.value) return std::nullopt;
    const shape::Dim value = vars_.zonk(*type.value);
    const bool wraps = shape::too_complex(value) && vars_.may_wrap(*type.value);
    return wraps ? std::nullopt : std::optional(value);
  }

  Elaborator& e_;
  Program& p_;
  Vars& vars_;
  Solver& solver_;
  Unifier& unifier_;
  const GlobalId g_;
  base::Store<WhyTag, Why>& whys_;
  std::vector<LocalId>& scope_;
  std::vector<WhyFact>& fact_sources_;
  bool& failed_;
};

}  // namespace axon::core
