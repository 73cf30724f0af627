// See tensors.h: which tensor of the program an access goes to. A task type may declare several boxes of one
// buffer; each that is used is a tensor of the program.
#include "tile/from_task/tensors.h"

#include <algorithm>

#include "layout/evaluate.h"
#include "layout/placement.h"
#include "task/facts.h"
#include "tile/from_task/join_axes.h"

namespace axon::tile {

namespace {

/// Is there a product with a part that is no size? What is proved of i and j need not be of 4*t0 + a and
/// 64*t1 + e.
bool multiplies_an_index(const Dim& d, const graph::Graph& g) {
  const auto is_index = [&](Var v) {
    return std::none_of(g.sizes.begin(), g.sizes.end(), [&](const graph::Size& s) { return s.var == v; });
  };
  return std::any_of(d.terms().begin(), d.terms().end(), [&](const shape::Term& term) {
    int indices = 0;
    for (const shape::Atom& atom : term.factors) {
      const bool is_var = atom.kind() == shape::AtomKind::var;
      if (!is_var && (multiplies_an_index(atom.lhs(), g) || multiplies_an_index(atom.rhs(), g))) return true;
      std::vector<Var> vars = is_var ? std::vector<Var>{atom.var()} : atom.lhs().vars();
      if (!is_var) atom.rhs().collect_vars(vars);
      indices += std::any_of(vars.begin(), vars.end(), is_index);
    }
    return indices > 0 && term.factors.size() > 1;
  });
}

/// Is there a quotient or a remainder?
bool divides(const Dim& d) {
  return std::any_of(d.terms().begin(), d.terms().end(), [](const shape::Term& term) {
    return std::any_of(term.factors.begin(), term.factors.end(), [](const shape::Atom& atom) {
      return atom.kind() == shape::AtomKind::floor_div || atom.kind() == shape::AtomKind::mod;
    });
  });
}

bool is_in_interval(const task::Program& p, const Dim& index, const std::vector<Fact>& facts, const Dim& low,
                    const Dim& high) {
  const auto known = task::relevant(p, facts, {index, low, high});
  return task::holds(p, known, shape::at_least(index, low)) &&
         task::holds(p, known, shape::less(index, high));
}

bool is_in_box(const task::Program& p, const std::vector<Dim>& index, const std::vector<Fact>& facts,
               const task::Access& access) {
  for (size_t a = 0; a < index.size(); ++a)
    if (!is_in_interval(p, index[a], facts, access.box[a].low, access.box[a].high)) return false;
  return true;
}

}  // namespace

std::vector<uint32_t> TensorMaker::boxes_of(task::BufferId buffer, bool write) const {
  std::vector<uint32_t> found;
  for (uint32_t a = 0; a < type_.accesses.size(); ++a)
    if (type_.accesses[a].buffer == buffer && type_.accesses[a].write == write) found.push_back(a);
  return found;
}

std::vector<Fact> TensorMaker::facts_at(const BlockPlace& place) const {
  std::vector<Fact> facts = task::both(p_.facts, task::ranges(p_, id_));
  facts = task::both(std::move(facts), place.bounds);
  for (const auto& [index_of_loop, extent] : loops_) {
    facts.push_back(shape::at_least(Dim(index_of_loop), Dim(0)));
    facts.push_back(shape::less(Dim(index_of_loop), extent));
  }
  facts = task::both(std::move(facts), out_.guard);
  for (const Var label : place.labels()) {
    facts.push_back(shape::at_least(Dim(label), Dim(0)));
    const bool is_row = has_rows_at_once() && label == row_label_;
    facts.push_back(shape::less(Dim(label), Dim(is_row ? rows_at_once_ : block_)));
  }
  return facts;
}

std::optional<uint32_t> TensorMaker::box_around(task::BufferId buffer, const std::vector<Dim>& index,
                                                const BlockPlace& place, bool write) const {
  const std::vector<Fact> facts = facts_at(place);
  for (const uint32_t box : boxes_of(buffer, write))
    if (is_in_box(p_, index, facts, type_.accesses[box])) return box;
  return std::nullopt;
}

bool TensorMaker::is_in_tensor(const Access& read, const BlockPlace& place) const {
  const std::vector<Fact> facts = facts_at(place);
  const Box& box = *out_.tensors[read.tensor].reads;
  for (size_t a = 0; a < read.at.size(); ++a)
    if (!read.at[a].table && !is_in_interval(p_, read.at[a].dim, facts, box[a].low, box[a].high))
      return false;
  return true;
}

bool TensorMaker::is_hard(task::BufferId buffer, const std::vector<Dim>& index) const {
  return !form_.flat.contains(buffer) && std::any_of(index.begin(), index.end(), [&](const Dim& d) {
    return multiplies_an_index(d, *p_.graph) || (form_.has_own_reductions && divides(d));
  });
}

bool TensorMaker::is_on_axis(const Dim& index, const Dim& extent, const std::vector<Fact>& facts) const {
  const auto known = task::relevant(p_, task::both(facts, p_.facts), {index, extent});
  return task::holds(p_, known, shape::at_least(index, Dim(0))) &&
         task::holds(p_, known, shape::less(index, extent));
}

TensorId TensorMaker::tensor_for(task::BufferId buffer, const std::vector<Dim>& index,
                                 const BlockPlace& place, bool write) {
  const std::vector<uint32_t> candidates = boxes_of(buffer, write);
  if (candidates.empty()) throw Declined{"a buffer has no box"};
  std::optional<uint32_t> found = candidates.front();
  if (is_hard(buffer, index) && may_widen(buffer)) return widened(candidates.front());
  if (candidates.size() > 1 || is_hard(buffer, index)) found = box_around(buffer, index, place, write);
  if (!found && !write && may_ask_for_all(buffer)) return widened(candidates.front());
  if (!found) throw Declined{"no box of a buffer holds an access"};
  const auto known = tensors_.find(*found);
  return known != tensors_.end() ? known->second : declare(*found);
}

/// Are all elements there before any task runs? Then a program may say that it reads them all.
bool TensorMaker::may_widen(task::BufferId buffer) const {
  return !form_.flat.contains(buffer) &&
         std::none_of(p_.types.begin(), p_.types.end(), [&](const auto& type) {
           return std::any_of(type.accesses.begin(), type.accesses.end(),
                              [&](const task::Access& a) { return a.write && a.buffer == buffer; });
         });
}

/// The same where no box is shown to hold what the task reads, as its boxes were found to: what a point uses
/// is there. A choice by the data may throw away what was read outside of the boxes.
bool TensorMaker::may_ask_for_all(task::BufferId buffer) const {
  return may_widen(buffer) ||
         (!form_.flat.contains(buffer) && (boxes_of(buffer, true).empty() || has_slots(buffer)));
}

/// Is the first axis that of slots, of which a task reads one and writes another?
bool TensorMaker::has_slots(task::BufferId buffer) const {
  return std::any_of(p_.places.begin(), p_.places.end(), [&](const auto& of_value) {
    return of_value.second.buffer == buffer && of_value.second.slot;
  });
}

/// The tensor of a box that is read, which is all of the buffer, or of its slot, from now on.
TensorId TensorMaker::widened(uint32_t access) {
  const auto known = tensors_.find(access);
  const TensorId id = known != tensors_.end() ? known->second : declare(access);
  Box whole;
  for (const Dim& extent : out_.tensors[id].shape) whole.push_back({Dim(0), extent});
  if (has_slots(type_.accesses[access].buffer)) whole.front() = out_.tensors[id].reads->front();
  out_.tensors[id].reads = whole;
  for (Announcement& wait : out_.waits)
    if (wait.tensor == id) wait.box = whole;
  return id;
}

/// Of an index that the data decides it has to be known that it is in the box.
void TensorMaker::check_box(TensorId tensor, task::BufferId buffer, const std::vector<Dim>& index,
                            const BlockPlace& place) {
  if (box_around(buffer, index, place, false)) return;
  const auto is_it = [&](const auto& of_access) { return of_access.second == tensor; };
  const auto access = std::find_if(tensors_.begin(), tensors_.end(), is_it);
  if (access == tensors_.end() || !may_ask_for_all(buffer))
    throw Declined{"the data decides an index of a part of an axis"};
  widened(access->first);
}

/// Is the element that is stored at a point all that its outputs read of the buffer there, and its row, but
/// for that point, all that reductions read before? Then each element is read before it is stored.
bool TensorMaker::reads_before_stores(task::BufferId buffer) const {
  const auto is_of = [&](graph::Value v) { return !v.is_local() && p_.place(v).buffer == buffer; };
  std::optional<uint32_t> writer;
  for (uint32_t o = 0; o < node_.outputs.size(); ++o) {
    if (!is_of({type_.node, o})) continue;
    if (writer) return false;
    writer = o;
  }
  if (!writer) return false;
  const auto reads_at = [&](ScalarId body, const shape::Substitution& moved) {
    const auto loads = graph::loads_in(g_, body);
    return std::all_of(loads.begin(), loads.end(), [&](ScalarId id) {
      const graph::Scalar& load = g_.scalars[id];
      if (!is_of(load.target)) return true;
      if (p_.place(load.target).slot != p_.place({type_.node, *writer}).slot) return false;
      const std::vector<Dim>& at = node_.outputs[*writer].at;
      return std::equal(load.args.begin(), load.args.end(), at.begin(), at.end(),
                        [&](ScalarId index, const Dim& d) {
                          return graph::affine_index(g_, index) == d.substitute(moved);
                        });
    });
  };
  const auto reads = [&](ScalarId body) {
    const auto loads = graph::loads_in(g_, body);
    return std::any_of(loads.begin(), loads.end(), [&](ScalarId id) { return is_of(g_.scalars[id].target); });
  };
  for (uint32_t o = 0; o < form_.outputs.size(); ++o)
    if (reads(form_.outputs[o]) && !reads_at(form_.outputs[o], {})) return false;
  return std::all_of(form_.reductions.begin(), form_.reductions.end(), [&](const RowReduction& r) {
    if (!reads(r.term)) return true;
    return form_.along && r.level == form_.rows.size() &&
           reads_at(r.term, {{node_.domain[*form_.along].var, Dim(r.along.var)}});
  });
}

/// Is the buffer one tensor of the program, which is read and written? Where what a task reads and what it
/// stores are different elements, they are tensors of their own.
bool TensorMaker::is_updated(task::BufferId buffer) const {
  const std::vector<uint32_t> reads = boxes_of(buffer, false), writes = boxes_of(buffer, true);
  const std::vector<Fact> facts = task::both(p_.facts, task::ranges(p_, id_));
  const auto apart = [&](uint32_t read) {
    return std::all_of(writes.begin(), writes.end(), [&](uint32_t write) {
      return task::disjoint(p_, facts, type_.accesses[read].box, type_.accesses[write].box);
    });
  };
  const bool is_once = reads.size() == 1 && writes.size() == 1 && !has_threads();
  if (is_once && reads_before_stores(buffer)) return true;
  if (std::all_of(reads.begin(), reads.end(), apart)) return false;
  throw Declined{"a buffer is read and written"};
}

/// Where the last axes of the tensor are one, so they are of the box.
Box TensorMaker::box_of(uint32_t number) const {
  const task::Access& access = type_.accesses[number];
  Box box;
  for (const task::Interval& i : access.box) box.push_back({i.low, i.high});
  const auto flat = form_.flat.find(access.buffer);
  if (flat == form_.flat.end()) return box;
  if (!form_.merged.contains(access.buffer))
    return joined_box(std::move(box), p_.buffers[access.buffer].shape, flat->second);
  Dim row(1);
  for (size_t a = 1; a < form_.joined.size(); ++a) row = row * node_.domain[form_.joined[a]].extent;
  box.resize(box.size() - flat->second);
  box.push_back(joined_interval(part_of_task(type_, node_, form_.joined.front()), row));
  return box;
}

TensorId TensorMaker::declare(uint32_t number) {
  const task::Access& access = type_.accesses[number];
  const task::Buffer& buffer = p_.buffers[access.buffer];
  std::vector<Dim> shape = buffer.shape;
  for (Dim& extent : shape)
    if (shape::prove(p_.facts, shape::at_least(extent, 0)).verdict != shape::Verdict::proved)
      extent = shape::max(extent, Dim(0));
  Tensor t;
  t.name = name_for(buffer.name);
  t.elem = buffer.elem;
  t.shape = shape;
  t.multiples = layout::multiples_of(buffer.placement, shape.size());
  t.align = base::elem_bytes(buffer.elem);
  t.place = layout::layout_of(buffer.placement, shape);
  t.stated = buffer.placement.stated && buffer.kind != task::Buffer::Kind::temporary;
  const auto flat = form_.flat.find(access.buffer);
  const bool is_flat = flat != form_.flat.end();
  if (is_flat) {
    t.shape = joined_shape(shape, flat->second);
    t.multiples.resize(t.shape.size());
    t.place = layout::row_major(t.shape);
  }
  std::vector<uint32_t> parts{number};
  const std::vector<uint32_t> others = boxes_of(access.buffer, !access.write);
  if (!others.empty() && is_updated(access.buffer)) parts.push_back(others.front());
  for (const uint32_t part : parts) {
    const task::Access& own = type_.accesses[part];
    (own.write ? t.writes : t.reads) = box_of(part);
  }
  made_.buffers.push_back(access.buffer);
  const std::optional<Box> reads = t.reads;
  const TensorId id = out_.tensors.add(std::move(t));
  for (const uint32_t part : parts) tensors_[part] = id;
  if (reads) out_.waits.push_back({id, *reads});
  return id;
}

}  // namespace axon::tile
