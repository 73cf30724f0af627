// The C interface: bundles and their entries.
#include "host/api.h"
#include "host/for_tools.h"

namespace host = axon::host;
using namespace axon::host::api;
using axon::host::misuse;
using axon::host::Status;
using axon::host::text;

namespace {

axon_status hand_out_port(const std::vector<host::Port>& ports, size_t index, axon_port* out,
                          axon_error* error) {
  if (index >= ports.size()) return fail(error, misuse(text("number ", index, " of only ", ports.size())));
  const host::Port& port = ports[index];
  *out = {port.path.c_str(),      port.kind, port.elem, static_cast<int32_t>(port.shape.size()),
          port.shape_text.data(), port.state};
  return AXON_OK;
}

axon_status hand_out_strides(const std::vector<host::Port>& ports, size_t index, const char* const** out,
                             axon_error* error) {
  if (index >= ports.size()) return fail(error, misuse(text("number ", index, " of only ", ports.size())));
  const host::Port& port = ports[index];
  *out = port.strides.empty() ? nullptr : port.stride_text.data();
  return AXON_OK;
}

}  // namespace

axon_status host::open_entry(const axon_bundle* bundle, const axon_entry* entry, axon_bundle** out,
                             axon_error* error) {
  return guarded(error, [&]() -> Status {
    *out = new axon_bundle{with_entry_alone(*bundle->bundle, entry_of(entry))};
    return std::nullopt;
  });
}

extern "C" {

// ---- bundles ----

axon_status axon_open(const char* path, axon_bundle** out, axon_error* error) {
  if (!path || !out) return fail(error, null_argument());
  return guarded(error, [&] { return hand_out(host::open_bundle(path), out); });
}

axon_status axon_open_memory(const void* bytes, size_t size, axon_bundle** out, axon_error* error) {
  if (!bytes || !out) return fail(error, null_argument());
  return guarded(error, [&] { return hand_out(host::load_bundle(host::Bytes(bytes, size)), out); });
}

void axon_bundle_destroy(axon_bundle* bundle) { delete bundle; }
const char* axon_bundle_level(const axon_bundle* bundle) {
  return bundle && bundle->bundle->image ? bundle->bundle->image->level().c_str() : "";
}
const char* axon_bundle_compiler(const axon_bundle* bundle) {
  return bundle ? bundle->bundle->manifest.compiler.c_str() : "";
}
const char* axon_bundle_source(const axon_bundle* bundle) {
  return bundle ? bundle->bundle->manifest.source.c_str() : "";
}
size_t axon_bundle_entry_count(const axon_bundle* bundle) {
  return bundle ? bundle->bundle->manifest.entries.size() : 0;
}

const axon_entry* axon_bundle_entry(const axon_bundle* bundle, size_t index) {
  return index < axon_bundle_entry_count(bundle) ? handle_of(bundle->bundle->manifest.entries[index])
                                                 : nullptr;
}

const axon_entry* axon_bundle_find(const axon_bundle* bundle, const char* name) {
  const host::Entry* const entry = bundle && name ? bundle->bundle->find(name) : nullptr;
  return entry ? handle_of(*entry) : nullptr;
}

const char* axon_entry_name(const axon_entry* entry) { return entry ? entry_of(entry).name.c_str() : ""; }
const char* axon_entry_doc(const axon_entry* entry) { return entry ? entry_of(entry).doc.c_str() : ""; }
size_t axon_entry_input_count(const axon_entry* entry) { return entry ? entry_of(entry).inputs.size() : 0; }
size_t axon_entry_result_count(const axon_entry* entry) { return entry ? entry_of(entry).results.size() : 0; }
size_t axon_entry_size_count(const axon_entry* entry) { return entry ? entry_of(entry).sizes.size() : 0; }

axon_status axon_entry_input(const axon_entry* entry, size_t index, axon_port* out, axon_error* error) {
  if (!entry || !out) return fail(error, null_argument());
  return hand_out_port(entry_of(entry).inputs, index, out, error);
}

axon_status axon_entry_result(const axon_entry* entry, size_t index, axon_port* out, axon_error* error) {
  if (!entry || !out) return fail(error, null_argument());
  return hand_out_port(entry_of(entry).results, index, out, error);
}

axon_status axon_entry_input_strides(const axon_entry* entry, size_t index, const char* const** strides,
                                     axon_error* error) {
  if (!entry || !strides) return fail(error, null_argument());
  return hand_out_strides(entry_of(entry).inputs, index, strides, error);
}

axon_status axon_entry_result_strides(const axon_entry* entry, size_t index, const char* const** strides,
                                      axon_error* error) {
  if (!entry || !strides) return fail(error, null_argument());
  return hand_out_strides(entry_of(entry).results, index, strides, error);
}

axon_status axon_entry_size(const axon_entry* entry, size_t index, const char** name, axon_size_from* from,
                            axon_error* error) {
  if (!entry) return fail(error, null_argument());
  const auto& sizes = entry_of(entry).sizes;
  if (index >= sizes.size()) return fail(error, misuse(text("number ", index, " of only ", sizes.size())));
  if (name) *name = sizes[index].name.c_str();
  if (from) *from = sizes[index].from;
  return AXON_OK;
}

axon_status axon_entry_input_shape(const axon_entry* entry, size_t input, const char* const* names,
                                   const int64_t* values, size_t count, int64_t* shape, axon_error* error) {
  if (!entry || !shape || (count > 0 && (!names || !values))) return fail(error, null_argument());
  return guarded(error, [&]() -> Status {
    const host::Entry& of = entry_of(entry);
    if (input >= of.inputs.size()) return misuse(text("number ", input, " of only ", of.inputs.size()));
    host::SizeTable sizes(of);
    for (size_t i = 0; i < count; ++i) {
      if (!names[i]) return null_argument();
      for (size_t s = 0; s < of.sizes.size(); ++s)
        if (of.sizes[s].name == names[i]) sizes.set_agreed(s, values[i], "as given");
    }
    const host::Port& port = of.inputs[input];
    for (size_t axis = 0; axis < port.shape.size(); ++axis) {
      if (!sizes.knows(port.shape[axis]))
        return misuse(text(host::axis_text(port, axis), " is ", port.shape_text[axis],
                           ", and not all of its sizes are given"));
      if (auto failure = sizes.extent(port, axis, shape[axis])) return failure;
    }
    return std::nullopt;
  });
}

}  // extern "C"
