// See prefix_form.h.
#include "tile/from_task/prefix_form.h"

#include "graph/prefix.h"
#include "tile/from_task/computed_types.h"
#include "tile/from_task/form_maker.h"

namespace axon::tile {

namespace {

class PrefixFormMaker : FormMaker {
 public:
  PrefixFormMaker(const task::Program& p, const task::TaskType& type, graph::Graph& g)
      : FormMaker(p, type, g, false) {
    has_data_ = true;
  }

  PrefixForm run() {
    const auto prefix = graph::prefix_reduction(g_, node_);
    if (!prefix) throw NoForm{"it does more than prefixes"};
    PrefixForm made;
    made.axis = prefix->axis;
    const uint32_t along = axis_of_blocks(prefix->axis);
    made.down = along != prefix->axis;
    made.form.along = along;
    for (uint32_t a = 0; a < node_.domain.size(); ++a)
      if (a != made.axis && a != along) made.form.rows.push_back(a);
    made.form.reductions = {fold_of(*prefix)};
    if (prefix->begin.valid()) made.begin = prefix->begin;
    made.form.reductions[0].level = made.form.rows.size();
    form_.reductions = made.form.reductions;
    made.form.outputs = {result(0)};
    const std::vector<Fact> facts = ranges_around();
    for (ScalarId* of : {&made.form.reductions[0].term, &made.begin})
      if (of->valid()) *of = ComputedTypes(g_).of(simplified(*of, facts));
    return made;
  }

 private:
  /// The axis of the prefix, unless elements lie together along another one alone.
  uint32_t axis_of_blocks(uint32_t axis) const {
    if (store_step(0, axis) == 1) return axis;
    for (auto a = static_cast<uint32_t>(node_.domain.size()); a-- > 0;)
      if (a != axis && store_step(0, a) == 1) return a;
    return axis;
  }

  RowReduction fold_of(const graph::Prefix& prefix) {
    const Scalar s = g_.scalars[node_.outputs[0].body];
    const base::Elem elem = s.elem;
    const Var binder = s.binders[0].var;
    RowReduction fold;
    fold.monoid = s.monoid;
    fold.kept = base::computed_as(elem);
    const bool chooses = s.monoid == graph::Monoid::max || s.monoid == graph::Monoid::min;
    fold.in = chooses ? fold.kept : base::computed_as(base::accumulator(elem));
    fold.along = node_.domain[prefix.axis];
    fold.first = Dim(0);
    fold.end = fold.along.extent;
    const Dim point = Dim(fold.along.var) - Dim(prefix.before);
    fold.term = graph::substitute(g_, prefix.term, shape::Substitution{{binder, point}});
    if (prefix.before == 0) return fold;
    const ScalarId is_point =
        graph::apply(g_, graph::Op::le, {graph::index_of(g_, Dim(0)), graph::index_of(g_, point)});
    const ScalarId none = graph::unit_of(g_, s.monoid, g_.scalars[fold.term].elem);
    fold.term = graph::apply(g_, graph::Op::select, {is_point, fold.term, none});
    return fold;
  }
};

}  // namespace

std::variant<PrefixForm, std::string> prefix_form(const task::Program& p, const task::TaskType& type,
                                                  graph::Graph& g) {
  try {
    return PrefixFormMaker(p, type, g).run();
  } catch (const NoForm& none) {
    return none.why;
  }
}

}  // namespace axon::tile
