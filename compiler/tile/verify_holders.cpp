// Each thread and each lane of a vector has the operands of what it computes.
//
// In: operations on tiles in registers. Out: obligations, decided by going through all elements. Operands in
// scratch memory and views are anyone's. An instruction takes tilings of its atoms. How many iterations a
// loop has, all threads of its role know: they come to its operations together.
#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "layout/atoms.h"
#include "layout/tile.h"
#include "tile/names.h"
#include "tile/verify.h"

namespace axon::tile {

namespace {

/// Goes through the elements of tiles by the labels of their uses.
class HolderChecks {
 public:
  HolderChecks(const Program& p, const AllPlaces& places, Report& report)
      : p_(p), places_(places), report_(report) {}

  void run() {
    for (uint32_t i = 0; i < p_.ops.size(); ++i) {
      op_ = {i};
      std::visit([this](const auto& op) { check(op); }, p_.ops[op_]);
    }
    for (const RoleView& role : roles_of(p_))
      each_op(p_, *role.body, [&](OpId id) {
        op_ = id;
        if (const auto* loop = std::get_if<Loop>(&p_.ops[id]))
          for (const auto& number : {loop->first, loop->count})
            if (number) check_count(*number, role);
      });
  }

 private:
  void check(const Map& op) {
    std::vector<const Use*> operands;
    for (const Expr& e : op.exprs)
      if (e.kind == Expr::Kind::tile) operands.push_back(&e.use);
    add("every lane has its operands", have_operands(op.to, operands));
  }
  void check(const Gemm& op) {
    if (op.by.empty()) return add("every lane has its operands", have_operands(op.acc, {&op.a, &op.b}));
    const bool shared = op.by.starts_with("wgmma.");
    add("its operands are tilings of the instruction's atoms",
        is_tiling(op.acc, op.by + ".acc") &&
            (shared && in_scratch(op.a) ? true : is_tiling(op.a, op.by + ".a")) &&
            (shared ? in_scratch(op.b) : is_tiling(op.b, op.by + ".b")));
    add("it is asynchronous if the instruction is", op.async == shared);
  }
  void check(const Reduce& op) { add("every warp has its operands", have_in_warp(op.to, op.from)); }
  void check(const Scan& op) {
    add("every warp has its operands",
        have_in_warp(op.to, op.from) && (!op.start || have_in_warp(op.to, *op.start)));
  }
  void check(const Check& op) {
    std::vector<const Use*> shown;
    for (const Index* index : {&op.found, &op.wanted})
      if (index->table) shown.push_back(&*index->table);
    add("every lane has what it shows", have_operands(op.of, shown));
  }
  void check_count(const Use& number, const RoleView& role) {
    const Places& count = places(number);
    bool all = true;
    for (int64_t warp = 0; warp < role.warps; ++warp)
      for (int64_t lane = 0; lane < p_.machine.lanes; ++lane)
        all &= count.held(0, (warp * most_lanes + lane) * most_vector_lanes).has_value();
    add("every thread has its count", all);
  }
  template <class Other>
  void check(const Other&) {}

  void add(const char* what, bool proved) {
    report_.add(fmt::format("`{}`: {}", print(p_, op_), what), proved, "counted");
  }

  bool in_registers(const Use& use) const { return p_.tiles[use.tile].space == Space::registers; }
  bool in_scratch(const Use& use) const {
    return p_.tiles[use.tile].space == Space::scratch || p_.tiles[use.tile].space == Space::ring;
  }
  const Places& places(const Use& use) const { return *places_[p_.tiles[use.tile].layout.index]; }

  bool is_tiling(const Use& use, const std::string& name) const {
    const layout::Atom* atom = layout::find_atom(name);
    const Tile& tile = p_.tiles[use.tile];
    if (!atom || tile.space != Space::registers || tile.shape.size() != 2) return false;
    const layout::Swizzled& swizzled = p_.layouts[tile.layout].layout;
    return swizzled.swizzle.bits == 0 &&
           layout::outer_of_tile({swizzled.layout, {tile.shape.begin(), tile.shape.end()}}, atom->operand);
  }

  /// step(elements of each use) for all values of their labels together.
  template <class Step>
  void each(const std::vector<const Use*>& uses, const Step& step) const {
    std::vector<Var> labels;
    std::vector<int64_t> extents;
    std::vector<std::vector<int64_t>> strides(uses.size());
    for (const Use* use : uses)
      for (size_t a = 0; a < use->labels.size(); ++a)
        if (std::find(labels.begin(), labels.end(), use->labels[a]) == labels.end()) {
          labels.push_back(use->labels[a]);
          extents.push_back(p_.tiles[use->tile].shape[a]);
        }
    for (size_t u = 0; u < uses.size(); ++u) {
      strides[u].assign(labels.size(), 0);
      int64_t stride = 1;
      for (size_t a = uses[u]->labels.size(); a-- > 0; stride *= p_.tiles[uses[u]->tile].shape[a])
        strides[u][static_cast<size_t>(std::find(labels.begin(), labels.end(), uses[u]->labels[a]) -
                                       labels.begin())] = stride;
    }
    std::vector<int64_t> at(labels.size(), 0), elements(uses.size(), 0);
    for (;;) {
      step(elements);
      size_t l = labels.size();
      while (l-- > 0) {
        const int64_t by = ++at[l] < extents[l] ? 1 : 1 - extents[l];
        for (size_t u = 0; u < uses.size(); ++u) elements[u] += by * strides[u][l];
        if (by == 1) break;
        at[l] = 0;
      }
      if (l == SIZE_MAX) return;
    }
  }

  /// Where the result is in scratch, its operands have a holder in common.
  bool have_operands(const Use& to, std::vector<const Use*> operands) const {
    std::erase_if(operands, [&](const Use* use) { return !in_registers(*use); });
    if (operands.empty()) return true;
    const bool free = !in_registers(to);
    std::vector<const Use*> all = {free ? operands.front() : &to};
    all.insert(all.end(), operands.begin() + (free ? 1 : 0), operands.end());
    if (free) {
      bool found = true;
      each(all, [&](const std::vector<int64_t>& x) {
        const auto points = places(*all[0]).of(x[0]);
        found &= std::any_of(points.begin(), points.end(),
                             [&](const Point& point) { return others_have(all, x, point.holder); });
      });
      return found;
    }
    bool found = true;
    each(all, [&](const std::vector<int64_t>& x) {
      for (const Point& point : places(to).of(x[0])) found &= others_have(all, x, point.holder);
    });
    return found;
  }
  bool others_have(const std::vector<const Use*>& all, const std::vector<int64_t>& x, int64_t holder) const {
    for (size_t u = 1; u < all.size(); ++u)
      if (!places(*all[u]).held(x[u], holder)) return false;
    return true;
  }

  bool have_in_warp(const Use& to, const Use& from) const {
    if (!in_registers(to) || !in_registers(from)) return true;
    bool found = true;
    each({&to, &from}, [&](const std::vector<int64_t>& x) {
      const auto points = places(from).of(x[1]);
      for (const Point& target : places(to).of(x[0]))
        found &= std::any_of(points.begin(), points.end(), [&](const Point& source) {
          return warp_of(source.holder) == warp_of(target.holder);
        });
    });
    return found;
  }

  const Program& p_;
  const AllPlaces& places_;
  Report& report_;
  OpId op_;
};

}  // namespace

void verify_holders(const Program& p, const AllPlaces& places, Report& report) {
  HolderChecks(p, places, report).run();
}

}  // namespace axon::tile
