// See tile_programs.h.
#include "tile_programs.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>

#include "graph/interpret_expr.h"
#include "layout/evaluate.h"
#include "layout/layout.h"

namespace axon::differential {

tile::Machine machine_of(uint64_t seed) {
  constexpr const char* rows[] = {"x86-64-v2", "x86-64-v3", "x86-64-v4", "sm_80"};
  std::mt19937_64 random(seed);
  const uint64_t row = random() % 6;
  if (row < 4) return *tile::find_machine(rows[row]);
  tile::Machine machine{.name = "toy"};
  machine.scratch = int64_t{65536} << random() % 3;
  if (row == 4) {
    machine.register_bytes = int64_t{8} << random() % 5;
    machine.registers = int64_t{8} << random() % 4;
    return machine;
  }
  machine.lanes = int64_t{4} << random() % 4;
  machine.warps = int64_t{1} << random() % 4;
  machine.register_bytes = 4;
  machine.registers = int64_t{64} << random() % 3;
  return machine;
}

namespace {

/// What is not proved of a program. Each text is looked at once: programs of equal text have equal
/// obligations.
std::string unproved_of(const tile::Program& program) {
  static std::set<std::string> known;
  const std::string text = tile::print(program);
  if (!known.insert(text).second) return "";
  std::string list;
  for (const tile::Obligation& o : tile::verify(program))
    if (!o.proved) list += "not proved: " + o.what + " (" + o.by + ")\n";
  if (!list.empty()) ADD_FAILURE() << list << text;
  return list;
}

/// Which element of its buffer an element of a program's tensor is. The tensor may have other axes than the
/// buffer: its place says then where in the buffer's row-major order the element lies.
class BufferIndices {
 public:
  BufferIndices(const task::Buffer& buffer, const tile::Tensor& tensor, const shape::Assignment& values) {
    if (tensor.shape == buffer.shape) return;
    for (const shape::Dim& extent : tensor.shape) shape_.push_back(extent.evaluate(values).value());
    for (const shape::Dim& extent : buffer.shape) of_buffer_.push_back(extent.evaluate(values).value());
    place_.emplace(layout::evaluate(tensor.place, values).value());
  }
  std::vector<int64_t> of(const std::vector<int64_t>& index) const {
    if (!place_) return index;
    int64_t number = 0;
    for (size_t a = 0; a < index.size(); ++a) number = number * shape_[a] + index[a];
    const std::vector<int64_t> base = place_->base(number);
    int64_t rest = base.empty() ? 0 : base[0];
    std::vector<int64_t> out(of_buffer_.size());
    for (size_t a = out.size(); a-- > 0; rest /= of_buffer_[a]) out[a] = rest % of_buffer_[a];
    return out;
  }

 private:
  std::vector<int64_t> shape_, of_buffer_;  ///< of the tensor; of the buffer
  std::optional<layout::Evaluator> place_;
};

}  // namespace

TilePrograms::TilePrograms(const task::Program& program, graph::Graph graph, const tile::Machine& machine)
    : program_(program) {
  for (uint32_t t = 0; t < program.types.size(); ++t) {
    auto& ready = of_type_.emplace_back();
    for (tile::MadeProgram& made : tile::programs_of(program, {t}, graph, machine).list) {
      unproved_ += unproved_of(made.program);
      ready.push_back(std::make_unique<Ready>(Ready{std::move(made), nullptr}));
    }
  }
}

std::optional<std::string> TilePrograms::run(task::TaskTypeId type, const shape::Assignment& values,
                                             task::BodyMemory& memory) {
  for (const auto& ready : of_type_[type.index]) {
    if (!ready->runner) ready->runner = std::make_unique<tile::TaskRunner>(ready->made.program);
    if (!ready->runner->may_run(values)) continue;
    ++tasks_;
    const auto buffer = [&](tile::TensorId tensor) { return ready->made.buffers[tensor.index]; };
    std::map<tile::TensorId, BufferIndices> indices;
    const auto index_in = [&](tile::TensorId tensor, const std::vector<int64_t>& index) {
      const auto known = indices.find(tensor);
      if (known != indices.end()) return known->second.of(index);
      const BufferIndices made(program_.buffers[buffer(tensor)], ready->made.program.tensors[tensor], values);
      return indices.emplace(tensor, made).first->second.of(index);
    };
    tile::Elements elements;
    elements.read = [&](tile::TensorId tensor, const std::vector<int64_t>& index) {
      const graph::Number n = memory.read(buffer(tensor), index_in(tensor, index));
      return tile::Number{n.real, n.integer};
    };
    elements.write = [&](tile::TensorId tensor, const std::vector<int64_t>& index, const tile::Number& n) {
      memory.write(buffer(tensor), index_in(tensor, index), {n.real, n.integer});
    };
    std::string why = ready->runner->run(values, elements);
    const auto& failed = ready->runner->failed_check();
    if (!failed) return why;
    return graph::fill_sides(graph::words_of(program_.graph->checks[failed->number]), failed->found,
                             failed->wanted);
  }
  if (of_type_[type.index].empty()) return std::nullopt;
  return program_.types[type].name + ": the guard of no tile program holds";
}

}  // namespace axon::differential
