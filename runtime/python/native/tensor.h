// Tensors of Python objects: what the buffer protocol and DLPack say of memory, as views of the C interface.
#pragma once
#include "native.h"

namespace axon::python {

/// Memory that a Python object lends, with all that a call needs to know of it. Nothing in it is set at first
/// but `open`, by whoever makes one: a call has many and uses few.
struct Lent {
  axon_view view;
  const int64_t* byte_strides;   ///< one for each axis
  int64_t steps[AXON_MAX_RANK];  ///< the strides in elements, after steps_are_whole()
  bool writable;
  Py_buffer buffer;  ///< while `open`
  bool open;

  void close();
  bool is_dense() const;
  bool is_aligned() const;
  bool is_empty() const;
  /// Fills `steps`; false, without an exception, where a stride is no multiple of the elements.
  bool steps_are_whole();
};

enum class Took : uint8_t { yes, no, failed };

/// The memory of a NumPy array, of Bits or of a Tensor. `no`, without an exception: it is none of these, or
/// one whose memory cannot be lent as it is (not writable, of another element type), which has to be looked
/// at by the Python part.
Took lend(PyObject* value, bool to_write, Lent& out);

/// A Python type for memory with strides and an element type, which exports the buffer protocol: what came
/// through DLPack, or a result that is about to be copied.
PyObject* make_tensor_type();
bool is_tensor(PyObject* object);
Took lend_tensor(PyObject* tensor, bool to_write, Lent& out);
/// Borrows its memory, and keeps nothing alive. Strides in elements.
PyObject* tensor_of(const axon_view& view, const int64_t* steps);
/// Owns a tensor of the library, also where it fails.
PyObject* tensor_owning(axon_tensor* taken);
/// Owns what a DLPack capsule holds; raises axon.Error where that is no tensor of this machine's memory.
PyObject* import_dlpack(PyObject*, PyObject* capsule);
/// A capsule of an array's memory: (array, element type's number, versioned).
PyObject* export_dlpack(PyObject*, PyObject* arguments);

}  // namespace axon::python
