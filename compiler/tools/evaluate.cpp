// See evaluate.h.
#include "tools/evaluate.h"

#include <axon/axon.h>
#include <fmt/format.h>

#include <cmath>
#include <cstring>

#include "base/bug.h"
#include "host/debug_print.h"
#include "host/weights/elements.h"
#include "tools/arguments.h"

namespace axon::tools {

using base::Elem;
using graph::Tensor;

namespace {

/// The tensor in memory.
Array array_of(const Tensor& t) {
  Array array;
  array.elem = static_cast<axon_elem>(t.elem);
  array.shape = t.shape;
  const size_t count = static_cast<size_t>(t.count()), bytes = axon_elem_bytes(array.elem);
  array.bytes.resize(count * bytes);
  for (size_t i = 0; i < count; ++i) {
    uint8_t* at = array.bytes.data() + i * bytes;
    if (base::is_float(t.elem))
      weights::store_float(t.elem, t.floats[i], at);
    else
      std::memcpy(at, &t.integers[i], bytes);  // little-endian: the low bytes come first
  }
  return array;
}

Tensor tensor_of(const axon_view& view) {
  Tensor t;
  t.elem = static_cast<Elem>(view.elem);
  t.shape.assign(view.shape, view.shape + view.rank);
  const size_t count = static_cast<size_t>(t.count()), bytes = axon_elem_bytes(view.elem);
  const bool is_signed = base::is_signed(t.elem);
  for (size_t i = 0; i < count; ++i) {
    const uint8_t* at = static_cast<const uint8_t*>(view.data) + i * bytes;
    if (base::is_float(t.elem)) {
      t.floats.push_back(weights::load_float(t.elem, at));
      continue;
    }
    int64_t value = is_signed && (at[bytes - 1] & 0x80) ? -1 : 0;
    std::memcpy(&value, at, bytes);
    t.integers.push_back(value);
  }
  return t;
}

void name_results(const graph::Graph& graph, Values& values) {
  for (const graph::Result& result : graph.results)
    values.names.push_back(result.path.empty() ? "result" : result.path);
}

/// Half the distance from 1 to the next number.
double unit_roundoff(Elem e) { return std::ldexp(0.5, -base::float_format(e).fraction_bits); }

bool same(double a, double b, double unit) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  if (std::isinf(a) || std::isinf(b)) return a == b;
  return std::fabs(a - b) <= 64 * unit * (1 + std::fabs(b));
}

}  // namespace

Values interpret(const graph::Graph& graph) {
  Values values;
  graph::Outcome outcome = graph::interpret(graph, {}, {}, graph::Precision::storage);
  for (const auto& [name, value] : outcome.shown)
    values.shown.push_back(host::debug_text(name, array_of(value).view()));
  values.error = std::move(outcome.error);
  if (!values.error.empty() && !outcome.gave_up) values.code = source::code_name(source::Code::E0831);
  if (values.error.empty()) values.tensors = std::move(outcome.results);
  for (const Tensor& t : values.tensors)
    if (t.floats.size() + t.integers.size() != static_cast<size_t>(t.count()))
      base::bug("interpret", "a result has another number of elements than its shape");
  name_results(graph, values);
  return values;
}

struct Native::Handles {
  axon_error* error = axon_error_create();
  axon_bundle* bundle = nullptr;
  axon_runtime* runtime = nullptr;
};

Native::Native(const std::string& bundle) : handles_(new Handles) {
  if (axon_open_memory(bundle.data(), bundle.size(), &handles_->bundle, handles_->error) == AXON_OK)
    axon_runtime_create(1, &handles_->runtime, handles_->error);
}

Native::~Native() {
  axon_runtime_destroy(handles_->runtime);
  axon_bundle_destroy(handles_->bundle);
  axon_error_destroy(handles_->error);
  delete handles_;
}

Values Native::run(const graph::Graph& graph) const {
  Values values;
  name_results(graph, values);
  const auto failed = [&](axon_status status) {
    if (status == AXON_OK) return false;
    values.error = axon_error_text(handles_->error);
    values.code = axon_error_code(handles_->error);
    return true;
  };
  if (!handles_->runtime) {
    values.error = axon_error_text(handles_->error);
    values.code = axon_error_code(handles_->error);
    return values;
  }
  axon_call* call = nullptr;
  if (!failed(axon_call_create(handles_->bundle, graph.name.c_str(), nullptr, handles_->runtime, &call,
                               handles_->error)) &&
      !failed(axon_call_run(call, handles_->error)))
    for (size_t r = 0; r < graph.results.size(); ++r) {
      axon_view view{};
      if (failed(axon_call_result(call, r, &view, handles_->error))) break;
      values.tensors.push_back(tensor_of(view));
    }
  axon_call_destroy(call);
  return values;
}

std::string text_of(const Values& values, bool headers) {
  std::string text;
  for (size_t r = 0; r < values.tensors.size(); ++r) {
    Array array = array_of(values.tensors[r]);
    if (!text.empty()) text += '\n';
    if (headers) {
      std::string shape;
      for (int64_t extent : array.shape) shape += (shape.empty() ? "" : ", ") + std::to_string(extent);
      text += fmt::format("{} : {}{} =\n", values.names[r], axon_elem_name(array.elem),
                          array.shape.empty() ? "" : "[" + shape + "]");
    }
    text += format_array(array.view());
  }
  return text;
}

std::string difference(const Values& native, const Values& meaning) {
  if (native.code != meaning.code) {
    if (native.code.empty()) return "it gives a value, the interpreter an error";
    return fmt::format("error[{}]: {}", native.code, native.error);
  }
  if (!meaning.error.empty()) return "";
  if (native.tensors.size() != meaning.tensors.size()) return "the number of results differs";
  for (size_t r = 0; r < meaning.tensors.size(); ++r) {
    const Tensor &got = native.tensors[r], &want = meaning.tensors[r];
    bool agree = got.elem == want.elem && got.shape == want.shape && got.integers == want.integers;
    for (size_t i = 0; agree && i < want.floats.size(); ++i)
      agree = same(got.floats[i], want.floats[i], unit_roundoff(want.elem));
    if (!agree) return fmt::format("result {} differs", r);
  }
  return "";
}

}  // namespace axon::tools
