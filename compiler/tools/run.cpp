// etcc run FILE ENTRY NAME=VALUE ...: builds the file for this machine in memory, binds parameters by name,
// runs the entry through the runtime's C interface, and prints the results or writes them with -o.
//
// VALUE: a number, a list [[1, 2], [3, 4]], zeros[2, 3]; (v, w) for a tuple, {a = v, b = w} for a record;
// @file.npy, or @file.npz and @file.safetensors, whose tensors are named like the fields, for a whole
// structure and for weights. NAME is a parameter, a part of one (state.h), or a size parameter.
#include <axon/axon.h>
#include <fmt/format.h>

#include <algorithm>
#include <list>
#include <map>

#include "target/machine.h"
#include "tools/arguments.h"
#include "tools/common.h"

namespace axon::tools {

using source::Code;

namespace {

using Arguments = std::vector<std::pair<std::string, std::string>>;  ///< NAME=VALUE each

struct RunOptions {
  CommonOptions common;
  std::string entry, out, map;
  ArrayFile kind = ArrayFile::npz;  ///< of `out`
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
  std::map<std::string, Array> arrays;      ///< what the call borrows
  std::list<std::vector<uint8_t>> results;  ///< copies of those that do not lie row-major
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

/// What stands between the brackets, split at its top-level commas.
std::vector<std::string> items_of(const std::string& text) {
  std::vector<std::string> items(1);
  int depth = 0;
  for (char c : text.substr(1, text.size() - 2)) {
    depth += c == '[' || c == '(' || c == '{' ? 1 : c == ']' || c == ')' || c == '}' ? -1 : 0;
    if (c == ',' && depth == 0)
      items.emplace_back();
    else
      items.back() += c;
  }
  return items;
}

std::string trimmed(const std::string& text) {
  const size_t begin = text.find_first_not_of(' ');
  return begin == std::string::npos ? "" : text.substr(begin, text.find_last_not_of(' ') - begin + 1);
}

/// The parts of a structure by name, in order: of `state.h.0` and `state.c` these are `h` and `c`.
std::vector<std::string> parts_of(const std::vector<axon_port>& ports, const std::string& name) {
  std::vector<std::string> parts;
  for (const axon_port& port : ports) {
    const std::string path = port.path;
    if (path == name) continue;
    const std::string part = path.substr(name.size() + 1, path.find('.', name.size() + 1) - name.size() - 1);
    if (parts.empty() || parts.back() != part) parts.push_back(part);
  }
  return parts;
}

int set_port(Session& s, const axon_entry* entry, const axon_port& port, const std::string& name,
             const std::string& value) {
  std::string error;
  std::optional<Array> array;
  if (value.starts_with("@")) {
    const std::string path = port.path;
    const std::string field = path == name ? name : path.substr(name.size() + 1);
    array = read_array(value.substr(1), field, error);
    std::string unused;
    if (!array && field != path) array = read_array(value.substr(1), path, unused);
  } else {
    array = parse_array(value, port.elem, error);
  }
  if (!array) return s.complain(Code::E0822, fmt::format("{}: {}", port.path, error));
  Array& kept = s.arrays[port.path] = std::move(*array);
  const axon_view view = kept.view();
  // Where the program states how the input lies, its elements are brought there.
  const auto input = axon_call_find(s.call, port.path);
  const char* const* strides = nullptr;
  if (input >= 0) axon_entry_input_strides(entry, static_cast<size_t>(input), &strides, nullptr);
  const axon_status status = strides ? axon_call_set_copy(s.call, port.path, &view, nullptr, s.error)
                                     : axon_call_set(s.call, port.path, &view, s.error);
  return status == AXON_OK ? ok : s.failed(status);
}

int set_value(Session& s, const axon_entry* entry, const std::string& name, const std::string& value);

/// (v, w): the parts in order.
int set_tuple(Session& s, const axon_entry* entry, const std::string& name, const std::string& value,
              const std::vector<std::string>& parts) {
  const auto items = items_of(value);
  if (items.size() != parts.size())
    return s.complain(Code::E0822,
                      fmt::format("{} has {} parts, the value has {}", name, parts.size(), items.size()));
  for (size_t i = 0; i < items.size(); ++i)
    if (const int status = set_value(s, entry, name + "." + parts[i], trimmed(items[i]))) return status;
  return ok;
}

/// {a = v, b = w}: the parts by name.
int set_record(Session& s, const axon_entry* entry, const std::string& name, const std::string& value,
               const std::vector<std::string>& parts) {
  std::vector<std::string> given;
  for (const std::string& item : items_of(value)) {
    const size_t equals = item.find('=');
    const std::string field = trimmed(item.substr(0, equals));
    if (equals == std::string::npos || std::find(parts.begin(), parts.end(), field) == parts.end())
      return s.complain(Code::E0801, fmt::format("{} is {{{} = ..}}, and `{}` gives none of them", name,
                                                 fmt::join(parts, " = .., "), trimmed(item)));
    if (std::find(given.begin(), given.end(), field) != given.end())
      return s.complain(Code::E0801, fmt::format("`{}.{}` is given twice", name, field));
    given.push_back(field);
    if (const int status = set_value(s, entry, name + "." + field, trimmed(item.substr(equals + 1))))
      return status;
  }
  return ok;
}

/// One value for all that `name` stands for.
int set_value(Session& s, const axon_entry* entry, const std::string& name, const std::string& value) {
  const auto ports = ports_of(entry, name);
  const auto parts = parts_of(ports, name);
  if (!parts.empty() && value.starts_with("(") && value.ends_with(")"))
    return set_tuple(s, entry, name, value, parts);
  if (!parts.empty() && value.starts_with("{") && value.ends_with("}"))
    return set_record(s, entry, name, value, parts);
  if (!parts.empty() && !value.starts_with("@")) {
    const bool tuple = parts[0] == "0";
    return s.complain(
        Code::E0822,
        tuple ? fmt::format("{0} has {1} parts: {0}=(..), {0}.0=.. or {0}=@FILE.npz", name, parts.size())
              : fmt::format("{0} has the parts {1}: {0}={{{2} = ..}}, {0}.{2}=.. or {0}=@FILE.npz", name,
                            fmt::join(parts, ", "), parts[0]));
  }
  for (const axon_port& port : ports)
    if (const int status = set_port(s, entry, port, name, value)) return status;
  return ok;
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
  if (!ports.empty() && ports[0].kind == AXON_WEIGHT) return ok;  // bound from its file
  return set_value(s, entry, name, value);
}

/// The results before they are there: their names and element types.
std::vector<NamedView> results_of(const axon_entry* entry) {
  std::vector<NamedView> results(axon_entry_result_count(entry));
  for (size_t r = 0; r < results.size(); ++r) {
    axon_port port{};
    axon_entry_result(entry, r, &port, nullptr);
    results[r] = {*port.path ? port.path : "result", {nullptr, port.elem, 0, nullptr}};
  }
  return results;
}

/// The result, in memory of the session where the program states how it lies.
axon_status row_major_result(Session& s, const axon_entry* entry, size_t index, axon_view& view) {
  const axon_status status = axon_call_result(s.call, index, &view, s.error);
  const char* const* strides = nullptr;
  axon_entry_result_strides(entry, index, &strides, nullptr);
  if (status != AXON_OK || !strides) return status;
  size_t bytes = axon_elem_bytes(view.elem);
  for (int32_t a = 0; a < view.rank; ++a) bytes *= static_cast<size_t>(view.shape[a]);
  auto& kept = s.results.emplace_back(std::max<size_t>(bytes, 1));
  view.data = kept.data();
  return axon_call_copy_result(s.call, index, kept.data(), s.error);
}

/// The results as text in `shown`, or written to a file.
int take_results(Session& s, const axon_entry* entry, const RunOptions& o, std::string& shown) {
  auto results = results_of(entry);
  for (size_t r = 0; r < results.size(); ++r)
    if (const auto status = row_major_result(s, entry, r, results[r].second); status != AXON_OK)
      return s.failed(status);
  if (!o.out.empty()) {
    std::string error;
    return write_arrays(o.out, o.kind, results, error) ? ok : s.complain(Code::E0701, error);
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
    if (!ports.empty() && ports[0].kind == AXON_WEIGHT) {
      const std::string parameter = name.substr(0, name.find('.'));
      if (name != parameter || !value.starts_with("@"))
        return fmt::format("`{0}` holds weights, which are given as a file: {0}=@FILE.safetensors",
                           parameter);
      continue;  // several files of one parameter are one
    }
    for (size_t j = 0; j < i; ++j) {
      const std::string& other = arguments[j].first;
      if (other == name || other.starts_with(name + ".") || name.starts_with(other + "."))
        return fmt::format("`{}` is given twice", other.size() < name.size() ? name : other);
    }
  }
  for (size_t i = 0; i < axon_entry_input_count(entry); ++i) {
    axon_port port;
    if (axon_entry_input(entry, i, &port, nullptr) != AXON_OK || port.kind != AXON_WEIGHT) continue;
    const std::string path = port.path, parameter = path.substr(0, path.find('.'));
    if (std::none_of(arguments.begin(), arguments.end(), [&](const auto& a) { return a.first == parameter; }))
      return fmt::format("the weights are missing: {0}=@FILE.safetensors", parameter);
  }
  return "";
}

/// The arguments that are weights, each of which is given as a file.
Arguments weight_files(const axon_entry* entry, const Arguments& arguments) {
  Arguments files;
  for (const auto& [name, value] : arguments) {
    const auto ports = ports_of(entry, name);
    if (!ports.empty() && ports[0].kind == AXON_WEIGHT) files.emplace_back(name, value.substr(1));
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

/// The weights of the bundle, from the arguments that are files of them.
int bind_weights(Session& s, const Arguments& files, const std::string& given_map) {
  std::string error;
  const auto map = read_map(given_map, error);
  if (!map) return s.complain(Code::E0701, error);
  if (files.empty()) return ok;
  std::vector<const char*> parameters, paths;
  for (const auto& [parameter, path] : files) {
    parameters.push_back(parameter.c_str());
    paths.push_back(path.c_str());
  }
  const axon_status status = axon_bind_each(s.bundle, parameters.data(), paths.data(), paths.size(),
                                            map->c_str(), &s.weights, s.error);
  return status == AXON_OK ? ok : s.failed(status);
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
  if (const std::string text = o.out.empty() ? "" : unfit(o.kind, results_of(entry)); !text.empty())
    return s.complain(Code::E0701, fmt::format("cannot write `{}`: {}", o.out, text));
  if (const int failed = bind_weights(s, weight_files(entry, arguments), o.map)) return failed;
  status = axon_runtime_create(o.workers, &s.runtime, s.error);
  if (status == AXON_OK)
    status = axon_call_create(s.bundle, o.entry.c_str(), s.weights, s.runtime, &s.call, s.error);
  if (status != AXON_OK) return s.failed(status);
  for (const auto& [name, value] : arguments)
    if (const int failed = set_argument(s, entry, name, value)) return failed;
  status = axon_call_run(s.call, s.error);
  if (status != AXON_OK) return s.failed(status);
  return take_results(s, entry, o, shown);
}

/// False, with a message on stderr, when the name to write to says no kind of file.
bool chosen_kind(RunOptions& o) {
  std::string error;
  const auto kind = array_file(o.out, error);
  if (kind)
    o.kind = *kind;
  else
    fmt::print(stderr, "etcc: -o {}\n", error);
  return kind.has_value();
}

}  // namespace

Command add_run(CLI::App& app) {
  auto o = std::make_shared<RunOptions>();
  add_common(app, o->common);
  o->common.prints = true;
  app.add_option("ENTRY", o->entry, "the entry to run")->required();
  app.add_option("ARGUMENT", o->arguments, "NAME=VALUE");
  app.add_option("-o", o->out, "write the results to this .npz, .safetensors or, for one, .npy");
  app.add_option("--map", o->map, "a binding map for weights, a file or its text: w <- name");
  app.add_option("--workers", o->workers, "worker threads; 0: as many as pay off");
  return [o] {
    int status = ok;
    if (!o->out.empty() && !chosen_kind(*o)) return static_cast<int>(usage);
    const auto c = open(o->common, status);
    if (!c) return status;
    c->options.entries = {o->entry};
    if (c->options.levels.empty()) c->options.levels = {std::string(target::native_machine().name)};
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
