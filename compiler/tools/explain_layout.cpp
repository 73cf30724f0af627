// See explain_layout.h. The bytes are counted: the steps run on shards of numbered elements.
#include "tools/explain_layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/elem.h"
#include "layout/evaluate.h"
#include "layout/shards.h"
#include "layout/text.h"

namespace axon::tools {

namespace {

/// The command line is wrong; the words say how.
struct Wrong {
  std::string what;
};

/// NAME=NUMBER, from 1 on.
std::pair<std::string, int64_t> named_number(const std::string& text) {
  const size_t equals = text.find('=');
  int64_t value = 0;
  const char* const begin = text.data() + std::min(text.size(), equals == std::string::npos ? 0 : equals + 1);
  const auto [end, problem] = std::from_chars(begin, text.data() + text.size(), value);
  if (equals == 0 || equals == std::string::npos || problem != std::errc() ||
      end != text.data() + text.size() || value < 1)
    throw Wrong{fmt::format("`{}` is not of the form NAME=NUMBER, with a number from 1 on", text)};
  return {text.substr(0, equals), value};
}

class Explanation {
 public:
  explicit Explanation(const LayoutOptions& o) {
    const auto elem = base::elem_from_name(o.elem);
    if (!elem) throw Wrong{fmt::format("`{}` is no element type", o.elem)};
    bytes_ = base::elem_bytes(*elem);
    std::vector<layout::Axes::MeshAxis> mesh;
    for (const std::string& text : o.mesh) {
      const auto [name, count] = named_number(text);
      if (!counts_.emplace(name, count).second) throw Wrong{fmt::format("`{}` is given twice", name)};
      mesh.push_back({name, count});
      devices_ *= count;
      if (devices_ > most_devices)
        throw Wrong{fmt::format("a mesh has at most {} devices here", most_devices)};
    }
    if (!axes_.add_mesh("mesh", mesh)) throw Wrong{"an axis of the mesh is called like one of every machine"};
    for (const std::string& text : o.common.defines) sizes_.insert(named_number(text));
    for (const std::string& axis : o.partial) {
      if (!counts_.count(axis)) throw Wrong{fmt::format("`{}` is no axis of the mesh", axis)};
      partial_.insert(axis);
    }
    const size_t arrow = o.layouts.find("->");
    if (arrow == std::string::npos) throw Wrong{"two layouts are written FROM -> TO"};
    from_ = read(o.layouts.substr(0, arrow));
    to_ = read(o.layouts.substr(arrow + 2));
  }

  std::string text() const {
    if (layout::size(from_).constant().value_or(0) > most_elements)
      throw Wrong{
          fmt::format("the tensor has over {} elements: give it smaller sizes, which scale", most_elements)};
    const auto found = layout::collective(from_, to_, counts_, partial_);
    if (!found) throw Wrong{found.why()};
    const layout::MeshRun ran = layout::run(*found, shards());
    std::string out = fmt::format("from {}\nto   {}\n", print(from_), print(to_));
    int64_t all = 0;
    for (size_t i = 0; i < found->steps.size(); ++i) {
      const int64_t moved = ran.moved[i] * bytes_;
      all += moved;
      out += fmt::format("  {}: {}\n", print(*found, found->steps[i]), bytes_text(moved));
    }
    if (found->steps.empty()) out += "  nothing moves between devices\n";
    if (!found->by_elements.empty()) out += fmt::format("  element by element: {}\n", found->by_elements);
    return out + fmt::format("{} between {} device{}\n", bytes_text(all), devices_, devices_ == 1 ? "" : "s");
  }

 private:
  static std::string bytes_text(int64_t bytes) {
    return bytes == 0 ? "no bytes" : fmt::format("{} byte{}", bytes, bytes == 1 ? "" : "s");
  }

  layout::Layout read(const std::string& text) const {
    layout::ParseError error;
    const auto size = [&](std::string_view name) -> std::optional<shape::Dim> {
      const auto known = sizes_.find(std::string(name));
      return known == sizes_.end() ? std::nullopt : std::optional(shape::Dim(known->second));
    };
    const size_t begin = text.find_first_not_of(' '), end = text.find_last_not_of(' ');
    const std::string bare = begin == std::string::npos ? "" : text.substr(begin, end - begin + 1);
    const auto out = layout::parse(bare, size, axes_, &error);
    if (!out)
      throw Wrong{fmt::format("{}: {} (at {}); the axes are given by --mesh x=4,y=2, sizes by -D n=1024",
                              bare, error.message, error.offset)};
    return *out;
  }

  /// Every device with its elements, whose values do not matter.
  layout::Shards shards() const {
    layout::Shards out;
    const int64_t elements = *layout::size(from_).constant();
    for (int64_t x = 0; x < elements; ++x)
      for (const layout::Point& point : layout::points(from_, x)) {
        std::vector<int64_t> device;
        for (const auto& [axis, count] : counts_) device.push_back(point.count(axis) ? point.at(axis) : 0);
        out[device][point.count({}) ? point.at({}) : 0] = static_cast<double>(x);
      }
    return out;
  }

  static constexpr int64_t most_devices = 4096, most_elements = 1 << 20;
  std::map<layout::Axis, int64_t> counts_;
  std::map<std::string, int64_t> sizes_;
  std::set<layout::Axis> partial_;
  layout::Axes axes_;
  layout::Layout from_, to_;
  int64_t bytes_ = 4, devices_ = 1;
};

}  // namespace

int explain_layout(const LayoutOptions& o) {
  try {
    fmt::print("{}", Explanation(o).text());
    return ok;
  } catch (const Wrong& wrong) {
    fmt::print(stderr, "etcc: {}\n", wrong.what);
    return usage;
  }
}

}  // namespace axon::tools
