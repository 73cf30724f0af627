// Tiles in registers: which vector and which lane of it has an element.
//
// In: a tile's layout, by tile::Places. Out: its vectors, each in a stack slot that LLVM turns into a
// register, and vectors made of any elements by shuffles. Of several threads these are those of the thread at
// hand, by the elements that the first one has. Invariant: a vector has as many lanes as the layout
// has coordinates of `v`; of one lane it is a scalar.
#pragma once
#include "module/tiles/lanes.h"

namespace axon::module::tiles {

class Registers {
 public:
  explicit Registers(Context& context) : c_(context) {}

  unsigned lanes(TileId tile) { return form(tile).vector * form(tile).group; }
  int64_t count(TileId tile) { return c_.places(tile).span() / form(tile).group; }
  Value* get(TileId, int64_t number);
  void set(TileId, int64_t number, Value*);
  void set_element(TileId, int64_t element, Value*);
  /// A 32-bit register, by its number in the layout, as it is.
  Value* bits(TileId, int64_t number);
  void set_bits(TileId, int64_t number, Value* word);
  /// Which element each lane of a register has; `once`: an element that is in several places in the first one
  /// alone.
  std::vector<std::optional<int64_t>> elements(TileId, int64_t number, bool once);
  /// The elements, one for each lane: where `lanes` names one, out of that lane where it has the element.
  Value* gathered(TileId, const std::vector<int64_t>& elements, const std::vector<unsigned>& lanes);
  /// All registers of a tile whose elements are those of another one: transpositions in log2(n) steps.
  std::vector<Value*> converted(TileId to, TileId from,
                                const std::function<int64_t(int64_t element)>& element_of);

 private:
  struct Point {
    int64_t number;
    unsigned lane;
  };
  /// How a thread's registers are LLVM's values. Of several threads a value has the registers whose elements
  /// lie next to each other, so that they are one access to memory.
  struct Form {
    unsigned vector = 1;  ///< lanes of a register
    unsigned group = 1;   ///< registers of a value
  };
  const Form& form(TileId);
  Form made_form(TileId);
  bool is_stored(TileId);
  unsigned lane_of(TileId, const tile::Point&);
  Point point(TileId, int64_t element, unsigned lane);
  std::vector<Value*> transposed(std::vector<Value*> rows);
  llvm::AllocaInst* slot(TileId, int64_t number);
  Context& c_;
  std::map<std::pair<TileId, int64_t>, llvm::AllocaInst*> slots_;
  std::map<TileId, Form> forms_;
};

}  // namespace axon::module::tiles
