// See shards.h. A device's part is a buffer over the digits of the tensor that are in memory, row-major in
// the order of `memory_`; all devices have the same order. Loading and storing is a copy within a device.
#include "layout/shards.h"

#include <algorithm>
#include <optional>

#include "base/bug.h"
#include "layout/evaluate.h"

namespace axon::layout {

namespace {

using Kind = CollectiveStep::Kind;
using Buffer = std::optional<std::vector<double>>;
using At = std::vector<int64_t>;  ///< a value for each digit of the tensor

int64_t offset_in_memory(const Layout& layout) { return *offset_on(layout, Axis()).constant(); }

class Mesh {
 public:
  Mesh(const Collective& c, const Shards& shards) : c_(c), device_count_(1) {
    for (const MeshDigit& digit : c.mesh) {
      strides_.push_back(device_count_);
      device_count_ *= static_cast<size_t>(digit.extent);
    }
    for (size_t t = 0; t < c.tensor.size(); ++t)
      if (std::none_of(c.before.begin(), c.before.end(), [&](const Content& content) {
            return content.kind == Content::Kind::tensor && content.digit == t;
          }))
        memory_.push_back(t);
    for (size_t d = 0; d < device_count_; ++d) buffers_.push_back(load(d, shards));
  }

  /// How many elements came from another device.
  int64_t step(const CollectiveStep& step) {
    moved_ = 0;
    const std::vector<size_t> before = memory_;
    if (gives_memory(step.kind)) std::erase(memory_, step.in);
    if (takes_memory(step.kind)) memory_.insert(memory_.begin(), step.out);
    std::vector<Buffer> after(device_count_);
    for (size_t d = 0; d < device_count_; ++d)
      if (has_after(step, d)) after[d] = part(step, d, before);
    buffers_ = std::move(after);
    return moved_;
  }

  Shards store() const {
    Shards out;
    const Layout copies{{}, c_.to.replicas, {}};
    std::vector<int64_t> places{0};
    for (const Iter& iter : on_axis(copies, Axis()).replicas) {
      const size_t count = places.size();
      for (int64_t i = 1; i < *iter.extent.constant() && !iter.stride.is(0); ++i)
        for (size_t p = 0; p < count; ++p) places.push_back(places[p] + i * *iter.stride.constant());
    }
    for (size_t d = 0; d < device_count_; ++d) {
      if (!buffers_[d]) continue;
      auto& memory = out[coordinates(d)];
      each(memory_, [&](size_t i, const At& at) {
        int64_t address = offset_in_memory(c_.to);
        for (const size_t t : memory_) address += at[t] * c_.tensor[t].to;
        for (const int64_t place : places) memory[address + place] = (*buffers_[d])[i];
      });
    }
    return out;
  }

 private:
  static bool gives_memory(Kind kind) {
    return kind == Kind::slice || kind == Kind::scatter || kind == Kind::all_to_all ||
           kind == Kind::reduce_scatter;
  }
  static bool takes_memory(Kind kind) {
    return kind == Kind::all_to_all || kind == Kind::gather || kind == Kind::all_gather;
  }

  int64_t coordinate(size_t device, size_t digit) const {
    return static_cast<int64_t>(device / strides_[digit]) % c_.mesh[digit].extent;
  }
  size_t with(size_t device, size_t digit, int64_t value) const {
    const int64_t change = value - coordinate(device, digit);
    return static_cast<size_t>(static_cast<int64_t>(device) + change * static_cast<int64_t>(strides_[digit]));
  }
  std::vector<int64_t> coordinates(size_t device) const {
    std::vector<int64_t> out;
    for (const auto& [axis, count] : c_.counts) {
      int64_t at = 0;
      for (size_t d = 0; d < c_.mesh.size(); ++d)
        if (c_.mesh[d].axis == axis) at += coordinate(device, d) * c_.mesh[d].weight;
      out.push_back(at);
    }
    return out;
  }

  /// Every value of the digits, the last fastest, with its number.
  template <class Function>
  void each(const std::vector<size_t>& digits, const Function& f) const {
    At at(c_.tensor.size(), 0);
    size_t count = 1;
    for (const size_t t : digits) count *= static_cast<size_t>(c_.tensor[t].extent);
    for (size_t i = 0; i < count; ++i) {
      size_t rest = i;
      for (size_t k = digits.size(); k-- > 0;) {
        const auto extent = static_cast<size_t>(c_.tensor[digits[k]].extent);
        at[digits[k]] = static_cast<int64_t>(rest % extent);
        rest /= extent;
      }
      f(i, at);
    }
  }
  size_t number(const std::vector<size_t>& digits, const At& at) const {
    size_t out = 0;
    for (const size_t t : digits)
      out = out * static_cast<size_t>(c_.tensor[t].extent) + static_cast<size_t>(at[t]);
    return out;
  }

  Buffer load(size_t device, const Shards& shards) const {
    for (size_t d = 0; d < c_.mesh.size(); ++d)
      if (c_.before[d].kind == Content::Kind::only && coordinate(device, d) != c_.before[d].coordinate)
        return std::nullopt;
    const auto& memory = shards.at(coordinates(device));
    std::vector<double> out;
    each(memory_, [&](size_t, const At& at) {
      int64_t address = offset_in_memory(c_.from);
      for (const size_t t : memory_) address += at[t] * c_.tensor[t].from;
      out.push_back(memory.at(address));
    });
    return out;
  }

  /// Does the device have a part after the step?
  bool has_after(const CollectiveStep& step, size_t device) const {
    const int64_t own = step.kind == Kind::permute ? 0 : coordinate(device, step.mesh);
    switch (step.kind) {
      case Kind::keep:
      case Kind::reduce:
      case Kind::gather:
      case Kind::relocate:
        if (own != step.after) return false;
        break;
      case Kind::move:
        if (step.at_one && coordinate(device, step.from_mesh) != step.after) return false;
        break;
      case Kind::slice:
      case Kind::reduce_scatter:
      case Kind::all_reduce:
      case Kind::scatter:
      case Kind::all_to_all:
      case Kind::permute:
      case Kind::all_gather:
      case Kind::broadcast:
      case Kind::send:
        break;
    }
    return buffers_[source(step, device, 0)].has_value();
  }

  /// Whose part it reads, or the first whose it does.
  size_t source(const CollectiveStep& step, size_t device, int64_t member) const {
    const int64_t own = step.kind == Kind::permute ? 0 : coordinate(device, step.mesh);
    switch (step.kind) {
      case Kind::keep:
      case Kind::slice:
        return device;
      case Kind::scatter:
      case Kind::broadcast:
      case Kind::relocate:
        return with(device, step.mesh, step.before);
      case Kind::move: {
        const size_t there = with(device, step.from_mesh, own);
        return step.from_copies ? there : with(there, step.mesh, step.before);
      }
      case Kind::permute: {
        size_t there = device;
        for (size_t d = 0; d < step.digits.size(); ++d)
          if (step.digits[d] != d) there = with(there, step.digits[d], coordinate(device, d));
        return there;
      }
      case Kind::all_to_all:
      case Kind::gather:
      case Kind::all_gather:
      case Kind::reduce_scatter:
      case Kind::reduce:
      case Kind::all_reduce:
        return with(device, step.mesh, member);
      case Kind::send:
        break;
    }
    base::bug("layout", "elements that are sent have no collective");
  }

  double read(size_t device, size_t from, const std::vector<size_t>& digits, const At& at) {
    if (from != device) ++moved_;
    return (*buffers_[from])[number(digits, at)];
  }

  std::vector<double> part(const CollectiveStep& step, size_t device, const std::vector<size_t>& before) {
    std::vector<double> out;
    const int64_t own = step.kind == Kind::permute ? 0 : coordinate(device, step.mesh);
    const bool adds = step.kind == Kind::reduce_scatter || step.kind == Kind::reduce;
    each(memory_, [&](size_t i, const At& here) {
      At at = here;
      if (gives_memory(step.kind)) at[step.in] = own;
      if (step.kind == Kind::all_reduce) return out.push_back(reduced(step, device, i, before, at));
      const int64_t member = takes_memory(step.kind) ? here[step.out] : 0;
      double sum = read(device, source(step, device, member), before, at);
      for (int64_t k = 1; adds && k < c_.mesh[step.mesh].extent; ++k)
        sum += read(device, source(step, device, k), before, at);
      out.push_back(sum);
    });
    return out;
  }

  /// The members of a group add an element each in turn, and the one that does tells the others.
  double reduced(const CollectiveStep& step, size_t device, size_t i, const std::vector<size_t>& before,
                 const At& at) {
    const int64_t members = c_.mesh[step.mesh].extent;
    const size_t adder = with(device, step.mesh, static_cast<int64_t>(i) % members);
    double sum = 0;
    for (int64_t k = 0; k < members; ++k) sum += (*buffers_[with(device, step.mesh, k)])[number(before, at)];
    moved_ += adder == device ? members - 1 : 1;
    return sum;
  }

  const Collective& c_;
  size_t device_count_;
  std::vector<size_t> strides_;  ///< of each digit of the mesh, in the numbers of devices
  std::vector<size_t> memory_;
  std::vector<Buffer> buffers_;
  int64_t moved_ = 0;
};

/// Every element on its own, from where it is on the device that needs it, else from where it is first.
MeshRun sent(const Collective& c, const Shards& shards) {
  MeshRun out{{}, {0}};
  const auto device_of = [&](const Point& point) {
    std::vector<int64_t> device;
    for (const auto& [axis, count] : c.counts) {
      const auto at = point.find(axis);
      device.push_back(at == point.end() ? 0 : at->second);
    }
    return device;
  };
  const auto address_of = [](const Point& point) {
    const auto at = point.find(Axis());
    return at == point.end() ? 0 : at->second;
  };
  const int64_t elements = *size(c.from).constant();
  for (int64_t x = 0; x < elements; ++x) {
    const std::set<Point> holders = points(c.from, x);
    for (const Point& needed : points(c.to, x)) {
      const std::vector<int64_t> device = device_of(needed);
      const auto own = std::find_if(holders.begin(), holders.end(),
                                    [&](const Point& holder) { return device_of(holder) == device; });
      const Point& from = own == holders.end() ? *holders.begin() : *own;
      if (own == holders.end()) ++out.moved[0];
      out.shards[device][address_of(needed)] = shards.at(device_of(from)).at(address_of(from));
    }
  }
  return out;
}

}  // namespace

MeshRun run(const Collective& c, const Shards& shards) {
  if (!c.by_elements.empty()) return sent(c, shards);
  Mesh mesh(c, shards);
  MeshRun out;
  for (const CollectiveStep& step : c.steps) out.moved.push_back(mesh.step(step));
  out.shards = mesh.store();
  return out;
}

}  // namespace axon::layout
