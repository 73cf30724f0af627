// See memory.h.
#include "tile/memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "layout/evaluate.h"

namespace axon::tile {

const char* words(Undefined why) {
  switch (why) {
    case Undefined::no:
      return "it is defined";
    case Undefined::unwritten:
      return "nothing wrote it";
    case Undefined::outside:
      return "its bounds do not hold, and there is no fill";
    case Undefined::elsewhere:
      return "another thread or lane has it";
    case Undefined::overwritten:
      return "another tile was written over it";
    case Undefined::pending:
      return "it has not arrived";
    case Undefined::released:
      return "its slot was released";
    case Undefined::unordered:
      return "no barrier orders the accesses of several threads";
    case Undefined::unannounced:
      return "the task that wrote it has not announced it";
  }
  return "?";
}

// ---- global memory ----

std::string GridTensor::create(const Tensor& t, const shape::Assignment& sizes, const TensorData* data) {
  int64_t elements = 1;
  for (size_t a = 0; a < t.shape.size(); ++a) {
    const auto extent = t.shape[a].evaluate(sizes);
    if (!extent || *extent < 0) return fmt::format("{} has no extent on axis {}", t.name, a);
    shape_.push_back(*extent);
    extents_.push_back((*extent + t.multiples[a] - 1) / t.multiples[a] * t.multiples[a]);
    if (__builtin_mul_overflow(elements, *extent, &elements) || elements > (1 << 24))
      return t.name + " has too many elements";
  }
  if (data && (data->shape != shape_ || data->values.size() != static_cast<size_t>(elements)))
    return t.name + " was given in another shape";
  if (elements == 0) return "";
  const auto place = layout::evaluate(t.place, sizes);
  const auto points = place ? layout::size(*place).constant() : std::nullopt;
  int64_t rounded = 1;
  for (const int64_t extent : extents_) rounded *= extent;
  if (!points || *points != rounded || !place->replicas.empty())
    return t.name + ": its place is not over its shape, rounded up";
  const layout::Evaluator evaluator(*place);
  if (evaluator.axes().size() > 1 || (!evaluator.axes().empty() && evaluator.axes()[0].name != "m"))
    return t.name + ": its place is not in memory";
  std::set<int64_t> used;
  for (int64_t i = 0; i < elements; ++i) {
    int64_t x = 0, rest = i, step = 1;
    for (size_t a = shape_.size(); a-- > 0; rest /= shape_[a], step *= extents_[a])
      x += rest % shape_[a] * step;
    const auto base = evaluator.base(x);
    address_of_.push_back(base.empty() ? 0 : base[0]);
    if (!used.insert(address_of_.back()).second && (t.writes || !t.stated))
      return t.name + ": its place has two elements at one address";
  }
  // What the caller places may begin anywhere.
  const int64_t first = t.stated ? *used.begin() : 0;
  if (*used.begin() < first || *used.rbegin() - first > (1 << 26))
    return t.name + ": its place is out of reach";
  for (int64_t& address : address_of_) address -= first;
  cells_.resize(static_cast<size_t>(*used.rbegin() - first) + 1);
  for (Cell& cell : cells_) cell.value.why = Undefined::unwritten;
  for (int64_t i = 0; data && i < elements; ++i)
    cells_[static_cast<size_t>(address_of_[static_cast<size_t>(i)])].value = {
        data->values[static_cast<size_t>(i)], Undefined::no};
  return "";
}

int64_t GridTensor::address(const std::vector<int64_t>& index) const {
  int64_t at = 0;
  for (size_t a = 0; a < shape_.size(); ++a) at = at * shape_[a] + index[a];
  return address_of_[static_cast<size_t>(at)];
}

Value GridTensor::read(int64_t address, int64_t task) const {
  const Cell& cell = cells_[static_cast<size_t>(address)];
  if (cell.writer >= 0 && cell.writer != task && !cell.announced) return {{}, Undefined::unannounced};
  return cell.value;
}
bool GridTensor::write(int64_t address, const Number& number, int64_t task) {
  Cell& cell = cells_[static_cast<size_t>(address)];
  if (cell.writer == task) return false;
  cell.value = {number, Undefined::no};
  cell.writer = task;
  cell.announced = false;
  return true;
}
bool GridTensor::announce(int64_t address, int64_t task) {
  Cell& cell = cells_[static_cast<size_t>(address)];
  cell.announced = true;
  return cell.writer == task;
}
bool GridTensor::is_awaited(int64_t address) const {
  const Cell& cell = cells_[static_cast<size_t>(address)];
  return cell.expected && !cell.announced;
}

TensorData GridTensor::data() const {
  TensorData out;
  out.shape = shape_;
  for (const int64_t address : address_of_) {
    const Value& value = cells_[static_cast<size_t>(address)].value;
    out.values.push_back(value.number);
    out.defined.push_back(value.defined());
  }
  return out;
}

// ---- the memory of a worker ----

WorkerMemory::WorkerMemory(const Program& p, const std::vector<std::unique_ptr<Places>>& places)
    : p_(p), places_(places) {
  int64_t bytes = 0;
  for (const Tile& t : p.tiles) {
    const int64_t cells =
        t.space == Space::view ? 0 : places[t.layout.index]->elements() * places[t.layout.index]->copies();
    cells_.emplace_back(static_cast<size_t>(cells * t.depth), Value{{}, Undefined::unwritten});
    if (t.space == Space::scratch || t.space == Space::ring)
      bytes = std::max(bytes, t.offset + places[t.layout.index]->span() * base::elem_bytes(t.elem) * t.depth);
  }
  scratch_.resize(static_cast<size_t>(bytes));
}

size_t WorkerMemory::cell(TileId tile, int64_t element, int64_t slot, int64_t copy) const {
  const Places& places = *places_[p_.tiles[tile].layout.index];
  return static_cast<size_t>((slot * places.elements() + element) * places.copies() + copy);
}
uint64_t WorkerMemory::stamp(TileId tile, int64_t element, int64_t slot) const {
  return (static_cast<uint64_t>(tile.index + 1) << 40) | (static_cast<uint64_t>(slot) << 32) |
         static_cast<uint64_t>(element);
}
std::pair<size_t, size_t> WorkerMemory::bytes(TileId tile, int64_t element, int64_t slot) const {
  const Tile& t = p_.tiles[tile];
  const Places& places = *places_[t.layout.index];
  const int64_t size = base::elem_bytes(t.elem);
  const int64_t begin = t.offset + (slot * places.span() + places.of(element)[0].at) * size;
  return {static_cast<size_t>(begin), static_cast<size_t>(begin + size)};
}

void WorkerMemory::enter(size_t role, bool several) {
  role_ = role;
  several_ = several;
  const auto [found, added] = epochs_.try_emplace(role, epoch_ + 1);
  if (added) ++epoch_;
  now_ = found->second;
}

Value WorkerMemory::read(TileId tile, int64_t element, int64_t slot, int64_t holder) const {
  const Tile& t = p_.tiles[tile];
  if (t.space == Space::registers) {
    const auto copy = holder < 0 ? 0 : places_[t.layout.index]->held(element, holder);
    return copy ? cells_[tile.index][cell(tile, element, slot, *copy)] : Value{{}, Undefined::elsewhere};
  }
  const Value& value = cells_[tile.index][cell(tile, element, slot, 0)];
  if (!value.defined()) return value;
  const auto [begin, end] = bytes(tile, element, slot);
  for (size_t b = begin; b < end; ++b) {
    if (scratch_[b].owner != stamp(tile, element, slot)) return {{}, Undefined::overwritten};
    if (t.space == Space::ring) continue;
    if (scratch_[b].role != role_ || (several_ && scratch_[b].written == now_))
      return {{}, Undefined::unordered};
  }
  return value;
}

void WorkerMemory::note_read(TileId tile, int64_t element) {
  if (p_.tiles[tile].space != Space::scratch) return;
  const auto [begin, end] = bytes(tile, element, 0);
  for (size_t b = begin; b < end; ++b) scratch_[b].read = now_;
}

/// A slot has been taken by forget_slot() when its copy was issued.
void WorkerMemory::write(TileId tile, int64_t element, int64_t slot, int64_t copy, const Value& value) {
  const Tile& t = p_.tiles[tile];
  Value& to = cells_[tile.index][cell(tile, element, slot, copy)];
  to = value;
  if (t.space == Space::registers) return;
  const auto [begin, end] = bytes(tile, element, slot);
  const uint64_t epoch = now_;
  for (size_t b = begin; b < end; ++b) {
    Byte& byte = scratch_[b];
    const bool conflicts =
        several_ && t.space == Space::scratch && (byte.written == epoch || byte.read == epoch);
    if (conflicts) to = {{}, Undefined::unordered};
    if (t.space == Space::ring && byte.owner != stamp(tile, element, slot)) to = {{}, Undefined::overwritten};
    byte.owner = stamp(tile, element, slot);
    byte.written = epoch;
    byte.role = role_;
  }
}

void WorkerMemory::forget(TileId tile) {
  views.erase(tile);
  for (Value& value : cells_[tile.index]) value = {{}, Undefined::unwritten};
}
void WorkerMemory::forget_slot(TileId tile, int64_t slot, Undefined why) {
  const Places& places = *places_[p_.tiles[tile].layout.index];
  for (int64_t x = 0; x < places.elements(); ++x) {
    cells_[tile.index][cell(tile, x, slot, 0)] = {{}, why};
    const auto [begin, end] = bytes(tile, x, slot);
    for (size_t b = begin; b < end; ++b) scratch_[b].owner = stamp(tile, x, slot);
  }
}

}  // namespace axon::tile
