// See order_form.h.
#include "tile/from_task/order_form.h"

#include <algorithm>

#include "tile/from_task/computed_types.h"
#include "tile/from_task/form_maker.h"

namespace axon::tile {

namespace {

class OrderFormMaker : FormMaker {
 public:
  OrderFormMaker(const task::Program& p, const task::TaskType& type, graph::Graph& g)
      : FormMaker(p, type, g, false) {
    has_data_ = true;
  }

  OrderForm run() {
    write_out_locals();
    const Scalar order = g_.scalars[whole_.at(0)];
    if (whole_.size() != 1 || order.op != graph::Op::order) throw NoForm{"it does more than order"};
    for (const ScalarId part : graph::scalars_in(g_, order.args[0]))
      if (graph::binds(g_.scalars[part].op)) throw NoForm{"its keys are reduced"};
    const auto last = static_cast<uint32_t>(node_.domain.size() - 1);
    if (store_step(0, last) != 1) throw NoForm{"its rows do not lie together"};
    OrderForm made{{}, order.binders[0], truth_of_two(order.args[0]), order.descending};
    for (uint32_t a = 0; a < last; ++a) made.form.rows.push_back(a);
    std::vector<Fact> facts = ranges_around();
    add_range(facts, made.binder);
    made.key = ComputedTypes(g_).of(simplified(made.key, facts));
    made.form.outputs = {made.key};
    return made;
  }

 private:
  /// Of a key that has two values, whether it is the greater one.
  ScalarId truth_of_two(ScalarId id) {
    const Scalar key = g_.scalars[id];
    if (!base::is_integer(key.elem)) return id;
    if (key.op == graph::Op::cast && g_.scalars[key.args[0]].elem == Elem::boolean) return key.args[0];
    if (key.op != graph::Op::select) return id;
    const Scalar one = g_.scalars[key.args[1]], other = g_.scalars[key.args[2]];
    const bool differ =
        one.op == graph::Op::constant && other.op == graph::Op::constant && one.integer != other.integer;
    if (!differ) return id;
    return one.integer > other.integer ? key.args[0] : graph::apply(g_, graph::Op::not_, {key.args[0]});
  }
};

}  // namespace

std::variant<OrderForm, std::string> order_form(const task::Program& p, const task::TaskType& type,
                                                graph::Graph& g) {
  try {
    return OrderFormMaker(p, type, g).run();
  } catch (const NoForm& none) {
    return none.why;
  }
}

}  // namespace axon::tile
