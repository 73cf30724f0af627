// The type Caller (caller.h): how it is made, called and let go.
#include "caller.h"

namespace axon::python {
namespace {

/// Tuples (library's number, element type, rank, is a state, is placed, state's leaf or -1).
bool read_leaves(PyObject* list, Leaf*& out, Py_ssize_t& count) {
  count = PyList_Size(list);
  out = static_cast<Leaf*>(PyMem_Calloc(static_cast<size_t>(count) + 1, sizeof(Leaf)));
  if (!out) PyErr_NoMemory();
  for (Py_ssize_t i = 0; out && i < count; ++i) {
    Py_ssize_t input = 0;
    int elem = 0, rank = 0, is_state = 0, placed = 0, state = -1;
    if (!PyArg_ParseTuple(PyList_GetItem(list, i), "niippi", &input, &elem, &rank, &is_state, &placed,
                          &state))
      return false;
    out[i] = {
        static_cast<size_t>(input), static_cast<axon_elem>(elem), rank, is_state != 0, placed != 0, state};
  }
  return out != nullptr;
}

void free_slot(Slot* slot) {
  axon_call_destroy(slot->call);
  axon_error_destroy(slot->error);
  PyMem_Free(slot);
}

/// Caller(bundle, parameters, runtime, entry, names, templates, sizes, result, leaves, results)
int init(PyObject* self, PyObject* arguments, PyObject*) {
  Caller& caller = *caller_in(self);
  if (caller.entry) {
    PyErr_SetString(PyExc_TypeError, "an entry is made once");
    return -1;
  }
  PyObject *bundle, *parameters, *runtime, *entry, *names, *templates, *sizes, *result, *leaves, *results;
  if (!PyArg_ParseTuple(arguments, "OOOO!O!O!O!OO!O!", &bundle, &parameters, &runtime, &PyBytes_Type, &entry,
                        &PyDict_Type, &names, &PyTuple_Type, &templates, &PyDict_Type, &sizes, &result,
                        &PyList_Type, &leaves, &PyList_Type, &results))
    return -1;
  if (!handle_in<axon_bundle>(bundle, bundle_name) || !handle_in<axon_runtime>(runtime, runtime_name) ||
      (parameters != Py_None && !handle_in<axon_parameters>(parameters, parameters_name)))
    return -1;
  if (!read_leaves(leaves, caller.leaves, caller.leaf_count) ||
      !read_leaves(results, caller.results, caller.result_count))
    return -1;
  caller.bundle = new_ref(bundle);
  caller.parameters = new_ref(parameters);
  caller.runtime = new_ref(runtime);
  caller.names = new_ref(names);
  caller.templates = new_ref(templates);
  caller.sizes = new_ref(sizes);
  caller.result = new_ref(result);
  caller.parameter_count = PyTuple_Size(templates);
  caller.entry = new_ref(entry);
  return 0;
}

void free_caller(PyObject* self) {
  Caller& caller = *caller_in(self);
  while (Slot* const slot = caller.idle) {
    caller.idle = slot->next;
    free_slot(slot);
  }
  PyMem_Free(caller.leaves);
  PyMem_Free(caller.results);
  for (PyObject* object : {caller.bundle, caller.parameters, caller.runtime, caller.entry, caller.names,
                           caller.templates, caller.sizes, caller.result})
    Py_XDECREF(object);
  PyTypeObject* const type = Py_TYPE(self);
  reinterpret_cast<freefunc>(PyType_GetSlot(type, Py_tp_free))(self);
  Py_DECREF(type);
}

Slot* new_slot(const Caller& caller) {
  const Problem problem;
  auto* const parameters =
      caller.parameters == Py_None ? nullptr : handle_in<axon_parameters>(caller.parameters, parameters_name);
  axon_call* call = nullptr;
  if (axon_call_create(handle_in<axon_bundle>(caller.bundle, bundle_name), PyBytes_AsString(caller.entry),
                       parameters, handle_in<axon_runtime>(caller.runtime, runtime_name), &call,
                       problem.get()) != AXON_OK) {
    problem.raise();
    return nullptr;
  }
  auto* const slot = static_cast<Slot*>(PyMem_Calloc(1, sizeof(Slot)));
  axon_error* const error = slot ? axon_error_create() : nullptr;
  if (!error) {
    axon_call_destroy(call);
    PyMem_Free(slot);
    PyErr_NoMemory();
    return nullptr;
  }
  *slot = {call, error, nullptr};
  return slot;
}

/// One that no thread uses, which is this thread's until it is given back.
Slot* borrow(Caller& caller) {
  Slot* const slot = caller.idle;
  if (!slot) return new_slot(caller);
  caller.idle = slot->next;
  return slot;
}

/// Nothing that was set outlives the call: the library only borrows it.
void give_back(Caller& caller, Slot* slot) {
  if (axon_call_clear(slot->call, slot->error) != AXON_OK) return free_slot(slot);
  slot->next = caller.idle;
  caller.idle = slot;
}

PyObject* run(PyObject* self, Arguments& arguments) {
  Caller& caller = *caller_in(self);
  Slot* const slot = borrow(caller);
  if (!slot) return nullptr;
  PyObject* out = nullptr;
  if (set_leaves(self, *slot, arguments)) {
    axon_status status;
    Py_BEGIN_ALLOW_THREADS;
    status = axon_call_run(slot->call, slot->error);
    Py_END_ALLOW_THREADS;
    out = status == AXON_OK ? results_of(self, *slot, arguments) : raise_error(slot->error);
  }
  give_back(caller, slot);
  return out;
}

PyObject* call(PyObject* self, PyObject* positional, PyObject* named) {
  if (!caller_in(self)->entry) {
    PyErr_SetString(PyExc_TypeError, "an entry that was never made");
    return nullptr;
  }
  Arguments arguments;
  PyObject* out = nullptr;
  if (arguments.begin(*caller_in(self)) && match(self, positional, named, arguments))
    out = run(self, arguments);
  arguments.end(*caller_in(self));
  return out;
}

}  // namespace

PyObject* make_caller_type() {
  static PyType_Slot slots[] = {
      {Py_tp_init, reinterpret_cast<void*>(init)},
      {Py_tp_new, reinterpret_cast<void*>(PyType_GenericNew)},
      {Py_tp_dealloc, reinterpret_cast<void*>(free_caller)},
      {Py_tp_call, reinterpret_cast<void*>(call)},
      {0, nullptr},
  };
  static PyType_Spec spec = {"axon._native.Caller", sizeof(Caller), 0,
                             Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, slots};
  return PyType_FromSpec(&spec);
}

}  // namespace axon::python
