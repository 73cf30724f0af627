// evaluate PROGRAM.axn INPUTS [EXECUTOR...]: calls of a program's entries in the interpreter and natively at
// every level of this machine, or in the named executors only, for tests that check values themselves.
//
// In: INPUTS, a line per input of a call: the call, "ENTRY" or "ENTRY#NUMBER", the input's path, the axes as
// "2x3", and the values, floats as C prints them with %a. Out: for each executor, call and result a line
// "EXECUTOR CALL AXES f|i", then the values as 64-bit floats or integers, as they are in memory. Fails where
// the program does not compile or a call does not run.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <sstream>

#include "executors.h"

namespace {

using namespace axon;
using differential::Compiled;
using differential::Inputs;
using graph::Tensor;

/// Prints and ends.
[[noreturn]] void fail(const std::string& text) {
  fmt::print(stderr, "{}\n", text);
  std::exit(1);
}

std::vector<int64_t> axes_of(const std::string& text) {
  std::vector<int64_t> axes;
  std::stringstream parts(text);
  for (std::string part; std::getline(parts, part, 'x');) axes.push_back(std::stoll(part));
  return axes;
}

/// The contents of each call's inputs, by path.
using Given = std::map<std::string, std::map<std::string, std::pair<std::vector<int64_t>, std::string>>>;

Given read_inputs(const std::string& path) {
  std::ifstream in(path);
  if (!in) fail("cannot read " + path);
  Given given;
  for (std::string line; std::getline(in, line);) {
    std::stringstream words(line);
    std::string call, input, axes, values;
    words >> call >> input >> axes;
    std::getline(words, values);
    given[call][input] = {axes == "-" ? std::vector<int64_t>{} : axes_of(axes), values};
  }
  return given;
}

Tensor tensor_of(base::Elem elem, const std::pair<std::vector<int64_t>, std::string>& given) {
  Tensor t;
  t.elem = elem;
  t.shape = given.first;
  const char* at = given.second.c_str();
  for (int64_t i = 0; i < t.count(); ++i) {
    char* end = nullptr;
    if (base::is_float(elem))
      t.floats.push_back(std::strtod(at, &end));
    else
      t.integers.push_back(std::strtoll(at, &end, 10));
    if (end == at) fail(fmt::format("a value is missing: {}", given.second));
    at = end;
  }
  return t;
}

Inputs inputs_of(const graph::Graph& graph, const Given::mapped_type& given) {
  Inputs inputs;
  for (const graph::Input& input : graph.inputs) {
    const auto found = given.find(input.path);
    if (found == given.end()) fail(fmt::format("{} has no {}", graph.name, input.path));
    inputs.push_back(tensor_of(input.type.elem, found->second));
  }
  return inputs;
}

void write(const std::string& executor, const std::string& call, const graph::Outcome& outcome) {
  if (!outcome.error.empty()) fail(fmt::format("{} {}: {}", executor, call, outcome.error));
  for (const Tensor& t : outcome.results) {
    std::string axes;
    for (int64_t n : t.shape) axes += fmt::format("{}{}", axes.empty() ? "" : "x", n);
    const bool is_float = base::is_float(t.elem);
    const std::string line =
        fmt::format("{} {} {} {}\n", executor, call, axes.empty() ? "-" : axes, is_float ? "f" : "i");
    std::fwrite(line.data(), 1, line.size(), stdout);
    const void* data =
        is_float ? static_cast<const void*>(t.floats.data()) : static_cast<const void*>(t.integers.data());
    std::fwrite(data, 8, static_cast<size_t>(t.count()), stdout);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) fail("usage: evaluate PROGRAM.axn INPUTS [EXECUTOR...]");
  std::ifstream in(argv[1]);
  std::stringstream source;
  source << in.rdbuf();
  const Given given = read_inputs(argv[2]);
  const std::vector<std::string> wanted(argv + 3, argv + argc);
  std::vector<std::string> levels = differential::levels_of_this_machine();
  const auto is_left_out = [&](const std::string& executor) {
    return !wanted.empty() && std::find(wanted.begin(), wanted.end(), executor) == wanted.end();
  };
  std::erase_if(levels, is_left_out);
  const Compiled compiled(source.str(), differential::for_levels(levels),
                          levels.empty() ? "graph" : "bundle");
  if (!compiled.error().empty()) fail(compiled.error());
  const auto entry_of = [](const std::string& call) { return call.substr(0, call.find('#')); };
  std::map<std::string, Inputs> calls;
  for (const auto& [call, values] : given) calls[call] = inputs_of(compiled.meaning(entry_of(call)), values);
  if (!is_left_out("interpreter"))
    for (const auto& [call, values] : calls)
      write("interpreter", call, compiled.interpret(entry_of(call), values, graph::Precision::storage));
  for (const std::string& level : levels) {
    const differential::Loaded loaded(compiled, {}, level);
    if (!loaded.error().empty()) fail(loaded.error());
    for (const auto& [call, values] : calls) write(level, call, loaded.run(entry_of(call), values, 1));
  }
  return 0;
}
