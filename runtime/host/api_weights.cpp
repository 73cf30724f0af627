// The C interface: weights, and the shapes that follow from them.
#include "host/api.h"

namespace host = axon::host;
namespace weights = axon::weights;
using namespace axon::host::api;
using axon::host::misuse;
using axon::host::printable;
using axon::host::Status;
using axon::host::text;

namespace {

/// Arrays in memory as a weights file.
host::Result<weights::TensorFile> file_of_arrays(const char* const* names, const axon_view* arrays,
                                                 size_t count) {
  weights::TensorFile out;
  for (size_t i = 0; i < count; ++i) {
    const axon_view& array = arrays[i];
    if (!names[i]) return misuse(text("array ", i, " has no name"));
    const std::string which = text("array ", printable(names[i]));
    if (!is_elem(array.elem)) return misuse(text(which, " has no element type"));
    if (array.rank < 0 || array.rank > AXON_MAX_RANK)
      return misuse(text(which, " has ", array.rank, " axes: there are 0 to ", AXON_MAX_RANK));
    if (array.rank && !array.shape) return misuse(text(which, " has no shape"));
    const auto bytes = host::dense_bytes(array);
    if (!bytes)
      return host::bad_weights({weights::code::shape, text(which, ": ", no_shape(array.shape, array.rank))});
    if (!array.data && *bytes > 0) return misuse(text(which, " has no data"));
    weights::Tensor tensor{names[i], elem_of(array.elem),     {array.shape, array.shape + array.rank}, 0,
                           0,        static_cast<uint32_t>(i)};
    const auto* const data = static_cast<const uint8_t*>(array.data);
    out.files.push_back(weights::File::from_memory(names[i], std::vector<uint8_t>(data, data + *bytes)));
    tensor.end = *bytes;
    out.table.tensors.push_back(std::move(tensor));
  }
  auto& tensors = out.table.tensors;
  std::sort(tensors.begin(), tensors.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  for (size_t i = 1; i < tensors.size(); ++i)
    if (tensors[i].name == tensors[i - 1].name)
      return misuse(text("two arrays are named ", printable(tensors[i].name)));
  return out;
}

}  // namespace

extern "C" {

// ---- weights ----

axon_status axon_bind(const axon_bundle* bundle, const char* const* files, size_t file_count, const char* map,
                      axon_parameters** out, axon_error* error) {
  return axon_bind_each(bundle, nullptr, files, file_count, map, out, error);
}

axon_status axon_bind_each(const axon_bundle* bundle, const char* const* parameters, const char* const* files,
                           size_t count, const char* map, axon_parameters** out, axon_error* error) {
  if (!bundle || !out || (count && !files)) return fail(error, null_argument());
  return guarded(error, [&]() -> Status {
    std::vector<host::WeightFile> named;
    for (size_t i = 0; i < count; ++i) {
      if (!files[i]) return null_argument();
      named.push_back({files[i], parameters && parameters[i] ? parameters[i] : ""});
    }
    if (auto failure = host::check_parameters(*bundle->bundle, named)) return failure;
    auto file = host::open_weight_files(named);
    if (!file) return std::move(file.failure());
    return hand_out(host::bind_parameters(bundle->bundle, std::move(*file), map ? map : ""), out);
  });
}

axon_status axon_bind_arrays(const axon_bundle* bundle, const char* const* names, const axon_view* arrays,
                             size_t count, const char* map, axon_parameters** out, axon_error* error) {
  if (!bundle || !out || (count && (!names || !arrays))) return fail(error, null_argument());
  return guarded(error, [&]() -> Status {
    auto file = file_of_arrays(names, arrays, count);
    if (!file) return std::move(file.failure());
    return hand_out(host::bind_parameters(bundle->bundle, std::move(*file), map ? map : ""), out);
  });
}

void axon_parameters_destroy(axon_parameters* parameters) { delete parameters; }
size_t axon_parameters_copied_bytes(const axon_parameters* parameters) {
  return parameters ? parameters->parameters->copied_bytes : 0;
}

const char* axon_parameters_metadata(const axon_parameters* parameters, const char* name) {
  if (!parameters || !name) return nullptr;
  const auto& metadata = parameters->parameters->metadata;
  const auto found = metadata.find(name);
  return found == metadata.end() ? nullptr : found->second.c_str();
}

axon_status axon_parameters_shape(const axon_parameters* parameters, const char* entry, const char* input,
                                  int64_t* shape, axon_error* error) {
  if (!parameters || !entry || !input || !shape) return fail(error, null_argument());
  return guarded(error, [&]() -> Status {
    const host::Entry* const found = parameters->parameters->bundle->find(entry);
    if (!found) return misuse(text("the bundle has no entry ", printable(entry)));
    for (const host::Port& port : found->inputs) {
      if (port.path != input) continue;
      auto extents = host::input_shape(*parameters->parameters, *found, port);
      if (!extents) return std::move(extents.failure());
      std::copy(extents->begin(), extents->end(), shape);
      return std::nullopt;
    }
    return misuse(text(printable(entry), " has no input ", printable(input)));
  });
}

axon_status axon_entry_input_layout(const axon_entry* entry, size_t input, const axon_parameters* parameters,
                                    const char* const* names, const int64_t* values, size_t count,
                                    int64_t* shape, int64_t* strides, axon_error* error) {
  if (!entry || !shape || !strides || (count > 0 && (!names || !values))) return fail(error, null_argument());
  return guarded(error, [&]() -> Status {
    const host::Entry& of = entry_of(entry);
    if (input >= of.inputs.size()) return misuse(text("number ", input, " of only ", of.inputs.size()));
    const host::Parameters* const bound = parameters ? parameters->parameters.get() : nullptr;
    if (bound && bound->bundle->find(of.name) != &of)
      return misuse("the weights were bound to another bundle");
    std::vector<host::GivenSize> given;
    for (size_t i = 0; i < count; ++i) {
      if (!names[i]) return null_argument();
      given.push_back({names[i], values[i]});
    }
    return host::input_layout(of, of.inputs[input], bound, given, shape, strides);
  });
}

}  // extern "C"
