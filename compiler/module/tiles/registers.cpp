// See registers.h.
#include "module/tiles/registers.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include "base/bug.h"

namespace axon::module::tiles {

llvm::AllocaInst* Registers::slot(TileId tile, int64_t number) {
  auto& found = slots_[{tile, number}];
  if (!found)
    found = c_.f.variable(is_stored(tile) ? c_.a.stored_type(c_.p.tiles[tile].elem, lanes(tile))
                                          : c_.a.type_of(computed_as(c_.p.tiles[tile].elem), lanes(tile)),
                          c_.p.tiles[tile].name);
  return found;
}

/// Two elements to a register, as instructions on matrices take them.
bool Registers::is_stored(TileId tile) {
  return c_.threads.are_several() && base::is_narrow(c_.p.tiles[tile].elem);
}

void Registers::set_element(TileId tile, int64_t element, Value* value) {
  auto& b = c_.f.b;
  const Point at = point(tile, element, 0);
  set(tile, at.number,
      lanes(tile) == 1 ? value : b.CreateInsertElement(get(tile, at.number), value, at.lane));
}

Value* Registers::bits(TileId tile, int64_t number) {
  llvm::AllocaInst* at = slot(tile, number);
  return c_.f.b.CreateBitCast(c_.f.b.CreateLoad(at->getAllocatedType(), at), c_.f.b.getInt32Ty());
}

void Registers::set_bits(TileId tile, int64_t number, Value* word) {
  llvm::AllocaInst* at = slot(tile, number);
  c_.f.b.CreateStore(c_.f.b.CreateBitCast(word, at->getAllocatedType()), at);
}

Value* Registers::get(TileId tile, int64_t number) {
  llvm::AllocaInst* at = slot(tile, number);
  Value* found = c_.f.b.CreateLoad(at->getAllocatedType(), at);
  return is_stored(tile) ? c_.a.from_stored(found, c_.p.tiles[tile].elem) : found;
}

void Registers::set(TileId tile, int64_t number, Value* value) {
  if (is_stored(tile)) value = c_.a.to_stored(value, c_.p.tiles[tile].elem);
  c_.f.b.CreateStore(value, slot(tile, number));
}

const Registers::Form& Registers::form(TileId tile) {
  const auto [found, added] = forms_.try_emplace(tile);
  if (added) found->second = made_form(tile);
  return found->second;
}

Registers::Form Registers::made_form(TileId tile) {
  constexpr unsigned most_together = 16;
  const tile::Places& places = c_.places(tile);
  Form out;
  out.vector = static_cast<unsigned>(places.vector_lanes());
  if (!c_.threads.are_several()) return out;
  std::map<int64_t, int64_t> first;  // element in the first lane of each register of the first thread
  for (int64_t x = places.elements(); x-- > 0;)
    for (const tile::Point& point : places.of(x))
      if (point.holder == 0) first[point.at] = x;
  const auto are_together = [&](unsigned group) {
    return places.span() % group == 0 && std::all_of(first.begin(), first.end(), [&](const auto& one) {
             const int64_t from_start = one.first % group;
             const auto start = first.find(one.first - from_start);
             return start != first.end() && start->second % group == 0 &&
                    one.second == start->second + from_start * out.vector;
           });
  };
  for (out.group = most_together; !are_together(out.group);) out.group /= 2;
  return out;
}

std::vector<std::optional<int64_t>> Registers::elements(TileId tile, int64_t number, bool once) {
  std::vector<std::optional<int64_t>> out(lanes(tile));
  const tile::Places& places = c_.places(tile);
  for (int64_t x = 0; x < places.elements(); ++x) {
    const auto points = places.of(x);
    for (size_t i = 0; i < (once ? 1 : points.size()); ++i)
      if (points[i].holder < form(tile).vector && points[i].at / form(tile).group == number)
        out[lane_of(tile, points[i])] = x;
  }
  return out;
}

Registers::Point Registers::point(TileId tile, int64_t element, unsigned lane) {
  const auto points = c_.places(tile).of(element);
  const auto own =
      std::find_if(points.begin(), points.end(), [&](const tile::Point& p) { return p.holder == lane; });
  const tile::Point& found = own == points.end() || form(tile).group > 1 ? points[0] : *own;
  if (found.holder >= form(tile).vector) base::bug("module::tiles", "an element of another thread");
  return {found.at / form(tile).group, lane_of(tile, found)};
}

unsigned Registers::lane_of(TileId tile, const tile::Point& point) {
  const Form& form = this->form(tile);
  return static_cast<unsigned>(point.at % form.group) * form.vector + static_cast<unsigned>(point.holder);
}

Value* Registers::gathered(TileId tile, const std::vector<int64_t>& elements,
                           const std::vector<unsigned>& own) {
  auto& b = c_.f.b;
  const size_t n = elements.size();
  std::vector<Point> from;
  std::vector<int64_t> numbers;
  for (size_t i = 0; i < n; ++i) {
    from.push_back(point(tile, elements[i], own[i]));
    if (std::find(numbers.begin(), numbers.end(), from[i].number) == numbers.end())
      numbers.push_back(from[i].number);
  }
  const unsigned width = lanes(tile);
  if (width == 1) {
    if (n == 1) return get(tile, numbers[0]);
    if (numbers.size() == 1) return b.CreateVectorSplat(static_cast<unsigned>(n), get(tile, numbers[0]));
    Value* all =
        llvm::PoisonValue::get(c_.a.type_of(computed_as(c_.p.tiles[tile].elem), static_cast<unsigned>(n)));
    for (size_t i = 0; i < n; ++i) all = b.CreateInsertElement(all, get(tile, from[i].number), i);
    return all;
  }
  if (n == 1) return b.CreateExtractElement(get(tile, from[0].number), from[0].lane);
  Value* all = nullptr;
  for (const int64_t number : numbers) {
    Value* source = get(tile, number);
    std::vector<int> mask(n, -1);
    bool is_same = n == width;
    for (size_t i = 0; i < n; ++i)
      if (from[i].number == number) {
        mask[i] = static_cast<int>(from[i].lane);
        is_same &= from[i].lane == i;
      }
    Value* part = is_same ? source : b.CreateShuffleVector(source, mask);
    if (all) {
      for (size_t i = 0; i < n; ++i) mask[i] = static_cast<int>(from[i].number == number ? n + i : i);
      part = b.CreateShuffleVector(all, part, mask);
    }
    all = part;
  }
  return all;
}

/// n vectors of n lanes: in each step pairs of rows exchange halves of their blocks.
std::vector<Value*> Registers::transposed(std::vector<Value*> rows) {
  const auto n = static_cast<int>(rows.size());
  for (int step = n / 2; step >= 1; step /= 2)
    for (int r = 0; r < n; ++r) {
      if (r & step) continue;
      std::vector<int> low(rows.size()), high(rows.size());
      for (int i = 0; i < n; ++i) {
        low[static_cast<size_t>(i)] = i & step ? n + i - step : i;
        high[static_cast<size_t>(i)] = i & step ? n + i : i + step;
      }
      Value *x = rows[static_cast<size_t>(r)], *y = rows[static_cast<size_t>(r + step)];
      rows[static_cast<size_t>(r)] = c_.f.b.CreateShuffleVector(x, y, low);
      rows[static_cast<size_t>(r + step)] = c_.f.b.CreateShuffleVector(x, y, high);
    }
  return rows;
}

std::vector<Value*> Registers::converted(TileId to, TileId from,
                                         const std::function<int64_t(int64_t)>& element_of) {
  const unsigned width = lanes(to);
  std::vector<Value*> out(static_cast<size_t>(count(to)), nullptr);
  std::map<std::vector<int64_t>, std::map<unsigned, size_t>> blocks;  // registers read -> lane -> register
  for (size_t r = 0; r < out.size(); ++r) {
    std::vector<int64_t> wanted;
    std::vector<unsigned> own;
    const auto held = elements(to, static_cast<int64_t>(r), false);
    for (unsigned lane = 0; lane < width; ++lane)
      if (held[lane]) wanted.push_back(element_of(*held[lane])), own.push_back(lane);
    if (wanted.empty()) continue;
    std::vector<int64_t> rows;
    std::set<unsigned> columns;
    for (size_t i = 0; i < wanted.size(); ++i) {
      const Point at = point(from, wanted[i], own[i]);
      rows.push_back(at.number);
      columns.insert(at.lane);
    }
    const std::set<int64_t> different(rows.begin(), rows.end());
    if (wanted.size() == width && width == lanes(from) && std::has_single_bit(width) && width > 2 &&
        columns.size() == 1 && different.size() == width)
      blocks[rows][*columns.begin()] = r;
    else
      out[r] = widened(c_, gathered(from, wanted, own), own, width);
  }
  for (const auto& [rows, of_lane] : blocks) {
    std::vector<Value*> block;
    for (const int64_t row : rows) block.push_back(get(from, row));
    block = transposed(std::move(block));
    for (const auto& [lane, r] : of_lane) out[r] = block[lane];
  }
  return out;
}

}  // namespace axon::module::tiles
