// Asking for memory before it is read: see accesses.h.
#include <algorithm>

#include "module/tiles/accesses.h"
#include "module/tiles/operations.h"

namespace axon::module::tiles {

namespace {

constexpr int64_t most_lines = 16;  ///< lines that are asked for without a loop

/// From the first value of the label to the second, where all else is a multiple of what places are made of:
/// of a panel, say.
bool mostly_moves_by_one(const Dim& offset, Var label) {
  constexpr int64_t multiple = 1024;
  shape::Assignment values;
  for (const Var v : offset.vars()) values[v] = multiple;
  values[label] = 0;
  const auto first = offset.evaluate(values);
  values[label] = 1;
  const auto second = offset.evaluate(values);
  return first && second && *second - *first == 1;
}

}  // namespace

/// The line of the cache, into all caches but the first. Nothing happens where that is no memory.
void Accesses::prefetch_line(Value* address) {
  auto& b = c_.f.b;
  constexpr int read = 0, locality = 2, data = 1;
  b.CreateIntrinsic(llvm::Intrinsic::prefetch, {address->getType()},
                    {address, b.getInt32(read), b.getInt32(locality), b.getInt32(data)});
}

/// Where elements along the last label are neighbours, one of each line. At edges of columns nothing is asked
/// for: they are short.
void Accesses::prefetch(const tile::Prefetch& op) {
  if (c_.threads.are_several() || c_.vectors || c_.one_register) return;
  std::vector<Dim> wanted;
  for (const Fact& fact : op.facts) {
    const auto all = nonnegatives(fact);
    if (!all) return;
    wanted.insert(wanted.end(), all->begin(), all->end());
  }
  std::erase_if(wanted, [&](const Dim& d) { return c_.known.nonnegative(d); });
  if (wanted.empty()) return prefetch_lines(op, {});
  c_.choose(
      c_.all_nonnegative(wanted), [&] { prefetch_lines(op, {}); }, [] {});
}

void Accesses::prefetch_step(const tile::Prefetch& op, const Dim& step) {
  prefetch_lines(op, {{op.labels.front().var, step}});
}

/// Of all labels but those that are known.
void Accesses::prefetch_lines(const tile::Prefetch& op, const Substitution& known) {
  tile::Access access;
  access.tensor = op.tensor;
  for (const Dim& d : op.at) access.at.push_back({std::nullopt, d});
  std::vector<Var> labels;
  std::map<Var, int64_t> extents;
  Lanes one{{{}}, {0}, 1};
  for (const auto& [v, extent] : op.labels) {
    const auto found = known.find(v);
    one.labels[0][v] = found == known.end() ? Dim(v) : found->second;
    if (found != known.end()) continue;
    labels.push_back(v);
    extents[v] = extent;
  }
  const Var last = op.labels.back().var;
  const int64_t bytes = base::elem_bytes(elem_of(access));
  const int64_t apart =
      mostly_moves_by_one(spot(access, {}, one).offsets[0], last) ? target::bytes_of_cache_line / bytes : 1;
  extents[last] = (extents[last] + apart - 1) / apart;
  each_in_order(
      c_, labels, extents, {}, {}, most_lines,
      [&](const Substitution& at) {
        for (const Var v : labels) one.labels[0][v] = at.at(v) * Dim(v == last ? apart : 1);
        prefetch_line(address(spot(access, {}, one)));
      },
      LoopKind::rolled);
}

}  // namespace axon::module::tiles
