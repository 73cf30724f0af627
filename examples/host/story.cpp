// Loading a model and running its entries (story.h).
#include "story.h"

#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>

namespace axon::examples {
namespace {

std::string read_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text(std::istreambuf_iterator<char>(file), {});
  if (!file.is_open() || file.bad()) throw Failure("cannot read the binding map " + path);
  return text;
}

float from_half(uint16_t bits) {
  const float sign = bits & 0x8000 ? -1.0f : 1.0f;
  const int exponent = bits >> 10 & 31, fraction = bits & 1023;
  if (exponent == 31) return fraction ? NAN : sign * INFINITY;
  return exponent == 0 ? sign * std::ldexp(static_cast<float>(fraction), -24)
                       : sign * std::ldexp(static_cast<float>(fraction + 1024), exponent - 25);
}

template <class T>
T element(const axon_view& view, int64_t index) {
  T out;
  std::memcpy(&out, static_cast<const char*>(view.data) + index * static_cast<int64_t>(sizeof out),
              sizeof out);
  return out;
}

float number(const axon_view& view, int64_t index) {
  switch (view.elem) {
    case AXON_F64:
      return static_cast<float>(element<double>(view, index));
    case AXON_F32:
      return element<float>(view, index);
    case AXON_F16:
      return from_half(element<uint16_t>(view, index));
    case AXON_BF16:
      return std::bit_cast<float>(static_cast<uint32_t>(element<uint16_t>(view, index)) << 16);
    default:
      throw Failure(std::string("the logits are ") + axon_elem_name(view.elem) + ", not real numbers");
  }
}

}  // namespace

Model::Model(const ModelFiles& files) {
  axon_bundle* bundle = nullptr;
  check(axon_open(files.bundle.c_str(), &bundle, error_.get()));
  bundle_.reset(bundle);

  axon_parameters* parameters = nullptr;
  const char* const weights[] = {files.weights.c_str()};
  const std::string map = files.map.empty() ? "" : read_text(files.map);
  check(axon_bind(bundle, weights, 1, map.c_str(), &parameters, error_.get()));
  parameters_.reset(parameters);

  axon_runtime* runtime = nullptr;
  check(axon_runtime_create(files.workers, &runtime, error_.get()));
  runtime_.reset(runtime);

  const axon_port keys = port("cache.keys"), values = port("cache.values");
  vocabulary_ = shape_of(port("p.embed")).front();
  positions_ = shape_of(keys).back();
  keys_ = make_state(keys);
  values_ = make_state(values);
  prefill_ = make_call("prefill");
  decode_ = make_call("decode");
}

void Model::check(axon_status status) const {
  if (status != AXON_OK)
    throw Failure(axon_error_text(error_.get()), axon_status_exit_code(status),
                  axon_error_code(error_.get()));
}

axon_port Model::port(const std::string& path) const {
  const axon_entry* const entry = axon_bundle_find(bundle_.get(), "decode");
  for (size_t i = 0; i < axon_entry_input_count(entry); ++i) {
    axon_port out;
    check(axon_entry_input(entry, i, &out, error_.get()));
    if (out.path == path && out.rank > 0) return out;
  }
  throw Failure("the bundle is of another program: it has no entry `decode` with a tensor `" + path + "`");
}

std::vector<int64_t> Model::shape_of(const axon_port& port) const {
  std::vector<int64_t> shape(AXON_MAX_RANK);
  check(axon_parameters_shape(parameters_.get(), "decode", port.path, shape.data(), error_.get()));
  shape.resize(static_cast<size_t>(port.rank));
  return shape;
}

double Model::metadata(const char* name) const {
  const char* const found = axon_parameters_metadata(parameters_.get(), name);
  const std::string text = found ? found : "";
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0' || !std::isfinite(value))
    throw Failure(std::string("the metadata of the weights must say what `") + name + "` is, and says \"" +
                  text + "\"");
  return value;
}

Model::Tensor Model::make_state(const axon_port& port) const {
  axon_tensor* tensor = nullptr;
  check(axon_tensor_create(port.elem, port.rank, shape_of(port).data(), &tensor, error_.get()));
  return Tensor(tensor);
}

Model::Call Model::make_call(const char* entry) const {
  axon_call* handle = nullptr;
  check(axon_call_create(bundle_.get(), entry, parameters_.get(), runtime_.get(), &handle, error_.get()));
  Call call(handle);
  const axon_view keys = axon_tensor_view(keys_.get()), values = axon_tensor_view(values_.get());
  check(axon_call_set(handle, "cache.keys", &keys, error_.get()));
  check(axon_call_set(handle, "cache.values", &values, error_.get()));
  check(axon_call_set_float(handle, "eps", metadata("eps"), error_.get()));
  check(axon_call_set_float(handle, "base", metadata("base"), error_.get()));
  return call;
}

const std::vector<float>& Model::run(axon_call* call) {
  check(axon_call_run(call, error_.get()));
  axon_view view;
  check(axon_call_result(call, 0, &view, error_.get()));
  logits_.resize(static_cast<size_t>(vocabulary_));
  for (int64_t i = 0; i < vocabulary_; ++i) logits_[static_cast<size_t>(i)] = number(view, i);
  return logits_;
}

const std::vector<float>& Model::prefill(const std::vector<int32_t>& tokens) {
  const int64_t shape[] = {static_cast<int64_t>(tokens.size())};
  const axon_view view = {const_cast<int32_t*>(tokens.data()), AXON_I32, 1, shape};
  check(axon_call_set(prefill_.get(), "tokens", &view, error_.get()));
  check(axon_call_set_int(prefill_.get(), "pos", 0, error_.get()));
  return run(prefill_.get());
}

const std::vector<float>& Model::decode(int32_t token, int64_t position) {
  check(axon_call_set_int(decode_.get(), "token", token, error_.get()));
  check(axon_call_set_int(decode_.get(), "pos", position, error_.get()));
  return run(decode_.get());
}

axon_call_statistics Model::statistics() const {
  axon_call_statistics out{};
  check(axon_call_get_statistics(decode_.get(), &out, error_.get()));
  return out;
}

}  // namespace axon::examples
