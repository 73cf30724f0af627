// See names.h.
#include "tile/names.h"

#include <fmt/format.h>

#include "tile/places.h"

namespace axon::tile {

Names::Names(const Program& p) : p_(p) {
  for (Var v : p.sizes) give(v, names_, used_);
  for (const Coordinate& c : p.grid) give(c.var, names_, used_);
  for (const Op& op : p.ops)
    if (const auto* loop = std::get_if<Loop>(&op)) give(loop->index, names_, used_);
}

void Names::give(Var v, std::map<Var, std::string>& names, std::set<std::string>& used) {
  if (names.contains(v)) return;
  const std::string& name = shape::var_name(v);
  std::string unique = name;
  for (int n = 1; !used.insert(unique).second; ++n) unique = name + std::to_string(n);
  names[v] = unique;
}

void Names::begin_labels(const Op& op) {
  labels_.clear();
  std::set<std::string> used = used_;
  for (const Tile& tile : p_.tiles) used.insert(tile.name);
  for (const Use* use : uses(op))
    for (Var v : use->labels) give(v, labels_, used);
  if (const auto* prefetch = std::get_if<Prefetch>(&op))
    for (const Prefetch::Label& label : prefetch->labels) give(label.var, labels_, used);
}

std::string Names::operator()(Var v) const {
  if (const auto found = names_.find(v); found != names_.end()) return found->second;
  const auto found = labels_.find(v);
  return found == labels_.end() ? shape::var_name(v) + "?" : found->second;
}
std::string Names::operator()(const Dim& d) const {
  return d.str([this](Var v) { return (*this)(v); });
}
std::string Names::operator()(const std::vector<Dim>& dims) const {
  std::string text;
  for (const Dim& d : dims) text += (text.empty() ? "" : ", ") + (*this)(d);
  return text;
}
std::string Names::operator()(const Box& box) const {
  std::string text;
  for (const Interval& i : box) text += (text.empty() ? "" : ", ") + (*this)(i.low) + " : " + (*this)(i.high);
  return "[" + text + "]";
}
std::string Names::operator()(const Use& use) const {
  std::string text;
  for (Var v : use.labels) text += (text.empty() ? "" : ", ") + (*this)(v);
  return p_.tiles[use.tile].name + "[" + text + "]";
}
std::string Names::operator()(const char* word, const std::vector<Fact>& facts) const {
  return shape::conditions(word, facts, [this](const Dim& d) { return (*this)(d); });
}

std::string literal(const Number& n, Elem elem) {
  if (elem == Elem::f32) return fmt::format("{}", static_cast<float>(n.real));
  return base::is_float(elem) ? fmt::format("{}", n.real) : fmt::format("{}", n.integer);
}

namespace {

struct Collect {
  std::vector<const Use*> out;
  void add(const Use& use) { out.push_back(&use); }
  void add(const Access& access) {
    for (const Index& index : access.at)
      if (index.table) add(*index.table);
  }

  void operator()(const Copy& op) { add(op.to), add(op.from); }
  void operator()(const View& op) { add(op.to), add(op.from); }
  void operator()(const Store& op) { add(op.from), add(op.to); }
  void operator()(const Map& op) {
    add(op.to);
    for (const Expr& expr : op.exprs)
      if (expr.kind == Expr::Kind::tile) add(expr.use);
  }
  void operator()(const Gemm& op) { add(op.acc), add(op.a), add(op.b); }
  void operator()(const Reduce& op) { add(op.to), add(op.from); }
  void operator()(const Scan& op) {
    add(op.to), add(op.from);
    if (op.start) add(*op.start);
  }
  void operator()(const Scatter& op) { add(op.from), add(op.to); }
  void operator()(const Check& op) {
    add(op.of);
    for (const Index* shown : {&op.found, &op.wanted})
      if (shown->table) add(*shown->table);
  }
  void operator()(const Loop& op) {
    if (op.first) add(*op.first);
    if (op.count) add(*op.count);
  }
  template <class Other>
  void operator()(const Other&) {}
};

}  // namespace

std::vector<const Use*> uses(const Op& op) {
  Collect collect;
  std::visit(collect, op);
  return std::move(collect.out);
}

const Access* access_of(const Op& op) {
  if (const auto* copy = std::get_if<Copy>(&op)) return &copy->from;
  if (const auto* view = std::get_if<View>(&op)) return &view->from;
  if (const auto* store = std::get_if<Store>(&op)) return &store->to;
  if (const auto* scatter = std::get_if<Scatter>(&op)) return &scatter->to;
  return nullptr;
}

std::vector<TileId> tiles(const Op& op) {
  std::vector<TileId> out;
  for (const Use* use : uses(op)) out.push_back(use->tile);
  if (const Access* access = access_of(op); access && !access->tensor) out.push_back(access->tile);
  if (const auto* loop = std::get_if<Loop>(&op); loop && loop->order) out.push_back(loop->order->keys);
  return out;
}

void rename_tiles(Op& op, const std::function<TileId(TileId)>& renamed) {
  const auto set = [&](const TileId& tile) { const_cast<TileId&>(tile) = renamed(tile); };  // parts of `op`
  for (const Use* use : uses(op)) set(use->tile);
  if (const Access* access = access_of(op); access && !access->tensor) set(access->tile);
  if (auto* loop = std::get_if<Loop>(&op)) {
    for (const TileId& tile : loop->carries) set(tile);
    if (loop->order) set(loop->order->keys);
  }
  if (auto* acquire = std::get_if<Acquire>(&op)) set(acquire->ring);
  if (auto* release = std::get_if<Release>(&op)) set(release->ring);
}

std::vector<TileId> defined_tiles(const Op& op) {
  if (const auto* store = std::get_if<Store>(&op))
    return store->to.tensor ? std::vector<TileId>() : std::vector<TileId>{store->to.tile};
  if (const auto* scatter = std::get_if<Scatter>(&op)) return {scatter->to.tile};
  if (std::holds_alternative<Check>(op) || std::holds_alternative<Loop>(op)) return {};
  std::vector<TileId> out;
  const auto all = uses(op);
  if (!all.empty()) out.push_back(all.front()->tile);
  return out;
}

int64_t lanes_of_scan(const Program& p, const Scan& scan) {
  const Tile& from = p.tiles[scan.from.tile];
  const bool is_row = from.space == Space::registers && from.shape.size() == 1 && p.machine.threads() == 1;
  if (!is_row || from.layout != p.tiles[scan.to.tile].layout) return 1;
  const Places places(p.layouts[from.layout].layout);
  const int64_t lanes = places.vector_lanes();
  if (places.copies() != 1 || places.elements() % lanes != 0) return 1;
  for (int64_t x = 0; x < places.elements(); ++x)
    if (places.of(x)[0] != Point{x % lanes, x / lanes}) return 1;
  return lanes;
}

const std::vector<OpId>* body(const Op& op) {
  if (const auto* loop = std::get_if<Loop>(&op)) return &loop->body;
  if (const auto* role = std::get_if<Role>(&op)) return &role->body;
  return nullptr;
}

}  // namespace axon::tile
