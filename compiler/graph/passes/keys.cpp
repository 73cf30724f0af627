// Renames all bound variables to numbered ones; hash-consing then makes equal bodies the same id.
#include "graph/passes/keys.h"

#include "graph/passes/edit.h"
#include "shape/arena.h"

namespace axon::graph::edit {

namespace {

struct Numbered {
  std::vector<Var> vars;
};

Var numbered(size_t n) {
  auto& vars = shape::remembered_in_arena<Numbered>().vars;
  while (vars.size() <= n) vars.push_back(shape::fresh_var("k" + std::to_string(vars.size())));
  return vars[n];
}

/// Dims are interned: equal means the same node.
uint64_t of(const Dim& dim) { return reinterpret_cast<uint64_t>(dim.node()); }

class Builder {
 public:
  explicit Builder(Graph& graph) : g(graph) {}
  Key key;

  void axes(const std::vector<Axis>& list) {
    key.push_back(list.size());
    for (const Axis& a : list) {
      key.push_back(of(a.extent));
      renaming[a.var] = numbered(next++);
    }
  }
  void body(ScalarId root) {
    for (ScalarId id : binders_in(g, root))
      for (const Axis& b : g.scalars[id].binders)
        if (!renaming.count(b.var)) renaming[b.var] = numbered(next++);
    key.push_back(rename(g, root, renaming).index);
  }
  void local(const Local& l) {
    key.push_back(static_cast<uint64_t>(l.elem));
    axes(l.domain);
    body(l.body);
  }
  void output(const Output& o) {
    key.push_back(static_cast<uint64_t>(o.type.elem));
    key.push_back(o.type.shape.size());
    for (const Dim& d : o.type.shape) key.push_back(of(d));
    key.push_back(o.base ? (uint64_t{o.base->node.index} << 32 | o.base->output) : ~0ull);
    for (const Dim& d : o.at) key.push_back(of(d.substitute(as_substitution(renaming))));
    body(o.body);
  }

 private:
  Graph& g;
  Renaming renaming;
  size_t next = 0;
};

}  // namespace

Key key_of(Graph& g, const Local& local) {
  Builder builder(g);
  builder.local(local);
  return builder.key;
}

Key key_of(Graph& g, const Node& node) {
  Builder builder(g);
  builder.key.push_back(node.packs ? 1 : 0);
  for (const Local& l : node.locals) builder.local(l);
  builder.axes(node.domain);
  for (const Output& o : node.outputs) builder.output(o);
  return builder.key;
}

}  // namespace axon::graph::edit
