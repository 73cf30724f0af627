// Tasks that are run one by one, on memory of the caller (run_task.h).
#include <algorithm>

#include "support.h"
#include "tile/run_task.h"

namespace axon::tile {
namespace {

bool has_roles_or_rings(const Program& p) {
  return std::any_of(p.tiles.begin(), p.tiles.end(), [](const Tile& t) { return t.space == Space::ring; }) ||
         std::any_of(p.ops.begin(), p.ops.end(),
                     [](const Op& op) { return std::holds_alternative<Role>(op); });
}

std::vector<std::string> programs_without_roles() {
  std::vector<std::string> out;
  for (const std::string& name : all_programs())
    if (!has_roles_or_rings(program_of(text_of(name)))) out.push_back(name);
  return out;
}

shape::Assignment values_of(const Program& p, const Sizes& sizes) {
  shape::Assignment values;
  for (const Var v : p.sizes) values[v] = sizes.at(shape::var_name(v));
  return values;
}

/// All tasks of the grid, in a random order.
std::vector<shape::Assignment> tasks_of(const Program& p, const Sizes& sizes, uint64_t seed) {
  std::vector<shape::Assignment> tasks{values_of(p, sizes)};
  for (const Coordinate& c : p.grid) {
    std::vector<shape::Assignment> next;
    for (const shape::Assignment& task : tasks)
      for (int64_t i = 0; i < c.extent.evaluate(task).value(); ++i) {
        next.push_back(task);
        next.back()[c.var] = i;
      }
    tasks = std::move(next);
  }
  std::mt19937_64 random(seed);
  std::shuffle(tasks.begin(), tasks.end(), random);
  return tasks;
}

/// Tensors as a caller may keep them.
class Kept {
 public:
  Kept(const Program& p, const Sizes& sizes, const Sample& sample) {
    const shape::Assignment values = values_of(p, sizes);
    for (const Tensor& t : p.tensors) {
      TensorData data;
      size_t count = 1;
      for (const Dim& extent : t.shape) {
        data.shape.push_back(extent.evaluate(values).value());
        count *= static_cast<size_t>(data.shape.back());
      }
      data.values.resize(count);
      const auto given = sample.given.find(t.name);
      if (given != sample.given.end()) data.values = given->second.values;
      data.defined.assign(count, given != sample.given.end());
      tensors.push_back(std::move(data));
    }
  }
  Elements elements() {
    return {[this](TensorId t, const std::vector<int64_t>& index) {
              EXPECT_TRUE(tensors[t.index].defined[at(t, index)]);
              return tensors[t.index].values[at(t, index)];
            },
            [this](TensorId t, const std::vector<int64_t>& index, const Number& value) {
              tensors[t.index].values[at(t, index)] = value;
              tensors[t.index].defined[at(t, index)] = true;
            }};
  }
  std::vector<TensorData> tensors;

 private:
  size_t at(TensorId t, const std::vector<int64_t>& index) const {
    const std::vector<int64_t>& shape = tensors[t.index].shape;
    size_t flat = 0;
    for (size_t a = 0; a < shape.size(); ++a) {
      EXPECT_TRUE(index[a] >= 0 && index[a] < shape[a]);
      flat = flat * static_cast<size_t>(shape[a]) + static_cast<size_t>(index[a]);
    }
    return flat;
  }
};

class Tasks : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(All, Tasks, testing::ValuesIn(programs_without_roles()),
                         [](const auto& p) { return p.param; });

TEST_P(Tasks, ComputeWhatPlainLoopsDo) {
  const Program p = program_of(text_of(GetParam()));
  TaskRunner runner(p);
  uint64_t seed = 0;
  for (const Sizes& sizes : sizes_of(GetParam())) {
    const Sample sample = sample_of(GetParam(), sizes, ++seed);
    Kept kept(p, sizes, sample);
    for (const shape::Assignment& task : tasks_of(p, sizes, seed)) {
      ASSERT_TRUE(runner.may_run(task));
      ASSERT_EQ(runner.run(task, kept.elements()), "");
    }
    ASSERT_EQ(difference(p, kept.tensors, sample), "");
  }
}

/// What a task of a text, on n = 100 ones, ends with.
std::string error_of(const std::string& text, int64_t n = 100, int64_t task = 1) {
  const Program p = program_of(text);
  shape::Assignment values = values_of(p, {{"n", n}});
  values[p.grid.front().var] = task;
  TaskRunner runner(p);
  return runner.run(values, {[](TensorId, const std::vector<int64_t>&) {
                               return Number{1, 1};
                             },
                             [](TensorId, const std::vector<int64_t>&, const Number&) {}});
}
std::string changed(const std::string& part, const std::string& other) {
  std::string text = text_of("pointwise");
  const size_t at = text.find(part);
  EXPECT_NE(at, std::string::npos) << part;
  return text.replace(at, part.size(), other);
}

TEST(Task, ErrorsAreThoseOfRuns) {
  const std::string text = text_of("pointwise");
  EXPECT_EQ(error_of(text), "");
  EXPECT_EQ(error_of(text, 100, 2), "i lies outside of the grid");
  EXPECT_NE(error_of(text, -1).find("the sizes break"), std::string::npos);
  const auto says = [](const std::string& error, const std::string& words) {
    EXPECT_NE(error.find(words), std::string::npos) << error;
  };
  says(error_of(changed(" if 64*i + r < n\n  notify", "\n  notify")), "reaches index 100");
  says(error_of(changed("x[64*i + r]", "x[64*i + r - 64]")), "outside of what the task reads");
}

TEST(Task, BeginsWithUndefinedTiles) {
  const std::string text = text_of("pointwise");
  const size_t copy = text.find("  copy t[r] = x");
  std::string without = text;
  without.erase(copy, text.find('\n', copy) + 1 - copy);
  EXPECT_NE(error_of(without).find("is not defined: nothing wrote it"), std::string::npos);
}

TEST(Task, AnnouncesWhatItWrote) {
  const std::string text = text_of("pointwise");
  const size_t store = text.rfind("  copy ");
  std::string without = text;
  without.erase(store, text.find('\n', store) + 1 - store);
  EXPECT_NE(error_of(without).find("it announces an element that the task did not write"), std::string::npos);
}

TEST(Task, FencesBeforeItAnnounces) {
  const std::string streaming = changed(" if 64*i + r < n\n  notify", " if 64*i + r < n streaming\n  notify");
  EXPECT_NE(error_of(streaming).find("no fence before it"), std::string::npos);
  std::string fenced = streaming;
  EXPECT_EQ(error_of(fenced.insert(fenced.find("  notify 0"), "  fence\n")), "");
}

TEST(Task, StoresOnce) {
  std::string text = text_of("pointwise");
  const size_t store = text.rfind("  copy ");
  const std::string line = text.substr(store, text.find('\n', store) + 1 - store);
  text.insert(store, line);
  EXPECT_NE(error_of(text).find("is stored where the task has stored before"), std::string::npos);
}

TEST(Task, RingsAndRolesAreRefused) {
  for (const char* name : {"chain", "gemm_rings", "attention"}) {
    const Program p = program_of(text_of(name));
    TaskRunner runner(p);
    EXPECT_NE(runner.run({}, {}).find("runs on the tasks of a worker"), std::string::npos) << name;
  }
}

}  // namespace
}  // namespace axon::tile
