// The type Tensor (tensor.h), and DLPack in both directions. What comes in is held against its own words
// before anything reads it: other devices, vectors as elements, ranks and types that are not ours are
// refused.
#include "dlpack.h"

#include <cstdio>
#include <cstring>

#include "tensor.h"

namespace axon::python {
namespace {

struct Tensor {
  PyObject_HEAD axon_view view;
  int64_t shape[AXON_MAX_RANK], byte_strides[AXON_MAX_RANK];
  bool writable;
  dlpack::Managed* managed;
  dlpack::Versioned* versioned;
  axon_tensor* taken;
};

PyTypeObject* tensor_type = nullptr;

/// In the order of axon_elem.
constexpr dlpack::Type dlpack_types[] = {
    {dlpack::floating, 64, 1},        {dlpack::floating, 32, 1},        {dlpack::floating, 16, 1},
    {dlpack::bfloat, 16, 1},          {dlpack::float8_e4m3fn, 8, 1},    {dlpack::float8_e5m2, 8, 1},
    {dlpack::signed_integer, 64, 1},  {dlpack::signed_integer, 32, 1},  {dlpack::signed_integer, 16, 1},
    {dlpack::signed_integer, 8, 1},   {dlpack::unsigned_integer, 8, 1}, {dlpack::boolean, 8, 1},
    {dlpack::unsigned_integer, 32, 1}};
constexpr int elem_count = sizeof dlpack_types / sizeof dlpack_types[0];
/// The same as formats of buffers; of what Python lacks, those of its bits.
constexpr const char* formats[elem_count] = {"d", "f", "e", "H", "B", "B", "q", "i", "h", "b", "B", "?", "I"};

Tensor* tensor_in(PyObject* object) { return reinterpret_cast<Tensor*>(object); }

void free_tensor(PyObject* object) {
  Tensor* const tensor = tensor_in(object);
  // A deleter may be of Python, and run while an exception is on its way.
  PyObject *type_raised = nullptr, *raised = nullptr, *trace = nullptr;
  PyErr_Fetch(&type_raised, &raised, &trace);
  if (tensor->managed && tensor->managed->deleter) tensor->managed->deleter(tensor->managed);
  if (tensor->versioned && tensor->versioned->deleter) tensor->versioned->deleter(tensor->versioned);
  PyErr_Restore(type_raised, raised, trace);
  axon_tensor_destroy(tensor->taken);
  PyTypeObject* const type = Py_TYPE(object);
  PyObject_Free(object);
  Py_DECREF(type);
}

int get_buffer(PyObject* object, Py_buffer* out, int flags) {
  Tensor* const tensor = tensor_in(object);
  const axon_view& view = tensor->view;
  if ((flags & PyBUF_WRITABLE) && !tensor->writable) {
    PyErr_SetString(PyExc_BufferError, "the tensor is read-only");
    return -1;
  }
  if ((flags & PyBUF_STRIDES) != PyBUF_STRIDES) {
    PyErr_SetString(PyExc_BufferError, "a tensor's buffer has strides");
    return -1;
  }
  const auto bytes = static_cast<Py_ssize_t>(axon_elem_bytes(view.elem));
  Py_ssize_t length = bytes;
  for (int32_t axis = 0; axis < view.rank; ++axis) length *= static_cast<Py_ssize_t>(tensor->shape[axis]);
  *out = {};
  out->buf = view.data;
  out->obj = new_ref(object);
  out->len = length;
  out->itemsize = bytes;
  out->readonly = !tensor->writable;
  out->ndim = view.rank;
  out->format = (flags & PyBUF_FORMAT) ? const_cast<char*>(formats[view.elem]) : nullptr;
  out->shape = reinterpret_cast<Py_ssize_t*>(tensor->shape);
  out->strides = reinterpret_cast<Py_ssize_t*>(tensor->byte_strides);
  return 0;
}

PyObject* elem_name(PyObject* object, void*) { return text_of(axon_elem_name(tensor_in(object)->view.elem)); }
PyObject* is_writable(PyObject* object, void*) { return PyBool_FromLong(tensor_in(object)->writable); }

Tensor* new_tensor(axon_elem elem, int32_t rank) {
  auto* const tensor = tensor_in(PyType_GenericAlloc(tensor_type, 0));
  if (tensor) tensor->view = {nullptr, elem, rank, tensor->shape};
  return tensor;
}

/// Raises; null.
PyObject* refuse_tensor(const char* text) {
  const Ref error(PyObject_CallFunction(known.error, "ss", text, "E0822"));
  if (error) PyErr_SetObject(known.error, error.get());
  return nullptr;
}

int elem_of_type(dlpack::Type type) {
  for (int elem = 0; elem < elem_count; ++elem)
    if (std::memcmp(&dlpack_types[elem], &type, sizeof type) == 0) return elem;
  return -1;
}

/// A Tensor over what DLPack describes; it owns nothing yet.
PyObject* take(const dlpack::Tensor& from, bool writable) {
  if (from.device_type != dlpack::cpu && from.device_type != dlpack::cuda_host &&
      from.device_type != dlpack::rocm_host)
    return refuse_tensor("the tensor lies on another device: bring it to the CPU first");
  if (from.rank < 0 || from.rank > AXON_MAX_RANK || (from.rank > 0 && !from.shape))
    return refuse_tensor("the DLPack tensor has no shape, or too many axes");
  const int elem = elem_of_type(from.type);
  if (elem < 0) {
    char text[96];
    std::snprintf(text, sizeof text,
                  "DLPack's type of code %d with %d bits and %d lanes is no element type here",
                  from.type.code, from.type.bits, from.type.lanes);
    return refuse_tensor(text);
  }
  Tensor* const tensor = new_tensor(static_cast<axon_elem>(elem), from.rank);
  if (!tensor) return nullptr;
  const Ref owned(reinterpret_cast<PyObject*>(tensor));
  const auto bytes = static_cast<int64_t>(axon_elem_bytes(tensor->view.elem));
  int64_t dense = bytes;
  bool impossible = false, empty = false;
  for (int32_t axis = from.rank; axis-- > 0;) {
    tensor->shape[axis] = from.shape[axis];
    impossible |= from.shape[axis] < 0;
    empty |= from.shape[axis] == 0;
    if (!from.strides)
      tensor->byte_strides[axis] = dense;
    else
      impossible |= __builtin_mul_overflow(from.strides[axis], bytes, &tensor->byte_strides[axis]);
    if (from.shape[axis] > 0) impossible |= __builtin_mul_overflow(dense, from.shape[axis], &dense);
  }
  if (impossible) return refuse_tensor("the DLPack tensor has an impossible shape or impossible strides");
  if (!from.data && !empty) return refuse_tensor("the DLPack tensor has no data");
  tensor->view.data = from.data ? static_cast<char*>(from.data) + from.byte_offset : nullptr;
  tensor->writable = writable;
  return new_ref(owned.get());
}

// ---- out ----

/// What a capsule that was handed out keeps: the array's buffer, and its shape and strides in elements.
template <class Managed>
struct Exported {
  Managed managed;
  Py_buffer buffer;
  int64_t shape[AXON_MAX_RANK], strides[AXON_MAX_RANK];
};

/// Called by whoever took the tensor, from any thread, with or without the interpreter's lock.
template <class Managed>
void release(Managed* managed) {
  auto* const exported = static_cast<Exported<Managed>*>(managed->context);
  const PyGILState_STATE lock = PyGILState_Ensure();
  PyBuffer_Release(&exported->buffer);
  PyMem_Free(exported);
  PyGILState_Release(lock);
}

template <class Managed>
void destroy(PyObject* capsule) {
  const char* const name = PyCapsule_GetName(capsule);
  if (!name || std::strncmp(name, "dltensor", 8) != 0) return;  // somebody took it
  auto* const managed = static_cast<Managed*>(PyCapsule_GetPointer(capsule, name));
  if (managed) managed->deleter(managed);
}

template <class Managed>
PyObject* hand_out(PyObject* array, int elem, const char* name, int flags, Managed** out) {
  auto* const exported = static_cast<Exported<Managed>*>(PyMem_Calloc(1, sizeof(Exported<Managed>)));
  if (!exported) return PyErr_NoMemory();
  Py_buffer& buffer = exported->buffer;
  if (PyObject_GetBuffer(array, &buffer, flags) < 0) {
    PyMem_Free(exported);
    return nullptr;
  }
  if (buffer.ndim > AXON_MAX_RANK || buffer.itemsize != dlpack_types[elem].bits / 8) {
    PyBuffer_Release(&buffer);
    PyMem_Free(exported);
    return refuse_tensor("an array of too many axes, or of another size of elements");
  }
  for (int axis = 0; axis < buffer.ndim; ++axis) {
    exported->shape[axis] = buffer.shape[axis];
    exported->strides[axis] = buffer.strides[axis] / buffer.itemsize;
  }
  exported->managed.context = exported;
  exported->managed.deleter = release<Managed>;
  exported->managed.tensor = {buffer.buf,      dlpack::cpu,       0, buffer.ndim, dlpack_types[elem],
                              exported->shape, exported->strides, 0};
  *out = &exported->managed;
  PyObject* const capsule = PyCapsule_New(&exported->managed, name, destroy<Managed>);
  if (!capsule) release<Managed>(&exported->managed);
  return capsule;
}

}  // namespace

bool is_tensor(PyObject* object) { return Py_TYPE(object) == tensor_type; }

Took lend_tensor(PyObject* object, bool to_write, Lent& out) {
  const Tensor* const tensor = tensor_in(object);
  if (to_write && !tensor->writable) return Took::no;
  out.view = tensor->view;
  out.byte_strides = tensor->byte_strides;
  out.writable = tensor->writable;
  return Took::yes;
}

PyObject* tensor_of(const axon_view& view, const int64_t* steps) {
  Tensor* const tensor = new_tensor(view.elem, view.rank);
  if (!tensor) return nullptr;
  const auto bytes = static_cast<int64_t>(axon_elem_bytes(view.elem));
  for (int32_t axis = 0; axis < view.rank; ++axis) {
    tensor->shape[axis] = view.shape[axis];
    tensor->byte_strides[axis] = steps[axis] * bytes;
  }
  tensor->view.data = view.data;
  return reinterpret_cast<PyObject*>(tensor);
}

PyObject* tensor_owning(axon_tensor* taken) {
  const axon_view view = axon_tensor_view(taken);
  int64_t steps[AXON_MAX_RANK] = {}, step = 1;
  for (int32_t axis = view.rank; axis-- > 0;) {
    steps[axis] = step;
    step *= view.shape[axis];
  }
  PyObject* const object = tensor_of(view, steps);
  if (!object) {
    axon_tensor_destroy(taken);
    return nullptr;
  }
  tensor_in(object)->taken = taken;
  tensor_in(object)->writable = true;
  return object;
}

PyObject* make_tensor_type() {
  static PyGetSetDef properties[] = {{"elem", elem_name, nullptr, nullptr, nullptr},
                                     {"writable", is_writable, nullptr, nullptr, nullptr},
                                     {}};
  static PyType_Slot slots[] = {{Py_tp_dealloc, reinterpret_cast<void*>(free_tensor)},
                                {Py_bf_getbuffer, reinterpret_cast<void*>(get_buffer)},
                                {Py_tp_getset, properties},
                                {0, nullptr}};
  static PyType_Spec spec = {"axon._native.Tensor", sizeof(Tensor), 0,
                             Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};
  PyObject* const type = PyType_FromSpec(&spec);
  tensor_type = reinterpret_cast<PyTypeObject*>(type);
  return type;
}

PyObject* import_dlpack(PyObject*, PyObject* capsule) {
  if (PyCapsule_IsValid(capsule, "dltensor")) {
    auto* const managed = static_cast<dlpack::Managed*>(PyCapsule_GetPointer(capsule, "dltensor"));
    PyObject* const tensor = take(managed->tensor, true);
    if (!tensor || PyCapsule_SetName(capsule, "used_dltensor") < 0) return tensor;
    tensor_in(tensor)->managed = managed;
    return tensor;
  }
  if (PyCapsule_IsValid(capsule, "dltensor_versioned")) {
    constexpr const char* name = "dltensor_versioned";
    auto* const versioned = static_cast<dlpack::Versioned*>(PyCapsule_GetPointer(capsule, name));
    if (versioned->major > 1) return refuse_tensor("the tensor speaks a later version of DLPack than 1");
    PyObject* const tensor = take(versioned->tensor, !(versioned->flags & dlpack::read_only));
    if (!tensor || PyCapsule_SetName(capsule, "used_dltensor_versioned") < 0) return tensor;
    tensor_in(tensor)->versioned = versioned;
    return tensor;
  }
  return refuse_tensor("`__dlpack__` gave no DLPack capsule, or one that was used before");
}

PyObject* export_dlpack(PyObject*, PyObject* arguments) {
  PyObject* array = nullptr;
  int elem = 0, versioned = 0;
  if (!PyArg_ParseTuple(arguments, "Oip", &array, &elem, &versioned)) return nullptr;
  if (elem < 0 || elem >= elem_count) return refuse_tensor("no element type");
  if (!versioned) {  // which cannot say that memory is read-only
    dlpack::Managed* managed = nullptr;
    return hand_out(array, elem, "dltensor", PyBUF_STRIDES | PyBUF_WRITABLE, &managed);
  }
  dlpack::Versioned* managed = nullptr;
  PyObject* const capsule = hand_out(array, elem, "dltensor_versioned", PyBUF_STRIDES, &managed);
  if (!capsule) return nullptr;
  managed->major = 1;
  const auto* const exported = static_cast<Exported<dlpack::Versioned>*>(managed->context);
  managed->flags = exported->buffer.readonly ? dlpack::read_only : 0;
  return capsule;
}

}  // namespace axon::python
