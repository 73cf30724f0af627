// The rivals of rivals.py that are oneDNN's: graphs of primitives that are made once, with their weights, and
// run over arrays in row-major order. Where oneDNN chooses another layout, the weights are stored so
// beforehand, and each run reorders what comes in and what goes out; `graph_bare` is a run without that.
// Compiled into the library of rivals.cpp.
#include <algorithm>
#include <cstdint>
#include <dnnl.hpp>
#include <initializer_list>
#include <unordered_map>
#include <utility>
#include <vector>

namespace {

using Floats = const float*;
using Memory = dnnl::memory;
using Tag = dnnl::memory::format_tag;
using Arguments = std::unordered_map<int, Memory>;

constexpr auto inference = dnnl::prop_kind::forward_inference;

Memory::desc desc(const Memory::dims& dims, Tag tag) { return {dims, Memory::data_type::f32, tag}; }
Memory::desc any(const Memory::dims& dims) { return desc(dims, Tag::any); }
Memory::desc plain(const Memory::dims& dims) {
  return desc(dims, dims.size() == 1 ? Tag::a : dims.size() == 2 ? Tag::ab : Tag::abcd);
}

// An array of the caller, and the same in the layout that oneDNN chose.
struct Port {
  Memory outer, inner;
  dnnl::reorder move;  // empty where the layouts are the same
  bool moved = false;

  void point(const float* data) { (moved ? outer : inner).set_data_handle(const_cast<float*>(data)); }
};

struct Graph {
  dnnl::engine engine{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream{engine};
  std::vector<Port> inputs;
  Port output;
  std::vector<Memory> values;  // that a convolution may follow: the images, then the result of each
  std::vector<std::pair<dnnl::primitive, Arguments>> steps;

  void input(const Memory::desc& outer, const Memory& inner) {
    inputs.push_back({Memory(outer, engine, nullptr), inner, {}});
    if (inner.get_desc() == outer) return;
    inputs.back().moved = true;
    inputs.back().move = dnnl::reorder(inputs.back().outer, inner);
  }

  void result(const Memory::desc& outer, const Memory& inner) {
    output = {Memory(outer, engine, nullptr), inner, {}};
    if (inner.get_desc() == outer) return;
    output.moved = true;
    output.move = dnnl::reorder(inner, output.outer);
  }

  // Weights in the layout that was chosen for them.
  Memory stored(Floats from, const Memory::desc& outer, const Memory::desc& inner) {
    Memory given(outer, engine, const_cast<float*>(from)), out(inner, engine);
    dnnl::reorder(given, out).execute(stream, given, out);
    stream.wait();
    return out;
  }

  // `added` < 0, or the value that the result is added to and takes the place of.
  int64_t convolution(int64_t of, Floats filter, Floats bias, int64_t out, int64_t k, int64_t stride,
                      bool relu, int64_t added) {
    const Memory::dims in = values[of].get_desc().dims();
    const int64_t pad = k / 2;
    const auto size = [&](int64_t n) { return (n + 2 * pad - k) / stride + 1; };
    const Memory::dims out_dims{in[0], out, size(in[2]), size(in[3])}, filter_dims{out, in[1], k, k};
    const auto src = steps.empty() ? any(in) : values[of].get_desc();
    const auto dst = added < 0 ? any(out_dims) : values[added].get_desc();
    dnnl::post_ops after;
    if (added >= 0) after.append_sum(1.0f);
    if (relu) after.append_eltwise(1.0f, dnnl::algorithm::eltwise_relu, 0.0f, 0.0f);
    dnnl::primitive_attr attr;
    attr.set_post_ops(after);
    dnnl::convolution_forward::desc wanted(inference, dnnl::algorithm::convolution_direct, src,
                                           any(filter_dims), plain({out}), dst, {stride, stride}, {pad, pad},
                                           {pad, pad});
    dnnl::convolution_forward::primitive_desc chosen(wanted, attr, engine);
    if (steps.empty()) {
      values[of] = Memory(chosen.src_desc(), engine);
      input(plain(in), values[of]);
    }
    values.push_back(added < 0 ? Memory(chosen.dst_desc(), engine) : values[added]);
    steps.push_back({dnnl::convolution_forward(chosen),
                     {{DNNL_ARG_SRC, values[of]},
                      {DNNL_ARG_WEIGHTS, stored(filter, plain(filter_dims), chosen.weights_desc())},
                      {DNNL_ARG_BIAS, stored(bias, plain({out}), plain({out}))},
                      {DNNL_ARG_DST, values.back()}}});
    result(plain(out_dims), values.back());
    return int64_t(values.size()) - 1;
  }

  // A product of x and w, which is given now or, where it is null, in each run.
  template <typename Primitive>
  void product(const typename Primitive::primitive_desc& chosen, const Memory::desc& x, Floats w,
               const Memory::desc& weights, const Memory::desc& y) {
    const Memory from(chosen.src_desc(), engine), to(chosen.dst_desc(), engine);
    const Memory by = w ? stored(w, weights, chosen.weights_desc()) : Memory(chosen.weights_desc(), engine);
    steps.push_back({Primitive(chosen), {{DNNL_ARG_SRC, from}, {DNNL_ARG_WEIGHTS, by}, {DNNL_ARG_DST, to}}});
    input(x, from);
    if (!w) input(weights, by);
    result(y, to);
  }

  // One primitive over rows, in row-major order.
  void rows(const dnnl::primitive& primitive, const Memory::desc& shape, Arguments arguments) {
    const Memory x(shape, engine, nullptr), y(shape, engine, nullptr);
    arguments.insert({{DNNL_ARG_SRC, x}, {DNNL_ARG_DST, y}});
    steps.push_back({primitive, std::move(arguments)});
    input(shape, x);
    result(shape, y);
  }

  void bare() {
    for (auto& [step, arguments] : steps) step.execute(stream, arguments);
    stream.wait();
  }

  void run(std::initializer_list<Floats> given, float* out) {
    std::vector<Floats> from = given;
    for (size_t i = 0; i < inputs.size(); ++i) {
      Port& port = inputs[i];
      port.point(from[i]);
      if (port.moved) port.move.execute(stream, port.outer, port.inner);
    }
    output.point(out);
    for (auto& [step, arguments] : steps) step.execute(stream, arguments);
    if (output.moved) output.move.execute(stream, output.inner, output.outer);
    stream.wait();
  }
};

}  // namespace

extern "C" {

int64_t isa_of_onednn() { return int64_t(dnnl::get_effective_cpu_isa()); }

Graph* graph_of_images(int64_t n, int64_t c, int64_t h, int64_t w) {
  auto* graph = new Graph;
  graph->values.emplace_back(plain({n, c, h, w}), graph->engine, nullptr);
  return graph;
}

int64_t graph_convolution(Graph* graph, int64_t of, Floats filter, Floats bias, int64_t out, int64_t k,
                          int64_t stride, int64_t relu, int64_t added) {
  return graph->convolution(of, filter, bias, out, k, stride, relu != 0, added);
}

// x [m, k] by w [k, n], in layouts that oneDNN chooses, or all in row-major order. `turned`: x comes as
// [k, m].
Graph* graph_of_matmul(Floats w, int64_t m, int64_t k, int64_t n, int64_t choose, int64_t turned) {
  auto* graph = new Graph;
  const Memory::desc x = desc({m, k}, turned ? Tag::ba : Tag::ab), by = plain({k, n}), y = plain({m, n});
  const dnnl::matmul::desc wanted(choose ? any({m, k}) : x, choose ? any({k, n}) : by,
                                  choose ? any({m, n}) : y);
  graph->product<dnnl::matmul>({wanted, graph->engine}, x, w, by, y);
  return graph;
}

// The same as an inner product, whose weights are [n, k]: the columns of w.
Graph* graph_of_inner_product(Floats w, int64_t m, int64_t k, int64_t n) {
  auto* graph = new Graph;
  using Inner = dnnl::inner_product_forward;
  const Inner::desc wanted(inference, any({m, k}), any({n, k}), any({m, n}));
  graph->product<Inner>({wanted, graph->engine}, plain({m, k}), w, desc({n, k}, Tag::ba), plain({m, n}));
  return graph;
}

Graph* graph_of_softmax(int64_t m, int64_t n) {
  auto* graph = new Graph;
  const dnnl::softmax_forward::desc wanted(inference, plain({m, n}), 1);
  graph->rows(dnnl::softmax_forward({wanted, graph->engine}), plain({m, n}), {});
  return graph;
}

Graph* graph_of_layer_norm(Floats w, Floats b, int64_t m, int64_t n, float eps) {
  auto* graph = new Graph;
  using Flags = dnnl::normalization_flags;
  const dnnl::layer_normalization_forward::desc wanted(inference, plain({m, n}), eps,
                                                       Flags::use_scale | Flags::use_shift);
  graph->rows(dnnl::layer_normalization_forward({wanted, graph->engine}), plain({m, n}),
              {{DNNL_ARG_SCALE, graph->stored(w, plain({n}), plain({n}))},
               {DNNL_ARG_SHIFT, graph->stored(b, plain({n}), plain({n}))}});
  return graph;
}

int64_t graph_reorders(const Graph* graph) {
  return graph->output.moved ||
         std::any_of(graph->inputs.begin(), graph->inputs.end(), [](const Port& port) { return port.moved; });
}

// `w` is null where the graph has all but x.
void graph_run(Graph* graph, Floats x, Floats w, float* out) { graph->run({x, w}, out); }

void graph_bare(Graph* graph) { graph->bare(); }

}  // extern "C"
