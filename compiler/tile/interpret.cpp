// See interpret.h. Each role of each worker is a cursor that goes through the worker's tasks by itself; it
// stands where a wait, a fill or an acquire has to wait for others.
#include "tile/interpret.h"

#include <fmt/format.h>

#include <algorithm>
#include <random>
#include <set>

#include "tile/execute.h"
#include "tile/names.h"

namespace axon::tile {

namespace {

constexpr int64_t most_tasks = 1 << 20, most_cells = 1 << 23;

/// A role as it is run; a program without roles has one.
struct Part {
  const std::vector<OpId>* body = nullptr;
  int64_t threads = 1;
  std::set<TileId> tiles;     ///< that it uses, but for rings
  std::set<TileId> acquires;  ///< rings
};

struct Worker {
  WorkerMemory memory;
  Rings rings;
  std::vector<int64_t> tasks;
};

using GridTensors = std::vector<GridTensor*>;

class Cursor {
 public:
  enum class Outcome : uint8_t { ran, blocked, done };

  Cursor(Shared& shared, const GridTensors& tensors, Worker& worker, const std::vector<Part>& parts,
         size_t part, const std::vector<shape::Assignment>& tasks)
      : shared_(shared),
        tensors_(tensors),
        p_(shared.program),
        worker_(worker),
        parts_(parts),
        part_(parts[part]),
        tasks_(tasks),
        executor_(shared, worker.memory, worker.rings, scene_) {
    scene_.role = part;
  }
  Cursor(const Cursor&) = delete;
  Cursor& operator=(const Cursor&) = delete;

  Outcome step() {
    worker_.memory.enter(scene_.role, part_.threads > 1);
    if (frames_.empty() && !begin_task()) return Outcome::done;
    Frame& frame = frames_.back();
    if (frame.at == frame.body->size()) {
      end_of_body();
      return Outcome::ran;
    }
    op_ = (*frame.body)[frame.at];
    shared_.spend(1);
    if (const auto* loop = std::get_if<Loop>(&p_.ops[op_])) {
      ++frame.at;
      begin_loop(*loop);
      return Outcome::ran;
    }
    if (!is_ready(p_.ops[op_])) return Outcome::blocked;
    executor_.run(op_);
    std::visit([this](const auto& op) { control(op); }, p_.ops[op_]);
    ++frame.at;
    return Outcome::ran;
  }
  std::string where() const { return print(p_, op_); }

 private:
  struct Frame {
    const std::vector<OpId>* body;
    size_t at = 0;
    const Loop* loop = nullptr;
    int64_t iteration = 0, end = 0;
  };

  bool begin_task() {
    if (next_ == worker_.tasks.size()) return false;
    scene_.task = worker_.tasks[next_++];
    scene_.values = tasks_[static_cast<size_t>(scene_.task)];
    for (TileId tile : part_.tiles) worker_.memory.forget(tile);
    frames_.push_back({part_.body});
    stored_ = streamed_ = false;
    return true;
  }
  void begin_loop(const Loop& loop) {
    const auto [first, end] = executor_.iterations(op_);
    if (first >= end) return end_of_loop(loop);
    scene_.values[loop.index] = first;
    frames_.push_back({&loop.body, 0, &loop, first, end});
  }
  void end_of_body() {
    Frame& frame = frames_.back();
    if (frame.loop && frame.loop->order) executor_.note_keys(*frame.loop);
    if (frame.loop && ++frame.iteration < frame.end) {
      frame.at = 0;
      scene_.values[frame.loop->index] = frame.iteration;
      return;
    }
    if (frame.loop) {
      scene_.values.erase(frame.loop->index);
      end_of_loop(*frame.loop);
    }
    frames_.pop_back();
    if (!frames_.empty()) return;
    if (!scene_.gemms.empty()) throw Failed{"a task ends before its asynchronous gemms do"};
  }

  void end_of_loop(const Loop& loop) {
    if (!loop.order) return;
    executor_.store_order(loop);
    stored_ = true;
    forget_tiles(loop.body);
  }
  void forget_tiles(const std::vector<OpId>& ops) {
    for (const OpId id : ops)
      for (const TileId tile : defined_tiles(p_.ops[id])) worker_.memory.forget(tile);
  }

  // ---- what waits ----

  bool is_ready(const Op& op) {
    if (const auto* wait = std::get_if<Wait>(&op)) return has_arrived(p_.waits[wait->number]);
    if (const auto* copy = std::get_if<Copy>(&op); copy && p_.tiles[copy->to.tile].space == Space::ring)
      return has_free_slot(copy->to.tile);
    if (const auto* acquire = std::get_if<Acquire>(&op))
      return worker_.rings[acquire->ring].acquired[scene_.role] < worker_.rings[acquire->ring].filled;
    return true;
  }
  /// What the task itself is to write is there, as others have left it.
  bool has_arrived(const Announcement& what) {
    const GridTensor& tensor = *tensors_[what.tensor.index];
    const auto& writes = p_.tensors[what.tensor].writes;
    const auto own = writes ? executor_.numbers(*writes) : std::vector<std::pair<int64_t, int64_t>>();
    const auto is_own = [&](const std::vector<int64_t>& index) {
      bool inside = writes.has_value();
      for (size_t a = 0; a < own.size(); ++a) inside &= own[a].first <= index[a] && index[a] < own[a].second;
      return inside;
    };
    bool all = true;
    tensor.each(executor_.numbers(what.box), [&](const std::vector<int64_t>& index) {
      all &= is_own(index) || !tensor.is_awaited(tensor.address(index));
    });
    return all;
  }
  int64_t released_by_all(TileId ring) {
    int64_t least = INT64_MAX;
    for (size_t r = 0; r < parts_.size(); ++r)
      if (parts_[r].acquires.contains(ring)) least = std::min(least, worker_.rings[ring].released[r]);
    return least == INT64_MAX ? 0 : least;
  }
  bool has_free_slot(TileId ring) {
    return worker_.rings[ring].filled < released_by_all(ring) + p_.tiles[ring].depth;
  }

  // ---- what an operation changes beside tiles ----

  void control(const Acquire& op) {
    RingState& ring = worker_.rings[op.ring];
    const int64_t number = ring.acquired[scene_.role]++;
    while (!ring.pending.empty() && ring.pending.front().number <= number) {
      executor_.arrive(ring.pending.front());
      ring.pending.pop_front();
    }
  }
  void control(const Release& op) {
    RingState& ring = worker_.rings[op.ring];
    const int64_t before = released_by_all(op.ring);
    if (ring.released[scene_.role] == ring.acquired[scene_.role]) executor_.fail("no slot is acquired");
    ++ring.released[scene_.role];
    if (released_by_all(op.ring) > before)
      worker_.memory.forget_slot(op.ring, before % p_.tiles[op.ring].depth, Undefined::released);
  }
  void control(const Settle& op) {
    while (scene_.gemms.size() > op.left) {
      const auto gemm = std::move(scene_.gemms.front());
      scene_.gemms.pop_front();
      gemm();
    }
  }
  void control(const Barrier&) {
    worker_.memory.barrier();
    stored_ = false;
  }
  void control(const Fence&) { streamed_ = false; }
  void control(const Store& op) {
    stored_ |= op.to.tensor.valid();
    streamed_ |= op.streaming;
  }
  void control(const Notify& op) {
    if (streamed_) executor_.fail("streaming stores have no fence before it");
    if (stored_ && part_.threads > 1) executor_.fail("stores of several threads have no barrier before it");
    GridTensor& tensor = *tensors_[p_.notifications[op.number].tensor.index];
    bool all = true;
    tensor.each(executor_.numbers(p_.notifications[op.number].box), [&](const std::vector<int64_t>& index) {
      all &= tensor.announce(tensor.address(index), scene_.task);
    });
    if (!all) executor_.fail("it announces an element that the task did not write");
  }
  template <class Other>
  void control(const Other&) {}

  Shared& shared_;
  const GridTensors& tensors_;
  const Program& p_;
  Worker& worker_;
  const std::vector<Part>& parts_;
  const Part& part_;
  const std::vector<shape::Assignment>& tasks_;
  Scene scene_;
  Executor executor_;
  std::vector<Frame> frames_;
  size_t next_ = 0;
  OpId op_{0};
  bool stored_ = false, streamed_ = false;
};

class Run {
 public:
  Run(const Program& p, const RunOptions& options)
      : p_(p), options_(options), random_(options.seed), shared_{p, {}, {}, options.most_steps} {
    for (const NamedLayout& l : p.layouts) shared_.places.push_back(std::make_unique<Places>(l.layout));
    make_parts();
  }

  RunResult run(const std::map<std::string, int64_t>& sizes,
                const std::map<std::string, TensorData>& tensors) {
    RunResult out;
    try {
      if (out.error = begin(sizes, tensors); !out.error.empty()) return out;
      go();
    } catch (const Failed& failed) {
      out.error = failed.why;
      return out;
    }
    for (const GridTensor* tensor : tensors_) out.tensors.push_back(tensor->data());
    return out;
  }

 private:
  // ---- before the first task ----

  void make_parts() {
    const bool has_roles = !p_.body.empty() && std::holds_alternative<Role>(p_.ops[p_.body.front()]);
    if (has_roles) {
      for (OpId id : p_.body) {
        const auto& role = std::get<Role>(p_.ops[id]);
        parts_.push_back({&role.body, (role.end_warp - role.first_warp) * p_.machine.lanes, {}, {}});
      }
    } else {
      parts_.push_back({&p_.body, p_.machine.threads(), {}, {}});
    }
    for (Part& part : parts_) look_through(*part.body, part);
  }
  void look_through(const std::vector<OpId>& ops, Part& part) {
    for (OpId id : ops) {
      for (TileId tile : tiles(p_.ops[id]))
        if (p_.tiles[tile].space != Space::ring) part.tiles.insert(tile);
      if (const auto* acquire = std::get_if<Acquire>(&p_.ops[id])) part.acquires.insert(acquire->ring);
      if (const auto* inner = body(p_.ops[id])) look_through(*inner, part);
    }
  }

  std::string begin(const std::map<std::string, int64_t>& sizes,
                    const std::map<std::string, TensorData>& tensors) {
    shape::Assignment values;
    for (Var v : p_.sizes) {
      const auto found = sizes.find(shape::var_name(v));
      if (found == sizes.end()) return "no value is given for " + shape::var_name(v);
      values[v] = found->second;
    }
    for (const auto* facts : {&p_.facts, &p_.guard})
      for (const Fact& f : *facts)
        if (!shape::holds(f, values).value_or(false)) return "the sizes break " + f.str();
    int64_t cells = 0;
    for (const Tile& t : p_.tiles)
      if (t.space != Space::view)
        cells +=
            shared_.places[t.layout.index]->elements() * shared_.places[t.layout.index]->copies() * t.depth;
    if (cells > most_cells) return "the tiles have too many elements";
    for (uint32_t t = 0; t < p_.tensors.size(); ++t) {
      const Tensor& tensor = p_.tensors[TensorId{t}];
      const auto data = tensors.find(tensor.name);
      if (data == tensors.end() && tensor.reads && !tensor.writes) return tensor.name + " is not given";
      const TensorData* given = data == tensors.end() ? nullptr : &data->second;
      auto made = std::make_unique<GridTensor>();
      tensors_.push_back(made.get());
      shared_.tensors.push_back(std::move(made));
      if (auto why = tensors_.back()->create(tensor, values, given); !why.empty()) return why;
    }
    if (auto why = make_tasks(values); !why.empty()) return why;
    return expect_announcements();
  }

  std::string make_tasks(const shape::Assignment& sizes) {
    tasks_ = {sizes};
    for (const Coordinate& c : p_.grid) {
      std::vector<shape::Assignment> next;
      for (const shape::Assignment& task : tasks_) {
        const auto extent = c.extent.evaluate(task);
        if (!extent || *extent < 1) return fmt::format("the grid has no extent `{}`", c.extent.str());
        if (static_cast<int64_t>(next.size()) + *extent > most_tasks) return "the grid has too many tasks";
        for (int64_t i = 0; i < *extent; ++i) {
          next.push_back(task);
          next.back()[c.var] = i;
        }
      }
      tasks_ = std::move(next);
    }
    return "";
  }

  /// Waits are for what some task announces.
  std::string expect_announcements() {
    for (const shape::Assignment& task : tasks_)
      for (const Announcement& what : p_.notifications) {
        std::vector<std::pair<int64_t, int64_t>> box;
        for (const Interval& i : what.box) {
          const auto low = i.low.evaluate(task), high = i.high.evaluate(task);
          if (!low || !high) return "a box of a notification has no value";
          box.emplace_back(*low, *high);
        }
        GridTensor& tensor = *tensors_[what.tensor.index];
        shared_.spend(1);
        tensor.each(box, [&](const std::vector<int64_t>& index) {
          shared_.spend(1);
          tensor.expect(tensor.address(index));
        });
      }
    return "";
  }

  // ---- tasks ----

  void go() {
    for (int w = 0; w < std::max(options_.workers, 1); ++w)
      workers_.push_back(std::make_unique<Worker>(Worker{WorkerMemory(p_, shared_.places), {}, {}}));
    for (size_t t = 0; t < tasks_.size(); ++t)
      workers_[random_() % workers_.size()]->tasks.push_back(static_cast<int64_t>(t));
    std::vector<std::unique_ptr<Cursor>> cursors;
    for (const auto& worker : workers_)
      for (size_t part = 0; part < parts_.size(); ++part)
        cursors.push_back(std::make_unique<Cursor>(shared_, tensors_, *worker, parts_, part, tasks_));
    take_turns(std::move(cursors));
    for (const auto& worker : workers_)
      for (const auto& [tile, ring] : worker->rings)
        for (size_t r = 0; r < parts_.size(); ++r)
          if (parts_[r].acquires.contains(tile) && ring.released.at(r) != ring.filled)
            throw Failed{fmt::format("ring {}: {} fills and {} releases", p_.tiles[tile].name, ring.filled,
                                     ring.released.at(r))};
  }

  void take_turns(std::vector<std::unique_ptr<Cursor>> cursors) {
    std::vector<Cursor*> ready;
    std::vector<Cursor*> blocked;
    for (const auto& cursor : cursors) ready.push_back(cursor.get());
    while (!ready.empty()) {
      const size_t which = random_() % ready.size();
      Cursor::Outcome outcome = Cursor::Outcome::ran;
      bool any = false;
      for (uint64_t turns = 1 + random_() % 16; turns > 0 && outcome == Cursor::Outcome::ran; --turns) {
        outcome = ready[which]->step();
        any |= outcome == Cursor::Outcome::ran;
      }
      if (outcome == Cursor::Outcome::blocked) blocked.push_back(ready[which]);
      if (outcome != Cursor::Outcome::ran) ready.erase(ready.begin() + static_cast<std::ptrdiff_t>(which));
      if (!any && outcome == Cursor::Outcome::blocked) continue;
      ready.insert(ready.end(), blocked.begin(), blocked.end());
      blocked.clear();
    }
    if (blocked.empty()) return;
    std::string list;
    for (const Cursor* cursor : blocked) list += (list.empty() ? "" : ", ") + ("`" + cursor->where() + "`");
    throw Failed{"nothing can go on: " + list + " wait"};
  }

  const Program& p_;
  const RunOptions& options_;
  std::mt19937_64 random_;
  Shared shared_;
  GridTensors tensors_;
  std::vector<Part> parts_;
  std::vector<shape::Assignment> tasks_;
  std::vector<std::unique_ptr<Worker>> workers_;
};

}  // namespace

RunResult interpret(const Program& p, const std::map<std::string, int64_t>& sizes,
                    const std::map<std::string, TensorData>& tensors, const RunOptions& options) {
  return Run(p, options).run(sizes, tensors);
}

}  // namespace axon::tile
