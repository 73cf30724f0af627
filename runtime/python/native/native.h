// What the files of the Python extension share: Python's limited interface, references, and what was
// configured.
//
// The extension knows the C interface (axon/axon.h) and Python's limited one, so that one file serves every
// CPython from 3.11 on. It is compiled without exceptions: a thread that waits for the interpreter's lock
// while the interpreter ends is unwound through these frames, and must run nothing on its way. Where a
// function returns null or false, a Python exception is set, unless it says otherwise.
#pragma once
#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030B0000
#include <Python.h>

#include <cstdint>
#include <utility>

#include "axon/axon.h"

namespace axon::python {

/// Owns one reference.
class Ref {
 public:
  Ref() = default;
  explicit Ref(PyObject* owned) : object_(owned) {}
  Ref(Ref&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Ref& operator=(Ref&& other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Ref() { Py_XDECREF(object_); }
  PyObject* get() const { return object_; }
  PyObject* release() { return std::exchange(object_, nullptr); }
  explicit operator bool() const { return object_ != nullptr; }

 private:
  PyObject* object_ = nullptr;
};

inline PyObject* new_ref(PyObject* object) {
  Py_XINCREF(object);
  return object;
}

/// What the Python part hands over once, when it is imported.
struct Known {
  PyObject* error = nullptr;     ///< axon.Error(text, code)
  PyObject* array = nullptr;     ///< numpy.ndarray
  PyObject* empty = nullptr;     ///< numpy.empty
  PyObject* asarray = nullptr;   ///< numpy.asarray
  PyObject* floating = nullptr;  ///< numpy.floating
  PyObject* integer = nullptr;   ///< numpy.integer
  PyObject* dtypes = nullptr;  ///< a tuple: NumPy's type of each element type, of its bits where it has none
  PyObject* bits = nullptr;    ///< axon.Bits
  PyObject* make_bits = nullptr;  ///< of an array and the name of an element type
  PyObject* state = nullptr;      ///< axon.State
  PyObject* copied = nullptr;     ///< an array that owns its elements, in their order, of a Tensor
};
extern Known known;
/// Sets `known` from keyword arguments of these names.
PyObject* configure(PyObject*, PyObject* arguments, PyObject* named);

/// NumPy has no such type: arrays of it hold bits.
bool is_bits(axon_elem elem);
bool is_float(axon_elem elem);

/// An axon_error that lives as long as this.
class Problem {
 public:
  Problem() : error_(axon_error_create()) {}
  Problem(const Problem&) = delete;
  Problem& operator=(const Problem&) = delete;
  ~Problem() { axon_error_destroy(error_); }
  axon_error* get() const { return error_; }
  /// Raises what it holds; null, for `return problem.raise();`.
  PyObject* raise() const;

 private:
  axon_error* error_;
};
PyObject* raise_error(const axon_error* error);

/// Text of the library, which is UTF-8 but for what came from hostile files.
PyObject* text_of(const char* text);

// ---- handles: capsules that destroy what they hold ----

constexpr const char* bundle_name = "axon bundle";
constexpr const char* parameters_name = "axon parameters";
constexpr const char* runtime_name = "axon runtime";

template <class Handle>
Handle* handle_in(PyObject* capsule, const char* name) {
  return static_cast<Handle*>(PyCapsule_GetPointer(capsule, name));
}

// handles.cpp, describe.cpp: functions of the module
PyObject* open_path(PyObject*, PyObject* path);
PyObject* open_bytes(PyObject*, PyObject* bytes);
PyObject* create_runtime(PyObject*, PyObject* count);
PyObject* bind_files(PyObject*, PyObject* arguments);
PyObject* bind_arrays(PyObject*, PyObject* arguments);
PyObject* elements(PyObject*, PyObject*);
PyObject* bundle_words(PyObject*, PyObject* bundle);
PyObject* describe(PyObject*, PyObject* bundle);
PyObject* input_layout(PyObject*, PyObject* arguments);
PyObject* metadata(PyObject*, PyObject* arguments);

}  // namespace axon::python
