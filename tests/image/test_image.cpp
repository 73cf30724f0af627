// From plans to a bundle that runs: the manifest's text, linking, the container, and the runtime as its
// reader.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "axon/axon.h"
#include "host/for_tools.h"
#include "image/build.h"

namespace axon::image {
namespace {

namespace fs = std::filesystem;
using graph::Elem;
using graph::InputKind;
using shape::Dim;
using shape::Var;
using task::Buffer;

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}
std::string test_object() { return read_file(AXON_TEST_OBJECT); }

graph::NodeId add_input(graph::Graph& g, const std::string& path, InputKind kind, Elem elem,
                        std::vector<Dim> shape) {
  graph::Node node;
  node.op = graph::NodeOp::input;
  node.input = static_cast<uint32_t>(g.inputs.size());
  node.types = {{elem, shape}};
  g.inputs.push_back({path, kind, {elem, std::move(shape)}, std::nullopt});
  return g.nodes.add(node);
}

graph::Size axis_size(Var var, const std::string& name, uint32_t input, uint32_t axis, const Dim& equation) {
  graph::Size size;
  size.var = var;
  size.name = name;
  size.input = input;
  size.axis = axis;
  size.equation = equation;
  return size;
}
graph::Size scalar_size(Var var, const std::string& name, uint32_t input) {
  graph::Size size;
  size.var = var;
  size.name = name;
  size.from = graph::Size::From::scalar;
  size.input = input;
  return size;
}

/// The plan that the compiler would make for kernels.c's chain_0.
struct Chain {
  graph::Graph graph;
  plan::Plan plan;
  Var n = shape::fresh_var("n.17"), l = shape::fresh_var("l.18");

  Chain() {
    graph.name = "chain";
    const auto x = add_input(graph, "x", InputKind::argument, Elem::i32, {Dim(n)});
    add_input(graph, "l", InputKind::scalar_size, Elem::i64, {});
    graph.sizes = {axis_size(n, "n", 0, 0, Dim(n)), scalar_size(l, "l", 1)};
    graph.facts = {shape::at_least(Dim(n), 0), shape::at_least(Dim(l), 1)};
    graph::Check check;
    check.value = {x, 0};
    check.bound = Dim(1000) * Dim(n);
    check.message = "`x` is small";
    graph.checks = {check};
    graph::Node compute;
    compute.types = {{Elem::i32, {Dim(n)}}};
    const graph::Value result{graph.nodes.add(compute), 0};
    graph.results = {{"", result}};
    graph.debugs = {{"seen", {x, 0}}, {"gone", {graph.nodes.add(compute), 0}}};
    plan.graph = &graph;
    plan.variants.push_back(variant({x, 0}, result));
  }

  plan::Variant variant(graph::Value x, graph::Value result) const {
    plan::Variant v;
    v.symbol = "chain_0";
    v.program.graph = &graph;
    const auto buffer = [](Elem elem, std::vector<Dim> shape, Buffer::Kind kind) {
      Buffer b;
      b.elem = elem;
      b.shape = std::move(shape);
      b.kind = kind;
      return b;
    };
    const auto argument = v.program.buffers.add(buffer(Elem::i32, {Dim(n)}, Buffer::Kind::argument));
    const auto slots = v.program.buffers.add(buffer(Elem::i32, {Dim(2), Dim(n)}, Buffer::Kind::temporary));
    const auto out = v.program.buffers.add(buffer(Elem::i32, {Dim(n)}, Buffer::Kind::result));
    v.program.places = {{x, {argument, std::nullopt}}, {result, {out, std::nullopt}}};
    task::Event event;
    event.name = "round done";
    v.program.events.add(event);
    v.slots = {{slots, Dim(8) * Dim(n), {}}};
    v.event_offset = {Dim(0)};
    v.event_words = Dim(n);
    v.iterations = Dim(l);
    v.work = Dim(n) * Dim(l);
    v.handoffs = Dim(l);
    return v;
  }

  Bundle bundle(const std::vector<std::string>& levels = {"x86-64-v2"}) const {
    Bundle out;
    out.source = "chain.axn";
    out.entries.push_back({&plan, std::vector<task::Placement>(2), {Dim(64)}});
    for (const std::string& level : levels) out.objects[level] = {test_object()};
    return out;
  }
};

std::string built(const Bundle& bundle) {
  std::string error;
  const auto bytes = build_bundle(bundle, error);
  EXPECT_TRUE(bytes) << error;
  return bytes.value_or("");
}

TEST(Manifest, Golden) {
  EXPECT_EQ(
      manifest_json(Chain().bundle(), {"x86-64-v2"}),
      R"({"format":4,"abi":1,"compiler":"axon 0.1.0","source":"chain.axn",)"
      R"("levels":["x86-64-v2"],"weights":[],)"
      R"("entries":[{"name":"chain","sizes":[{"name":"n","from":"axis","input":0,"axis":0,"equation":"n"},)"
      R"({"name":"l","from":"scalar","input":1}],)"
      R"("checks":[{"input":0,"bound":"1000*n","message":"`x` is small"},)"
      R"({"lhs":"1","relation":"<=","rhs":"l","message":"`1 <= l` must hold"}],)"
      R"("device_checks":["`x` is small: {lhs} is not in 0 .. {rhs}"],)"
      R"("inputs":[{"path":"x","elem":"i32","shape":["n"],"kind":"argument"},)"
      R"({"path":"l","elem":"i64","shape":[],"kind":"size"}],)"
      R"("results":[{"path":"","elem":"i32","shape":["n"]}],)"
      R"("debugs":[{"name":"seen","elem":"i32","shape":["n"]},{"name":"gone","elem":"i32","shape":["n"]}],)"
      R"("variants":[{"symbol":"chain_0","guard":[],"buffers":[{"kind":"argument","index":0},)"
      R"({"kind":"slot","index":0},{"kind":"result","index":0}],"debug_buffers":[0,-1],"slots":[{"bytes":"8*n","above":[]}],)"
      R"("event_offset":["0"],"event_names":["round done"],)"
      R"("event_words":"n","scratch":"64","iterations":"l",)"
      R"("work":"n*l","handoffs":"l","kernels":[]}]}]})");
}

TEST(Manifest, WeightsOfOtherEntriesAreNoted) {
  Chain chain;
  Bundle parts = chain.bundle();
  parts.other_weights = {"q.a", "b"};
  EXPECT_TRUE(
      manifest_json(parts, {"x86-64-v2"}).ends_with(R"("kernels":[]}]}],"other_weights":["q.a","b"]})"));
}

/// Two entries that share a weight, one of which updates a state.
TEST(Manifest, SharedWeightsStatesAndPowers) {
  const Var d = shape::fresh_var("d"), r = shape::fresh_var("r");
  graph::Graph graph;
  graph.name = "a";
  add_input(graph, "p.w", InputKind::weight, Elem::bf16, {Dim(d), Dim(r) * Dim(r)});
  const auto state = add_input(graph, "cache", InputKind::state, Elem::f32, {Dim(d)});
  graph.sizes = {axis_size(d, "d", 0, 0, Dim(d)), axis_size(r, "r", 0, 1, Dim(r) * Dim(r))};
  graph.sizes[1].power = 2;
  graph.results = {{"cache", {state, 0}}};
  plan::Plan plan;
  plan.graph = &graph;
  plan::Variant variant;
  variant.symbol = "a_0";
  variant.program.graph = &graph;
  variant.program.guard = {shape::at_most(Dim(d), 16)};
  plan.variants = {variant, variant};
  plan.variants[1].program.guard.clear();
  graph::Graph second = graph;
  second.name = "b";
  plan::Plan second_plan = plan;
  second_plan.graph = &second;
  for (auto& v : second_plan.variants) v.program.graph = &second;
  const std::vector<task::Placement> placements{layout::panels(2, 32), {}};
  Bundle bundle;
  bundle.entries = {{&plan, placements, {Dim(0), Dim(0)}}, {&second_plan, placements, {Dim(0), Dim(0)}}};
  const std::string text = manifest_json(bundle, {});
  const auto count = [&](const std::string& part) {
    size_t found = 0;
    for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
    return found;
  };
  EXPECT_EQ(count(R"("placement":[{"axis":1,"extent":0},{"axis":0,"extent":0},{"axis":1,"extent":32}])"), 1u)
      << text;
  EXPECT_EQ(count(R"("weight":0)"), 2u) << text;
  EXPECT_EQ(count(R"("state":1)"), 2u) << text;
  EXPECT_EQ(count(R"("equation":"r*r","power":2)"), 2u) << text;
  EXPECT_EQ(count(R"("guard":[{"lhs":"d","relation":"<=","rhs":"16"}])"), 2u) << text;
}

TEST(Bundle, TheSameBytesEveryTimeAndEverywhere) {
  const std::string first = built(Chain().bundle());
  const fs::path before = fs::current_path();
  fs::current_path("/");
  setenv("TMPDIR", "/var/tmp", 1);
  setenv("TZ", "Pacific/Apia", 1);
  const std::string second = built(Chain().bundle());
  fs::current_path(before);
  unsetenv("TMPDIR");
  unsetenv("TZ");
  EXPECT_EQ(first, second);
  EXPECT_EQ(first.find("/tmp"), std::string::npos);
  EXPECT_EQ(first.find(AXON_SOURCE_DIR), std::string::npos);
}

TEST(Bundle, RunsInTheRuntime) {
  const std::string bytes = built(Chain().bundle({"x86-64-v2", "x86-64-v3", "x86-64-v4"}));
  axon_error* const error = axon_error_create();
  axon_bundle* bundle = nullptr;
  ASSERT_EQ(axon_open_memory(bytes.data(), bytes.size(), &bundle, error), AXON_OK) << axon_error_text(error);
  EXPECT_STREQ(axon_bundle_source(bundle), "chain.axn");
  axon_runtime* runtime = nullptr;
  ASSERT_EQ(axon_runtime_create(2, &runtime, error), AXON_OK) << axon_error_text(error);
  axon_call* call = nullptr;
  ASSERT_EQ(axon_call_create(bundle, "chain", nullptr, runtime, &call, error), AXON_OK)
      << axon_error_text(error);
  std::vector<int32_t> x{1, 0, 0, 0, 0};
  const int64_t shape[] = {5};
  const axon_view view{x.data(), AXON_I32, 1, shape};
  ASSERT_EQ(axon_call_set(call, "x", &view, error), AXON_OK) << axon_error_text(error);
  ASSERT_EQ(axon_call_set_int(call, "l", 3, error), AXON_OK) << axon_error_text(error);
  ASSERT_EQ(axon_call_run(call, error), AXON_OK) << axon_error_text(error);
  axon_view result;
  ASSERT_EQ(axon_call_result(call, 0, &result, error), AXON_OK);
  const auto* const out = static_cast<const int32_t*>(result.data);
  EXPECT_EQ(std::vector<int32_t>(out, out + 5), (std::vector<int32_t>{4, 5, 3, 1, 0}));
  ASSERT_EQ(axon_call_set_int(call, "l", 0, error), AXON_OK);
  EXPECT_EQ(axon_call_run(call, error), AXON_BAD_ARGUMENT);
  EXPECT_STREQ(axon_error_text(error),
               "`1 <= l` must hold: `1 <= l` does not hold for 1 and 0 (l = 0 as given)");
  axon_call_destroy(call);
  axon_runtime_destroy(runtime);
  axon_bundle_destroy(bundle);
  axon_error_destroy(error);
}

/// Of a graph alone: what a call takes is told and checked, and nothing runs.
TEST(Bundle, WithoutCode) {
  Chain chain;
  chain.plan.variants.clear();
  Bundle parts;
  parts.entries.push_back({&chain.plan, {}, {}});
  const std::string bytes = build_interface(parts);
  axon_error* const error = axon_error_create();
  axon_bundle* bundle = nullptr;
  ASSERT_EQ(axon_open_memory(bytes.data(), bytes.size(), &bundle, error), AXON_OK) << axon_error_text(error);
  EXPECT_STREQ(axon_bundle_level(bundle), "");
  EXPECT_EQ(axon_entry_input_count(axon_bundle_find(bundle, "chain")), 2u);
  axon_call* call = nullptr;
  ASSERT_EQ(axon_call_create(bundle, "chain", nullptr, nullptr, &call, error), AXON_OK)
      << axon_error_text(error);
  const auto refused = [&] {
    return host::check_call(call, error) == AXON_OK ? std::string() : axon_error_text(error);
  };
  EXPECT_EQ(refused(), "`chain` has inputs that were not set: `x`, `l`");
  std::vector<int32_t> x{1, 0, 4999, 0, 0};
  const int64_t shape[] = {5};
  const axon_view view{x.data(), AXON_I32, 1, shape};
  ASSERT_EQ(axon_call_set(call, "x", &view, error), AXON_OK) << axon_error_text(error);
  for (int twice = 0; twice < 2; ++twice) {
    ASSERT_EQ(axon_call_set_int(call, "l", 0, error), AXON_OK);
    EXPECT_EQ(refused(), "`1 <= l` must hold: `1 <= l` does not hold for 1 and 0 (l = 0 as given)");
    ASSERT_EQ(axon_call_set_int(call, "l", 3, error), AXON_OK);
    EXPECT_EQ(refused(), "");
    x[2] = 5000;
    EXPECT_EQ(refused(),
              "element [2] of `x` is 5000, but must be at least 0 and less than 5000 (`x` is small)");
    x[2] = 4999;
    EXPECT_EQ(axon_call_run(call, error), AXON_MISUSE);
    EXPECT_STREQ(axon_error_text(error),
                 "the bundle has no code: it can only be asked what its entries take");
    EXPECT_EQ(axon_calibrate(&call, 1, 0, "/dev/null", error), AXON_MISUSE);
  }
  axon_call_destroy(call);
  axon_bundle_destroy(bundle);
  axon_error_destroy(error);
}

TEST(Link, UndefinedSymbolsAndNonsenseAreErrors) {
  std::string error;
  EXPECT_FALSE(link_image({"no object at all"}, error));
  EXPECT_NE(error, "");
  const std::string source = ::testing::TempDir() + "undefined.c", object = source + ".o";
  std::ofstream(source) << "int missing(void); int f(void) { return missing(); }\n";
  ASSERT_EQ(std::system(("cc -fPIC -c " + source + " -o " + object).c_str()), 0);
  EXPECT_FALSE(link_image({read_file(object)}, error));
  EXPECT_NE(error.find("missing"), std::string::npos) << error;
  std::remove(source.c_str());
  std::remove(object.c_str());
}

TEST(Link, NoTemporaryFilesAreLeft) {
  const fs::path directory = fs::path(::testing::TempDir()) / ("axon_link_test_" + std::to_string(getpid()));
  fs::create_directory(directory);
  setenv("TMPDIR", directory.c_str(), 1);
  std::string error;
  EXPECT_TRUE(link_image({test_object()}, error)) << error;
  EXPECT_FALSE(link_image({"nonsense"}, error));
  EXPECT_TRUE(fs::is_empty(directory));
  unsetenv("TMPDIR");
  fs::remove_all(directory);
}

}  // namespace
}  // namespace axon::image
