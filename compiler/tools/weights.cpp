// etcc weights FILE CHECKPOINT ..: which tensors become which weights of the file's entries.
//
// Without a map one is proposed, on stdout, as the text of a binding map; what is unsure stands in it as
// comments. With --map, what each weight gets, and which tensors are left. No code is made. What cannot be
// bound is an error (E0709), and the exit status that of one.
#include <fmt/format.h>

#include <algorithm>

#include "host/parameters.h"
#include "host/weight_fit.h"
#include "tools/arguments.h"
#include "tools/common.h"
#include "tools/weights/program.h"
#include "tools/weights/propose.h"

namespace axon::tools {

namespace {

using source::Code;
using weights::Packing;
using weights::Source;
using weights::Tensor;
using weights::TensorTable;

struct WeightsOptions {
  CommonOptions common;
  std::vector<std::string> files;
  std::string map;
};

int fail_with(Compilation& c, const CommonOptions& o, const host::Failure& failure) {
  const auto code = source::code_from_name(failure.code);
  c.diagnostics.report(source::error(code.value_or(Code::E0709), {}, failure.text));
  report(c, o);
  return user_error;
}

/// The names of the weights in a map: without their parameter, where there is only one that holds weights.
std::vector<std::string> map_names_of(const host::Manifest& manifest) {
  std::vector<std::string> whole, bare;
  std::string parameter;
  bool one = true;
  for (const host::Weight& weight : manifest.weights) {
    const size_t dot = std::min(weight.path.find('.'), weight.path.size());
    one = one && dot < weight.path.size() && (whole.empty() || weight.path.substr(0, dot) == parameter);
    parameter = weight.path.substr(0, dot);
    whole.push_back(weight.path);
    bare.push_back(weight.path.substr(std::min(dot + 1, weight.path.size())));
  }
  return one ? bare : whole;
}

std::string type_and_shape(std::string_view type, const std::vector<uint64_t>& shape) {
  return fmt::format("{}{}", type, shape.empty() ? "" : weights::shape_text(shape));
}

/// A name from a file as it is, if it is safe to print.
std::string safe_name(const std::string& name) {
  const bool safe =
      std::none_of(name.begin(), name.end(), [](char c) { return (c >= 0 && c < ' ') || c == 0x7f; });
  return safe ? name : weights::printable(name);
}

/// model.layers.0.q.weight f16[4, 4]
std::string describe_tensor(const Tensor& tensor) {
  return fmt::format("{} {}", safe_name(tensor.name),
                     type_and_shape(weights::type_name(tensor), tensor.shape));
}

/// A line for each tensor that is there by name alone.
std::string unreadable_tensors(const TensorTable& table, const char* front) {
  std::string out;
  for (const Tensor& tensor : table.tensors)
    if (tensor.packing == Packing::unreadable)
      out += fmt::format("{}unreadable: {}\n", front, describe_tensor(tensor));
  return out;
}

/// model.layers.0.q.weight f16[4, 4] and 11 more, transposed
std::string describe_source(const TensorTable& table, const Source& source) {
  const Tensor& first = table.tensors[source.tensors[0]];
  std::string out = describe_tensor(first);
  if (source.tensors.size() > 1) out += fmt::format(" and {} more", source.tensors.size() - 1);
  if (source.transposed) out += ", transposed";
  if (source.axes) out += ", " + weights::text_of(*source.axes);
  if (source.summed) out += ", summed";
  if (!source.segments.empty()) out += source.joined > 1 && !source.summed ? ", joined" : ", a part";
  if (source.packed || source.file_dtype != source.field.dtype)
    out += fmt::format(", as {}", elem_name(source.field.dtype));
  return out;
}

/// What each weight gets, as a table, and the tensors that no weight does.
void show_binding(const TensorTable& table, const host::WeightFit& fit) {
  size_t name_width = 0, type_width = 0;
  std::vector<std::string> types;
  for (size_t i = 0; i < fit.names.size(); ++i) {
    const auto& source = fit.binding.sources[i];
    types.push_back(source ? type_and_shape(elem_name(source->field.dtype), source->shape) : "-");
    name_width = std::max(name_width, fit.names[i].size());
    type_width = std::max(type_width, types.back().size());
  }
  std::vector<bool> used(table.tensors.size(), false);
  for (size_t i = 0; i < fit.names.size(); ++i) {
    const auto& source = fit.binding.sources[i];
    fmt::print("{:{}}  {:{}}  <- {}\n", fit.names[i], name_width, types[i], type_width,
               source ? describe_source(table, *source) : "nothing");
    if (!source) continue;
    for (const uint32_t t : source->tensors) used[t] = true;
  }
  for (size_t t = 0; t < table.tensors.size(); ++t) {
    const Tensor& tensor = table.tensors[t];
    const bool part = tensor.packing == Packing::q8_0_values || tensor.packing == Packing::q8_0_scales;
    if (!used[t] && !part && tensor.packing != Packing::unreadable)
      fmt::print("unused: {}\n", describe_tensor(tensor));
  }
  fmt::print("{}", unreadable_tensors(table, ""));
}

int show_map(Compilation& c, const WeightsOptions& o, const host::Manifest& manifest,
             const TensorTable& table) {
  std::string error;
  const auto map = read_map(o.map, error);
  if (!map) return fail_with(c, o.common, {AXON_SYSTEM, "E0701", error});
  auto fit = host::fit_weights(manifest, table, *map);
  if (!fit) return fail_with(c, o.common, fit.failure());
  show_binding(table, *fit);
  if (fit->misfits.empty()) return report(c, o.common);
  return fail_with(c, o.common, host::list_misfits(weights::code::binding, fit->misfits));
}

int propose_map(Compilation& c, const WeightsOptions& o, const host::Manifest& manifest,
                const TensorTable& table) {
  const Proposal proposal = propose(manifest, table, map_names_of(manifest), stacks_of(c, manifest.weights));
  const std::string text = map_text(proposal);
  fmt::print("{}{}", text, unreadable_tensors(table, "-- "));
  auto fit = host::fit_weights(manifest, table, text);
  if (!fit) return fail_with(c, o.common, fit.failure());
  if (fit->misfits.empty()) return report(c, o.common);
  return fail_with(c, o.common, host::list_misfits(weights::code::binding, fit->misfits));
}

}  // namespace

Command add_weights(CLI::App& app) {
  auto o = std::make_shared<WeightsOptions>();
  add_common(app, o->common);
  o->common.prints = true;
  app.add_option("CHECKPOINT", o->files,
                 "files of weights: .safetensors, .safetensors.index.json, .npz, .npy, .gguf")
      ->required();
  app.add_option("--map", o->map,
                 "show what this binding map binds, a file or its text, instead of a proposal");
  return [o] {
    int status = ok;
    const auto c = open(o->common, status);
    if (!c) return status;
    if (!run(*c, "graph")) return report(*c, o->common);
    auto manifest = weights_of(*c);
    if (!manifest) return fail_with(*c, o->common, manifest.failure());
    if (manifest->weights.empty())
      return fail_with(
          *c, o->common,
          {AXON_BAD_WEIGHTS, weights::code::binding,
           "the entries have no weights: `weights` before the type of a parameter makes it one that is "
           "bound, as in (p : weights Model[..])"});
    std::vector<host::WeightFile> files;
    for (const std::string& path : o->files) files.push_back({path, ""});
    auto file = host::open_weight_files(files);
    if (!file) return fail_with(*c, o->common, file.failure());
    return o->map.empty() ? propose_map(*c, *o, *manifest, file->table)
                          : show_map(*c, *o, *manifest, file->table);
  };
}

}  // namespace axon::tools
