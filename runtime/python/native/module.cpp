// The module axon._native: what the package's Python files call, and the base type of axon.Entry.
#include "caller.h"
#include "tensor.h"

namespace axon::python {
namespace {

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
                           {}};

PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "axon._native", nullptr, -1, functions, nullptr, nullptr, nullptr, nullptr};

bool add_type(PyObject* module, const char* name, PyObject* type) {
  const Ref owned(type);
  return type && PyModule_AddObjectRef(module, name, type) == 0;
}

}  // namespace
}  // namespace axon::python

PyMODINIT_FUNC PyInit__native() {
  using namespace axon::python;
  Ref module(PyModule_Create(&definition));
  if (!module || !add_type(module.get(), "Caller", make_caller_type()) ||
      !add_type(module.get(), "Tensor", make_tensor_type()))
    return nullptr;
  return module.release();
}
