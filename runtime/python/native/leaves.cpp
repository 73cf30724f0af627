// Leaves of arguments: memory or a number of each, and handing them to a call of the C interface (caller.h).
#include "caller.h"

namespace axon::python {
namespace {

bool is_a(PyObject* object, PyObject* type) {
  return PyType_IsSubtype(Py_TYPE(object), reinterpret_cast<PyTypeObject*>(type));
}

/// A number of Python or NumPy that the library may round to the leaf's type; `no`: it is none.
Took take_number(const Leaf& leaf, PyObject* given, Value& value) {
  if (leaf.rank != 0 || leaf.is_state || leaf.elem == AXON_BOOL) return Took::no;
  const bool is_integer = PyLong_CheckExact(given);
  if (PyFloat_CheckExact(given) || (!is_integer && is_a(given, known.floating))) {
    if (!is_float(leaf.elem)) return Took::no;
    value.real = PyFloat_AsDouble(given);
    value.kind = Value::Kind::real;
    return value.real == -1 && PyErr_Occurred() ? Took::failed : Took::yes;
  }
  if (!is_integer && !is_a(given, known.integer)) return Took::no;
  const Ref index(PyNumber_Index(given));
  if (!index) return Took::failed;
  int overflow = 0;
  value.integer = PyLong_AsLongLongAndOverflow(index.get(), &overflow);
  if (overflow != 0) return Took::no;
  if (value.integer == -1 && PyErr_Occurred()) return Took::failed;
  value.kind = Value::Kind::integer;
  return Took::yes;
}

/// Memory that can be handed over as it is.
Took take_memory(const Leaf& leaf, PyObject* given, Value& value) {
  Lent& lent = value.lent;
  if (const Took took = lend(given, leaf.is_state, lent); took != Took::yes) return took;
  alignas(8) static char nothing[8];
  if (lent.is_empty()) lent.view.data = nothing;  // theirs may be anywhere
  const bool fits = leaf.placed ? lent.steps_are_whole() : lent.is_dense() && lent.is_aligned();
  if (!fits) {
    lent.close();
    return Took::no;
  }
  value.kind = Value::Kind::memory;
  return Took::yes;
}

/// What the Python part makes of it; it raises where that is nothing.
bool prepare(PyObject* self, Py_ssize_t number, PyObject* given, Arguments& arguments) {
  const Leaf& leaf = caller_in(self)->leaves[number];
  Value& value = arguments.values[number];
  PyObject* made = arguments.keep(PyObject_CallMethod(self, "_prepare", "nO", number, given));
  if (!made) return false;
  value.brought = PyTuple_CheckExact(made);
  if (value.brought) made = PyTuple_GetItem(made, 0);
  const Took took = made ? take_memory(leaf, made, value) : Took::failed;
  if (took == Took::no) PyErr_SetString(PyExc_SystemError, "an argument was not prepared");
  return took == Took::yes;
}

axon_status set_memory(const Leaf& leaf, Slot& slot, Value& value) {
  const axon_view& view = value.lent.view;
  if (!leaf.placed || view.rank != leaf.rank)  // another rank is refused
    return axon_call_set_at(slot.call, leaf.input, &view, slot.error);
  if (value.brought) return axon_call_set_copy_at(slot.call, leaf.input, &view, nullptr, slot.error);
  return axon_call_set_strided_at(slot.call, leaf.input, &view, value.lent.steps, slot.error);
}

bool set_size(PyObject* self, Slot& slot, PyObject* name, PyObject* text, PyObject* given) {
  const Ref value(PyLong_CheckExact(given) ? new_ref(given)
                                           : PyObject_CallMethod(self, "_size", "OO", name, given));
  if (!value) return false;
  int overflow = 0;
  const int64_t number = PyLong_AsLongLongAndOverflow(value.get(), &overflow);
  if (overflow != 0) {  // raises
    const Ref refused(PyObject_CallMethod(self, "_size", "OO", name, given));
    return false;
  }
  if (axon_call_set_size(slot.call, PyBytes_AsString(text), number, slot.error) == AXON_OK) return true;
  raise_error(slot.error);
  return false;
}

}  // namespace

bool take_leaf(PyObject* self, Py_ssize_t number, PyObject* given, Arguments& arguments) {
  const Leaf& leaf = caller_in(self)->leaves[number];
  Value& value = arguments.values[number];
  value.given = new_ref(given);
  value.brought = false;
  if (reinterpret_cast<PyObject*>(Py_TYPE(given)) == known.state) {
    given = arguments.keep(PyObject_GetAttrString(given, "value"));
    if (!given) return false;
  }
  Took took = take_memory(leaf, given, value);
  if (took == Took::no) took = take_number(leaf, given, value);
  if (took == Took::no) return prepare(self, number, given, arguments);
  return took == Took::yes;
}

bool set_leaves(PyObject* self, Slot& slot, Arguments& arguments) {
  const Caller& caller = *caller_in(self);
  for (Py_ssize_t i = 0; i < caller.leaf_count; ++i) {
    const Leaf& leaf = caller.leaves[i];
    Value& value = arguments.values[i];
    axon_status status = AXON_OK;
    if (value.kind == Value::Kind::integer)
      status = axon_call_set_int_at(slot.call, leaf.input, value.integer, slot.error);
    else if (value.kind == Value::Kind::real)
      status = axon_call_set_float_at(slot.call, leaf.input, value.real, slot.error);
    const bool misfit = status != AXON_OK;  // the Python part rounds it, or says what is wrong
    if (misfit && !prepare(self, i, value.given, arguments)) return false;
    if (value.kind == Value::Kind::memory && set_memory(leaf, slot, value) != AXON_OK) {
      raise_error(slot.error);
      return false;
    }
  }
  PyObject *name = nullptr, *given = nullptr;
  for (Py_ssize_t at = 0; arguments.sizes && PyDict_Next(arguments.sizes, &at, &name, &given);)
    if (PyObject* const text = PyDict_GetItemWithError(caller.sizes, name))
      if (!set_size(self, slot, name, text, given)) return false;
  return true;
}

}  // namespace axon::python
