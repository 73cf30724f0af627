// etcc run FILE ENTRY NAME=VALUE ...: builds the file for this machine in memory, binds parameters by name,
// runs the entry through the runtime's C interface, and prints the results or writes them with -o.
//
// VALUE: a number, a list [[1, 2], [3, 4]], zeros[2, 3], (v, w) for a tuple parameter, @file.npy, or
// @file.npz and @file.safetensors for a whole record (fields are tensors of the file). NAME may also be a
// size parameter.
#include <axon/axon.h>
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "target/level.h"
#include "tools/arguments.h"
#include "tools/common.h"

namespace axon::tools {

using source::Code;

namespace {

using Arguments = std::vector<std::pair<std::string, std::string>>;  ///< NAME=VALUE each

struct RunOptions {
  CommonOptions common;
  std::string entry, out, map;
  std::vector<std::string> arguments;
  uint32_t workers = 0;
};

/// Owns every runtime handle of one run; `error` holds the reason when a step gives a status. What goes wrong
/// is reported like what the compiler finds, so that all of it is shown in one form.
struct Session {
  source::Diagnostics& diagnostics;
  axon_error* error = axon_error_create();
  axon_bundle* bundle = nullptr;
  axon_parameters* weights = nullptr;
  axon_runtime* runtime = nullptr;
  axon_call* call = nullptr;
  std::map<std::string, Array> arrays;  ///< what the call borrows
  explicit Session(source::Diagnostics& d) : diagnostics(d) {}
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session() {
    axon_call_destroy(call);
    axon_runtime_destroy(runtime);
    axon_parameters_destroy(weights);
    axon_bundle_destroy(bundle);
    axon_error_destroy(error);
  }
  int failed(axon_status status) const {
    const auto code = source::code_from_name(axon_error_code(error));
    diagnostics.report(source::error(code.value_or(source::Code::E0801), {}, axon_error_text(error)));
    return axon_status_exit_code(status);
  }
  int complain(source::Code code, std::string text) const {
    diagnostics.report(source::error(code, {}, std::move(text)));
    return user_error;
  }
};

/// The inputs that a NAME stands for: itself, or the leaves of a record or tuple.
std::vector<axon_port> ports_of(const axon_entry* entry, const std::string& name) {
  std::vector<axon_port> ports;
  for (size_t i = 0; i < axon_entry_input_count(entry); ++i) {
    axon_port port;
    if (axon_entry_input(entry, i, &port, nullptr) != AXON_OK) continue;
    const std::string path = port.path;
    if (path == name || path.starts_with(name + ".")) ports.push_back(port);
  }
  return ports;
}

bool is_size(const axon_entry* entry, const std::string& name) {
  for (size_t i = 0; i < axon_entry_size_count(entry); ++i) {
    const char* size = nullptr;
    axon_size_from from;
    if (axon_entry_size(entry, i, &size, &from, nullptr) == AXON_OK && size == name &&
        from == AXON_FROM_PARAMETER)
      return true;
  }
  return false;
}

/// (a, b) split at its top-level commas; the text itself when it is no tuple.
std::vector<std::string> tuple_items(const std::string& text) {
  if (text.size() < 2 || text.front() != '(' || text.back() != ')') return {text};
  std::vector<std::string> items(1);
  int depth = 0;
  for (char c : text.substr(1, text.size() - 2)) {
    depth += c == '[' || c == '(' ? 1 : c == ']' || c == ')' ? -1 : 0;
    if (c == ',' && depth == 0)
      items.emplace_back();
    else
      items.back() += c;
  }
  return items;
}

int set_port(Session& s, const axon_port& port, const std::string& name, const std::string& value) {
  std::string error;
  std::optional<Array> array;
  if (value.starts_with("@")) {
    const std::string path = port.path;
    const std::string field = path == name ? name : path.substr(name.size() + 1);
    array = read_array(value.substr(1), field, error);
  } else {
    array = parse_array(value, port.elem, error);
  }
  if (!array) return s.complain(Code::E0822, fmt::format("{}: {}", port.path, error));
  Array& kept = s.arrays[port.path] = std::move(*array);
  const axon_view view = kept.view();
  const axon_status status = axon_call_set(s.call, port.path, &view, s.error);
  return status == AXON_OK ? ok : s.failed(status);
}

int set_argument(Session& s, const axon_entry* entry, const std::string& name, const std::string& value) {
  if (is_size(entry, name)) {
    std::string error;
    auto array = parse_array(value, AXON_I64, error);
    if (!array || !array->shape.empty())
      return s.complain(Code::E0822, fmt::format("size {} needs a number", name));
    int64_t number = 0;
    std::copy_n(array->bytes.data(), sizeof number, reinterpret_cast<uint8_t*>(&number));
    const axon_status status = axon_call_set_size(s.call, name.c_str(), number, s.error);
    return status == AXON_OK ? ok : s.failed(status);
  }
  const auto ports = ports_of(entry, name);
  const auto items = tuple_items(value);
  if (items.size() > 1 && items.size() != ports.size())
    return s.complain(Code::E0822,
                      fmt::format("{} has {} parts, the value has {}", name, ports.size(), items.size()));
  for (size_t i = 0; i < ports.size(); ++i) {
    if (ports[i].kind == AXON_WEIGHT) continue;  // bound from its file
    if (const int status = set_port(s, ports[i], name, items.size() > 1 ? items[i] : value)) return status;
  }
  return ok;
}

/// The results as text in `shown`, or written to the file `out`.
int take_results(Session& s, const axon_entry* entry, const std::string& out, std::string& shown) {
  std::vector<std::pair<std::string, axon_view>> results;
  for (size_t r = 0; r < axon_entry_result_count(entry); ++r) {
    axon_port port;
    axon_view view;
    axon_status status = axon_entry_result(entry, r, &port, s.error);
    if (status == AXON_OK) status = axon_call_result(s.call, r, &view, s.error);
    if (status != AXON_OK) return s.failed(status);
    results.emplace_back(*port.path ? port.path : "result", view);
  }
  if (!out.empty()) {
    std::string error;
    return write_arrays(out, results, error) ? ok : s.complain(Code::E0701, error);
  }
  for (const auto& [name, view] : results) {
    std::string shape;
    for (int32_t a = 0; a < view.rank; ++a) shape += fmt::format("{}{}", a ? ", " : "", view.shape[a]);
    shown += fmt::format("{} : {}{} =\n{}\n", name, axon_elem_name(view.elem),
                         view.rank ? "[" + shape + "]" : "", format_array(view));
  }
  return ok;
}

/// What a call gives and the entry does not take, or weights that are not given as a file; else empty.
std::string misfit(const axon_entry* entry, const Arguments& arguments) {
  for (size_t i = 0; i < arguments.size(); ++i) {
    const auto& [name, value] = arguments[i];
    const auto ports = ports_of(entry, name);
    if (ports.empty() && !is_size(entry, name))
      return fmt::format("entry {} has no parameter `{}`", axon_entry_name(entry), name);
    const bool weights = !ports.empty() && ports[0].kind == AXON_WEIGHT;
    for (size_t j = 0; j < i && !weights; ++j)
      if (arguments[j].first == name) return fmt::format("`{}` is given twice", name);
    if (weights && (!value.starts_with("@") || ports[0].path == name))
      return fmt::format(
          "`{0}` is of a record of weights, which is given as one file: NAME=@FILE.safetensors", name);
  }
  for (size_t i = 0; i < axon_entry_input_count(entry); ++i) {
    axon_port port;
    if (axon_entry_input(entry, i, &port, nullptr) != AXON_OK || port.kind != AXON_WEIGHT) continue;
    const std::string record = std::string(port.path).substr(0, std::string(port.path).find('.'));
    if (std::none_of(arguments.begin(), arguments.end(), [&](const auto& a) { return a.first == record; }))
      return fmt::format("the weights are missing: {0}=@FILE.safetensors", record);
  }
  return "";
}

/// Weight files among the arguments: @files given for a record whose leaves are weights.
std::vector<std::string> weight_files(const axon_entry* entry, const Arguments& arguments) {
  std::vector<std::string> files;
  for (const auto& [name, value] : arguments) {
    const auto ports = ports_of(entry, name);
    if (!ports.empty() && ports[0].kind == AXON_WEIGHT && value.starts_with("@"))
      files.push_back(value.substr(1));
  }
  return files;
}

/// NAME=VALUE each; nullopt, with a message on stderr, when one is not.
std::optional<Arguments> split_arguments(const std::vector<std::string>& texts) {
  Arguments arguments;
  for (const std::string& text : texts) {
    const size_t equals = text.find('=');
    if (equals == std::string::npos) {
      fmt::print(stderr, "etcc: {}: expected NAME=VALUE\n", text);
      return std::nullopt;
    }
    arguments.emplace_back(text.substr(0, equals), text.substr(equals + 1));
  }
  return arguments;
}

/// Runs the entry of the bundle; what goes wrong is in the diagnostics, the results that are printed in
/// `shown`.
int execute(const RunOptions& o, const Arguments& arguments, const std::string& bundle,
            source::Diagnostics& diagnostics, std::string& shown) {
  Session s(diagnostics);
  axon_status status = axon_open_memory(bundle.data(), bundle.size(), &s.bundle, s.error);
  if (status != AXON_OK) return s.failed(status);
  const axon_entry* entry = axon_bundle_find(s.bundle, o.entry.c_str());
  if (const std::string text = misfit(entry, arguments); !text.empty()) return s.complain(Code::E0801, text);
  const auto files = weight_files(entry, arguments);
  std::vector<const char*> names;
  for (const std::string& file : files) names.push_back(file.c_str());
  if (!files.empty()) {
    status = axon_bind(s.bundle, names.data(), names.size(), o.map.empty() ? nullptr : o.map.c_str(),
                       &s.weights, s.error);
    if (status != AXON_OK) return s.failed(status);
  }
  status = axon_runtime_create(o.workers, &s.runtime, s.error);
  if (status == AXON_OK)
    status = axon_call_create(s.bundle, o.entry.c_str(), s.weights, s.runtime, &s.call, s.error);
  if (status != AXON_OK) return s.failed(status);
  for (const auto& [name, value] : arguments)
    if (const int failed = set_argument(s, entry, name, value)) return failed;
  status = axon_call_run(s.call, s.error);
  if (status != AXON_OK) return s.failed(status);
  return take_results(s, entry, o.out, shown);
}

}  // namespace

Command add_run(CLI::App& app) {
  auto o = std::make_shared<RunOptions>();
  add_common(app, o->common);
  app.add_option("ENTRY", o->entry, "the entry to run")->required();
  app.add_option("ARGUMENT", o->arguments, "NAME=VALUE");
  app.add_option("-o", o->out, "write the results to this .npz (or .npy, for one)");
  app.add_option("--map", o->map, "the text of a binding map for weights");
  app.add_option("--workers", o->workers, "worker threads; 0: as many as pay off");
  return [o] {
    int status = ok;
    const auto c = open(o->common, status);
    if (!c) return status;
    c->options.entries = {o->entry};
    if (c->options.levels.empty()) c->options.levels = {std::string(target::native_level().name)};
    const auto arguments = split_arguments(o->arguments);
    if (!arguments) return static_cast<int>(usage);
    if (!run(*c, "bundle")) return report(*c, o->common);
    std::string shown;
    status = execute(*o, *arguments, c->bundle, c->diagnostics, shown);
    report(*c, o->common);
    fmt::print("{}", shown);
    return status;
  };
}

}  // namespace axon::tools
