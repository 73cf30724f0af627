// The module axon._native: what the package's Python files call, and the base type of axon.Entry.
#include "caller.h"
#include "tensor.h"

namespace axon::python {
namespace {

/// The version of the library that is loaded, which may be a later one than the header's.
PyObject* library_version(PyObject*, PyObject*) {
  axon_version version;
  axon_get_version(&version);
  return PyUnicode_FromFormat("%d.%d.%d", static_cast<int>(version.major), static_cast<int>(version.minor),
                              static_cast<int>(version.patch));
}

PyMethodDef functions[] = {{"configure", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(configure)),
                            METH_VARARGS | METH_KEYWORDS, nullptr},
                           {"open_path", open_path, METH_O, nullptr},
                           {"open_bytes", open_bytes, METH_O, nullptr},
                           {"create_runtime", create_runtime, METH_O, nullptr},
                           {"bind_files", bind_files, METH_VARARGS, nullptr},
                           {"bind_arrays", bind_arrays, METH_VARARGS, nullptr},
                           {"elements", elements, METH_NOARGS, nullptr},
                           {"bundle_words", bundle_words, METH_O, nullptr},
                           {"describe", describe, METH_O, nullptr},
                           {"input_layout", input_layout, METH_VARARGS, nullptr},
                           {"metadata", metadata, METH_VARARGS, nullptr},
                           {"import_dlpack", import_dlpack, METH_O, nullptr},
                           {"export_dlpack", export_dlpack, METH_VARARGS, nullptr},
                           {"library_version", library_version, METH_NOARGS, nullptr},
                           {}};

PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "axon._native", nullptr, -1, functions, nullptr, nullptr, nullptr, nullptr};

/// The version of the header that the extension was compiled with.
bool add_version(PyObject* module) {
  const Ref version(
      PyUnicode_FromFormat("%d.%d.%d", AXON_VERSION_MAJOR, AXON_VERSION_MINOR, AXON_VERSION_PATCH));
  return version && PyModule_AddObjectRef(module, "VERSION", version.get()) == 0;
}

bool add_type(PyObject* module, const char* name, PyObject* type) {
  const Ref owned(type);
  return type && PyModule_AddObjectRef(module, name, type) == 0;
}

}  // namespace
}  // namespace axon::python

PyMODINIT_FUNC PyInit__native() {
  using namespace axon::python;
  Ref module(PyModule_Create(&definition));
  if (!module || !add_version(module.get()) || !add_type(module.get(), "Caller", make_caller_type()) ||
      !add_type(module.get(), "Tensor", make_tensor_type()))
    return nullptr;
  return module.release();
}
