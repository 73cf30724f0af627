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

void Accesses::prefetch(const Spot& at, int64_t bytes_ahead, Caches caches) {
  auto& b = c_.f.b;
  Value* const ahead = b.CreateConstGEP1_64(b.getInt8Ty(), address(at), static_cast<uint64_t>(bytes_ahead));
  constexpr int read = 0, data = 1;
  const int locality = caches == Caches::all ? 3 : 2;
  b.CreateIntrinsic(llvm::Intrinsic::prefetch, {ahead->getType()},
                    {ahead, b.getInt32(read), b.getInt32(locality), b.getInt32(data)});
}

/// Where elements along the last label are neighbours, one of each line. At edges nothing is asked for: they
/// are short, and their code is made for each number of rows.
void Accesses::prefetch(const tile::Prefetch& op) {
  if (c_.threads.are_several() || c_.rows || c_.vectors || c_.one_register) return;
  std::vector<Dim> wanted;
  for (const Fact& fact : op.facts) {
    const auto all = nonnegatives(fact);
    if (!all) return;
    wanted.insert(wanted.end(), all->begin(), all->end());
  }
  std::erase_if(wanted, [&](const Dim& d) { return c_.known.nonnegative(d); });
  if (wanted.empty()) return prefetch_all(op);
  c_.choose(
      c_.all_nonnegative(wanted), [&] { prefetch_all(op); }, [] {});
}

void Accesses::prefetch_all(const tile::Prefetch& op) {
  tile::Access access;
  access.tensor = op.tensor;
  for (const Dim& d : op.at) access.at.push_back({std::nullopt, d});
  std::vector<Var> labels;
  std::map<Var, int64_t> extents;
  Lanes one{{{}}, {0}, 1};
  for (const auto& [v, extent] : op.labels) {
    labels.push_back(v);
    extents[v] = extent;
    one.labels[0][v] = Dim(v);
  }
  const Var last = labels.back();
  const int64_t bytes = base::elem_bytes(elem_of(access));
  const int64_t apart =
      mostly_moves_by_one(spot(access, {}, one).offsets[0], last) ? target::bytes_of_cache_line / bytes : 1;
  extents[last] = (extents[last] + apart - 1) / apart;
  each_in_order(
      c_, labels, extents, {}, {}, most_lines,
      [&](const Substitution& at) {
        for (const Var v : labels) one.labels[0][v] = at.at(v) * Dim(v == last ? apart : 1);
        prefetch(spot(access, {}, one), 0, Caches::all_but_first);
      },
      LoopKind::rolled);
}

}  // namespace axon::module::tiles
