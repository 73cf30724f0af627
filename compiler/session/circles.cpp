// See circles.h. Strongly connected components by Tarjan (1972), with a stack of its own: a chain of uses may
// be long.
#include "session/circles.h"

#include <algorithm>

namespace axon::session {
namespace {

class Components {
 public:
  Components(const std::vector<std::vector<uint32_t>>& uses, const std::vector<bool>& left_out)
      : uses_(uses), left_out_(left_out), state_(uses.size()) {}

  /// Each component after those that it uses.
  std::vector<std::vector<uint32_t>> find() {
    for (uint32_t i = 0; i < uses_.size(); ++i)
      if (state_[i].index == 0) visit(i);
    return std::move(found_);
  }

 private:
  struct State {
    uint32_t index = 0, low = 0;
    bool open = false;
  };
  struct Visit {
    uint32_t node;
    size_t next = 0;
  };

  void enter(uint32_t node) {
    state_[node] = {++count_, count_, true};
    open_.push_back(node);
    visits_.push_back({node});
  }

  void visit(uint32_t root) {
    enter(root);
    while (!visits_.empty()) {
      Visit& at = visits_.back();
      const uint32_t node = at.node;
      if (!left_out_[node] && at.next < uses_[node].size()) {
        const uint32_t used = uses_[node][at.next++];
        if (state_[used].index == 0)
          enter(used);
        else if (state_[used].open)
          state_[node].low = std::min(state_[node].low, state_[used].index);
        continue;
      }
      visits_.pop_back();
      if (!visits_.empty()) {
        State& around = state_[visits_.back().node];
        around.low = std::min(around.low, state_[node].low);
      }
      if (state_[node].low == state_[node].index) close(node);
    }
  }

  void close(uint32_t root) {
    std::vector<uint32_t> component;
    do {
      component.push_back(open_.back());
      state_[open_.back()].open = false;
      open_.pop_back();
    } while (component.back() != root);
    found_.push_back(std::move(component));
  }

  const std::vector<std::vector<uint32_t>>& uses_;
  const std::vector<bool>& left_out_;  ///< what these use does not count
  std::vector<State> state_;
  std::vector<uint32_t> open_;
  std::vector<Visit> visits_;
  std::vector<std::vector<uint32_t>> found_;
  uint32_t count_ = 0;
};

}  // namespace

UseOrder order_of_uses(const std::vector<std::vector<uint32_t>>& uses) {
  std::vector<bool> left_out(uses.size());
  for (;;) {
    UseOrder out;
    bool again = false;
    for (const auto& component : Components(uses, left_out).find()) {
      const uint32_t lowest = *std::min_element(component.begin(), component.end());
      const auto& own = uses[lowest];
      const bool itself = std::find(own.begin(), own.end(), lowest) != own.end();
      if ((component.size() > 1 || itself) && !left_out[lowest]) left_out[lowest] = again = true;
      out.order.insert(out.order.end(), component.begin(), component.end());
    }
    if (again) continue;
    for (uint32_t i = 0; i < uses.size(); ++i)
      if (left_out[i]) out.circular.push_back(i);
    return out;
  }
}

}  // namespace axon::session
