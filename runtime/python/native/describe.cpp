// What the library says of bundles, entries and element types, as Python's tuples and texts.
#include "native.h"

namespace axon::python {
namespace {

PyObject* texts_of(const char* const* texts, int32_t count) {
  Ref out(PyTuple_New(count));
  for (int32_t i = 0; out && i < count; ++i) {
    PyObject* const text = text_of(texts[i]);
    if (!text) return nullptr;
    PyTuple_SetItem(out.get(), i, text);
  }
  return out.release();
}

PyObject* integers_of(const int64_t* values, int32_t count) {
  Ref out(PyTuple_New(count));
  for (int32_t i = 0; out && i < count; ++i) {
    PyObject* const value = PyLong_FromLongLong(values[i]);
    if (!value) return nullptr;
    PyTuple_SetItem(out.get(), i, value);
  }
  return out.release();
}

using Port = axon_status (*)(const axon_entry*, size_t, axon_port*, axon_error*);
using Strides = axon_status (*)(const axon_entry*, size_t, const char* const**, axon_error*);

/// Tuples (path, kind, number of the element type, shape, state, strides or None).
PyObject* ports_of(const axon_entry* entry, size_t count, Port port_of, Strides strides_of) {
  const Problem problem;
  Ref out(PyList_New(0));
  for (size_t i = 0; out && i < count; ++i) {
    axon_port port;
    const char* const* stated = nullptr;
    if (port_of(entry, i, &port, problem.get()) != AXON_OK ||
        strides_of(entry, i, &stated, problem.get()) != AXON_OK)
      return problem.raise();
    Ref shape(texts_of(port.shape, port.rank));
    Ref strides(stated ? texts_of(stated, port.rank) : new_ref(Py_None));
    Ref path(text_of(port.path));
    if (!shape || !strides || !path) return nullptr;
    const Ref item(Py_BuildValue("(OiiOiO)", path.get(), static_cast<int>(port.kind),
                                 static_cast<int>(port.elem), shape.get(), static_cast<int>(port.state),
                                 strides.get()));
    if (!item || PyList_Append(out.get(), item.get()) < 0) return nullptr;
  }
  return out.release();
}

/// Tuples (name, where it comes from).
PyObject* sizes_of(const axon_entry* entry) {
  const Problem problem;
  Ref out(PyList_New(0));
  for (size_t i = 0; out && i < axon_entry_size_count(entry); ++i) {
    const char* name = nullptr;
    axon_size_from from;
    if (axon_entry_size(entry, i, &name, &from, problem.get()) != AXON_OK) return problem.raise();
    const Ref item(Py_BuildValue("(si)", name, static_cast<int>(from)));
    if (!item || PyList_Append(out.get(), item.get()) < 0) return nullptr;
  }
  return out.release();
}

PyObject* describe_entry(const axon_entry* entry) {
  const Ref name(text_of(axon_entry_name(entry))), doc(text_of(axon_entry_doc(entry)));
  const Ref inputs(
      ports_of(entry, axon_entry_input_count(entry), axon_entry_input, axon_entry_input_strides));
  if (!name || !doc || !inputs) return nullptr;
  const Ref results(
      ports_of(entry, axon_entry_result_count(entry), axon_entry_result, axon_entry_result_strides));
  if (!results) return nullptr;
  const Ref sizes(sizes_of(entry));
  if (!sizes) return nullptr;
  return Py_BuildValue("(OOOOO)", name.get(), doc.get(), inputs.get(), results.get(), sizes.get());
}

}  // namespace

/// Of each entry: (name, documentation, inputs, results, sizes).
PyObject* describe(PyObject*, PyObject* capsule) {
  const auto* const bundle = handle_in<axon_bundle>(capsule, bundle_name);
  if (!bundle) return nullptr;
  Ref out(PyList_New(0));
  for (size_t i = 0; out && i < axon_bundle_entry_count(bundle); ++i) {
    const Ref entry(describe_entry(axon_bundle_entry(bundle, i)));
    if (!entry || PyList_Append(out.get(), entry.get()) < 0) return nullptr;
  }
  return out.release();
}

/// (level, compiler, source)
PyObject* bundle_words(PyObject*, PyObject* capsule) {
  const auto* const bundle = handle_in<axon_bundle>(capsule, bundle_name);
  if (!bundle) return nullptr;
  const Ref level(text_of(axon_bundle_level(bundle))), compiler(text_of(axon_bundle_compiler(bundle)));
  const Ref source(text_of(axon_bundle_source(bundle)));
  if (!level || !compiler || !source) return nullptr;
  return Py_BuildValue("(OOO)", level.get(), compiler.get(), source.get());
}

/// Of each element type, in the order of their numbers: (name, bytes).
PyObject* elements(PyObject*, PyObject*) {
  Ref out(PyList_New(0));
  for (int i = 0; out && axon_elem_name(static_cast<axon_elem>(i)); ++i) {
    const auto elem = static_cast<axon_elem>(i);
    const Ref item(
        Py_BuildValue("(sn)", axon_elem_name(elem), static_cast<Py_ssize_t>(axon_elem_bytes(elem))));
    if (!item || PyList_Append(out.get(), item.get()) < 0) return nullptr;
  }
  return out.release();
}

/// (bundle, parameters or None, name of an entry, number of an input, {size: value}): the shape, and the
/// strides that its layout states, in elements.
PyObject* input_layout(PyObject*, PyObject* arguments) {
  PyObject *capsule = nullptr, *bound = nullptr, *sizes = nullptr;
  const char* name = nullptr;
  Py_ssize_t input = 0;
  if (!PyArg_ParseTuple(arguments, "OOsnO!", &capsule, &bound, &name, &input, &PyDict_Type, &sizes))
    return nullptr;
  const auto* const bundle = handle_in<axon_bundle>(capsule, bundle_name);
  if (!bundle) return nullptr;
  const axon_parameters* parameters = nullptr;
  if (bound != Py_None && !(parameters = handle_in<axon_parameters>(bound, parameters_name))) return nullptr;
  constexpr size_t most = 64;  // sizes of an entry
  const char* names[most];
  int64_t values[most];
  size_t count = 0;
  PyObject *key = nullptr, *value = nullptr;
  for (Py_ssize_t at = 0; count < most && PyDict_Next(sizes, &at, &key, &value); ++count) {
    names[count] = PyUnicode_AsUTF8AndSize(key, nullptr);
    values[count] = PyLong_AsLongLong(value);
    if (PyErr_Occurred()) return nullptr;
  }
  const Problem problem;
  const axon_entry* const entry = axon_bundle_find(bundle, name);
  int64_t shape[AXON_MAX_RANK], strides[AXON_MAX_RANK];
  axon_port port;
  if (axon_entry_input(entry, static_cast<size_t>(input), &port, problem.get()) != AXON_OK ||
      axon_entry_input_layout(entry, static_cast<size_t>(input), parameters, names, values, count, shape,
                              strides, problem.get()) != AXON_OK)
    return problem.raise();
  const Ref extents(integers_of(shape, port.rank)), steps(integers_of(strides, port.rank));
  return extents && steps ? PyTuple_Pack(2, extents.get(), steps.get()) : nullptr;
}

}  // namespace axon::python
