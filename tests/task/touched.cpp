#include "touched.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

namespace axon::task {

namespace {

using Points = std::vector<std::pair<int64_t, int64_t>>;  ///< per axis the first and the last
using Element = std::pair<BufferId, std::vector<int64_t>>;

/// A read of a body with the binders around it.
struct Read {
  graph::Scalar load;
  std::vector<graph::Axis> binders;
};

void collect(const graph::Graph& g, graph::ScalarId id, const std::vector<graph::Axis>& around,
             std::vector<Read>& out) {
  const graph::Scalar& s = g.scalars[id];
  std::vector<graph::Axis> binders = around;
  binders.insert(binders.end(), s.binders.begin(), s.binders.end());
  if (s.op == graph::Op::load) out.push_back({s, binders});
  for (graph::ScalarId arg : s.args) collect(g, arg, binders, out);
}

class Task {
 public:
  Task(const Program& p, const Instance& i)
      : p_(p), g_(*p.graph), i_(i), type_(p.types[i.type]), node_(g_.nodes[type_.node]), values_(i.values) {}

  std::string run() {
    needed_.resize(node_.locals.size());
    over_tile(0);
    for (size_t l = node_.locals.size(); l-- > 0;)
      if (needed_[l]) {
        std::vector<Read> reads;
        collect(g_, node_.locals[l].body, {}, reads);
        const Points box = *needed_[l];
        over_local(l, box, 0, reads);
      }
    return found_;
  }

  /// What run() has met.
  const std::set<Element>& elements(bool stored) const { return stored ? stored_ : read_; }

 private:
  int64_t number(const Dim& d) const { return d.evaluate(values_).value(); }

  void over_tile(uint32_t axis) {
    if (axis == node_.domain.size()) {
      for (uint32_t o = 0; o < node_.outputs.size(); ++o) {
        const auto& at = node_.outputs[o].at;
        touch({type_.node, o}, {at.begin(), at.end()}, true);
        if (output_reads_.size() == o) {
          output_reads_.emplace_back();
          collect(g_, node_.outputs[o].body, {}, output_reads_.back());
        }
        for (const Read& r : output_reads_[o]) over_binders(r, 0);
      }
      return;
    }
    int64_t first = 0, last = number(node_.domain[axis].extent) - 1;
    for (size_t c = 0; c < type_.coordinates.size(); ++c)
      if (type_.coordinates[c].axis == axis) {
        first = i_.coordinates[c] * type_.coordinates[c].tile;
        last = std::min(last, first + type_.coordinates[c].tile - 1);
      }
    over(node_.domain[axis].var, first, last, [&] { over_tile(axis + 1); });
  }

  void over_local(size_t l, const Points& box, size_t axis, const std::vector<Read>& reads) {
    if (axis < box.size())
      return over(node_.locals[l].domain[axis].var, box[axis].first, box[axis].second,
                  [&] { over_local(l, box, axis + 1, reads); });
    for (const Read& r : reads) over_binders(r, 0);
  }

  void over_binders(const Read& r, size_t n) {
    if (n < r.binders.size())
      return over(r.binders[n].var, 0, number(r.binders[n].extent) - 1, [&] { over_binders(r, n + 1); });
    std::vector<std::optional<Dim>> at;
    for (graph::ScalarId arg : r.load.args) at.push_back(graph::affine_index(g_, arg));
    if (r.load.target.is_local())
      need(r.load.target.output, at);
    else
      touch(r.load.target, at, false);
  }

  void over(Var v, int64_t first, int64_t last, const std::function<void()>& f) {
    for (int64_t n = first; n <= last && found_.empty(); ++n) {
      values_[v] = n;
      f();
    }
    values_.erase(v);
  }

  /// Indices that are read along each axis; nullopt when one lies outside: then nothing is read.
  std::optional<Points> points(const std::vector<std::optional<Dim>>& at,
                               const std::vector<Dim>& shape) const {
    Points out;
    for (size_t a = 0; a < at.size(); ++a) {
      const int64_t extent = number(shape[a]), index = at[a] ? number(*at[a]) : 0;
      if (index < 0 || index >= extent) return std::nullopt;
      out.emplace_back(index, at[a] ? index : extent - 1);
    }
    return out;
  }

  void need(uint32_t l, const std::vector<std::optional<Dim>>& at) {
    std::vector<Dim> shape;
    for (const auto& axis : node_.locals[l].domain) shape.push_back(axis.extent);
    const auto read = points(at, shape);
    if (!read) return;
    if (!needed_[l]) needed_[l] = read;
    for (size_t a = 0; a < read->size(); ++a) {
      auto& [first, last] = (*needed_[l])[a];
      first = std::min(first, (*read)[a].first);
      last = std::max(last, (*read)[a].second);
    }
  }

  void touch(graph::Value v, const std::vector<std::optional<Dim>>& at, bool write) {
    const Place& place = p_.place(v);
    auto box = points(at, g_.type(v).shape);
    if (!box) return;
    if (place.slot) box->insert(box->begin(), {number(*place.slot), number(*place.slot)});
    std::vector<int64_t> point;
    each_point(*box, point, [&] {
      (write ? stored_ : read_).emplace(place.buffer, point);
      if (!is_declared(place.buffer, point, write))
        found_ = fmt::format("{}({}; {}) {} {}[{}]", type_.name, fmt::join(i_.iteration, ", "),
                             fmt::join(i_.coordinates, ", "), write ? "stores" : "reads",
                             p_.buffers[place.buffer].name, fmt::join(point, ", "));
    });
  }

  static void each_point(const Points& box, std::vector<int64_t>& point, const std::function<void()>& f) {
    if (point.size() == box.size()) return f();
    const auto [first, last] = box[point.size()];
    for (int64_t n = first; n <= last; ++n) {
      point.push_back(n);
      each_point(box, point, f);
      point.pop_back();
    }
  }

  bool is_declared(BufferId buffer, const std::vector<int64_t>& point, bool write) const {
    for (size_t n = 0; n < type_.accesses.size(); ++n) {
      const Access& access = type_.accesses[n];
      if (access.buffer != buffer || access.write != write || access.box.size() != point.size()) continue;
      bool inside = true;
      for (size_t a = 0; a < point.size(); ++a)
        inside = inside && i_.boxes[n][2 * a] <= point[a] && point[a] < i_.boxes[n][2 * a + 1];
      if (inside) return true;
    }
    return false;
  }

  const Program& p_;
  const graph::Graph& g_;
  const Instance& i_;
  const TaskType& type_;
  const graph::Node& node_;
  shape::Assignment values_;
  std::vector<std::vector<Read>> output_reads_;
  std::vector<std::optional<Points>> needed_;  ///< of each local that is read
  std::set<Element> stored_, read_;
  std::string found_;
};

/// Does the type read a buffer that it stores to?
bool updates(const TaskType& type) {
  return std::any_of(type.accesses.begin(), type.accesses.end(), [&](const Access& a) {
    return a.write && std::any_of(type.accesses.begin(), type.accesses.end(),
                                  [&](const Access& b) { return !b.write && a.buffer == b.buffer; });
  });
}

}  // namespace

std::string undeclared(const Program& p, const Concrete& grid) {
  constexpr size_t most = 8;
  for (uint32_t t = 0; t < p.types.size(); ++t) {
    const auto& tasks = grid.of_type({t});
    const size_t count = std::min(most, tasks.size());
    for (size_t n = 0; n < count; ++n) {
      const size_t at = count == 1 ? 0 : n * (tasks.size() - 1) / (count - 1);
      std::string found = Task(p, grid.instances()[tasks[at]]).run();
      if (!found.empty()) return found;
    }
  }
  return {};
}

std::string shared(const Program& p, const Concrete& grid) {
  for (uint32_t t = 0; t < p.types.size(); ++t) {
    if (!updates(p.types[TaskTypeId{t}])) continue;
    std::map<std::pair<std::vector<int64_t>, Element>, size_t> stored_by;
    std::vector<std::pair<size_t, Task>> tasks;
    for (const size_t n : grid.of_type({t})) {
      auto& [number, task] = tasks.emplace_back(n, Task(p, grid.instances()[n]));
      task.run();
      for (const Element& e : task.elements(true)) stored_by[{grid.instances()[n].iteration, e}] = n;
    }
    for (const auto& [n, task] : tasks)
      for (const Element& e : task.elements(false)) {
        const auto other = stored_by.find({grid.instances()[n].iteration, e});
        if (other != stored_by.end() && other->second != n)
          return fmt::format("{}: {}[{}] is read by one task and stored by another",
                             p.types[TaskTypeId{t}].name, p.buffers[e.first].name, fmt::join(e.second, ", "));
      }
  }
  return {};
}

}  // namespace axon::task
