// See run_values.h.
#include "tools/run_values.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "tools/handles.h"

namespace axon::tools {

namespace {

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

[[noreturn]] void misuse_of(const std::string& text) { throw Problem{"E0801", text}; }

/// Throws where the arguments give what the entry does not take, or give it twice, or do not give its
/// weights.
void check_names(const axon_entry* entry, const Arguments& arguments) {
  for (size_t i = 0; i < arguments.size(); ++i) {
    const auto& [name, value] = arguments[i];
    const auto ports = ports_of(entry, name);
    if (ports.empty() && !is_size(entry, name))
      misuse_of(fmt::format("entry {} has no parameter `{}`", axon_entry_name(entry), name));
    if (!ports.empty() && ports[0].kind == AXON_WEIGHT) {
      const std::string parameter = name.substr(0, name.find('.'));
      if (name != parameter || !value.starts_with("@"))
        misuse_of(
            fmt::format("`{0}` holds weights, which are given as a file: {0}=@FILE.safetensors", parameter));
      continue;  // several files of one parameter are one
    }
    for (size_t j = 0; j < i; ++j) {
      const std::string& other = arguments[j].first;
      if (other == name || other.starts_with(name + ".") || name.starts_with(other + "."))
        misuse_of(fmt::format("`{}` is given twice", other.size() < name.size() ? name : other));
    }
  }
  for (size_t i = 0; i < axon_entry_input_count(entry); ++i) {
    axon_port port;
    if (axon_entry_input(entry, i, &port, nullptr) != AXON_OK || port.kind != AXON_WEIGHT) continue;
    const std::string path = port.path, parameter = path.substr(0, path.find('.'));
    if (std::none_of(arguments.begin(), arguments.end(), [&](const auto& a) { return a.first == parameter; }))
      misuse_of(fmt::format("the weights are missing: {0}=@FILE.safetensors", parameter));
  }
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

/// Reads the values of one command line, one argument after the other.
class ValueReader {
 public:
  explicit ValueReader(const axon_entry* entry) : entry_(entry) {}

  void read(const std::string& name, const std::string& value) {
    if (is_size(entry_, name)) return read_size(name, value);
    const auto ports = ports_of(entry_, name);
    if (!ports.empty() && ports[0].kind == AXON_WEIGHT)
      return read_weights(ports, name, file_part(value.substr(1)));
    read_structure(name, value);
  }
  GivenValues take() { return std::move(out_); }

 private:
  [[noreturn]] static void refuse(std::string text) { throw Problem{"E0822", std::move(text)}; }

  void read_size(const std::string& name, const std::string& value) {
    std::string error;
    const auto array = parse_array(value, AXON_I64, error);
    if (!array || !array->shape.empty()) refuse(fmt::format("size {} needs a number", name));
    std::copy_n(array->bytes.data(), sizeof(int64_t), reinterpret_cast<uint8_t*>(&out_.sizes[name]));
  }

  /// Of a file of which a part is named, rules of a binding map say which tensors are meant.
  void read_weights(const std::vector<axon_port>& ports, const std::string& name, FilePart file) {
    for (const axon_port& port : ports)
      if (!file.tensor.empty())
        out_.map += fmt::format("{} <- \"{}{}\"\n", port.path, file.tensor, port.path + name.size());
    out_.weights.push_back({name, std::move(file.path)});
  }

  /// One value for all that `name` stands for.
  void read_structure(const std::string& name, const std::string& value) {
    const auto ports = ports_of(entry_, name);
    const auto parts = parts_of(ports, name);
    if (parts.empty() || value.starts_with("@")) {
      for (const axon_port& port : ports) read_leaf(port, name, value);
    } else if (value.starts_with("(") && value.ends_with(")")) {
      read_tuple(name, value, parts);
    } else if (value.starts_with("{") && value.ends_with("}")) {
      read_record(name, value, parts);
    } else {
      const bool tuple = parts[0] == "0";
      refuse(tuple ? fmt::format("{0} has {1} parts: {0}=(..), {0}.0=.. or {0}=@FILE.npz", name, parts.size())
                   : fmt::format("{0} has the parts {1}: {0}={{{2} = ..}}, {0}.{2}=.. or {0}=@FILE.npz", name,
                                 fmt::join(parts, ", "), parts[0]));
    }
  }

  /// (v, w): the parts in order.
  void read_tuple(const std::string& name, const std::string& value, const std::vector<std::string>& parts) {
    const auto items = items_of(value);
    if (items.size() != parts.size())
      refuse(fmt::format("{} has {} parts, the value has {}", name, parts.size(), items.size()));
    for (size_t i = 0; i < items.size(); ++i) read_structure(name + "." + parts[i], trimmed(items[i]));
  }

  /// {a = v, b = w}: the parts by name.
  void read_record(const std::string& name, const std::string& value, const std::vector<std::string>& parts) {
    std::vector<std::string> given;
    for (const std::string& item : items_of(value)) {
      const size_t equals = item.find('=');
      const std::string field = trimmed(item.substr(0, equals));
      if (equals == std::string::npos || std::find(parts.begin(), parts.end(), field) == parts.end())
        misuse_of(fmt::format("{} is {{{} = ..}}, and `{}` gives none of them", name,
                              fmt::join(parts, " = .., "), trimmed(item)));
      if (std::find(given.begin(), given.end(), field) != given.end())
        misuse_of(fmt::format("`{}.{}` is given twice", name, field));
      given.push_back(field);
      read_structure(name + "." + field, trimmed(item.substr(equals + 1)));
    }
  }

  /// One input, of the value for `name`, which is the input or a structure that it is part of.
  void read_leaf(const axon_port& port, const std::string& name, const std::string& value) {
    std::string error;
    auto array = value.starts_with("@") ? read_file(port.path, name, file_part(value.substr(1)), error)
                                        : parse_array(value, port.elem, error);
    if (!array) refuse(fmt::format("{}: {}", port.path, error));
    out_.arrays[port.path] = std::move(*array);
  }

  /// A tensor is named like the input, or, where a structure is read, like what is below that; with a part of
  /// the file before it, where one is named.
  std::optional<Array> read_file(const std::string& path, const std::string& name, const FilePart& file,
                                 std::string& error) {
    const std::string below = path.substr(name.size());  // .h.0, or nothing
    if (!file.tensor.empty() && file.path.ends_with(".npy"))
      return error = fmt::format("{} holds one array, which has no name", file.path), std::nullopt;
    if (!file.tensor.empty()) return files_.read(file.path, {file.tensor + below}, error);
    return files_.read(file.path, {below.empty() ? name : below.substr(1), path}, error);
  }

  const axon_entry* entry_;
  ArrayFiles files_;
  GivenValues out_;
};

}  // namespace

GivenValues read_values(const axon_entry* entry, const Arguments& arguments) {
  check_names(entry, arguments);
  ValueReader reader(entry);
  for (const auto& [name, value] : arguments) reader.read(name, value);
  return reader.take();
}

}  // namespace axon::tools
