// Arguments to parameters, and parameters to leaves (caller.h).
#include "caller.h"

namespace axon::python {

bool Arguments::begin(const Caller& caller) {
  values = some_values;
  parameters = some_parameters;
  const auto leaves = static_cast<size_t>(caller.leaf_count);
  const auto count = static_cast<size_t>(caller.parameter_count);
  if (caller.leaf_count > few) values = static_cast<Value*>(PyMem_Calloc(leaves, sizeof(Value)));
  if (caller.parameter_count > few)
    parameters = static_cast<PyObject**>(PyMem_Calloc(count, sizeof(PyObject*)));
  if (!values || !parameters) PyErr_NoMemory();
  for (Py_ssize_t i = 0; values == some_values && i < caller.leaf_count; ++i) {
    values[i].kind = Value::Kind::missing;
    values[i].given = nullptr;
    values[i].lent.open = false;
  }
  for (Py_ssize_t i = 0; parameters == some_parameters && i < caller.parameter_count; ++i)
    parameters[i] = nullptr;
  kept = sizes = nullptr;
  return values && parameters;
}

void Arguments::end(const Caller& caller) {
  for (Py_ssize_t i = 0; values && i < caller.leaf_count; ++i) {
    values[i].lent.close();
    Py_XDECREF(values[i].given);
  }
  if (values != some_values) PyMem_Free(values);
  if (parameters != some_parameters) PyMem_Free(parameters);
  Py_XDECREF(kept);
}

PyObject* Arguments::keep(PyObject* owned) {
  if (!owned) return nullptr;
  const Ref object(owned);
  if (!kept && !(kept = PyList_New(0))) return nullptr;
  return PyList_Append(kept, owned) == 0 ? owned : nullptr;
}

namespace {

/// Raises what is wrong with the arguments, which the Python part finds out again at leisure; false.
bool refuse(PyObject* self, PyObject* positional, PyObject* named) {
  const Ref none(named ? nullptr : PyDict_New());
  const Ref method(PyObject_GetAttrString(self, "_refuse"));
  if (!method) return false;
  const Ref result(
      PyObject_CallFunctionObjArgs(method.get(), positional, named ? named : none.get(), nullptr));
  if (result) PyErr_SetString(PyExc_SystemError, "arguments that are in order were refused");
  return false;
}

class Matcher {
 public:
  Matcher(PyObject* self, Arguments& arguments) : self_(self), arguments_(arguments) {}

  /// False without an exception: refuse() is to say why.
  bool take(PyObject* form, PyObject* value, Py_ssize_t parameter) {
    if (PyLong_CheckExact(form)) return take_leaf(self_, PyLong_AsSsize_t(form), value, arguments_);
    if (reinterpret_cast<PyObject*>(Py_TYPE(value)) == known.state) {
      value = arguments_.keep(PyObject_GetAttrString(value, "value"));
      if (!value) return false;
    }
    if (PyDict_CheckExact(form) ? !PyDict_CheckExact(value) : !PyTuple_CheckExact(value)) {
      value = arguments_.keep(PyObject_CallMethod(self_, "_parts", "nOO", parameter, form, value));
      if (!value) return false;
    }
    return PyDict_CheckExact(form) ? take_record(form, value, parameter) : take_tuple(form, value, parameter);
  }

 private:
  bool take_record(PyObject* form, PyObject* value, Py_ssize_t parameter) {
    PyObject *field = nullptr, *part = nullptr;
    Py_ssize_t found = 0;
    for (Py_ssize_t at = 0; PyDict_Next(form, &at, &field, &part);) {
      // What is made of a part may take the others out of the dict.
      const Ref item(new_ref(PyDict_GetItemWithError(value, field)));
      if (!item && PyErr_Occurred()) return false;
      if (!item) continue;  // the library says what is not set
      ++found;
      if (!take(part, item.get(), parameter)) return false;
    }
    return found == PyDict_Size(value);
  }
  bool take_tuple(PyObject* form, PyObject* value, Py_ssize_t parameter) {
    const Py_ssize_t count = PyTuple_Size(value);
    if (count > PyTuple_Size(form)) return false;
    for (Py_ssize_t i = 0; i < count; ++i)
      if (!take(PyTuple_GetItem(form, i), PyTuple_GetItem(value, i), parameter)) return false;
    return true;
  }

  PyObject* self_;
  Arguments& arguments_;
};

/// Fills `parameters`; false, without an exception, where an argument is for none of them.
bool find_parameters(const Caller& caller, PyObject* positional, PyObject* named, Arguments& arguments) {
  const Py_ssize_t count = PyTuple_Size(positional);
  if (count > caller.parameter_count) return false;
  for (Py_ssize_t i = 0; i < count; ++i) arguments.parameters[i] = PyTuple_GetItem(positional, i);
  if (!named) return true;
  PyObject *name = nullptr, *value = nullptr;
  for (Py_ssize_t at = 0; PyDict_Next(named, &at, &name, &value);) {
    PyObject* const number = PyDict_GetItemWithError(caller.names, name);
    if (number) {
      PyObject*& parameter = arguments.parameters[PyLong_AsSsize_t(number)];
      if (parameter) return false;  // given twice
      parameter = value;
    } else if (!PyErr_Occurred() && PyDict_GetItemWithError(caller.sizes, name)) {
      arguments.sizes = named;
    } else {
      return false;
    }
  }
  return true;
}

}  // namespace

bool match(PyObject* self, PyObject* positional, PyObject* named, Arguments& arguments) {
  const Caller& caller = *caller_in(self);
  bool matched = find_parameters(caller, positional, named, arguments);
  Matcher matcher(self, arguments);
  for (Py_ssize_t i = 0; matched && i < caller.parameter_count; ++i)
    if (arguments.parameters[i])
      matched = matcher.take(PyTuple_GetItem(caller.templates, i), arguments.parameters[i], i);
  return matched || (!PyErr_Occurred() && refuse(self, positional, named));
}

}  // namespace axon::python
