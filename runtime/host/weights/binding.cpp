// Matching parameters with tensors (binding.h): every misfit is found before any data is touched.
#include "host/weights/binding.h"

#include <algorithm>
#include <map>
#include <set>

#include "host/weights/limits.h"
#include "host/weights/lookup.h"

namespace axon::weights {
namespace {

/// f32[2, 3] or, packed, q8_0[2, 32]
std::string described(const Tensor& tensor) { return text(type_name(tensor), shape_text(tensor.shape)); }

bool alike(const Tensor& a, const Tensor& b) {
  return a.shape == b.shape && a.dtype == b.dtype && a.packing == b.packing;
}

/// The tensors of one rule, for all elements of a stack.
struct Gathered {
  std::vector<uint32_t> tensors;  ///< joined ones in turn
  std::vector<uint64_t> stack;
  std::vector<std::vector<uint64_t>> shapes;  ///< of each that is joined, as the parameter has it
  bool transposed = false, summed = false;
  std::optional<AxesPattern> axes;
};

class Binder {
 public:
  Binder(const TensorTable& table, const BindingMap& map, std::span<const Field> fields,
         const PartSizes& part_sizes, std::span<const std::string> others)
      : table_(table), map_(map), fields_(fields), part_sizes_(part_sizes) {
    for (const std::string& other : others) {
      others_.insert(other);
      others_.insert(other.substr(other.find('.') + 1));
    }
  }

  Binding run() {
    out_.sources.resize(fields_.size());
    for (uint32_t i = 0; i < fields_.size(); ++i) {
      const auto match = map_.find(fields_[i].path);
      if (match.rule) used_.insert({match.rule, match.part});
      if (match.rule && match.rule->split)
        shared_[{match.rule, match.star}].emplace(match.part, i);
      else
        bind_field(i, match);
    }
    for (const std::string& other : others_)
      if (const auto match = map_.find(other); match.rule) used_.insert({match.rule, match.part});
    for (const auto& [rule, parts] : shared_) bind_parts(*rule.first, rule.second, parts);
    for (const Rule& rule : map_.rules())
      for (uint32_t part = 0; part < rule.fields.size(); ++part)
        if (!used_.contains({&rule, part}))
          misfit(text("line ", rule.line, " of the binding map: the program has no parameter ",
                      printable(rule.fields[part])));
    offer_prefix();
    return std::move(out_);
  }

 private:
  using Parts = std::map<uint32_t, uint32_t>;  ///< fields by their part of a rule

  void misfit(std::string message) { out_.misfits.push_back({code::binding, std::move(message)}); }
  static std::string label(const Field& field) { return text("parameter ", printable(field.path)); }

  // ---- tensors by name ----

  /// The tensors of one name, behind the first front under which they exist; `extents` are those of a stack.
  bool find_tensors(const Field& field, const BindingMap::Match& match, size_t which,
                    std::vector<uint32_t>& tensors, std::vector<uint64_t>& extents) {
    const size_t indices = match.rule ? match.rule->indices.size() : 0;
    for (const std::string& front : map_.fronts(field.parameter)) {
      const NamePattern pattern = map_.names(match, field.path, front)[which];
      if (indices > 0) {
        const Stack stack = find_stack(table_, pattern, indices);
        if (stack.tensors.empty()) continue;
        for (const auto& entry : stack.tensors) tensors.push_back(entry.second);
        extents = stack.extents;
        const std::string missing = gaps_of(stack, pattern);
        if (!missing.empty()) misfit(text(label(field), ": the stack has gaps; missing ", missing));
        return missing.empty();
      }
      if (const Tensor* const tensor = table_.find(pattern.pieces[0])) {
        tensors.push_back(static_cast<uint32_t>(tensor - table_.tensors.data()));
        return true;
      }
    }
    report_missing(field, match, which);
    return false;
  }

  void report_missing(const Field& field, const BindingMap::Match& match, size_t which) {
    const std::vector<uint64_t> zeros(match.rule ? match.rule->indices.size() : 0, 0);
    const std::string name = map_.names(match, field.path, map_.prefix)[which].name(zeros);
    std::string message = text(label(field), ": the weights have no tensor ", printable(name));
    if (!zeros.empty()) message += " to begin the stack";
    out_.absent.emplace(out_.misfits.size(), static_cast<uint32_t>(&field - fields_.data()));
    if (const std::string near = zeros.empty() ? nearest_name(table_, name) : ""; !near.empty())
      message += text("; there is ", printable(near));
    else if (!match.rule && field.stack > 0)
      message +=
          text("; to stack one tensor per layer, write `", field.path, "[l] <- ...{l}...` in a binding map");
    missing_.push_back(map_.names(match, field.path, "")[which].name(zeros));
    missing_at_.push_back(out_.misfits.size());
    misfit(message);
  }

  /// Where all names that are missing exist behind one prefix, one misfit says so in their place.
  void offer_prefix() {
    if (!map_.prefix.empty()) return;
    const std::string prefix = common_prefix(table_, missing_);
    if (prefix.empty()) return;
    std::string names;
    for (size_t i = 0; i < std::min(missing_.size(), shown_missing); ++i)
      names += (i ? ", " : "") + printable(missing_[i]);
    if (missing_.size() > shown_missing) names += text(" and ", missing_.size() - shown_missing, " others");
    const std::string line = text("prefix ", quoted_name(prefix));
    for (size_t i = missing_at_.size(); i-- > 0;)
      out_.misfits.erase(out_.misfits.begin() + static_cast<ptrdiff_t>(missing_at_[i]));
    out_.misfits.insert(out_.misfits.begin(),
                        {code::binding, text("the weights have no tensors ", names,
                                             ", but all of them behind ", printable(prefix), "; write ",
                                             printable(line), " as a line of the binding map")});
    out_.absent.clear();  // it is the prefix that is
  }

  // ---- shapes ----

  /// All tensors of a rule, checked against each other.
  std::optional<Gathered> gather(const Field& field, const BindingMap::Match& match) {
    Gathered out;
    const size_t joined = match.rule ? match.rule->tensors.size() : 1;
    std::vector<std::vector<uint32_t>> each(joined);
    for (size_t which = 0; which < joined; ++which) {
      std::vector<uint64_t> extents;
      if (!find_tensors(field, match, which, each[which], extents)) return std::nullopt;
      if (which > 0 && extents != out.stack) {
        misfit(text(label(field), ": the stack of ", printable(table_.tensors[each[which][0]].name), " is ",
                    shape_text(extents), ", that of ", printable(table_.tensors[each[0][0]].name), " is ",
                    shape_text(out.stack)));
        return std::nullopt;
      }
      out.stack = extents;
    }
    out.transposed = match.rule && match.rule->transposed;
    if (match.rule) out.axes = match.rule->axes;
    for (const auto& tensors : each)
      if (!add_shape(field, match, tensors, out)) return std::nullopt;
    for (size_t i = 0; i < each[0].size(); ++i)
      for (const auto& tensors : each) out.tensors.push_back(tensors[i]);
    out.summed = match.rule && match.rule->summed;
    if (out.summed && !check_summands(field, out)) return std::nullopt;
    return out;
  }

  /// Summands are floats of one type and shape. The first ones of a stack are like the others of it.
  bool check_summands(const Field& field, const Gathered& found) {
    const Tensor& first = table_.tensors[found.tensors[0]];
    if (!convertible(first.dtype, Elem::f64)) {
      misfit(text(label(field), ": ", printable(first.name), " is ", described(first),
                  ", and only f64, f32, f16 and bf16 are summed"));
      return false;
    }
    for (size_t i = 1; i < found.shapes.size(); ++i) {
      const Tensor& tensor = table_.tensors[found.tensors[i]];
      if (alike(tensor, first)) continue;
      misfit(text(label(field), ": ", printable(tensor.name), " is ", described(tensor),
                  ", which is not added to ", printable(first.name), ", ", described(first)));
      return false;
    }
    return true;
  }

  /// The shape of the tensors of a stack, which must be equal, as the parameter has it.
  bool add_shape(const Field& field, const BindingMap::Match& match, const std::vector<uint32_t>& tensors,
                 Gathered& out) {
    if (!check_alike(field, tensors)) return false;
    const Tensor& first = table_.tensors[tensors[0]];
    if (first.packing == Packing::unreadable) {
      misfit(text(label(field), ": ", printable(first.name), " is ", described(first),
                  ", an element type that is not read"));
      return false;
    }
    std::vector<uint64_t> shape = first.shape;
    if (!match.star.empty() && out.shapes.empty()) {
      if (shape.size() < 2) out.transposed = false;
      if (out.axes && out.axes->from.size() != shape.size()) out.axes = std::nullopt;
    }
    if (out.axes) {
      auto found = arranged(*out.axes, shape);
      if (!found) {
        misfit(text(label(field), ": ", printable(first.name), " is ", shape_text(shape), ", ",
                    found.error().message));
        return false;
      }
      shape = std::move(found->shape);
    }
    if (out.transposed) {
      if (shape.size() < 2) {
        misfit(text(label(field), ": ", printable(first.name), " is ", shape_text(shape),
                    ", too few axes to be transposed"));
        return false;
      }
      std::swap(shape[shape.size() - 1], shape[shape.size() - 2]);
    }
    out.shapes.push_back(std::move(shape));
    return true;
  }

  /// Where tensors of a stack differ, the ones that differ from most of them are named.
  bool check_alike(const Field& field, const std::vector<uint32_t>& tensors) {
    const auto same_as = [&](const Tensor& one) {
      return std::count_if(tensors.begin(), tensors.end(),
                           [&](uint32_t other) { return alike(one, table_.tensors[other]); });
    };
    const Tensor& first = table_.tensors[tensors[0]];
    const auto all = static_cast<ptrdiff_t>(tensors.size());
    if (same_as(first) == all) return true;
    const auto other = std::find_if(tensors.begin(), tensors.end(),
                                    [&](uint32_t t) { return !alike(first, table_.tensors[t]); });
    const Tensor& second = table_.tensors[*other];
    for (const auto& [usual, odd] : {std::pair(&first, &second), std::pair(&second, &first)}) {
      const ptrdiff_t count = same_as(*usual);
      if (2 * count <= all) continue;
      misfit(text(label(field), ": ", printable(odd->name), " is ", described(*odd), ", but ", count,
                  " others of the stack, such as ", printable(usual->name), ", are ", described(*usual)));
      return false;
    }
    misfit(text(label(field), ": ", printable(first.name), " is ", described(first), " but ",
                printable(second.name), " is ", described(second), "; a stack needs equal ones"));
    return false;
  }

  /// The axis of a cut in one tensor as the parameter has it; nullopt, with a misfit, where there is none.
  std::optional<uint32_t> axis_of(const Field& field, const Cut& cut, size_t rank, const Tensor& tensor) {
    const auto last = static_cast<uint32_t>(rank - 1);
    if (rank > 0 && cut.axis == Cut::Axis::columns) return last;
    if (rank > 0 && cut.axis == Cut::Axis::rows) return rank == 1 ? 0 : last - 1;
    if (rank > 0 && cut.number <= last) return cut.number;
    misfit(text(label(field), ": ", printable(tensor.name), " is ", shape_text(tensor.shape),
                ", which has no such axis to split or to join"));
    return std::nullopt;
  }

  /// How often the sizes of a cut are dealt out, to parts of these sizes.
  static uint64_t rounds_of(const Cut& cut, const std::vector<uint64_t>& parts) {
    for (size_t i = 0; cut.repeated && i < parts.size(); ++i)
      if (cut.sizes[i] > 0) return parts[i] / cut.sizes[i];
    return 1;
  }

  /// Where each part of an axis lies in the whole one: one behind the other, or dealt out in turn.
  /// `whole_is_from` says which side of the segments is the whole one.
  bool cut_axis(const Field& field, const Cut& cut, const std::vector<uint64_t>& parts, bool whole_is_from,
                std::vector<std::vector<Segment>>& out) {
    const uint64_t rounds = rounds_of(cut, parts);
    if (rounds > limits::map_segments / parts.size()) {
      misfit(text(label(field), ": the axis is cut into more than ", limits::map_segments, " pieces"));
      return false;
    }
    out.assign(parts.size(), {});
    uint64_t at = 0;
    for (uint64_t k = 0; k < rounds; ++k)
      for (size_t i = 0; i < parts.size(); ++i) {
        const uint64_t count = parts[i] / rounds, within = k * count;
        out[i].push_back(whole_is_from ? Segment{at, within, count} : Segment{within, at, count});
        at += count;
      }
    return true;
  }

  // ---- one field, from whole tensors or joined ones ----

  void bind_field(uint32_t number, const BindingMap::Match& match) {
    const Field& field = fields_[number];
    const auto found = gather(field, match);
    if (!found) return;
    Source source = start(field, *found);
    if (match.rule && match.rule->joined && !join(field, *match.rule->joined, *found, source)) return;
    finish(number, match.rule, source);
  }

  Source start(const Field& field, const Gathered& found) const {
    Source source;
    source.field = field;
    source.tensors = found.tensors;
    source.joined = static_cast<uint32_t>(found.shapes.size());
    source.transposed = found.transposed;
    source.axes = found.axes;
    source.reordered = found.axes && arranged(*found.axes, table_.tensors[found.tensors[0]].shape)->reordered;
    source.summed = found.summed;
    source.file_dtype = table_.tensors[found.tensors[0]].dtype;
    source.packed = table_.tensors[found.tensors[0]].packing != Packing::none;
    source.stack = static_cast<uint32_t>(found.stack.size());
    source.shape = found.stack;
    source.shape.insert(source.shape.end(), found.shapes[0].begin(), found.shapes[0].end());
    return source;
  }

  bool join(const Field& field, const Cut& cut, const Gathered& found, Source& source) {
    const Tensor& first = table_.tensors[source.tensors[0]];
    const auto axis = axis_of(field, cut, found.shapes[0].size(), first);
    if (!axis) return false;
    std::vector<uint64_t> parts;
    uint64_t whole = 0;
    for (size_t i = 0; i < found.shapes.size(); ++i) {
      const Tensor& tensor = table_.tensors[source.tensors[i]];
      std::vector<uint64_t> shape = found.shapes[i];
      if (*axis < shape.size()) parts.push_back(std::exchange(shape[*axis], found.shapes[0][*axis]));
      if (shape != found.shapes[0] || tensor.dtype != first.dtype || tensor.packing != first.packing) {
        misfit(text(label(field), ": ", printable(tensor.name), " is ", described(tensor),
                    ", which does not join ", printable(first.name), ", ", described(first)));
        return false;
      }
      whole += parts.back();  // tensors are in files: their sum is far below 2^64
    }
    if (!check_rounds(field, cut, parts)) return false;
    source.axis = *axis;
    source.shape[source.stack + *axis] = whole;
    return cut_axis(field, cut, parts, /*whole_is_from=*/false, source.segments);
  }

  /// Stated sizes against the parts of an axis.
  bool check_rounds(const Field& field, const Cut& cut, const std::vector<uint64_t>& parts) {
    const uint64_t rounds = rounds_of(cut, parts);
    for (size_t i = 0; i < cut.sizes.size(); ++i) {
      uint64_t size = 0;
      if (!__builtin_mul_overflow(rounds, cut.sizes[i], &size) && size == parts[i]) continue;
      misfit(text(label(field), ": part ", i, " is ", parts[i], ", and the binding map says ", cut.sizes[i],
                  cut.repeated ? text(" in each of ", rounds, " rounds") : std::string()));
      return false;
    }
    return true;
  }

  void finish(uint32_t number, const Rule* rule, Source& source) {
    const bool shape_fits = check_shape(source), dtype_fits = check_dtype(rule, source);
    if (shape_fits && dtype_fits) out_.sources[number] = std::move(source);
  }

  /// How axes of extent 1 are left out so that as many are left as the parameter has.
  std::optional<AxesPattern> without_ones(const Source& source) const {
    const std::vector<uint64_t>& shape = table_.tensors[source.tensors[0]].shape;
    if (source.field.rank < source.stack || source.transposed || !source.segments.empty())
      return std::nullopt;
    return leaving_out_ones(shape, source.field.rank - source.stack);
  }

  bool check_shape(const Source& source) {
    const Field& field = source.field;
    if (source.shape.size() != field.rank) {
      const Tensor& first = table_.tensors[source.tensors[0]];
      const std::string as_bound = shape_text(source.shape);
      std::string message =
          text(label(field), " has ", field.rank, field.rank == 1 ? " axis, " : " axes, ",
               printable(first.name), source.stack == 0 ? " is " : " stacked is ", as_bound);
      if (source.axes)
        message += text(" by `", text_of(*source.axes), "`, ", shape_text(first.shape), " in the file");
      else if (const auto axes = without_ones(source); axes)
        message += text("; with `", text_of(*axes), "` it would fit");
      misfit(message);
      return false;
    }
    if (const auto size = byte_count(source.shape, field.dtype); !size) {
      misfit(text(label(field), ": ", size.error().message));
      return false;
    }
    return true;
  }

  bool check_dtype(const Rule* rule, const Source& source) {
    const Field& field = source.field;
    const Tensor& first = table_.tensors[source.tensors[0]];
    const auto asked = rule && rule->as ? rule->as : map_.as;
    if (rule && rule->as && *rule->as != field.dtype) {
      misfit(text(label(field), " is ", elem_name(field.dtype), ", but line ", rule->line,
                  " of the binding map says `as ", elem_name(*rule->as), "`"));
      return false;
    }
    const bool same = first.dtype == field.dtype && first.packing != Packing::q8_0;
    const bool can = convertible(first.dtype, field.dtype);
    if (same || (asked == field.dtype && can)) return true;
    std::string message = text(label(field), " is ", elem_name(field.dtype), ", ", printable(first.name),
                               " is ", type_name(first));
    if (can) message += text("; write `, as ", elem_name(field.dtype), "` in a binding map to convert it");
    misfit(message);
    return false;
  }

  // ---- fields that share a tensor ----

  void bind_parts(const Rule& rule, const std::string& star, const Parts& parts) {
    const Field& field = fields_[parts.begin()->second];
    std::string others;
    if (!check_parts(field, rule, star, parts, others)) return;
    BindingMap::Match match;
    match.rule = &rule;
    match.star = star;
    const auto found = gather(field, match);
    if (!found) return;
    const Tensor& tensor = table_.tensors[found->tensors[0]];
    const std::vector<uint64_t>& whole = found->shapes[0];
    const auto axis = axis_of(field, *rule.split, whole.size(), tensor);
    if (!axis) return;
    Shared shared;
    shared.axis = static_cast<uint32_t>(found->stack.size()) + *axis;
    shared.extent = whole[*axis];
    for (const auto& part : parts) shared.fields.push_back(part.second);
    std::vector<std::vector<Segment>> segments;
    const auto sizes = sizes_of_parts(field, *rule.split, shared, tensor, others);
    if (!sizes || !cut_axis(field, *rule.split, *sizes, /*whole_is_from=*/true, segments)) return;
    for (const auto& [part, number] : parts) {
      Source source = start(fields_[number], *found);
      source.axis = *axis;
      source.shape[shared.axis] = (*sizes)[part];
      source.segments = {std::move(segments[part])};
      finish(number, &rule, source);
    }
  }

  /// Is there a parameter for each part of a rule? Those of other entries are listed in `others`.
  bool check_parts(const Field& field, const Rule& rule, const std::string& star, const Parts& parts,
                   std::string& others) {
    for (uint32_t part = 0; part < rule.fields.size(); ++part) {
      if (parts.contains(part)) continue;
      std::string name = rule.fields[part];
      if (rule.has_star()) name.replace(name.find('*'), 1, star);
      if (others_.contains(name)) {
        others += (others.empty() ? "" : ", ") + printable(name);
        continue;
      }
      if (used_.contains({&rule, part}))  // else it is a misfit of its own
        misfit(text(label(field), ": line ", rule.line,
                    " of the binding map splits its tensor, and the program ", "has no parameter ",
                    printable(name), " for a part of it"));
      return false;
    }
    return true;
  }

  /// How much of the axis each part has; `others` are parameters of which nothing is known.
  std::optional<std::vector<uint64_t>> sizes_of_parts(const Field& field, const Cut& cut,
                                                      const Shared& shared, const Tensor& tensor,
                                                      const std::string& others) {
    const auto fail = [&](const std::string& why) {
      misfit(text(label(field), ": ", printable(tensor.name), " is ", shape_text(tensor.shape), ", ", why));
      return std::nullopt;
    };
    if (cut.sizes.empty() && !others.empty())
      return fail(text("of which other entries have a part, ", others,
                       ": state the sizes of the parts behind `split`"));
    if (cut.sizes.empty()) {
      auto sizes = part_sizes_(shared, out_);
      if (!sizes) return fail(sizes.error().message);
      return std::move(*sizes);
    }
    uint64_t sum = 0;
    for (const uint64_t size : cut.sizes) sum += size;  // at most 64 times 2^48
    const bool fits = cut.repeated && sum > 0 ? shared.extent % sum == 0 : shared.extent == sum;
    if (!fits)
      return fail(text("and ", shared.extent, " is not ", cut.repeated ? "a multiple of " : "",
                       "the sum of the sizes of its parts, ", sum));
    std::vector<uint64_t> sizes = cut.sizes;
    for (uint64_t& size : sizes)
      if (cut.repeated && sum > 0) size *= shared.extent / sum;
    return sizes;
  }

  const TensorTable& table_;
  const BindingMap& map_;
  const std::span<const Field> fields_;
  const PartSizes& part_sizes_;
  std::set<std::string> others_;  ///< names of parameters that other entries have
  std::set<std::pair<const Rule*, uint32_t>> used_;
  std::map<std::pair<const Rule*, std::string>, Parts> shared_;
  std::vector<std::string> missing_;  ///< without a prefix
  std::vector<size_t> missing_at_;    ///< the misfits that name them
  Binding out_;
};

}  // namespace

bool is_named(const TensorTable& table, const BindingMap& map, std::string_view field,
              std::string_view parameter) {
  const auto match = map.find(field);
  if (match.rule && match.star.empty()) return true;
  const std::vector<uint64_t> zeros(match.rule ? match.rule->indices.size() : 0, 0);
  for (const std::string& front : map.fronts(parameter)) {
    const auto names = map.names(match, field, front);
    if (std::all_of(names.begin(), names.end(),
                    [&](const NamePattern& name) { return table.find(name.name(zeros)); }))
      return true;
  }
  return false;
}

Result<std::vector<uint64_t>> equal_parts(const Shared& shared, const Binding&) {
  const uint64_t count = shared.fields.size();
  if (shared.extent % count != 0)
    return Error{code::binding, text("which ", count,
                                     " parameters cannot share equally: state the sizes of "
                                     "the parts behind `split`")};
  return std::vector<uint64_t>(count, shared.extent / count);
}

Binding bind_parameters(const TensorTable& table, const BindingMap& map, std::span<const Field> fields,
                        const PartSizes& part_sizes, std::span<const std::string> others) {
  return Binder(table, map, fields, part_sizes, others).run();
}

}  // namespace axon::weights
