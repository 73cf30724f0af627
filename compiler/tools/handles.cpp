// See handles.h.
#include "tools/handles.h"

namespace axon::tools {

source::Diagnostic diagnostic_of(const Problem& problem) {
  const auto code = source::code_from_name(problem.code);
  return source::error(code.value_or(source::Code::E0801), {}, problem.text);
}

void must(axon_status status, const axon_error* error) {
  if (status != AXON_OK)
    throw Problem{axon_error_code(error), axon_error_text(error), axon_status_exit_code(status)};
}

Runtime runtime_of(uint32_t workers) {
  const Error error(axon_error_create());
  axon_runtime* runtime = nullptr;
  must(axon_runtime_create(workers, &runtime, error.get()), error.get());
  return Runtime(runtime);
}

}  // namespace axon::tools
