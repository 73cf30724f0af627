// Binding weights (parameters.h): names and types by the weights folder, axes by the entries' own equations,
// then data.
#include "host/parameters.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <set>

#include "host/limits.h"
#include "host/sizes.h"

namespace axon::host {
namespace {

constexpr uint64_t alignment = 64;

/// The weights are fields of parameters: `p.embed`. A file says `embed` when all are fields of one parameter,
/// or when its tensors are named so.
class FieldNames {
 public:
  FieldNames(const Manifest& manifest, const weights::TensorTable& table, const weights::BindingMap& map) {
    std::set<std::string> parameters;
    for (const Weight& weight : manifest.weights)
      parameters.insert(weight.path.substr(0, weight.path.find('.')));
    const bool one = parameters.size() == 1;
    for (const Weight& weight : manifest.weights) {
      const size_t dot = weight.path.find('.');
      const bool whole = !one || dot == std::string::npos || map.find(weight.path) || table.find(weight.path);
      names_.push_back(whole ? weight.path : weight.path.substr(dot + 1));
    }
  }
  const std::string& operator[](size_t weight) const { return names_[weight]; }

 private:
  std::vector<std::string> names_;
};

std::map<std::string, int64_t> sizes_in(const weights::TensorTable& table) {
  std::map<std::string, int64_t> out;
  for (const auto& [name, value] : table.metadata) {
    int64_t number = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
    if (error == std::errc() && end == value.data() + value.size()) out.emplace(name, number);
  }
  return out;
}

/// Compares the shapes of the files with what one entry says of them, as far as weights alone determine its
/// sizes.
class ShapeCheck {
 public:
  ShapeCheck(const Entry& entry, const std::map<std::string, int64_t>& metadata,
             const std::vector<const weights::Source*>& sources, const FieldNames& names)
      : entry_(entry), sizes_(entry), metadata_(metadata), sources_(sources), names_(names) {}

  /// Adds a misfit per weight, unless that weight has one already.
  void run(std::vector<std::string>& misfits) {
    for (size_t size = 0; size < entry_.sizes.size(); ++size) find(size, misfits);
    for (const Port& port : entry_.inputs) {
      const weights::Source* const source = port.kind == AXON_WEIGHT ? sources_[port.weight] : nullptr;
      if (source && !fits(port, *source)) misfit(port, *source, "", misfits);
    }
  }

 private:
  void find(size_t size, std::vector<std::string>& misfits) {
    const Size& rule = entry_.sizes[size];
    if (rule.from != AXON_FROM_AXIS || entry_.inputs[rule.input].kind != AXON_WEIGHT) {
      const auto found = metadata_.find(rule.name);
      if (found != metadata_.end()) sizes_.set(size, found->second, /*from_metadata=*/true);
      return;
    }
    const Port& port = entry_.inputs[rule.input];
    const weights::Source* const source = sources_[port.weight];
    const uint64_t others = rule.equation.mask() & ~(uint64_t{1} << size);
    if (!source || (others & ~sizes_.known())) return;
    bool changed = false;
    if (auto failure = sizes_.solve(size, static_cast<int64_t>(source->shape[rule.axis]), changed))
      misfit(port, *source, failure->text, misfits);
  }
  bool fits(const Port& port, const weights::Source& source) const {
    for (size_t axis = 0; axis < port.shape.size(); ++axis) {
      int64_t expected = 0;
      if (!sizes_.knows(port.shape[axis])) continue;
      if (!port.shape[axis].evaluate(sizes_.values(), expected) || expected < 0 ||
          static_cast<uint64_t>(expected) != source.shape[axis])
        return false;
    }
    return true;
  }
  void misfit(const Port& port, const weights::Source& source, const std::string& why,
              std::vector<std::string>& misfits) {
    std::string& out = misfits[port.weight];
    if (!out.empty()) return;
    uint64_t mask = 0;
    for (const Dim& dim : port.shape) mask |= dim.mask();
    const std::string origins = sizes_.origins(mask);
    out = text("parameter ", printable(names_[port.weight]), " is ", weights::shape_text(source.shape),
               " in the file, expected ", sizes_.shape(port.shape),
               origins.empty() ? "" : text(" (", origins, ")"), why.empty() ? "" : text(": ", why));
  }

  const Entry& entry_;
  SizeTable sizes_;
  const std::map<std::string, int64_t>& metadata_;
  const std::vector<const weights::Source*>& sources_;
  const FieldNames& names_;
};

std::vector<const weights::Source*> by_weight(const Manifest& manifest, const FieldNames& names,
                                              const weights::Binding& binding) {
  std::vector<const weights::Source*> out(manifest.weights.size(), nullptr);
  for (size_t i = 0; i < out.size(); ++i)
    for (const weights::Source& source : binding.sources)
      if (source.field.path == names[i]) out[i] = &source;
  return out;
}

Failure list_misfits(const std::vector<std::string>& lines) {
  std::string out = text("the weights do not fit the program", lines.size() == 1 ? ": " : ":\n  ");
  for (size_t i = 0; i < lines.size(); ++i) out += text(i ? "\n  " : "", lines[i]);
  return {AXON_BAD_WEIGHTS, weights::code::binding, out};
}

/// Where a mapped weight may be used as it is; nullptr when it must be copied.
const void* mapped(const weights::TensorFile& file, const weights::Source& source, const Layout& layout) {
  if (layout.panel || !source.identity()) return nullptr;
  const auto view = file.view(file.table.tensors[source.tensors[0]]);
  if (!view || view->empty()) return nullptr;
  const uint64_t bytes = weights::dtype_bytes(source.field.dtype);
  return reinterpret_cast<uintptr_t>(view->data()) % bytes == 0 ? view->data() : nullptr;
}

uint64_t prepared_bytes(const weights::Source& source, const Layout& layout) {
  const uint64_t element = weights::dtype_bytes(source.field.dtype);
  return layout.panel ? panel_bytes(source.shape, layout.width, element)
                      : *weights::byte_count(source.shape, source.field.dtype);
}

Failure no_memory(uint64_t bytes) {
  return system_failure(text("cannot get ", bytes, " bytes for the weights"));
}

Status fill(const weights::TensorFile& file, const weights::Source& source, const Layout& layout,
            uint8_t* out) {
  const auto as_status = [](weights::Status error) {
    return error ? Status(bad_weights(*error)) : std::nullopt;
  };
  const uint64_t plain = *weights::byte_count(source.shape, source.field.dtype);
  if (!layout.panel) return as_status(weights::load(file, source, {out, plain}));
  auto memory = Memory::allocate(plain);
  if (!memory) return no_memory(plain);
  if (auto failure = as_status(weights::load(file, source, {memory->data(), plain}))) return failure;
  pack_panels(source.shape, layout.width, weights::dtype_bytes(source.field.dtype), memory->data(), out);
  return std::nullopt;
}

Status prepare(Parameters& parameters, const weights::TensorFile& file,
               const std::vector<const weights::Source*>& sources) {
  const auto& manifest = parameters.bundle->manifest;
  std::vector<uint64_t> offsets(sources.size(), 0);
  uint64_t total = 0;
  parameters.weights.resize(sources.size());
  for (size_t i = 0; i < sources.size(); ++i) {
    auto& weight = parameters.weights[i];
    weight.shape.assign(sources[i]->shape.begin(), sources[i]->shape.end());
    weight.data = mapped(file, *sources[i], manifest.weights[i].layout);
    offsets[i] = total;
    if (!weight.data)
      total += round_up(prepared_bytes(*sources[i], manifest.weights[i].layout) + 1, alignment);
    if (total > limits::tensor_bytes) return no_memory(total);
  }
  auto memory = Memory::allocate(total);
  if (!memory) return no_memory(total);
  parameters.memory = std::move(*memory);
  parameters.copied_bytes = total;
  for (size_t i = 0; i < sources.size(); ++i) {
    if (parameters.weights[i].data) continue;
    uint8_t* const out = parameters.memory.data() + offsets[i];
    if (auto failure = fill(file, *sources[i], manifest.weights[i].layout, out)) return failure;
    parameters.weights[i].data = out;
  }
  return std::nullopt;
}

}  // namespace

uint64_t panel_bytes(const std::vector<uint64_t>& shape, uint64_t width, uint64_t element_bytes) {
  uint64_t matrices = element_bytes;
  for (size_t i = 0; i + 2 < shape.size(); ++i) matrices *= shape[i];
  const uint64_t k = shape[shape.size() - 2], n = shape[shape.size() - 1];
  return matrices * k * round_up(n, width);
}

void pack_panels(const std::vector<uint64_t>& shape, uint64_t width, uint64_t element_bytes,
                 const uint8_t* in, uint8_t* out) {
  uint64_t matrices = 1;
  for (size_t i = 0; i + 2 < shape.size(); ++i) matrices *= shape[i];
  const uint64_t k = shape[shape.size() - 2], n = shape[shape.size() - 1];
  const uint64_t row = n * element_bytes, panel_row = width * element_bytes;
  for (uint64_t matrix = 0; matrix < matrices; ++matrix)
    for (uint64_t column = 0; column < row; column += panel_row)
      for (uint64_t i = 0; i < k; ++i, out += panel_row)
        std::memcpy(out, in + (matrix * k + i) * row + column, std::min(panel_row, row - column));
}

Result<std::vector<int64_t>> input_shape(const Parameters& parameters, const Entry& entry,
                                         const Port& input) {
  SizeTable sizes(entry);
  for (size_t i = 0; i < entry.sizes.size(); ++i) {
    const Size& rule = entry.sizes[i];
    const bool of_weight = rule.from == AXON_FROM_AXIS && entry.inputs[rule.input].kind == AXON_WEIGHT;
    const auto stated = parameters.sizes.find(rule.name);
    bool changed = false;
    if (of_weight && (rule.equation.mask() & ~sizes.known() & ~(uint64_t{1} << i)) == 0) {
      const auto& shape = parameters.weights[entry.inputs[rule.input].weight].shape;
      if (auto failure = sizes.solve(i, shape[rule.axis], changed)) return std::move(*failure);
    } else if (stated != parameters.sizes.end()) {
      sizes.set(i, stated->second, /*from_metadata=*/true);
    }
  }
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

Result<weights::TensorFile> open_weight_files(const std::vector<std::string>& paths) {
  weights::TensorFile out;
  for (const std::string& path : paths) {
    auto file = weights::open_tensors(path);
    if (!file) return bad_weights(file.error());
    for (weights::Tensor& tensor : file->table.tensors) {
      tensor.file += static_cast<uint32_t>(out.files.size());
      out.table.tensors.push_back(std::move(tensor));
    }
    out.files.insert(out.files.end(), file->files.begin(), file->files.end());
    out.table.metadata.merge(file->table.metadata);
  }
  auto& tensors = out.table.tensors;
  std::sort(tensors.begin(), tensors.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  for (size_t i = 1; i < tensors.size(); ++i)
    if (tensors[i].name == tensors[i - 1].name)
      return Failure{AXON_BAD_WEIGHTS, weights::code::binding,
                     text("tensor ", printable(tensors[i].name), " is in more than one of the files")};
  return out;
}

Result<std::shared_ptr<Parameters>> bind_parameters(std::shared_ptr<const Bundle> bundle,
                                                    weights::TensorFile file, std::string_view map_text) {
  const Manifest& manifest = bundle->manifest;
  const weights::ParsedMap map = weights::parse_binding_map(map_text);
  std::vector<std::string> lines;
  for (const weights::Error& error : map.errors) lines.push_back(error.message);
  if (!lines.empty()) return Failure{AXON_BAD_WEIGHTS, weights::code::map, list_misfits(lines).text};

  const FieldNames names(manifest, file.table, map.map);
  std::vector<weights::Field> fields;
  for (size_t i = 0; i < manifest.weights.size(); ++i)
    fields.push_back(
        {names[i], static_cast<weights::Dtype>(manifest.weights[i].elem), manifest.weights[i].rank, 0});
  const weights::Binding binding = weights::bind_parameters(file.table, map.map, fields);
  const auto sources = by_weight(manifest, names, binding);

  auto parameters = std::make_shared<Parameters>();
  parameters->bundle = bundle;
  parameters->metadata = file.table.metadata;
  parameters->sizes = sizes_in(file.table);
  std::vector<std::string> misfits(manifest.weights.size());
  for (const Entry& entry : manifest.entries)
    ShapeCheck(entry, parameters->sizes, sources, names).run(misfits);
  for (const weights::Error& error : binding.misfits) lines.push_back(error.message);
  for (const std::string& misfit : misfits)
    if (!misfit.empty()) lines.push_back(misfit);
  if (!lines.empty()) return list_misfits(lines);
  if (auto failure = prepare(*parameters, file, sources)) return *failure;
  parameters->files = std::move(file.files);
  return parameters;
}

}  // namespace axon::host
