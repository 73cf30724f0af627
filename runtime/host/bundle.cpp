// Opening a bundle (bundle.h).
#include "host/bundle.h"

#include <algorithm>

#include "host/limits.h"
#include "host/weights/file.h"

namespace axon::host {
namespace {

/// The container has exactly the manifest and the images that the manifest lists.
Status check_sections(const Container& container, const Manifest& manifest) {
  const auto damaged = [](std::string what) {
    return Failure{AXON_BAD_BUNDLE, code::container, std::move(what)};
  };
  for (const std::string& level : manifest.levels)
    if (!container.find(level))
      return damaged(text("damaged bundle: section ", printable(level), " is missing"));
  for (const Section& section : container.sections)
    if (section.name != "manifest" &&
        std::find(manifest.levels.begin(), manifest.levels.end(), section.name) == manifest.levels.end())
      return damaged(text("damaged bundle: unknown section ", printable(section.name)));
  return std::nullopt;
}

/// Costs only make launches faster: a file that cannot be read, or is for another bundle, counts as none.
std::shared_ptr<const Costs> costs_beside(const std::string& path, const Bundle& bundle) {
  const auto file = weights::File::open(costs_path(path));
  if (!file || (*file)->size() > limits::manifest_bytes) return nullptr;
  std::vector<uint8_t> bytes((*file)->size());
  if ((*file)->read(0, bytes.data(), bytes.size())) return nullptr;
  return read_costs(Bytes(bytes), bundle.manifest_hash, bundle.image->level());
}

}  // namespace

const Entry* Bundle::find(std::string_view name) const {
  for (const Entry& entry : manifest.entries)
    if (entry.name == name) return &entry;
  return nullptr;
}

std::string Bundle::entry_list() const {
  std::string out;
  for (const Entry& entry : manifest.entries) out += (out.empty() ? "" : ", ") + printable(entry.name);
  return out.empty() ? "no entries" : out;
}

Result<std::shared_ptr<Bundle>> load_bundle(Bytes bytes) {
  auto container = read_container(bytes);
  if (!container) return container.failure();
  const Section* const section = container->find("manifest");
  if (!section) return Failure{AXON_BAD_BUNDLE, code::container, "damaged bundle: it has no manifest"};
  auto manifest = read_manifest(section->bytes);
  if (!manifest) return manifest.failure();
  if (auto failure = check_sections(*container, *manifest)) return *failure;
  auto bundle = std::make_shared<Bundle>();
  bundle->manifest = std::move(*manifest);
  if (!bundle->manifest.levels.empty()) {
    auto image = Image::load(*container);
    if (!image) return image.failure();
    bundle->image = *image;
  }
  bundle->manifest_hash = fnv1a(section->bytes);
  point_to_shapes(bundle->manifest);
  for (const Entry& entry : bundle->manifest.entries) {
    auto& kernels = bundle->kernels.emplace_back();
    for (const Variant& variant : entry.variants) {
      auto kernel = bundle->image->kernel(variant.symbol);
      if (!kernel) return kernel.failure();
      kernels.push_back(*kernel);
    }
  }
  return bundle;
}

std::shared_ptr<Bundle> with_entry_alone(const Bundle& whole, const Entry& entry) {
  auto bundle = std::make_shared<Bundle>(whole);
  Manifest& manifest = bundle->manifest;
  manifest.entries = {entry};
  manifest.weights.clear();
  std::vector<bool> taken(whole.manifest.weights.size(), false);
  for (Port& port : manifest.entries[0].inputs) {
    if (port.kind != AXON_WEIGHT) continue;
    taken[port.weight] = true;
    manifest.weights.push_back(whole.manifest.weights[port.weight]);
    port.weight = static_cast<uint32_t>(manifest.weights.size() - 1);
  }
  for (size_t i = 0; i < taken.size(); ++i)
    if (!taken[i]) manifest.other_weights.push_back(whole.manifest.weights[i].path);
  bundle->kernels = {whole.kernels[static_cast<size_t>(&entry - whole.manifest.entries.data())]};
  point_to_shapes(manifest);
  return bundle;
}

Result<std::shared_ptr<Bundle>> open_bundle(const std::string& path) {
  const auto as_failure = [](const weights::Error& error) { return system_failure(error.message); };
  const auto file = weights::File::open(path);
  if (!file) return as_failure(file.error());
  if ((*file)->size() > limits::bundle_bytes)
    return Failure{AXON_BAD_BUNDLE, code::container, text(printable(path), " is too large to be a bundle")};
  std::vector<uint8_t> bytes((*file)->size());
  if (auto error = (*file)->read(0, bytes.data(), bytes.size())) return as_failure(*error);
  auto bundle = load_bundle(Bytes(bytes));
  if (!bundle)
    bundle.failure().text = text(printable(path), ": ", bundle.failure().text);
  else if ((*bundle)->image)
    (*bundle)->costs = costs_beside(path, **bundle);
  return bundle;
}

}  // namespace axon::host
