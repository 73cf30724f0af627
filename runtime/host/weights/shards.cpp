// Reader for a shard index: {"metadata": {...}, "weight_map": {"tensor": "file name", ...}}.
//
// A shard is named by a plain file name, so an index cannot reach outside its own folder. Every listed
// tensor must be in its shard; tensors of a shard that the index does not list are left out.
#include <algorithm>
#include <set>

#include "host/weights/json_reader.h"
#include "host/weights/limits.h"
#include "host/weights/tensor_file.h"

namespace axon::weights {
namespace {

/// Collects weight_map. Everything else at the top level is skipped, whatever it holds, down to a bounded
/// depth.
class IndexReader : public JsonReader {
 public:
  std::vector<std::pair<std::string, std::string>> weights;  ///< tensor, shard

  bool start_object(std::size_t) override {
    if (!in_map_) return enter();
    if (depth_ > 1) return unexpected("an object");
    found_ = true;
    return enter();
  }
  bool end_object() override {
    --depth_;
    return true;
  }
  bool start_array(std::size_t) override { return in_map_ ? unexpected("an array") : enter(); }
  bool end_array() override {
    --depth_;
    return true;
  }
  bool key(string_t& name) override {
    if (depth_ == 1) {
      if (!top_level_.insert(name).second) return fail(text("key ", printable(name), " occurs twice"));
      in_map_ = name == "weight_map";
    } else if (in_map_) {
      tensor_ = name;
    }
    return true;
  }
  bool string(string_t& value) override {
    if (!in_map_) return true;
    if (depth_ != 2) return unexpected("a string");
    weights.emplace_back(tensor_, value);
    return true;
  }
  bool null() override { return in_map_ ? unexpected("null") : true; }
  bool boolean(bool) override { return in_map_ ? unexpected("a boolean") : true; }
  bool number_integer(number_integer_t) override { return in_map_ ? unexpected("a number") : true; }
  bool number_unsigned(number_unsigned_t) override { return in_map_ ? unexpected("a number") : true; }
  bool number_float(number_float_t, const string_t&) override {
    return in_map_ ? unexpected("a number") : true;
  }
  bool has_weight_map() const { return found_; }

 private:
  static constexpr int max_depth = 8;
  std::string where() const override { return in_map_ ? " in weight_map" : ""; }
  bool enter() { return ++depth_ <= max_depth || fail("nested too deeply", code::limit); }

  int depth_ = 0;
  bool in_map_ = false, found_ = false;
  std::set<std::string> top_level_;
  std::string tensor_;
};

bool is_plain_file_name(std::string_view name) {
  return !name.empty() && name != "." && name != ".." &&
         name.find_first_of(std::string_view("/\\\0", 3)) == name.npos;
}

/// Tensor -> shard pairs sorted by tensor.
Result<std::vector<std::pair<std::string, std::string>>> read_index(const File& file) {
  if (file.size() > limits::index_file)
    return Error{code::limit, text("the index is over the limit of ", limits::index_file, " bytes")};
  std::vector<uint8_t> json(file.size());
  if (auto error = file.read(0, json.data(), json.size())) return *error;
  IndexReader reader;
  if (auto error = reader.run(Bytes(json))) return *error;
  if (!reader.has_weight_map()) return Error{code::shards, "the index has no weight_map"};
  std::sort(reader.weights.begin(), reader.weights.end());
  for (size_t i = 0; i < reader.weights.size(); ++i) {
    const auto& [tensor, shard] = reader.weights[i];
    if (i > 0 && reader.weights[i - 1].first == tensor)
      return Error{code::format, text("tensor ", printable(tensor), " occurs twice in weight_map")};
    if (!is_plain_file_name(shard))
      return Error{code::shards,
                   text("shard ", printable(shard), " is not the name of a file beside the index")};
  }
  return std::move(reader.weights);
}

Result<TensorFile> open_shards(const std::string& folder,
                               const std::vector<std::pair<std::string, std::string>>& map) {
  std::map<std::string, TensorFile> shards;
  for (const auto& entry : map) shards.try_emplace(entry.second);
  if (shards.size() > limits::shards)
    return Error{code::limit, text("more than ", limits::shards, " shards")};
  TensorFile all;
  std::map<std::string, uint32_t> position;
  for (auto& [name, shard] : shards) {
    auto file = File::open(folder + name);
    if (!file) return file.error();
    auto opened = read_safetensors(*file);
    if (!opened) return opened.error();
    shard = std::move(*opened);
    position[name] = static_cast<uint32_t>(all.files.size());
    all.files.push_back(*file);
  }
  for (const auto& [tensor, shard] : map) {
    const Tensor* const found = shards[shard].table.find(tensor);
    if (!found)
      return Error{code::shards, text("tensor ", printable(tensor), " is not in shard ", printable(shard))};
    all.table.tensors.push_back(*found);
    all.table.tensors.back().file = position[shard];
  }
  for (const auto& entry : shards)
    all.table.metadata.insert(entry.second.table.metadata.begin(), entry.second.table.metadata.end());
  return all;
}

}  // namespace

Result<TensorFile> open_safetensors_index(const std::string& path) {
  auto file = File::open(path);
  if (!file) return file.error();
  const auto map = read_index(**file);
  if (!map) return Error{map.error().code, text(printable(path), ": ", map.error().message)};
  const size_t slash = path.rfind('/');
  auto shards = open_shards(slash == std::string::npos ? "" : path.substr(0, slash + 1), *map);
  if (!shards) return Error{shards.error().code, text(printable(path), ": ", shards.error().message)};
  return shards;
}

}  // namespace axon::weights
