// Binding weights (parameters.h): what fits by weight_fit.h, then data.
#include "host/parameters.h"

#include <algorithm>

#include "host/limits.h"
#include "host/sizes.h"
#include "host/strided.h"
#include "host/weight_fit.h"

namespace axon::host {
namespace {

constexpr uint64_t buffer_alignment = 64;
/// A weight up to this size, in bytes, is copied where it begins inside of a line of the cache: vectors that
/// each row is scaled by are read again and again, and a wide load across two lines takes twice as long.
constexpr uint64_t largest_moved = uint64_t{1} << 20;

/// Where a mapped weight may be used as it is; nullptr when it must be copied.
const void* mapped(const weights::TensorFile& file, const weights::Source& source,
                   const Placement& placement) {
  const auto offset = source.mapped_offset();
  if (!placement.is_row_major() || !offset) return nullptr;
  const auto view = file.view(file.table.tensors[source.tensors[0]]);
  if (!view || *offset >= view->size()) return nullptr;
  const uint8_t* const data = view->data() + *offset;
  const auto address = reinterpret_cast<uintptr_t>(data);
  const bool is_small = *weights::byte_count(source.shape, source.field.dtype) <= largest_moved;
  return address % (is_small ? buffer_alignment : elem_bytes(source.field.dtype)) == 0 ? data : nullptr;
}

uint64_t prepared_bytes(const weights::Source& source, const Placement& placement) {
  return placed_bytes(placement, source.shape, elem_bytes(source.field.dtype));
}

Failure no_memory(uint64_t bytes) {
  return system_failure(text("cannot get ", bytes, " bytes for the weights"));
}

Status fill(const weights::TensorFile& file, const weights::Source& source, const Placement& placement,
            uint8_t* out) {
  const auto as_status = [](weights::Status error) {
    return error ? Status(bad_weights(*error)) : std::nullopt;
  };
  const uint64_t plain = *weights::byte_count(source.shape, source.field.dtype);
  if (placement.is_row_major()) return as_status(weights::load(file, source, {out, plain}));
  auto memory = Memory::allocate(plain);
  if (!memory) return no_memory(plain);
  if (auto failure = as_status(weights::load(file, source, {memory->data(), plain}))) return failure;
  pack(placement, source.shape, elem_bytes(source.field.dtype), memory->data(), out);
  return std::nullopt;
}

Status prepare(Parameters& parameters, const weights::TensorFile& file,
               const std::vector<std::optional<weights::Source>>& sources) {
  const auto& manifest = parameters.bundle->manifest;
  std::vector<uint64_t> offsets(sources.size(), 0);
  uint64_t total = 0;
  for (size_t i = 0; i < sources.size(); ++i) {
    if (!sources[i]) continue;
    auto& weight = parameters.weights[i];
    weight.data = mapped(file, *sources[i], manifest.weights[i].placement);
    offsets[i] = total;
    if (!weight.data)
      total += round_up(prepared_bytes(*sources[i], manifest.weights[i].placement) + 1, buffer_alignment);
    if (total > limits::tensor_bytes) return no_memory(total);
  }
  auto memory = Memory::allocate(total);
  if (!memory) return no_memory(total);
  parameters.memory = std::move(*memory);
  parameters.copied_bytes = total;
  for (size_t i = 0; i < sources.size(); ++i) {
    if (!sources[i] || parameters.weights[i].data) continue;
    uint8_t* const out = parameters.memory.data() + offsets[i];
    if (auto failure = fill(file, *sources[i], manifest.weights[i].placement, out)) return failure;
    parameters.weights[i].data = out;
  }
  return std::nullopt;
}

/// Whether all weights of some entry that has any are there.
bool has_whole_entry(const Manifest& manifest, const std::vector<std::optional<weights::Source>>& sources) {
  const auto is_there = [&](const Port& port) { return port.kind != AXON_WEIGHT || sources[port.weight]; };
  return std::ranges::any_of(manifest.entries, [&](const Entry& entry) {
    return entry.has_weights && std::ranges::all_of(entry.inputs, is_there);
  });
}

/// Shapes, and words for what is not there.
std::vector<Parameters::Prepared> prepared_of(const WeightFit& fit) {
  std::vector<Parameters::Prepared> out(fit.names.size());
  for (size_t i = 0; i < out.size(); ++i)
    if (const auto& source = fit.binding.sources[i])
      out[i].shape.assign(source->shape.begin(), source->shape.end());
    else
      out[i].absent =
          text("parameter ", printable(fit.names[i]), ": the tensor that it is a part of is absent");
  for (const auto& [misfit, field] : fit.binding.absent) out[field].absent = fit.misfits[misfit];
  return out;
}

}  // namespace

Status check_complete(const Parameters& parameters, const Entry& entry) {
  std::vector<std::string> absent;
  for (const Port& port : entry.inputs)
    if (port.kind == AXON_WEIGHT && !parameters.weights[port.weight].absent.empty())
      absent.push_back(parameters.weights[port.weight].absent);
  if (absent.empty()) return std::nullopt;
  std::string out = text(printable(entry.name), " has weights that were not bound:");
  for (const std::string& line : absent) out += (absent.size() == 1 ? " " : "\n  ") + line;
  return Failure{AXON_BAD_WEIGHTS, weights::code::binding, out};
}

namespace {

/// What the weights tell of an entry's sizes: by their shapes, and by the metadata of their files.
Status sizes_of_weights(const Parameters& parameters, const Entry& entry, SizeTable& sizes) {
  for (size_t i = 0; i < entry.sizes.size(); ++i) {
    const Size& rule = entry.sizes[i];
    const bool of_weight = rule.from == AXON_FROM_AXIS && entry.inputs[rule.input].kind == AXON_WEIGHT;
    const auto stated = parameters.sizes.find(rule.name);
    bool changed = false;
    if (of_weight && (rule.equation.mask() & ~sizes.known() & ~(uint64_t{1} << i)) == 0) {
      const auto& shape = parameters.weights[entry.inputs[rule.input].weight].shape;
      if (auto failure = sizes.solve(i, shape[rule.axis], changed)) return failure;
    } else if (stated != parameters.sizes.end()) {
      sizes.set(i, stated->second, /*from_metadata=*/true);
    }
  }
  return std::nullopt;
}

/// Why a formula has no value: `what` is the axis, or its stride.
Failure does_not_follow(const Entry& entry, const SizeTable& sizes, const std::string& what, const Dim& dim,
                        const char* from) {
  std::string known;
  for (size_t i = 0; i < entry.sizes.size(); ++i)
    if (sizes.known() >> i & 1)
      known += text(known.empty() ? "" : ", ", entry.sizes[i].name, " = ", sizes[i]);
  return {AXON_BAD_ARGUMENT, code::missing,
          text(what, ", `", dim.str(), "`, does not follow from the ", from, ": ",
               known.empty() ? "none is known" : "known is " + known)};
}

}  // namespace

Result<std::vector<int64_t>> input_shape(const Parameters& parameters, const Entry& entry,
                                         const Port& input) {
  SizeTable sizes(entry);
  if (auto failure = check_complete(parameters, entry)) return std::move(*failure);
  if (auto failure = sizes_of_weights(parameters, entry, sizes)) return std::move(*failure);
  std::vector<int64_t> shape(input.shape.size());
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    const Dim& dim = input.shape[axis];
    if (sizes.knows(dim) && dim.evaluate(sizes.values(), shape[axis]) && shape[axis] >= 0) continue;
    return Failure{AXON_BAD_ARGUMENT, code::missing,
                   text(axis_text(input, axis), ", `", dim.str(),
                        "`, does not follow from the weights: their shapes and metadata give ",
                        sizes.known() ? sizes.origins(sizes.known()) : "no size")};
  }
  return shape;
}

namespace {

Status set_given_size(const Entry& entry, const GivenSize& given, SizeTable& sizes) {
  for (size_t i = 0; i < entry.sizes.size(); ++i) {
    if (entry.sizes[i].name != given.name) continue;
    const bool size = !entry.sizes[i].integer;
    if (size && given.value < 0)
      return Failure{
          AXON_BAD_ARGUMENT, code::requirement,
          text("size ", printable(given.name), " is ", given.value, ", but sizes are not negative")};
    if (size && given.value > static_cast<int64_t>(limits::extent))
      return Failure{AXON_BAD_ARGUMENT, code::requirement,
                     text("size ", printable(given.name), " is ", given.value, ", and a size is at most ",
                          limits::extent)};
    if ((sizes.known() >> i & 1) && sizes[i] != given.value)
      return Failure{
          AXON_BAD_ARGUMENT, code::shape,
          text(printable(given.name), " is ", sizes[i], " (", sizes.origin(i), "), and not ", given.value)};
    sizes.set_agreed(i, given.value, "as given");
    return std::nullopt;
  }
  return misuse(text(printable(entry.name), " has no size ", printable(given.name)));
}

}  // namespace

Status input_layout(const Entry& entry, const Port& input, const Parameters* parameters,
                    const std::vector<GivenSize>& given, int64_t* shape, int64_t* strides) {
  SizeTable sizes(entry);
  if (parameters) {
    if (auto failure = check_complete(*parameters, entry)) return failure;
    if (auto failure = sizes_of_weights(*parameters, entry, sizes)) return failure;
  }
  for (const GivenSize& one : given)
    if (auto failure = set_given_size(entry, one, sizes)) return failure;
  const char* const from = parameters ? "weights and the given sizes" : "given sizes";
  const size_t rank = input.shape.size();
  for (size_t axis = 0; axis < rank; ++axis) {
    const Dim& dim = input.shape[axis];
    if (!sizes.knows(dim)) return does_not_follow(entry, sizes, axis_text(input, axis), dim, from);
    if (auto failure = sizes.extent(input, axis, shape[axis])) return failure;
  }
  row_major_strides(shape, rank, strides);
  for (size_t axis = 0; axis < input.strides.size(); ++axis) {
    const Dim& dim = input.strides[axis];
    if (!sizes.knows(dim))
      return does_not_follow(entry, sizes, "the stride of " + axis_text(input, axis), dim, from);
    if (!dim.evaluate(sizes.values(), strides[axis])) return sizes.bad_formula(dim);
  }
  return std::nullopt;
}

namespace {

/// A tensor of a file that belongs to a parameter, under the names that say so.
void add_named(const weights::Tensor& tensor, const std::string& parameter, bool only,
               std::vector<weights::Tensor>& out) {
  const auto add = [&](std::string name) {
    out.push_back(tensor);
    out.back().name = std::move(name);
  };
  if (tensor.name == parameter || tensor.name.starts_with(parameter + ".")) return add(tensor.name);
  add(parameter + "." + tensor.name);
  if (only) add(parameter);  // it may be the parameter itself
}

bool by_name(const weights::Tensor& a, const weights::Tensor& b) { return a.name < b.name; }

}  // namespace

Status check_parameters(const Bundle& bundle, const std::vector<WeightFile>& files) {
  const std::vector<Weight>& weights = bundle.manifest.weights;
  for (const WeightFile& file : files) {
    const auto part = [&](const Weight& w) {
      return w.path == file.parameter || w.path.starts_with(file.parameter + ".");
    };
    if (!file.parameter.empty() && std::none_of(weights.begin(), weights.end(), part))
      return Failure{AXON_BAD_WEIGHTS, weights::code::binding,
                     text("no weights are called ", printable(file.parameter))};
  }
  return {};
}

Result<weights::TensorFile> open_weight_files(const std::vector<WeightFile>& files) {
  weights::TensorFile out;
  auto& tensors = out.table.tensors;
  std::vector<weights::Tensor> bare;  // without the parameter, which a binding map may refer to
  for (const WeightFile& one : files) {
    auto file = weights::open_tensors(one.path);
    if (!file) return bad_weights(file.error());
    for (weights::Tensor& tensor : file->table.tensors) {
      tensor.file += static_cast<uint32_t>(out.files.size());
      if (one.parameter.empty()) {
        tensors.push_back(std::move(tensor));
        continue;
      }
      add_named(tensor, one.parameter, file->table.tensors.size() == 1, tensors);
      bare.push_back(std::move(tensor));
    }
    out.files.insert(out.files.end(), file->files.begin(), file->files.end());
    out.table.metadata.merge(file->table.metadata);
  }
  std::sort(tensors.begin(), tensors.end(), by_name);
  for (size_t i = 1; i < tensors.size(); ++i)
    if (tensors[i].name == tensors[i - 1].name)
      return Failure{AXON_BAD_WEIGHTS, weights::code::binding,
                     text("tensor ", printable(tensors[i].name), " is in more than one of the files")};
  std::sort(bare.begin(), bare.end(), by_name);
  const size_t certain = tensors.size();
  for (size_t i = 0; i < bare.size(); ++i) {
    const bool twice = (i > 0 && bare[i].name == bare[i - 1].name) ||
                       (i + 1 < bare.size() && bare[i].name == bare[i + 1].name);
    const auto end = tensors.begin() + static_cast<ptrdiff_t>(certain);
    if (!twice && !std::binary_search(tensors.begin(), end, bare[i], by_name)) tensors.push_back(bare[i]);
  }
  std::sort(tensors.begin(), tensors.end(), by_name);
  return out;
}

Result<std::shared_ptr<Parameters>> bind_parameters(std::shared_ptr<const Bundle> bundle,
                                                    weights::TensorFile file, std::string_view map_text) {
  const Manifest& manifest = bundle->manifest;
  if (manifest.weights.empty() && !file.table.tensors.empty())
    return Failure{
        AXON_BAD_WEIGHTS, weights::code::binding,
        text("the program has no weights: each call gives all parameters. `weights` before the type "
             "of a parameter of an entry makes it one that is bound, as in (p : weights Model[..])")};
  auto fit = fit_weights(manifest, file.table, map_text);
  if (!fit) return fit.failure();
  const bool only_absent = fit->misfits.size() == fit->binding.absent.size();
  if (!fit->misfits.empty() && !(only_absent && has_whole_entry(manifest, fit->binding.sources)))
    return list_misfits(weights::code::binding, fit->misfits);

  auto parameters = std::make_shared<Parameters>();
  parameters->bundle = bundle;
  parameters->metadata = file.table.metadata;
  parameters->sizes = sizes_in(file.table);
  parameters->weights = prepared_of(*fit);
  if (!bundle->image) return parameters;
  if (auto failure = prepare(*parameters, file, fit->binding.sources)) return *failure;
  parameters->files = std::move(file.files);
  return parameters;
}

}  // namespace axon::host
