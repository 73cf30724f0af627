// The memory of a run: tensors in global memory, and what each worker has. Only the interpreter includes
// this.
//
// In: reads and writes of elements by whom. Out: values, or why there is none. Invariant: an element can be
// read only where it was written, and only as long as nothing else was written over it.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tile/interpret.h"
#include "tile/places.h"

namespace axon::tile {

/// Why an element has no value.
enum class Undefined : uint8_t {
  no,
  unwritten,
  outside,      ///< its bounds did not hold, and there was no fill
  elsewhere,    ///< another holder has it
  overwritten,  ///< its memory has another tile's element
  pending,
  released,
  unordered,  ///< no barrier since another thread may have written it
  unannounced,
};
const char* words(Undefined);

struct Value {
  Number number;
  Undefined why = Undefined::no;
  bool defined() const { return why == Undefined::no; }
};

// ---- global memory ----

/// A tensor as operations reach it: of an index an address, of that an element.
class TensorMemory {
 public:
  TensorMemory() = default;
  TensorMemory(const TensorMemory&) = delete;
  TensorMemory& operator=(const TensorMemory&) = delete;
  virtual ~TensorMemory() = default;
  const std::vector<int64_t>& shape() const { return shape_; }
  virtual int64_t address(const std::vector<int64_t>& index) const = 0;
  virtual Value read(int64_t address, int64_t task) const = 0;
  /// False where the task wrote the element before.
  virtual bool write(int64_t address, const Number&, int64_t task) = 0;

 protected:
  std::vector<int64_t> shape_;
};

/// One that all tasks of a grid share.
class GridTensor : public TensorMemory {
 public:
  /// Empty, or why the place has no such tensor.
  std::string create(const Tensor&, const shape::Assignment& sizes, const TensorData* data);

  int64_t address(const std::vector<int64_t>& index) const override;
  Value read(int64_t address, int64_t task) const override;
  bool write(int64_t address, const Number&, int64_t task) override;
  void expect(int64_t address) { cells_[static_cast<size_t>(address)].expected = true; }
  /// False where the task did not write the element.
  bool announce(int64_t address, int64_t task);
  bool is_awaited(int64_t address) const;
  TensorData data() const;
  template <class Step>  // step(index) for every element of the box that the tensor has
  void each(const std::vector<std::pair<int64_t, int64_t>>& box, const Step& step) const;

 private:
  struct Cell {
    Value value;
    int64_t writer = -1;  ///< task
    bool announced = false, expected = false;
  };
  std::vector<int64_t> extents_;
  std::vector<int64_t> address_of_;  ///< of each element, row-major
  std::vector<Cell> cells_;
};

template <class Step>
void GridTensor::each(const std::vector<std::pair<int64_t, int64_t>>& box, const Step& step) const {
  std::vector<int64_t> index;
  for (size_t a = 0; a < shape_.size(); ++a) {
    index.push_back(std::max<int64_t>(box[a].first, 0));
    if (index[a] >= std::min(box[a].second, shape_[a])) return;
  }
  for (;;) {
    step(index);
    size_t a = index.size();
    while (a-- > 0) {
      if (++index[a] < std::min(box[a].second, shape_[a])) break;
      index[a] = std::max<int64_t>(box[a].first, 0);
    }
    if (a == SIZE_MAX) return;
  }
}

// ---- the memory of a worker ----

/// Where an element can be read: resolved when it was named, read later.
struct Source {
  enum class Kind : uint8_t { undefined, fill, tensor, tile } kind = Kind::undefined;
  uint32_t id = 0;   ///< of the tensor or tile
  int64_t at = 0;    ///< address or element
  int64_t slot = 0;  ///< of a ring
  Number fill;
};

class WorkerMemory {
 public:
  explicit WorkerMemory(const Program&, const std::vector<std::unique_ptr<Places>>& places);

  /// What the holder finds; any holder where it is negative.
  Value read(TileId, int64_t element, int64_t slot, int64_t holder) const;
  void write(TileId, int64_t element, int64_t slot, int64_t copy, const Value&);
  void forget(TileId);  ///< nothing of it was written
  /// Nothing can be read of the slot, nor of what else is in its memory.
  void forget_slot(TileId, int64_t slot, Undefined why);

  /// Who makes the accesses that follow: a role, of several threads where barriers have to order them.
  void enter(size_t role, bool several);
  void barrier() { now_ = epochs_[role_] = ++epoch_; }
  void note_read(TileId, int64_t element);

  std::map<TileId, std::vector<Source>> views;

 private:
  struct Byte {
    uint64_t owner = 0;              ///< stamp of the element that was written last
    uint64_t written = 0, read = 0;  ///< since which barrier
    size_t role = 0;                 ///< that wrote it
  };
  uint64_t stamp(TileId, int64_t element, int64_t slot) const;
  std::pair<size_t, size_t> bytes(TileId, int64_t element, int64_t slot) const;
  size_t cell(TileId tile, int64_t element, int64_t slot, int64_t copy) const;

  const Program& p_;
  const std::vector<std::unique_ptr<Places>>& places_;
  std::vector<std::vector<Value>> cells_;
  std::vector<Byte> scratch_;
  std::map<size_t, uint64_t> epochs_;  ///< of roles: no two have one number
  uint64_t epoch_ = 0, now_ = 0;
  size_t role_ = 0;
  bool several_ = false;
};

}  // namespace axon::tile
