// Memory that Python objects lend (tensor.h): NumPy arrays and Bits through the buffer protocol.
#include "tensor.h"

#include <cstring>

namespace axon::python {

static_assert(sizeof(Py_ssize_t) == sizeof(int64_t), "extents of buffers are handed on as they are");

void Lent::close() {
  if (open) PyBuffer_Release(&buffer);
  open = false;
}

bool Lent::is_dense() const {
  int64_t step = static_cast<int64_t>(axon_elem_bytes(view.elem));
  bool dense = true;
  for (int32_t axis = view.rank; axis-- > 0;) {
    const int64_t extent = view.shape[axis];
    if (extent == 0) return true;
    if (extent > 1 && byte_strides[axis] != step) dense = false;
    if (__builtin_mul_overflow(step, extent, &step)) return true;  // the library says that it is too large
  }
  return dense;
}

bool Lent::is_aligned() const {
  return reinterpret_cast<uintptr_t>(view.data) % axon_elem_bytes(view.elem) == 0;
}

bool Lent::is_empty() const {
  for (int32_t axis = 0; axis < view.rank; ++axis)
    if (view.shape[axis] == 0) return true;
  return false;
}

bool Lent::steps_are_whole() {
  const auto bytes = static_cast<int64_t>(axon_elem_bytes(view.elem));
  for (int32_t axis = 0; axis < view.rank && axis < AXON_MAX_RANK; ++axis) {
    if (view.shape[axis] > 1 && byte_strides[axis] % bytes != 0) return false;
    steps[axis] = byte_strides[axis] / bytes;
  }
  return true;
}

namespace {

/// The element type of a buffer's format, which is that of Python's module struct; -1: none.
int elem_of_format(const char* format, Py_ssize_t bytes) {
  if (!format || !format[0] || format[1]) return -1;
  switch (format[0]) {
    case '?':
      return AXON_BOOL;
    case 'b':
      return AXON_I8;
    case 'B':
      return AXON_U8;
    case 'h':
      return AXON_I16;
    case 'i':
      return AXON_I32;
    case 'I':
      return AXON_U32;
    case 'l':
    case 'q':
      return bytes == 8 ? AXON_I64 : -1;
    case 'e':
      return AXON_F16;
    case 'f':
      return AXON_F32;
    case 'd':
      return AXON_F64;
    default:
      return -1;
  }
}

/// What exports a buffer; `elem` is -1 where its format says what it is.
Took lend_buffer(PyObject* object, bool to_write, int elem, Lent& out) {
  const int flags = PyBUF_STRIDES | PyBUF_FORMAT | (to_write ? PyBUF_WRITABLE : 0);
  if (PyObject_GetBuffer(object, &out.buffer, flags) < 0) {
    PyErr_Clear();  // read-only, or of a type without a format: the Python part says so
    return Took::no;
  }
  out.open = true;
  const Py_buffer& buffer = out.buffer;
  if (elem < 0) elem = elem_of_format(buffer.format, buffer.itemsize);
  if (elem < 0 || static_cast<size_t>(buffer.itemsize) != axon_elem_bytes(static_cast<axon_elem>(elem))) {
    out.close();
    return Took::no;
  }
  out.view = {buffer.buf, static_cast<axon_elem>(elem), buffer.ndim,
              reinterpret_cast<const int64_t*>(buffer.shape)};
  out.byte_strides = reinterpret_cast<const int64_t*>(buffer.strides);
  out.writable = !buffer.readonly;
  return Took::yes;
}

/// The number of the element type whose name it is; -1: none.
int elem_named(PyObject* name) {
  if (!PyUnicode_Check(name)) return -1;
  for (int elem = 0; const char* known_name = axon_elem_name(static_cast<axon_elem>(elem)); ++elem)
    if (PyUnicode_CompareWithASCIIString(name, known_name) == 0) return elem;
  return -1;
}

/// The array that Bits hold their bits in.
Took lend_bits(PyObject* bits, bool to_write, Lent& out) {
  const Ref array(PyObject_GetAttrString(bits, "array"));
  const Ref name(array ? PyObject_GetAttrString(bits, "elem") : nullptr);
  if (!name) return Took::failed;
  const int elem = elem_named(name.get());
  if (elem < 0 || reinterpret_cast<PyObject*>(Py_TYPE(array.get())) != known.array) return Took::no;
  return lend_buffer(array.get(), to_write, elem, out);  // the buffer keeps the array
}

}  // namespace

Took lend(PyObject* value, bool to_write, Lent& out) {
  auto* const type = reinterpret_cast<PyObject*>(Py_TYPE(value));
  if (type == known.array) return lend_buffer(value, to_write, -1, out);
  if (type == known.bits) return lend_bits(value, to_write, out);
  if (is_tensor(value)) return lend_tensor(value, to_write, out);
  return Took::no;
}

}  // namespace axon::python
