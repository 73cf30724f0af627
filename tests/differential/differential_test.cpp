// Generated programs through every executor. AXON_SEEDS=COUNT or FIRST-LAST chooses the seeds, and
// AXON_ALL_LEVELS=1 compiles each program for every instruction-set level of this machine; a failure prints
// the seed, the source, the sizes and the first element that differs. tests/differential/run is many of them.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <set>

#include "bindings.h"

namespace axon::differential {
namespace {

constexpr uint64_t default_seeds = 150;
constexpr uint64_t counted_seeds = 400;  ///< programs that are made only, to see what there is
constexpr uint64_t batch = 5;            ///< programs that are compiled into one bundle
constexpr uint64_t every_level = 10;     ///< of so many batches each level below the best has one
constexpr uint64_t every_fixed = 5;      ///< and one with a size fixed

struct Seeds {
  uint64_t first = 1, last = default_seeds;
};
Seeds seeds() {
  const char* const given = std::getenv("AXON_SEEDS");
  if (!given) return {};
  char* end = nullptr;
  const uint64_t number = std::strtoull(given, &end, 10);
  return *end == '-' ? Seeds{number, std::strtoull(end + 1, nullptr, 10)} : Seeds{1, number};
}

std::string describe(const Generated& g, const Sizes& sizes) {
  std::string text = fmt::format("seed {}{}{}, sizes", g.seed, g.group.empty() ? "" : " of ", g.group);
  for (const auto& [name, value] : sizes) text += fmt::format(" {}={}", name, value);
  return text + "\n" + g.source;
}

std::string joined(const std::vector<Generated>& programs) {
  std::string source;
  for (const Generated& g : programs) source += g.source + "\n";
  return source;
}

class Batch : public ::testing::TestWithParam<uint64_t> {
 protected:
  static uint64_t last_of_batch() { return std::min(GetParam() + batch - 1, seeds().last); }
};

/// The native level, and for one of every_level batches each of those below it alone; AXON_ALL_LEVELS=1:
/// every level for each. Levels are not compared with each other, but each with the meaning, so they need not
/// run the same.
std::vector<std::string> levels_of_batch(uint64_t number) {
  std::vector<std::string> all = levels_of_this_machine();
  if (std::getenv("AXON_ALL_LEVELS")) return all;
  const uint64_t turn = number % every_level;
  return {turn + 1 < all.size() ? all[turn] : all.back()};
}

/// Is the program given data that it refuses when it runs, where it looks at some?
bool fails(const Generated& g, Round round) { return (g.seed + static_cast<uint64_t>(round)) % 5 == 0; }

/// Reports each program that does not compile by itself, and leaves it out.
void keep_those_that_compile(std::vector<Generated>& programs) {
  std::erase_if(programs, [](const Generated& g) {
    const Compiled alone(g.source, for_levels());
    EXPECT_EQ(alone.error(), "") << "seed " << g.seed << "\n" << g.source;
    return !alone.error().empty();
  });
}

TEST_P(Batch, ExecutorsAgree) {
  std::vector<Generated> programs = generate_file(GetParam(), last_of_batch());
  const std::vector<std::string> levels = levels_of_batch(GetParam() / batch);
  auto compiled = std::make_unique<Compiled>(joined(programs), for_levels(levels));
  if (!compiled->error().empty()) {
    keep_those_that_compile(programs);
    compiled = std::make_unique<Compiled>(joined(programs), for_levels(levels));
    ASSERT_EQ(compiled->error(), "") << "only together\n" << joined(programs);
  }
  for (Round round : rounds) {
    std::map<std::string, Inputs> inputs;
    std::map<std::string, Sizes> sizes;
    for (const Generated& g : programs) {
      sizes[g.name] =
          g.group.empty() ? choose_sizes(g, round, g.seed) : choose_sizes(programs, round, GetParam());
      inputs[g.name] =
          choose_inputs(g, compiled->meaning(g.name), sizes[g.name], round, g.seed, fails(g, round));
    }
    std::vector<std::unique_ptr<Loaded>> owned;
    std::vector<const Loaded*> loaded;
    for (const std::string& level : levels) {
      owned.push_back(std::make_unique<Loaded>(*compiled, inputs, level));
      ASSERT_EQ(owned.back()->error(), "") << joined(programs);
      loaded.push_back(owned.back().get());
    }
    for (const Generated& g : programs) {
      EXPECT_EQ(disagreement(*compiled, loaded, g.name, inputs[g.name], g.seed, fails(g, round)), "")
          << round_name(round) << ": " << describe(g, sizes[g.name]);
    }
  }
}

/// Whether a parameter has an axis of this size, or is it.
bool takes_size(const Generated& g, const std::string& size) {
  for (const auto& [name, var] : g.sizes) {
    if (name != size) continue;
    for (const Parameter& p : g.parameters) {
      if (p.path == size) return true;
      for (const Dim& d : p.dims)
        if (d.contains(var)) return true;
    }
  }
  return false;
}

/// A size that is fixed at compile time: extents that are constants, 0 and 1 among them.
TEST_P(Batch, FixedSizesAgree) {
  if (GetParam() / batch % every_fixed != 1) return;
  for (const int64_t value : {0, 1, 65}) {
    std::vector<Generated> programs;
    std::map<std::string, Sizes> sizes;
    for (uint64_t seed = GetParam(); seed <= last_of_batch(); ++seed) {
      Generated g = generate(seed);
      Sizes chosen = choose_sizes(g, Round::primes, seed);
      chosen["n"] = value;
      if (!takes_size(g, "n") || g.least["n"] > value || cost(g, chosen) > 1'000'000) continue;
      if (value == 1 && g.used.contains(Family::stated)) continue;  // a 1 stretches to what is stated
      sizes[g.name] = chosen;
      programs.push_back(std::move(g));
    }
    if (programs.empty()) continue;
    CompileOptions options = for_levels();
    options.core.sizes["n"] = value;
    const Compiled compiled(joined(programs), options);
    ASSERT_EQ(compiled.error(), "") << "n = " << value << "\n" << joined(programs);
    std::map<std::string, Inputs> inputs;
    for (const Generated& g : programs)
      inputs[g.name] = choose_inputs(g, compiled.meaning(g.name), sizes[g.name], Round::primes, g.seed);
    const Loaded loaded(compiled, inputs);
    ASSERT_EQ(loaded.error(), "") << joined(programs);
    for (const Generated& g : programs)
      EXPECT_EQ(disagreement(compiled, {&loaded}, g.name, inputs[g.name], g.seed), "")
          << describe(g, sizes[g.name]);
  }
}

/// A loop whose result nothing reads once a size is fixed.
TEST(FixedSizes, LeaveLoopsForTheirChecks) {
  CompileOptions options = for_levels();
  options.core.sizes["n"] = 0;
  const Compiled compiled(
      "entry d (x : f32[n]) (k : i64[m, l]) (y : f32[l]) =\n"
      "  let t = fold (fn s q => s + y[q[0]]) x k in for (i < 3) => t[i else 0.5]\n",
      options);
  EXPECT_EQ(compiled.error(), "");
}

INSTANTIATE_TEST_SUITE_P(Generated, Batch,
                         ::testing::Range<uint64_t>(seeds().first, seeds().last + 1, batch));

/// A call outlives the sizes that it was first used with: event words, epochs and memory follow each launch.
TEST(Calls, SizesChangeBetweenLaunches) {
  std::vector<Generated> programs;
  for (uint64_t seed = 1001; programs.size() < 10; ++seed)
    if (Generated g = generate(seed); g.operators > 15 && g.source.find(" : weights { ") == std::string::npos)
      programs.push_back(std::move(g));
  for (const plan::ScheduleRules& rules : plan::schedules) {
    CompileOptions options = for_levels();
    options.schedule = rules.schedule;
    const Compiled compiled(joined(programs), options);
    ASSERT_EQ(compiled.error(), "") << joined(programs);
    const Loaded loaded(compiled, {});
    ASSERT_EQ(loaded.error(), "");
    for (const Generated& g : programs) {
      std::vector<Inputs> all;
      for (Round round : rounds)
        all.push_back(
            choose_inputs(g, compiled.meaning(g.name), choose_sizes(g, round, g.seed), round, g.seed));
      for (uint32_t workers : {1, 2, 3})
        EXPECT_EQ(loaded.difference_in_turn(g.name, all, workers), "") << g.source;
    }
  }
}

/// Is a condition of a branch false, or true, for some sizes that the program is run with?
bool decided(const Generated& g, bool as) {
  return std::any_of(std::begin(rounds), std::end(rounds), [&](Round round) {
    const Sizes sizes = choose_sizes(g, round, g.seed);
    shape::Assignment values;
    for (const auto& [name, var] : g.sizes) values[var] = sizes.at(name);
    return std::any_of(g.conditions.begin(), g.conditions.end(),
                       [&](const shape::Fact& f) { return holds(f, values) == as; });
  });
}

/// The programs are what they are said to be: enough of every family, of every size, of every kind of sizes,
/// of branches taken both ways, and of entries that share weights.
TEST(Coverage, FamiliesLoopsAndSizes) {
  std::map<Family, int> programs;
  std::map<std::string, int> elems;
  int zeros = 0, ones = 0, edges = 0, taken = 0, left_out = 0;
  for (uint64_t seed = 1; seed <= counted_seeds; ++seed) {
    const Generated g = generate(seed);
    EXPECT_GE(g.operators, 5) << seed;
    EXPECT_LE(g.operators, 40) << seed;  // a step may add a few more than wanted
    for (const auto& [family, count] : g.used) ++programs[family];
    ++elems[g.elem];
    taken += decided(g, true);
    left_out += decided(g, false);
    const auto has = [&](Round round, std::initializer_list<int64_t> values) {
      for (const auto& [name, value] : choose_sizes(g, round, seed))
        if (std::find(values.begin(), values.end(), value) != values.end() &&
            g.source.find(name) != std::string::npos)
          return 1;
      return 0;
    };
    zeros += has(Round::zero, {0});
    ones += has(Round::one, {1});
    edges += has(Round::tile_edge, {63, 64, 65, 255, 257});
  }
  for (Family family : families) EXPECT_GE(programs[family], 30) << family_name(family);
  int shared = 0;
  for (uint64_t first = 1; first <= counted_seeds; first += batch) {
    std::map<std::string, int> entries;  // of each weight
    for (const Generated& g : generate_file(first, first + batch - 1))
      for (const Parameter& p : g.parameters) entries[p.path] += p.kind == Parameter::Kind::weight;
    for (const auto& [path, count] : entries) shared += count > 1;
  }
  EXPECT_GE(shared, 20);
  for (const char* elem : {"f32", "f64", "f16", "bf16"}) EXPECT_GE(elems[elem], 5) << elem;
  EXPECT_GE(taken, 20);
  EXPECT_GE(left_out, 20);
  EXPECT_GE(zeros, 100);
  EXPECT_GE(ones, 100);
  EXPECT_GE(edges, 100);
}

}  // namespace
}  // namespace axon::differential
