#include "bindings.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <map>
#include <random>

#include "graph/round.h"

namespace axon::differential {

namespace {

/// Scalar operations of a run: the interpreters are the slow part. AXON_COST, in millions, allows for larger
/// sizes.
int64_t cost_limit() {
  const char* const given = std::getenv("AXON_COST");
  return given ? std::atoll(given) * 1'000'000 : 250'000;
}

shape::Assignment assignment_of(const Generated& g, const Sizes& sizes) {
  shape::Assignment values;
  for (const auto& [name, var] : g.sizes) values[var] = sizes.at(name);
  return values;
}

double special_value(uint64_t random) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  constexpr double values[] = {infinity, -infinity, std::numeric_limits<double>::quiet_NaN(),
                               1e-40,    -0.0,      0.0};
  return values[random % std::size(values)];
}

}  // namespace

const char* round_name(Round round) {
  switch (round) {
    case Round::zero:
      return "zero";
    case Round::one:
      return "one";
    case Round::primes:
      return "primes";
    case Round::tile_edge:
      return "tile edge";
    case Round::special:
      return "special values";
  }
  return "?";
}

Sizes choose_sizes(const Generated& g, Round round, uint64_t seed) {
  return choose_sizes(std::span(&g, 1), round, seed);
}

Sizes choose_sizes(std::span<const Generated> programs, Round round, uint64_t seed) {
  std::mt19937_64 random(seed * 31 + static_cast<uint64_t>(round));
  const auto any_of = [&](std::initializer_list<int64_t> values) {
    return values.begin()[random() % values.size()];
  };
  const auto least = [&](const std::string& name) {
    int64_t most = 0;
    for (const Generated& g : programs)
      if (g.least.contains(name)) most = std::max(most, g.least.at(name));
    return most;
  };
  const auto costs_too_much = [&](const Sizes& sizes) {
    return std::any_of(programs.begin(), programs.end(),
                       [&](const Generated& g) { return cost(g, sizes) > cost_limit(); });
  };
  const auto& names = programs.front().sizes;  // all have the same
  Sizes sizes;
  std::vector<std::string> free;  // of the special value
  for (const auto& [name, var] : names) {
    sizes[name] = name == "l" ? any_of({0, 1, 2, 3}) : any_of({2, 3, 5, 7, 11, 13});
    if (least(name) <= (round == Round::zero ? 0 : 1)) free.push_back(name);
  }
  if (round == Round::tile_edge) {
    for (const auto& [name, var] : names) sizes[name] = name == "l" ? any_of({1, 2}) : any_of({2, 3, 4});
    sizes[names[random() % 3].first] = any_of({63, 64, 65, 255, 257});
    if (random() % 2) sizes[names[random() % 3].first] = any_of({31, 33, 63, 65});
  }
  if (round == Round::zero && !free.empty()) sizes[free[random() % free.size()]] = 0;
  if (round == Round::one && !free.empty()) sizes[free[random() % free.size()]] = 1;
  for (auto& [name, value] : sizes) value = std::max(value, least(name));
  while (costs_too_much(sizes)) {
    auto largest = std::max_element(sizes.begin(), sizes.end(),
                                    [](const auto& a, const auto& b) { return a.second < b.second; });
    if (largest->second <= 3) break;
    largest->second = std::max<int64_t>(3, largest->second > 65   ? 65
                                           : largest->second > 33 ? 33
                                                                  : largest->second * 2 / 3);
  }
  return sizes;
}

int64_t cost(const Generated& g, const Sizes& sizes) {
  return g.cost.evaluate(assignment_of(g, sizes)).value_or(std::numeric_limits<int64_t>::max());
}

namespace {

/// What a run makes of the integers of a parameter. Where it is to fail, one of them, now and then, is just
/// outside of what the program asks for.
std::vector<int64_t> choose_integers(const Parameter& p, int64_t count, const shape::Assignment& sizes,
                                     std::mt19937_64& random, bool faults) {
  const int64_t bound = std::max<int64_t>(1, p.bound->evaluate(sizes).value());
  std::vector<int64_t> integers;
  for (int64_t i = 0; i < count; ++i)
    integers.push_back(p.value ? p.value->evaluate(sizes).value()
                               : static_cast<int64_t>(random() % static_cast<uint64_t>(bound)));
  if (faults && p.checked && count > 0 && random() % 6 == 0) {
    int64_t& wrong = integers[random() % integers.size()];
    const bool more = random() % 2;
    wrong = p.value ? wrong + (more ? 1 : -1) : more ? bound : -1;
  }
  return integers;
}

/// Weights have contents of their own, the same in every program that names them.
uint64_t seed_of(const Parameter& p, uint64_t seed) {
  if (p.kind != Parameter::Kind::weight) return seed;
  uint64_t hash = 1469598103934665603u;
  for (const char c : p.path) hash = (hash ^ static_cast<uint8_t>(c)) * 1099511628211u;
  return hash;
}

}  // namespace

Inputs choose_inputs(const Generated& g, const graph::Graph& graph, const Sizes& sizes, Round round,
                     uint64_t seed, bool faults) {
  std::mt19937_64 arguments(seed * 131 + static_cast<uint64_t>(round));
  const shape::Assignment values = assignment_of(g, sizes);
  Inputs inputs;
  for (const graph::Input& input : graph.inputs) {
    const auto declared = std::find_if(g.parameters.begin(), g.parameters.end(),
                                       [&](const Parameter& p) { return p.path == input.path; });
    std::mt19937_64 own(seed_of(*declared, seed) * 131 + static_cast<uint64_t>(round));
    std::mt19937_64& random = declared->kind == Parameter::Kind::weight ? own : arguments;
    std::normal_distribution<double> normal;
    graph::Tensor t;
    t.elem = input.type.elem;
    for (const Dim& d : declared->dims) t.shape.push_back(d.evaluate(values).value());
    if (declared->bound) {
      t.integers = choose_integers(*declared, t.count(), values, random, faults);
      inputs.push_back(std::move(t));
      continue;
    }
    for (int64_t i = 0; i < t.count(); ++i) {
      double value = std::clamp(normal(random), -3.0, 3.0);
      if (round == Round::special && random() % 16 == 0) value = special_value(random());
      t.floats.push_back(graph::round_to(t.elem, value));
    }
    inputs.push_back(std::move(t));
  }
  return inputs;
}

namespace {

/// Elements at one place have one value.
void unify_overlapping(graph::Tensor& t) {
  if (t.strides.empty()) return;
  std::map<int64_t, size_t> at;  // the first element there
  for (int64_t i = 0; i < t.count(); ++i) {
    int64_t offset = 0, rest = i;
    for (size_t a = t.shape.size(); a-- > 0; rest /= t.shape[a]) offset += rest % t.shape[a] * t.strides[a];
    const size_t first = at.try_emplace(offset, static_cast<size_t>(i)).first->second;
    if (t.floats.empty())
      t.integers[static_cast<size_t>(i)] = t.integers[first];
    else
      t.floats[static_cast<size_t>(i)] = t.floats[first];
  }
}

}  // namespace

Inputs make_inputs(const graph::Graph& graph, const Sizes& sizes, int64_t bound, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  shape::Assignment values;
  for (const graph::Size& s : graph.sizes)
    if (s.from != graph::Size::From::data) values[s.var] = sizes.at(s.name);
  Inputs inputs;
  for (const graph::Input& input : graph.inputs) {
    graph::Tensor t;
    t.elem = input.type.elem;
    for (const Dim& d : input.type.shape) t.shape.push_back(d.evaluate(values).value());
    if (input.place)
      for (const layout::Iter& axis : input.place->shards)
        t.strides.push_back(axis.stride.evaluate(values).value());
    for (int64_t i = 0; i < t.count(); ++i) {
      if (input.size)
        t.integers.push_back(values.at(*input.size));
      else if (base::is_float(t.elem))
        t.floats.push_back(graph::round_to(t.elem, std::clamp(normal(random), -3.0, 3.0)));
      else
        t.integers.push_back(static_cast<int64_t>(
            random() % static_cast<uint64_t>(t.elem == base::Elem::boolean ? 2 : bound)));
    }
    unify_overlapping(t);
    inputs.push_back(std::move(t));
  }
  return inputs;
}

}  // namespace axon::differential
