// See products.h.
#include "module/tiles/products.h"

#include <algorithm>

#include "module/tiles/operations.h"

namespace axon::module::tiles {

namespace {

constexpr int64_t most_products = 64;  ///< of vectors, in an iteration over whole blocks,
constexpr int64_t most_steps = 8;      ///< which is so many steps at most
constexpr int64_t few_products = 8;    ///< as most_products, where rows or depth end

Lanes with_more(const Lanes& lanes, const Substitution& more) {
  Lanes out = lanes;
  for (Substitution& labels : out.labels) labels.insert(more.begin(), more.end());
  return out;
}

/// Operands of the products of one step: vectors of accumulators share them.
class Operands {
 public:
  using Read = std::function<Value*(const tile::Use&, const Lanes&)>;
  explicit Operands(Read read) : read_(std::move(read)) {}
  Value* of(const tile::Use& use, const Lanes& lanes) {
    std::vector<const void*> key{&use};
    for (const Substitution& labels : lanes.labels)
      for (Var label : use.labels) key.push_back(labels.at(label).node());
    Value*& found = known_[key];
    return found ? found : found = read_(use, lanes);
  }

 private:
  Read read_;
  std::map<std::vector<const void*>, Value*> known_;
};

/// How many values of the label, from 0 on, satisfy the fact, if it mentions no other label and falls by one
/// with each.
std::optional<Dim> count_of(const Fact& fact, Var label, const std::vector<Var>& labels) {
  const auto wanted = nonnegatives(fact);
  if (!wanted || wanted->size() != 1) return std::nullopt;
  const Dim& d = wanted->front();
  for (const Var other : labels)
    if (d.contains(other) != (other == label)) return std::nullopt;
  const auto step = d.linear_in(label);
  if (!step || !step->first.is(-1)) return std::nullopt;
  return step->second + 1;
}

}  // namespace

GemmLimits limits_of(const tile::Program& p, const Views& views, const tile::Gemm& gemm) {
  GemmLimits out;
  const std::vector<Var> summed = summed_labels(gemm.acc, {&gemm.a, &gemm.b});
  if (!summed.empty()) {
    out.depth = summed.back();
    out.outer.assign(summed.begin(), summed.end() - 1);
  }
  if (gemm.acc.labels.size() > 1) out.row = gemm.acc.labels.front();
  std::vector<Var> labels = gemm.acc.labels;
  labels.insert(labels.end(), summed.begin(), summed.end());
  for (const tile::Use* use : {&gemm.a, &gemm.b}) {
    const auto view = views.find(use->tile);
    const auto fill = view == views.end() ? std::nullopt : view->second->bounds.fill;
    const bool leaves_out = fill && *fill == tile::Number();
    for (const Fact& fact : bounds_of(p, views, *use)) {
      const auto rows = leaves_out && out.row ? count_of(fact, *out.row, labels) : std::nullopt;
      const auto steps = leaves_out && out.depth ? count_of(fact, *out.depth, labels) : std::nullopt;
      const auto columns = leaves_out ? count_of(fact, gemm.acc.labels.back(), labels) : std::nullopt;
      const auto outer = std::find_if(out.outer.begin(), out.outer.end(),
                                      [&](Var label) { return leaves_out && count_of(fact, label, labels); });
      if (rows)
        out.rows.push_back(*rows);
      else if (steps)
        out.steps.push_back(*steps), out.of_steps.push_back(fact);
      else if (outer != out.outer.end())
        out.of_outer[*outer].push_back(*count_of(fact, *outer, labels));
      else if (columns)
        out.columns.push_back(*columns), out.of_columns.push_back(fact);
      else
        out.others.push_back(fact);
    }
  }
  return out;
}

/// Are all bounds known to hold? Masks make code so long that it goes step by step.
bool Products::is_whole(const std::vector<Fact>& bounds, const std::map<Var, int64_t>& extents) {
  return std::all_of(bounds.begin(), bounds.end(), [&](const Fact& fact) {
    const auto wanted = nonnegatives_everywhere(fact, extents);
    return wanted &&
           std::all_of(wanted->begin(), wanted->end(), [&](const Dim& d) { return c_.known.nonnegative(d); });
  });
}

int64_t Products::registers_of(int64_t rows) const {
  return std::max<int64_t>(1, std::count_if(accumulators_.begin(), accumulators_.end(),
                                            [&](const Accumulator& a) { return has(a, rows); }));
}

/// One step of all labels that are summed.
void Products::multiply(const tile::Gemm& gemm, const Substitution& at, int64_t rows) {
  if (depth_)
    for (const tile::Prefetch* prefetch : ahead_) accesses_.prefetch_step(*prefetch, at.at(*depth_));
  Operands operands([&](const tile::Use& use, const Lanes& lanes) {
    return c_.a.cast(accesses_.read(use, lanes), c_.p.tiles[use.tile].elem, gemm.in);
  });
  for (const Accumulator& acc : accumulators_) {
    if (!has(acc, rows)) continue;
    const Lanes here = with_more(acc.lanes, at);
    Value *x = operands.of(gemm.a, here), *y = operands.of(gemm.b, here);
    Value* sum = accesses_.read(gemm.acc, acc.lanes);
    sum = c_.a.multiply_add(computed_as(gemm.in), x, y, sum);
    registers_.set(gemm.acc.tile, acc.number, widened(c_, sum, acc.lanes.own, acc.lanes.width));
  }
}

/// Loops over the labels that are summed before the depth, of which there may be fewer steps.
void Products::each_outer(const GemmLimits& limits, size_t number, const Substitution& at,
                          const std::function<void(const Substitution&)>& body) {
  if (number == limits.outer.size()) return body(at);
  const Var label = limits.outer[number];
  Dim count(extents_.at(label));
  if (const auto found = limits.of_outer.find(label); found != limits.of_outer.end()) {
    for (const Dim& steps : found->second) count = shape::min(count, steps);
    count = shape::max(count, Dim(0));
  }
  const Axis step{shape::fresh_var(shape::var_name(label)), count};
  Substitution here = at;
  here[label] = Dim(step.var);
  c_.loop(
      step, {}, [&] { each_outer(limits, number + 1, here, body); }, LoopKind::rolled);
}

void Products::some_rows(const tile::Gemm& gemm, const GemmLimits& limits, int64_t rows) {
  each_outer(limits, 0, {}, [&](const Substitution& at) { along_depth(gemm, limits, rows, at); });
}

/// As many steps as there are: several in each iteration of a loop, then one by one.
void Products::along_depth(const tile::Gemm& gemm, const GemmLimits& limits, int64_t rows,
                           const Substitution& at) {
  const int64_t extent = extents_.at(*limits.depth);
  Dim count(extent);
  for (const Dim& steps : limits.steps) count = shape::min(count, steps);
  if (!limits.steps.empty()) count = shape::max(count, Dim(0));
  std::map<Var, int64_t> free = extents_;
  int64_t at_once = std::clamp<int64_t>(few_products / registers_of(rows), 1, 8);
  if (!is_whole(limits.others, free)) at_once = 1;
  const auto steps_from = [&](const Dim& first, int64_t steps) {
    std::vector<Dim> suppose;
    for (const Dim& limit : limits.steps) suppose.push_back(limit - first - steps);
    c_.known.supposing(suppose, [&] {
      for (int64_t k = 0; k < steps; ++k) {
        Substitution here = at;
        here[*limits.depth] = first + k;
        multiply(gemm, here, rows);
      }
    });
  };
  const Dim blocks = shape::floor_div(count, at_once);
  if (at_once > 1) {
    const Axis block{shape::fresh_var("block"), blocks};
    c_.loop(
        block, {}, [&] { steps_from(Dim(block.var) * at_once, at_once); }, LoopKind::rolled);
  }
  const Axis rest{shape::fresh_var("rest"), count - (at_once > 1 ? blocks * at_once : Dim(0))};
  if (!rest.extent.is(0))
    c_.loop(
        rest, {}, [&] { steps_from((at_once > 1 ? blocks * at_once : Dim(0)) + Dim(rest.var), 1); },
        LoopKind::rolled);
}

void Products::emit(const tile::Op& op, const tile::Gemm& gemm) {
  GemmLimits limits = limits_of(c_.p, c_.views, gemm);
  extents_ = extents_of_labels(c_.p, op);
  depth_ = limits.depth;
  ahead_ = std::exchange(c_.ahead, {});
  accumulators_.clear();
  Sweep(c_, registers_, op, gemm.acc).each(false, [&](const Lanes& lanes, int64_t number) {
    int64_t row = 0, column = extents_.at(gemm.acc.labels.back());
    for (const Substitution& labels : lanes.labels) {
      if (limits.row) row = std::max(row, *labels.at(*limits.row).constant());
      column = std::min(column, *labels.at(gemm.acc.labels.back()).constant());
    }
    accumulators_.push_back({lanes, number, row, column / lanes.width});
  });
  const int64_t rows = limits.row ? extents_.at(*limits.row) : 1;
  if (c_.rows) return some_rows(gemm, limits, *c_.rows);
  const auto whole = [&] {
    const int64_t most =
        is_whole(limits.others, extents_) ? std::min(most_products / registers_of(rows), most_steps) : 1;
    each_in_order(
        c_, summed_labels(gemm.acc, {&gemm.a, &gemm.b}), extents_, labels_of_registers(c_.p, c_.views, op),
        limits.others, most, [&](const Substitution& at) { multiply(gemm, at, rows); }, LoopKind::rolled);
  };
  std::vector<Dim> all;
  for (const Dim& d : limits.rows) all.push_back(d - rows);
  for (const Dim& d : limits.steps) all.push_back(d - extents_.at(*limits.depth));
  for (const auto& [label, steps] : limits.of_outer)
    for (const Dim& d : steps) all.push_back(d - extents_.at(label));
  std::erase_if(all, [&](const Dim& d) { return c_.known.nonnegative(d); });
  if (all.empty()) return whole();
  const auto partly = [&] {
    std::erase_if(limits.rows, [&](const Dim& d) { return c_.known.nonnegative(d - rows); });
    if (limits.rows.empty()) return some_rows(gemm, limits, rows);
    Dim count(rows);
    for (const Dim& d : limits.rows) count = shape::min(count, d);
    c_.each_count(c_.value(count), rows, [&](int64_t n) {
      std::vector<Dim> suppose;
      for (const Dim& d : limits.rows) suppose.push_back(d - n);
      c_.known.supposing(suppose, [&] { some_rows(gemm, limits, n); });
    });
  };
  if (!c_.may_split) return partly();
  c_.choose(
      c_.all_nonnegative(all), [&] { c_.known.supposing(all, whole); }, partly);
}

}  // namespace axon::module::tiles
