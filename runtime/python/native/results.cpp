// Results of a run to Python's objects (caller.h): new arrays, numbers of NumPy, Bits; states as they were
// given.
#include <cstring>

#include "caller.h"

namespace axon::python {
namespace {

/// Bytes from which on an array gets the memory that they are in: from about here on that takes less than a
/// copy.
constexpr size_t large = size_t{32} << 10;

size_t bytes_of(const axon_view& view) {
  size_t bytes = axon_elem_bytes(view.elem);
  for (int32_t axis = 0; axis < view.rank; ++axis) bytes *= static_cast<size_t>(view.shape[axis]);
  return bytes;
}

/// An array of NumPy over memory that the call has no longer.
PyObject* array_taking(Slot& slot, size_t index) {
  axon_tensor* taken = nullptr;
  if (axon_call_take_result(slot.call, index, &taken, slot.error) != AXON_OK) return raise_error(slot.error);
  const Ref tensor(tensor_owning(taken));
  return tensor ? PyObject_CallFunctionObjArgs(known.asarray, tensor.get(), nullptr) : nullptr;
}

/// A new array of NumPy with a dense result's elements.
PyObject* array_of(const axon_view& view) {
  const Ref shape(PyTuple_New(view.rank));
  if (!shape) return nullptr;
  for (int32_t axis = 0; axis < view.rank; ++axis) {
    PyObject* const extent = PyLong_FromLongLong(view.shape[axis]);
    if (!extent) return nullptr;
    PyTuple_SetItem(shape.get(), axis, extent);
  }
  PyObject* const dtype = PyTuple_GetItem(known.dtypes, view.elem);
  Ref array(PyObject_CallFunctionObjArgs(known.empty, shape.get(), dtype, nullptr));
  Py_buffer buffer;
  if (!array || PyObject_GetBuffer(array.get(), &buffer, PyBUF_WRITABLE) < 0) return nullptr;
  if (buffer.len > 0) std::memcpy(buffer.buf, view.data, static_cast<size_t>(buffer.len));
  PyBuffer_Release(&buffer);
  return array.release();
}

/// The same of one that lies as the program states, which the array then does, too.
PyObject* placed_array_of(const axon_view& view, Slot& slot, size_t index) {
  int64_t steps[AXON_MAX_RANK];
  if (axon_call_result_strides(slot.call, index, steps, slot.error) != AXON_OK)
    return raise_error(slot.error);
  const Ref tensor(tensor_of(view, steps));
  return tensor ? PyObject_CallFunctionObjArgs(known.copied, tensor.get(), nullptr) : nullptr;
}

PyObject* leaf_of(const Caller& caller, size_t index, Slot& slot, const Arguments& arguments) {
  const Leaf& leaf = caller.results[index];
  if (leaf.state >= 0) return new_ref(arguments.values[leaf.state].given);
  axon_view view;
  if (axon_call_result(slot.call, index, &view, slot.error) != AXON_OK) return raise_error(slot.error);
  Ref array(leaf.placed              ? placed_array_of(view, slot, index)
            : bytes_of(view) < large ? array_of(view)
                                     : array_taking(slot, index));
  if (!array) return nullptr;
  if (is_bits(leaf.elem)) {
    const Ref name(text_of(axon_elem_name(leaf.elem)));
    return name ? PyObject_CallFunctionObjArgs(known.make_bits, array.get(), name.get(), nullptr) : nullptr;
  }
  if (leaf.rank > 0) return array.release();
  const Ref here(PyTuple_New(0));
  return here ? PyObject_GetItem(array.get(), here.get()) : nullptr;
}

PyObject* build(const Caller& caller, PyObject* form, Slot& slot, const Arguments& arguments) {
  if (PyLong_CheckExact(form)) {
    const Py_ssize_t number = PyLong_AsSsize_t(form);
    if (number >= 0) return leaf_of(caller, static_cast<size_t>(number), slot, arguments);
    return new_ref(arguments.parameters[-number - 1]);  // a whole parameter, updated in place
  }
  if (PyTuple_CheckExact(form)) {
    Ref out(PyTuple_New(PyTuple_Size(form)));
    for (Py_ssize_t i = 0; out && i < PyTuple_Size(form); ++i) {
      PyObject* const part = build(caller, PyTuple_GetItem(form, i), slot, arguments);
      if (!part) return nullptr;
      PyTuple_SetItem(out.get(), i, part);
    }
    return out.release();
  }
  Ref out(PyDict_New());
  PyObject *field = nullptr, *part_form = nullptr;
  for (Py_ssize_t at = 0; out && PyDict_Next(form, &at, &field, &part_form);) {
    const Ref part(build(caller, part_form, slot, arguments));
    if (!part || PyDict_SetItem(out.get(), field, part.get()) < 0) return nullptr;
  }
  return out.release();
}

}  // namespace

PyObject* results_of(PyObject* self, Slot& slot, const Arguments& arguments) {
  const Caller& caller = *caller_in(self);
  return build(caller, caller.result, slot, arguments);
}

}  // namespace axon::python
