// See weight_fit.h.
#include "host/weight_fit.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <functional>
#include <numeric>
#include <set>

#include "host/sizes.h"

namespace axon::host {
namespace {

using Sources = std::vector<std::optional<weights::Source>>;

std::string parameter_of(const Weight& weight) { return weight.path.substr(0, weight.path.find('.')); }

/// The name of each weight in a file or a binding map. It begins with the weight's parameter, `p.embed`;
/// where all fields of exactly one parameter are found without it, those are meant. Where a map has a rule
/// for one of the two names, that is the one.
class FieldNames {
 public:
  FieldNames(const Manifest& manifest, const weights::TensorTable& table, const weights::BindingMap& map) {
    const auto known = [&](const std::string& name) { return weights::is_named(table, map, name); };
    const auto ruled = [&](const Weight& weight, const std::string& name) {
      return map.find(name).rule && weights::is_named(table, map, name, parameter_of(weight));
    };
    std::map<std::string, bool> fits;  // by parameter: all of its fields are found by their short names
    std::set<std::string> named;       // all of its fields are found by their whole names
    for (const Weight& weight : manifest.weights)
      fits[parameter_of(weight)] = true, named.insert(parameter_of(weight));
    for (const Weight& weight : manifest.weights) {
      if (!known(short_name(weight))) fits[parameter_of(weight)] = false;
      if (!known(weight.path)) named.erase(parameter_of(weight));
    }
    for (const auto& [name, all] : fits)
      if ((all && !named.contains(name)) || fits.size() == 1) fitting_.push_back(name);
    for (const Weight& weight : manifest.weights) {
      const std::string name = short_name(weight);
      const bool meant = fitting_.size() == 1 && fitting_[0] == parameter_of(weight);
      const bool is_short = !ruled(weight, weight.path) && (ruled(weight, name) || !known(weight.path));
      names_.push_back(meant && is_short ? name : weight.path);
    }
  }
  const std::vector<std::string>& names() const { return names_; }
  /// What to say to somebody whose names leave open which parameter is meant; else empty.
  std::string doubt() const {
    if (fitting_.size() < 2) return "";
    std::string all;
    for (const std::string& one : fitting_) all += (all.empty() ? "" : ", ") + printable(one);
    return text("names without a parameter fit each of ", all, ": begin them with the one that is meant");
  }

 private:
  static std::string short_name(const Weight& weight) {
    const size_t dot = weight.path.find('.');
    return dot == std::string::npos ? weight.path : weight.path.substr(dot + 1);
  }

  std::vector<std::string> fitting_;  ///< the parameters that names without one may mean
  std::vector<std::string> names_;
};

/// `a`, `b` and 3 others
std::string some_of(const std::vector<std::string>& names) {
  constexpr size_t shown = 2;
  std::string out;
  for (size_t i = 0; i < std::min(names.size(), shown); ++i) {
    const bool last = i + 1 == names.size();
    out += text(i == 0 ? "" : last ? " and " : ", ", printable(names[i]));
  }
  if (names.size() == shown + 1) out += text(" and ", printable(names[shown]));
  if (names.size() > shown + 1) out += text(" and ", names.size() - shown, " others");
  return out;
}

/// The sizes of an entry, as far as shapes of weights and metadata determine them.
///
/// A size that stands alone in axes of several weights is the one that most of them have; so the one that
/// disagrees is known. Others are solved for in the manifest's order.
class WeightSizes {
 public:
  using Complain = std::function<void(const Port&, const std::string& why)>;

  WeightSizes(const Entry& entry, const std::map<std::string, int64_t>& metadata, const Sources& sources,
              const std::vector<std::string>& names)
      : entry_(entry), metadata_(metadata), sources_(sources), names_(names), sizes_(entry) {}

  SizeTable& solve(const Complain& complain) {
    for (size_t size = 0; size < entry_.sizes.size(); ++size) find(size, complain);
    return sizes_;
  }

 private:
  const weights::Source* source_of(const Port& port) const {
    return port.kind == AXON_WEIGHT && sources_[port.weight] ? &*sources_[port.weight] : nullptr;
  }

  void find(size_t size, const Complain& complain) {
    const Size& rule = entry_.sizes[size];
    const Port* const port = rule.from == AXON_FROM_AXIS ? &entry_.inputs[rule.input] : nullptr;
    const weights::Source* const source = port ? source_of(*port) : nullptr;
    if (agree(size, source ? 2 : 1)) return;
    if (!source) {  // of another kind, or of a weight that is not bound yet, as others are not that have it
      const auto found = metadata_.find(rule.name);
      if (found != metadata_.end()) sizes_.set(size, found->second, /*from_metadata=*/true);
      return;
    }
    const uint64_t others = rule.equation.mask() & ~(uint64_t{1} << size);
    if (others & ~sizes_.known()) return;
    bool changed = false;
    if (auto failure = sizes_.solve(size, static_cast<int64_t>(source->shape[rule.axis]), changed))
      complain(*port, failure->text);
  }

  /// Sets a size that has at least so many values, one of which most weights agree on.
  bool agree(size_t size, size_t least) {
    std::map<uint64_t, std::vector<std::string>> votes;
    size_t voters = 0;
    for (const Port& port : entry_.inputs) {
      const weights::Source* const source = source_of(port);
      std::set<uint64_t> extents;
      for (size_t axis = 0; source && axis < port.shape.size(); ++axis)
        if (port.shape[axis].as_size() == static_cast<int>(size)) extents.insert(source->shape[axis]);
      for (const uint64_t extent : extents) votes[extent].push_back(names_[port.weight]);
      voters += extents.size();
    }
    if (votes.size() < least) return false;
    const auto most = std::max_element(votes.begin(), votes.end(), [](const auto& a, const auto& b) {
      return a.second.size() < b.second.size();
    });
    if (2 * most->second.size() <= voters) return false;
    sizes_.set_agreed(size, static_cast<int64_t>(most->first), "by " + some_of(most->second));
    return true;
  }

  const Entry& entry_;
  const std::map<std::string, int64_t>& metadata_;
  const Sources& sources_;
  const std::vector<std::string>& names_;
  SizeTable sizes_;
};

/// How much of a tensor each of the weights has that share it, by what the entries say of them.
class PartSizes {
 public:
  PartSizes(const Manifest& manifest, const std::map<std::string, int64_t>& metadata,
            const std::vector<std::string>& names)
      : manifest_(manifest), metadata_(metadata), names_(names) {}

  weights::Result<std::vector<uint64_t>> operator()(const weights::Shared& shared,
                                                    const weights::Binding& so_far) const {
    std::string why;
    for (const Entry& entry : manifest_.entries) {
      const std::vector<const Dim*> dims = dims_of(entry, shared);
      if (dims.empty()) continue;
      WeightSizes known(entry, metadata_, so_far.sources, names_);
      SizeTable sizes = known.solve([](const Port&, const std::string&) {});
      if (auto found = divide(dims, shared.extent, sizes, why)) return std::move(*found);
    }
    return weights::Error{
        weights::code::binding,
        why.empty() ? text("and no entry has all of its parts: state their sizes behind `split`") : why};
  }

 private:
  /// What the entry says of the axis, of each weight; empty where it does not have all of them.
  static std::vector<const Dim*> dims_of(const Entry& entry, const weights::Shared& shared) {
    std::vector<const Dim*> out;
    for (const uint32_t weight : shared.fields)
      for (const Port& port : entry.inputs)
        if (port.kind == AXON_WEIGHT && port.weight == weight && shared.axis < port.shape.size()) {
          out.push_back(&port.shape[shared.axis]);
          break;
        }
    return out.size() == shared.fields.size() ? out : std::vector<const Dim*>();
  }

  static bool sum_of(const std::vector<const Dim*>& dims, const int64_t* sizes, int64_t& out) {
    out = 0;
    for (const Dim* dim : dims) {
      int64_t value = 0;
      if (!dim->evaluate(sizes, value) || value < 0 || __builtin_add_overflow(out, value, &out)) return false;
    }
    return true;
  }

  static std::optional<std::vector<uint64_t>> divide(const std::vector<const Dim*>& dims, uint64_t extent,
                                                     SizeTable& sizes, std::string& why) {
    std::string formula;
    uint64_t mask = 0;
    bool same = true;
    for (const Dim* dim : dims) {
      formula += text(formula.empty() ? "" : " + ", dim->str());
      mask |= dim->mask();
      same = same && dim->str() == dims[0]->str();
    }
    if (const uint64_t open = mask & ~sizes.known(); open != 0) {
      if (same && extent % dims.size() == 0) return std::vector<uint64_t>(dims.size(), extent / dims.size());
      if ((open & (open - 1)) != 0 || !solve(dims, extent, std::countr_zero(open), sizes)) {
        why = text("whose parts `", formula, "`", sizes.origins_in_brackets(mask),
                   " do not follow from it: state their sizes behind `split`");
        return std::nullopt;
      }
    }
    int64_t sum = 0;
    if (!sum_of(dims, sizes.values(), sum) || static_cast<uint64_t>(sum) != extent) {
      why = text("and ", extent, " is not `", formula, "`, ", sum, sizes.origins_in_brackets(mask));
      return std::nullopt;
    }
    std::vector<uint64_t> out;
    for (const Dim* dim : dims) {
      int64_t value = 0;
      static_cast<void>(dim->evaluate(sizes.values(), value));  // it went well in the sum
      out.push_back(static_cast<uint64_t>(value));
    }
    return out;
  }

  /// Finds the only size that is open, in which the sum is linear.
  static bool solve(const std::vector<const Dim*>& dims, uint64_t extent, int size, SizeTable& sizes) {
    std::vector<int64_t> values(sizes.values(), sizes.values() + sizes.count());
    int64_t at_zero = 0, at_one = 0, check = 0;
    int64_t& value = values[static_cast<size_t>(size)];
    value = 0;
    if (!sum_of(dims, values.data(), at_zero)) return false;
    value = 1;
    if (!sum_of(dims, values.data(), at_one) || at_one <= at_zero) return false;
    value = (static_cast<int64_t>(extent) - at_zero) / (at_one - at_zero);
    if (value < 0 || !sum_of(dims, values.data(), check) || check != static_cast<int64_t>(extent))
      return false;
    sizes.set(static_cast<size_t>(size), value);
    return true;
  }

  const Manifest& manifest_;
  const std::map<std::string, int64_t>& metadata_;
  const std::vector<std::string>& names_;
};

/// Compares the shapes of the files with what one entry says of them, as far as weights alone determine its
/// sizes.
class ShapeCheck {
 public:
  ShapeCheck(const Entry& entry, const std::map<std::string, int64_t>& metadata, const WeightFit& fit,
             const weights::TensorTable& table)
      : entry_(entry), metadata_(metadata), fit_(fit), table_(table) {}

  /// Adds a misfit per weight, unless that weight has one already.
  void run(std::vector<std::string>& misfits) {
    WeightSizes known(entry_, metadata_, fit_.binding.sources, fit_.names);
    std::vector<std::pair<const Port*, std::string>> unsolved;
    const SizeTable& sizes =
        known.solve([&](const Port& port, const std::string& why) { unsolved.emplace_back(&port, why); });
    // What cannot be solved is told when all sizes are known that the message shows.
    for (const auto& [port, why] : unsolved) misfit(*port, why, sizes, misfits);
    for (const Port& port : entry_.inputs)
      if (const auto* const source = source_of(port); source && !fits(port, source->shape, sizes))
        misfit(port, "", sizes, misfits);
  }

 private:
  const weights::Source* source_of(const Port& port) const {
    const auto& sources = fit_.binding.sources;
    return port.kind == AXON_WEIGHT && sources[port.weight] ? &*sources[port.weight] : nullptr;
  }
  static bool fits(const Port& port, const std::vector<uint64_t>& shape, const SizeTable& sizes) {
    for (size_t axis = 0; axis < port.shape.size(); ++axis) {
      int64_t expected = 0;
      if (!sizes.knows(port.shape[axis])) continue;
      if (!port.shape[axis].evaluate(sizes.values(), expected) || expected < 0 ||
          static_cast<uint64_t>(expected) != shape[axis])
        return false;
    }
    return true;
  }

  void misfit(const Port& port, const std::string& why, const SizeTable& sizes,
              std::vector<std::string>& misfits) {
    const weights::Source* const source = source_of(port);
    std::string& out = misfits[port.weight];
    if (!source || !out.empty()) return;
    uint64_t mask = 0;
    for (const Dim& dim : port.shape) mask |= dim.mask();
    out = text("parameter ", printable(fit_.names[port.weight]), " is ", weights::shape_text(source->shape),
               source->axes ? text(" by `", weights::text_of(*source->axes), "`") : " in the file",
               tensors_of(port, *source), ", expected ", sizes.shape(port.shape),
               sizes.origins_in_brackets(mask), why.empty() ? "" : text(": ", why));
    out += offered(port, *source, sizes);
  }

  /// The order of its axes in which a weight would fit; or empty.
  static std::string offered(const Port& port, const weights::Source& source, const SizeTable& sizes) {
    constexpr size_t most_axes = 5;
    const size_t rank = source.shape.size();
    if (rank < 2 + source.stack || !source.segments.empty() || source.axes) return "";
    std::vector<uint64_t> turned = source.shape;
    std::swap(turned[rank - 1], turned[rank - 2]);
    if (fits(port, turned, sizes) && turned != source.shape)
      return source.transposed ? "; without `transposed` it would fit" : "; with `transposed` it would fit";
    if (source.transposed || rank > most_axes + source.stack) return "";
    const std::span<const uint64_t> element = std::span(source.shape).subspan(source.stack);
    std::vector<uint32_t> order(element.size());
    std::iota(order.begin(), order.end(), 0U);
    std::string out;
    while (std::next_permutation(order.begin(), order.end())) {
      for (size_t k = 0; k < order.size(); ++k) turned[source.stack + k] = element[order[k]];
      if (!fits(port, turned, sizes)) continue;
      if (!out.empty()) return "";  // more than one does
      out = text("; with `", weights::text_of(weights::pattern_of(element, order)), "` it would fit");
    }
    return out;
  }

  /// The tensors that a source is made of, where they have other names than the weight.
  std::string tensors_of(const Port& port, const weights::Source& source) const {
    const weights::Tensor& first = table_.tensors[source.tensors[0]];
    if (first.name == fit_.names[port.weight] && !source.axes) return "";
    const size_t others = source.tensors.size() - 1;
    return text(" (", printable(first.name), others == 0 ? "" : text(" and ", others, " more"),
                source.axes ? ", " + weights::shape_text(first.shape) + " in the file" : "", ")");
  }

  const Entry& entry_;
  const std::map<std::string, int64_t>& metadata_;
  const WeightFit& fit_;
  const weights::TensorTable& table_;
};

}  // namespace

Failure list_misfits(const char* code, const std::vector<std::string>& lines) {
  const bool map = code == weights::code::map;
  std::string out = text(map ? "the binding map cannot be read" : "the weights do not fit the program",
                         lines.size() == 1 ? ": " : ":\n  ");
  for (size_t i = 0; i < lines.size(); ++i) out += text(i ? "\n  " : "", lines[i]);
  return {AXON_BAD_WEIGHTS, code, out};
}

std::map<std::string, int64_t> sizes_in(const weights::TensorTable& table) {
  std::map<std::string, int64_t> out;
  for (const auto& [name, value] : table.metadata) {
    int64_t number = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
    if (error == std::errc() && end == value.data() + value.size()) out.emplace(name, number);
  }
  return out;
}

Result<WeightFit> fit_weights(const Manifest& manifest, const weights::TensorTable& table,
                              std::string_view map_text) {
  const weights::ParsedMap map = weights::parse_binding_map(map_text);
  std::vector<std::string> lines;
  for (const weights::Error& error : map.errors) lines.push_back(error.message);
  if (!lines.empty()) return list_misfits(weights::code::map, lines);

  WeightFit out;
  const FieldNames names(manifest, table, map.map);
  out.names = names.names();
  std::vector<weights::Field> fields;
  for (size_t i = 0; i < manifest.weights.size(); ++i)
    fields.push_back({out.names[i], static_cast<Elem>(manifest.weights[i].elem), manifest.weights[i].rank, 0,
                      parameter_of(manifest.weights[i])});
  const auto metadata = sizes_in(table);
  out.binding = weights::bind_parameters(table, map.map, fields, PartSizes(manifest, metadata, out.names),
                                         manifest.other_weights);
  std::vector<std::string> misfits(manifest.weights.size());
  for (const Entry& entry : manifest.entries) ShapeCheck(entry, metadata, out, table).run(misfits);
  for (const weights::Error& error : out.binding.misfits) out.misfits.push_back(error.message);
  for (const std::string& misfit : misfits)
    if (!misfit.empty()) out.misfits.push_back(misfit);
  if (!out.binding.misfits.empty() && !names.doubt().empty()) out.misfits.push_back(names.doubt());
  return out;
}

}  // namespace axon::host
