// See run_task.h.
#include "tile/run_task.h"

#include <algorithm>
#include <unordered_set>

#include "tile/execute.h"
#include "tile/names.h"

namespace axon::tile {

namespace {

constexpr uint64_t most_steps_of_a_task = 1'000'000'000;
constexpr int64_t most_cells_of_a_task = 1 << 23;

/// A tensor whose elements the caller has. An address is the row-major number of an element.
class CallersTensor : public TensorMemory {
 public:
  CallersTensor(TensorId id, const Elements*& elements) : id_(id), elements_(elements) {}

  void begin(std::vector<int64_t> shape) {
    shape_ = std::move(shape);
    stored_.clear();
  }
  int64_t address(const std::vector<int64_t>& index) const override {
    int64_t at = 0;
    for (size_t a = 0; a < shape_.size(); ++a) at = at * shape_[a] + index[a];
    return at;
  }
  Value read(int64_t address, int64_t) const override {
    return {elements_->read(id_, index_of(address)), Undefined::no};
  }
  bool write(int64_t address, const Number& number, int64_t) override {
    if (!stored_.insert(address).second) return false;
    elements_->write(id_, index_of(address), number);
    return true;
  }
  bool has_stored(const std::vector<std::pair<int64_t, int64_t>>& box) const {
    int64_t inside = 1;
    for (size_t a = 0; a < shape_.size(); ++a) {
      const int64_t low = std::max<int64_t>(box[a].first, 0), high = std::min(box[a].second, shape_[a]);
      inside *= std::max<int64_t>(high - low, 0);
    }
    return std::count_if(stored_.begin(), stored_.end(), [&](int64_t address) {
             const std::vector<int64_t> index = index_of(address);
             for (size_t a = 0; a < index.size(); ++a)
               if (index[a] < box[a].first || index[a] >= box[a].second) return false;
             return true;
           }) == inside;
  }

 private:
  std::vector<int64_t> index_of(int64_t address) const {
    std::vector<int64_t> index(shape_.size());
    for (size_t a = shape_.size(); a-- > 0; address /= shape_[a]) index[a] = address % shape_[a];
    return index;
  }

  const TensorId id_;
  const Elements*& elements_;
  std::unordered_set<int64_t> stored_;
};

std::vector<std::unique_ptr<Places>> places_of(const Program& p) {
  std::vector<std::unique_ptr<Places>> out;
  for (const NamedLayout& l : p.layouts) out.push_back(std::make_unique<Places>(l.layout));
  return out;
}

}  // namespace

class TaskRunner::Impl {
 public:
  explicit Impl(const Program& p)
      : p_(p),
        shared_{p, {}, places_of(p), 0},
        refused_(why_not()),
        memory_(refused_.empty() ? std::make_unique<WorkerMemory>(p, shared_.places) : nullptr) {
    for (uint32_t t = 0; t < p.tensors.size(); ++t) {
      auto tensor = std::make_unique<CallersTensor>(TensorId{t}, elements_);
      tensors_.push_back(tensor.get());
      shared_.tensors.push_back(std::move(tensor));
    }
    if (memory_) executor_ = std::make_unique<Executor>(shared_, *memory_, rings_, scene_);
  }

  bool may_run(const shape::Assignment& values) const { return first_broken(p_.guard, values).empty(); }

  std::string run(const shape::Assignment& values, const Elements& elements) {
    if (!refused_.empty()) return refused_;
    elements_ = &elements;
    failed_check_.reset();
    scene_.values = values;
    shared_.steps_left = most_steps_of_a_task;
    try {
      if (auto why = begin(); !why.empty()) return why;
      walk(p_.body);
      if (!scene_.gemms.empty()) return "the task ends before its asynchronous gemms do";
    } catch (const Failed& failed) {
      scene_.gemms.clear();
      scene_.in_flight.clear();
      failed_check_ = failed.check;
      return failed.why;
    }
    return "";
  }
  const std::optional<FailedCheck>& failed_check() const { return failed_check_; }

 private:
  std::string why_not() const {
    int64_t cells = 0;
    for (const Tile& t : p_.tiles) {
      if (t.space == Space::ring) return "a program with rings runs on the tasks of a worker";
      if (t.space != Space::view)
        cells += shared_.places[t.layout.index]->elements() * shared_.places[t.layout.index]->copies();
    }
    if (cells > most_cells_of_a_task) return "the tiles have too many elements";
    for (const OpId id : p_.body)
      if (std::holds_alternative<Role>(p_.ops[id]))
        return "a program with roles runs on the tasks of a worker";
    return "";
  }

  static std::string first_broken(const std::vector<Fact>& facts, const shape::Assignment& values) {
    for (const Fact& f : facts)
      if (!shape::holds(f, values).value_or(false)) return f.str();
    return "";
  }

  std::string begin() {
    for (const Var v : p_.sizes)
      if (!scene_.values.contains(v)) return "no value is given for " + shape::var_name(v);
    for (const auto* facts : {&p_.facts, &p_.guard})
      if (const std::string broken = first_broken(*facts, scene_.values); !broken.empty())
        return "the sizes break " + broken;
    for (const Coordinate& c : p_.grid) {
      const auto at = scene_.values.find(c.var);
      const auto extent = c.extent.evaluate(scene_.values);
      if (at == scene_.values.end() || !extent || at->second < 0 || at->second >= *extent)
        return shape::var_name(c.var) + " lies outside of the grid";
    }
    for (uint32_t t = 0; t < p_.tensors.size(); ++t) {
      std::vector<int64_t> shape;
      for (const Dim& extent : p_.tensors[{t}].shape)
        shape.push_back(extent.evaluate(scene_.values).value_or(0));
      tensors_[t]->begin(std::move(shape));
    }
    for (uint32_t t = 0; t < p_.tiles.size(); ++t) memory_->forget({t});
    memory_->enter(0, p_.machine.threads() > 1);
    streamed_ = false;
    return "";
  }

  void walk(const std::vector<OpId>& body) {
    for (const OpId id : body) {
      shared_.spend(1);
      if (const auto* loop = std::get_if<Loop>(&p_.ops[id])) {
        repeat(id, *loop);
        continue;
      }
      executor_->run(id);
      if (std::holds_alternative<Barrier>(p_.ops[id])) memory_->barrier();
      if (const auto* settle = std::get_if<Settle>(&p_.ops[id])) finish_gemms(settle->left);
      if (std::holds_alternative<Fence>(p_.ops[id])) streamed_ = false;
      if (const auto* store = std::get_if<Store>(&p_.ops[id])) streamed_ |= store->streaming;
      if (const auto* notify = std::get_if<Notify>(&p_.ops[id])) announce(p_.notifications[notify->number]);
    }
  }
  void repeat(OpId id, const Loop& loop) {
    const auto [first, end] = executor_->iterations(id);
    for (int64_t i = first; i < end; ++i) {
      scene_.values[loop.index] = i;
      walk(loop.body);
      if (loop.order) executor_->note_keys(loop);
    }
    scene_.values.erase(loop.index);
    if (!loop.order) return;
    executor_->store_order(loop);
    for (const OpId op : loop.body)
      for (const TileId tile : defined_tiles(p_.ops[op])) memory_->forget(tile);
  }
  void finish_gemms(size_t left) {
    while (scene_.gemms.size() > left) {
      scene_.gemms.front()();
      scene_.gemms.pop_front();
    }
  }
  void announce(const Announcement& what) {
    if (streamed_) executor_->fail("streaming stores have no fence before it");
    if (!tensors_[what.tensor.index]->has_stored(executor_->numbers(what.box)))
      executor_->fail("it announces an element that the task did not write");
  }

  const Program& p_;
  Shared shared_;
  const std::string refused_;
  const std::unique_ptr<WorkerMemory> memory_;
  Rings rings_;
  Scene scene_;
  std::unique_ptr<Executor> executor_;
  std::vector<CallersTensor*> tensors_;
  const Elements* elements_ = nullptr;
  bool streamed_ = false;
  std::optional<FailedCheck> failed_check_;
};

TaskRunner::TaskRunner(const Program& p) : impl_(std::make_unique<Impl>(p)) {}
TaskRunner::~TaskRunner() = default;
bool TaskRunner::may_run(const shape::Assignment& values) const { return impl_->may_run(values); }
std::string TaskRunner::run(const shape::Assignment& values, const Elements& elements) {
  return impl_->run(values, elements);
}
const std::optional<FailedCheck>& TaskRunner::failed_check() const { return impl_->failed_check(); }

}  // namespace axon::tile
