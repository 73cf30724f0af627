// Bundles, weights and workers as capsules, and what makes them. The interpreter's lock is released while the
// library reads files, copies weights or measures the machine.
#include "native.h"
#include "tensor.h"

namespace axon::python {

Known known;

PyObject* configure(PyObject*, PyObject* arguments, PyObject* named) {
  static const char* const names[] = {"error",  "array", "empty",     "asarray", "floating", "integer",
                                      "dtypes", "bits",  "make_bits", "state",   "copied",   nullptr};
  Known given;
  if (!PyArg_ParseTupleAndKeywords(arguments, named, "OOOOOOO!OOOO", const_cast<char**>(names), &given.error,
                                   &given.array, &given.empty, &given.asarray, &given.floating,
                                   &given.integer, &PyTuple_Type, &given.dtypes, &given.bits,
                                   &given.make_bits, &given.state, &given.copied))
    return nullptr;
  PyObject** const fields[] = {&given.error,    &given.array,   &given.empty, &given.asarray,
                               &given.floating, &given.integer, &given.bits,  &given.make_bits,
                               &given.state,    &given.copied,  &given.dtypes};
  for (PyObject** field : fields) Py_INCREF(*field);  // for as long as the process lives
  known = given;
  Py_RETURN_NONE;
}

bool is_bits(axon_elem elem) { return elem == AXON_BF16 || elem == AXON_F8E4M3 || elem == AXON_F8E5M2; }

bool is_float(axon_elem elem) {
  const char* const name = axon_elem_name(elem);
  return name[0] == 'f' || (name[0] == 'b' && name[1] == 'f');
}

PyObject* text_of(const char* text) {
  Py_ssize_t size = 0;
  while (text[size]) ++size;
  return PyUnicode_DecodeUTF8(text, size, "backslashreplace");
}

PyObject* raise_error(const axon_error* error) {
  const Ref text(text_of(axon_error_text(error)));
  const Ref code(text_of(axon_error_code(error)));
  if (!text || !code) return nullptr;
  const Ref raised(PyObject_CallFunctionObjArgs(known.error, text.get(), code.get(), nullptr));
  if (raised) PyErr_SetObject(known.error, raised.get());
  return nullptr;
}

PyObject* Problem::raise() const { return error_ ? raise_error(error_) : PyErr_NoMemory(); }

namespace {

void destroy_bundle(PyObject* capsule) { axon_bundle_destroy(handle_in<axon_bundle>(capsule, bundle_name)); }
void destroy_parameters(PyObject* capsule) {
  axon_parameters_destroy(handle_in<axon_parameters>(capsule, parameters_name));
}
void destroy_runtime(PyObject* capsule) {
  axon_runtime_destroy(handle_in<axon_runtime>(capsule, runtime_name));
}

/// Memory for `count` values, freed with this.
template <class Value>
class Room {
 public:
  explicit Room(Py_ssize_t count)
      : values_(static_cast<Value*>(PyMem_Calloc(static_cast<size_t>(count) + 1, sizeof(Value)))) {
    if (!values_) PyErr_NoMemory();
  }
  Room(const Room&) = delete;
  Room& operator=(const Room&) = delete;
  ~Room() { PyMem_Free(values_); }
  Value* get() const { return values_; }
  Value& operator[](Py_ssize_t index) { return values_[index]; }
  explicit operator bool() const { return values_ != nullptr; }

 private:
  Value* values_;
};

/// The bytes of a list of bytes objects, in which None is null.
bool strings_of(PyObject* list, Room<const char*>& out) {
  for (Py_ssize_t i = 0; i < PyList_Size(list); ++i) {
    PyObject* const item = PyList_GetItem(list, i);
    out[i] = item == Py_None ? nullptr : PyBytes_AsString(item);
    if (!out[i] && item != Py_None) return false;
  }
  return true;
}

}  // namespace

PyObject* open_path(PyObject*, PyObject* path) {
  const char* const name = PyBytes_AsString(path);
  if (!name) return nullptr;
  const Problem problem;
  axon_bundle* bundle = nullptr;
  axon_status status;
  Py_BEGIN_ALLOW_THREADS;
  status = axon_open(name, &bundle, problem.get());
  Py_END_ALLOW_THREADS;
  if (status != AXON_OK) return problem.raise();
  return PyCapsule_New(bundle, bundle_name, destroy_bundle);
}

PyObject* open_bytes(PyObject*, PyObject* bytes) {
  char* data = nullptr;
  Py_ssize_t size = 0;
  if (PyBytes_AsStringAndSize(bytes, &data, &size) < 0) return nullptr;
  const Problem problem;
  axon_bundle* bundle = nullptr;
  axon_status status;
  Py_BEGIN_ALLOW_THREADS;
  status = axon_open_memory(data, static_cast<size_t>(size), &bundle, problem.get());
  Py_END_ALLOW_THREADS;
  if (status != AXON_OK) return problem.raise();
  return PyCapsule_New(bundle, bundle_name, destroy_bundle);
}

PyObject* create_runtime(PyObject*, PyObject* count) {
  const unsigned long workers = PyLong_AsUnsignedLong(count);
  if (PyErr_Occurred()) return nullptr;
  const Problem problem;
  axon_runtime* runtime = nullptr;
  axon_status status;
  Py_BEGIN_ALLOW_THREADS;
  status = axon_runtime_create(static_cast<uint32_t>(workers), &runtime, problem.get());
  Py_END_ALLOW_THREADS;
  if (status != AXON_OK) return problem.raise();
  return PyCapsule_New(runtime, runtime_name, destroy_runtime);
}

/// (bundle, names or None, paths, map or None): the weights of files, each those of the parameter of its
/// name.
PyObject* bind_files(PyObject*, PyObject* arguments) {
  PyObject *capsule = nullptr, *names = nullptr, *paths = nullptr;
  const char* map = nullptr;
  if (!PyArg_ParseTuple(arguments, "OO!O!z", &capsule, &PyList_Type, &names, &PyList_Type, &paths, &map))
    return nullptr;
  auto* const bundle = handle_in<axon_bundle>(capsule, bundle_name);
  if (!bundle) return nullptr;
  const Py_ssize_t count = PyList_Size(paths);
  Room<const char*> parameters(count), files(count);
  if (!parameters || !files || !strings_of(names, parameters) || !strings_of(paths, files)) return nullptr;
  const Problem problem;
  axon_parameters* bound = nullptr;
  axon_status status;
  Py_BEGIN_ALLOW_THREADS;
  status = axon_bind_each(bundle, parameters.get(), files.get(), static_cast<size_t>(count), map, &bound,
                          problem.get());
  Py_END_ALLOW_THREADS;
  if (status != AXON_OK) return problem.raise();
  return PyCapsule_New(bound, parameters_name, destroy_parameters);
}

/// (bundle, names, dense arrays, map or None)
PyObject* bind_arrays(PyObject*, PyObject* arguments) {
  PyObject *capsule = nullptr, *list = nullptr, *arrays = nullptr;
  const char* map = nullptr;
  if (!PyArg_ParseTuple(arguments, "OO!O!z", &capsule, &PyList_Type, &list, &PyList_Type, &arrays, &map))
    return nullptr;
  auto* const bundle = handle_in<axon_bundle>(capsule, bundle_name);
  if (!bundle) return nullptr;
  const Py_ssize_t count = PyList_Size(arrays);
  Room<const char*> names(count);
  Room<axon_view> views(count);
  Room<Lent> lent(count);
  if (!names || !views || !lent || !strings_of(list, names)) return nullptr;
  bool all = true;
  for (Py_ssize_t i = 0; i < count && all; ++i) {
    all = lend(PyList_GetItem(arrays, i), false, lent[i]) == Took::yes;
    views[i] = lent[i].view;
  }
  const Problem problem;
  axon_parameters* bound = nullptr;
  axon_status status = AXON_OK;
  if (all) {
    Py_BEGIN_ALLOW_THREADS;
    status = axon_bind_arrays(bundle, names.get(), views.get(), static_cast<size_t>(count), map, &bound,
                              problem.get());
    Py_END_ALLOW_THREADS;
  }
  for (Py_ssize_t i = 0; i < count; ++i) lent[i].close();
  if (!all && !PyErr_Occurred()) PyErr_SetString(PyExc_TypeError, "weights are arrays");
  if (!all) return nullptr;
  if (status != AXON_OK) return problem.raise();
  return PyCapsule_New(bound, parameters_name, destroy_parameters);
}

/// (parameters, name): a string of the weight files' metadata, or None.
PyObject* metadata(PyObject*, PyObject* arguments) {
  PyObject* capsule = nullptr;
  const char* name = nullptr;
  if (!PyArg_ParseTuple(arguments, "Os", &capsule, &name)) return nullptr;
  const auto* const parameters = handle_in<axon_parameters>(capsule, parameters_name);
  if (!parameters) return nullptr;
  const char* const value = axon_parameters_metadata(parameters, name);
  return value ? text_of(value) : new_ref(Py_None);
}

}  // namespace axon::python
