// The type Caller: one entry with its weights and workers, which Python calls. axon.Entry derives from it.
//
// A call goes through: arguments to the parameters that they are for (match.cpp), those to leaves, each
// memory or a number (leaves.cpp), a call of the C interface that no other thread uses, the run without the
// interpreter's lock, results to arrays (results.cpp). Whatever is not as expected is looked at by methods of
// the Python part, which either make something that is (`_prepare`, `_parts`) or raise the sentence that says
// why not (`_refuse`). What they call may call the same entry, whose call is then another one.
//
// A template says how a parameter or the results are put together: an integer is a leaf's number, a tuple a
// tuple, a dict a record by its fields.
#pragma once
#include "native.h"
#include "tensor.h"

namespace axon::python {

/// A call of the interface and what it says when it fails; in a list of those that no thread uses.
struct Slot {
  axon_call* call;
  axon_error* error;
  Slot* next;
};

/// An input that is given at each call, or a result.
struct Leaf {
  size_t input;  ///< the library's number
  axon_elem elem;
  int32_t rank;
  bool is_state;
  bool placed;    ///< the program states how it lies
  int32_t state;  ///< results: the leaf that it is, updated in place; else -1
};

struct Caller {
  PyObject_HEAD PyObject *bundle, *parameters, *runtime;  ///< capsules; parameters may be None
  PyObject* entry;                                        ///< its name, as bytes
  PyObject* names;                                        ///< a dict: of each parameter, its number
  PyObject* templates;                                    ///< a tuple, parallel to them
  PyObject* sizes;   ///< a dict: of each size to be given, its name as bytes
  PyObject* result;  ///< the template of the results
  Leaf *leaves, *results;
  Py_ssize_t parameter_count, leaf_count, result_count;
  Slot* idle;
};

inline Caller* caller_in(PyObject* object) { return reinterpret_cast<Caller*>(object); }

/// The value of one leaf in one call.
struct Value {
  enum class Kind : uint8_t { missing, memory, integer, real } kind;
  bool brought;     ///< memory of a new array, to be brought to where the layout says
  PyObject* given;  ///< owned, or null: what the caller gave
  int64_t integer;
  double real;
  Lent lent;
};

/// All that one call is given. Zeroed memory is an empty one.
struct Arguments {
  static constexpr Py_ssize_t few = 12;
  Value* values;          ///< by leaf
  PyObject** parameters;  ///< by parameter: borrowed, what was given
  PyObject* kept;         ///< a list of what was made on the way, or null
  PyObject* sizes;        ///< borrowed: the named arguments, where any of them is a size
  Value some_values[few];
  PyObject* some_parameters[few];

  bool begin(const Caller&);
  void end(const Caller&);
  /// Keeps an object, whose reference it takes, until the end of the call; the object, or null.
  PyObject* keep(PyObject* owned);
};

/// match.cpp: finds the parameter that each argument is for, and takes it apart.
bool match(PyObject* self, PyObject* positional, PyObject* named, Arguments&);
/// leaves.cpp
bool take_leaf(PyObject* self, Py_ssize_t leaf, PyObject* given, Arguments&);
bool set_leaves(PyObject* self, Slot&, Arguments&);
/// results.cpp: what the call returns, of a slot that has run.
PyObject* results_of(PyObject* self, Slot&, const Arguments&);

PyObject* make_caller_type();

}  // namespace axon::python
