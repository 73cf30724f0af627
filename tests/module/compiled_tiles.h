// Native code of tile programs, run task by task in tests.
//
// Every tensor lies next to a page that cannot be touched, with its end or with its start.
#pragma once
#include <array>
#include <memory>
#include <string>
#include <vector>

#include "harness.h"
#include "tile/support.h"

namespace axon::module {

/// A tile program compiled for one level.
class CompiledTiles {
 public:
  CompiledTiles(const tile::Program&, const std::string& level);

  /// The first check that failed, plus one, and what it shows; zeros.
  std::array<int64_t, 3> failed{};

  /// The tensors after all tasks.
  std::vector<tile::TensorData> run(const tile::Sizes&, const tile::Tensors& given, testing::Memory::End);

 private:
  using Task = void (*)(void* const*, const int64_t*, const int64_t*, void*, int64_t*);
  struct Placed {
    std::vector<int64_t> shape;
    std::vector<size_t> offsets;  ///< of each element
    std::unique_ptr<testing::Memory> memory;
  };

  static Placed place(const tile::Tensor&, const shape::Assignment& sizes, const tile::Tensors& given,
                      testing::Memory::End);
  static tile::TensorData read(const tile::Tensor&, const Placed&);
  template <class Step>
  void each_task(const shape::Assignment& sizes, const Step& step) const;

  tile::Program p_;
  std::unique_ptr<testing::Library> library_;
  Task task_ = nullptr;
};

/// How far apart values may be, in units of the last place of the type: 0 of equal bits.
bool is_near(const tile::Number& got, const tile::Number& want, base::Elem, int64_t ulps);
/// The first element of a tensor that is written which is not near enough; empty where there is none.
std::string difference(const tile::Program&, const std::vector<tile::TensorData>& got,
                       const std::vector<tile::TensorData>& want, int64_t ulps);

}  // namespace axon::module
