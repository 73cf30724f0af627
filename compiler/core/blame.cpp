// Which tensor is wrong: the one that disagrees with all the others.
//
// A failure names the operation at which inference noticed that sizes differ, and either side may be right.
// So the declaration is inferred again once for each tensor of its written types, with the sizes of that one
// left open. Where the failure goes away and none comes instead, the rest agrees with itself; where that is
// so for one tensor only, it is the one, and what inference found for its sizes is what all the rest implies.
// Nothing is reported meanwhile, and the tree is put back as it was.
#include <fmt/format.h>

#include <algorithm>

#include "base/elem.h"
#include "core/check.h"
#include "core/declaration_state.h"
#include "core/drafts.h"

namespace axon::core {

using shape::Dim;
using shape::Var;
using source::Diagnostic;
using source::Span;
using Kind = Expr::Kind;

namespace {

constexpr size_t most_tensors = 64;         // of one declaration that are tried
constexpr size_t most_blame_work = 10'000;  // expressions inferred for one failure

}  // namespace

/// A tensor in the written type of a parameter.
struct Checker::WrittenTensor {
  size_t param = 0;
  LocalId local;                ///< the parameter
  std::vector<uint32_t> items;  ///< the way to it through records, tuples and stacks
  std::string fields;           ///< the same as the program writes it: `.layers.wq`
  Span place;                   ///< the name of the parameter; `wq : f32[d, d]` in its type
  uint32_t name_size = 0;       ///< of the name with which the place begins
  TypeId type;
};

void Checker::find_written(TypeId id, const WrittenTensor& at, std::vector<WrittenTensor>& out) const {
  const Type& t = vars_[vars_.head(id)];
  if (out.size() > most_tensors || t.kind == Type::Kind::function) return;
  if (t.kind == Type::Kind::tensor && !t.shape.empty()) {
    out.push_back(at);
    out.back().type = vars_.head(id);
  }
  for (uint32_t i = 0; i < t.items.size(); ++i) {
    WrittenTensor inner = at;
    inner.items.push_back(i);
    if (t.kind == Type::Kind::record) {
      inner.fields += "." + t.fields[i];
      inner.place = place_of_field(t, t.fields[i]);
      inner.name_size = static_cast<uint32_t>(t.fields[i].size());
    } else if (t.kind == Type::Kind::tuple) {
      inner.fields += "." + std::to_string(i);
    }
    find_written(t.items[i], inner, out);
  }
}

/// The type with new sizes, or new axes, for the tensor at the end of the way.
TypeId Checker::with_open(TypeId id, const std::vector<uint32_t>& items, size_t from, bool any_axes,
                          Shape& opened) {
  Type t = vars_[vars_.head(id)];
  t.alias = {};
  if (from < items.size()) {
    t.items[items[from]] = with_open(t.items[items[from]], items, from + 1, any_axes, opened);
    return vars_.add(std::move(t));
  }
  for (ShapeItem& item : t.shape)
    if (is_dim(item)) item = dim_item(Dim(vars_.dim("n", VarKind::meta, true)));
  if (any_axes) t.shape = {var_item(vars_.shape("s"))};
  opened = t.shape;
  return vars_.add(std::move(t));
}

/// The constraints that fail where the sizes of a tensor, if one is given, are left open, and what inference
/// found for these.
std::set<std::string> Checker::failures_without(const WrittenTensor* tensor, bool any_axes, Shape& opened) {
  const DeclInfo info = e_.infos[g_.index];
  const DeclarationState kept(p_, info, g_);
  for (uint32_t e = info.first_expr; e < info.end_expr; ++e) p_.exprs[{e}].type = {};
  for (uint32_t l = info.first_local; l < info.end_local; ++l) p_.locals[{l}].scheme = {};
  if (tensor) {
    std::optional<TypeId>& written = p_.globals[g_].params[tensor->param].annotation;
    written = with_open(*written, tensor->items, 0, any_axes, opened);
  }
  PendingReport attempt;
  Checker again(e_, g_);
  again.reporter_.attempt(&attempt);
  again.solver_.limit_to_steps_of(solver_);
  again.failed_ = true;  // so that what only a correct body is asked is not asked
  again.first_type_var_ = vars_.types.vars.size();
  try {
    again.check_body();
  } catch (const TooComplex&) {
    attempt.failures.insert("too complex");
  }
  opened = vars_.zonk(opened);
  return attempt.failures;
}

/// What is left open of a size keeps the size that is written; none where something else is not known.
static std::optional<Shape> implied(const Shape& found, const Shape& written,
                                    const std::function<bool(Var)>& known) {
  Shape out = found;
  bool differs = found.size() != written.size();
  for (size_t i = 0; i < out.size(); ++i) {
    if (!is_dim(out[i])) return std::nullopt;
    const std::vector<Var> vars = out[i].dim.vars();
    if (std::all_of(vars.begin(), vars.end(), known)) {
      differs |= i < written.size() && (!is_dim(written[i]) || written[i].dim != out[i].dim);
    } else if (out[i].dim.as_var() && found.size() == written.size()) {
      out[i] = written[i];
    } else {
      return std::nullopt;
    }
  }
  return differs ? std::optional(out) : std::nullopt;
}

static bool repeats_a_name(const Shape& s) {
  for (size_t i = 0; i < s.size(); ++i)
    for (size_t j = i + 1; j < s.size(); ++j)
      if (is_dim(s[i]) && is_dim(s[j]) && !s[i].dim.constant() && s[i].dim == s[j].dim) return true;
  return false;
}

/// The brackets of `name : f32[d, h]`, without these; not valid where that is not how the type is written.
static Span brackets(Span place, uint32_t name_size, const source::SourceManager& sources) {
  const std::string_view text = sources[place.file].text();
  size_t begin = place.begin + name_size;
  const auto blanks = [&] {
    while (begin < text.size() && std::isspace(static_cast<unsigned char>(text[begin]))) ++begin;
  };
  blanks();
  if (begin >= text.size() || text[begin++] != ':') return {};
  blanks();
  if (begin < text.size() && text[begin] == '*') ++begin;
  size_t end = begin;
  while (end < text.size() && (std::isalnum(static_cast<unsigned char>(text[end])) || text[end] == '\''))
    ++end;
  const std::string_view elem = text.substr(begin, end - begin);
  if (end >= text.size() || text[end] != '[') return {};
  if (!elem.empty() && elem[0] != '\'' && !base::elem_from_name(std::string(elem))) return {};
  const size_t close = text.find(']', end);
  if (close == std::string_view::npos) return {};
  return {place.file, static_cast<uint32_t>(end) + 1, static_cast<uint32_t>(close)};
}

/// The first mention of a tensor inside of an expression.
ExprId Checker::mention(ExprId root, const std::string& path) const {
  if (!root.valid()) return {};
  if (path_of(p_, root) == path) return root;
  for (ExprId a : p_.exprs[root].args)
    if (const ExprId found = mention(a, path); found.valid()) return found;
  return {};
}

/// Says of the tensor what the rest implies, at the place of its type.
void Checker::name_culprit(PendingReport& pending, const WrittenTensor& tensor, const Shape& fits) {
  Diagnostic& d = pending.diagnostic;
  const std::string name = p_.locals[tensor.local].name + tensor.fields;
  Type type = vars_[tensor.type];
  type.consumed = type.weights = false;
  type.alias = {};
  const std::string written = reporter_.show(vars_.add(type));
  type.shape = fits;
  const std::string wanted = reporter_.show(vars_.add(type));
  const Why& w = whys_[pending.failure.why];
  const ExprId at = mention(w.expr, std::to_string(tensor.local.index) + tensor.fields);
  const Span here = at.valid() ? p_.exprs[at].span : Span{};
  const bool elsewhere = w.expected.valid() && d.primary.span == w.span && here.valid() &&
                         (here.end <= w.span.begin || w.span.end <= here.begin);
  if (elsewhere) {  // an argument that is right was compared with one that is not
    d.secondary.push_back(d.primary);
    d.primary = {here, fmt::format("all else fits {}", wanted)};
    d.message = fmt::format("the shape of `{}` does not fit the others", name);
  }
  std::erase_if(d.secondary, [&](const source::Label& l) { return l.span == tensor.place; });
  d.also(tensor.place, fmt::format("`{}` is {}; all else fits {}", name, written, wanted));
  const Span edit = brackets(tensor.place, tensor.name_size, e_.sources);
  const size_t begin = wanted.find('[');
  if (!edit.valid() || begin == std::string::npos) return;
  const Span own = e_.infos[g_.index].written->span;
  const bool of_inputs = p_.globals[g_].kind == Global::Kind::entry || edit.file != own.file ||
                         edit.begin < own.begin || own.end < edit.end;
  const Shape shape = vars_.zonk(vars_[tensor.type].shape);
  const bool safe = !of_inputs || is_misspelt(shape, fits);
  d.help("state what all else fits",
         source::Edit{edit, wanted.substr(begin + 1, wanted.size() - begin - 2),
                      safe ? source::Applicability::safe : source::Applicability::maybe});
  d.helps.back().trial = relates_names(shape, fits) ? rank_of_type : 1;
}

/// In how many axes of the written types the size is named.
static size_t axes_naming(const Vars& vars, TypeId id, Var v) {
  const Type& t = vars[vars.head(id)];
  size_t count = 0;
  for (const ShapeItem& item : t.shape) count += is_dim(item) && vars.zonk(item.dim).contains(v) ? 1 : 0;
  for (TypeId item : t.items) count += axes_naming(vars, item, v);
  return count;
}

/// Whether the types of the declaration name the size in one axis only. What its `where` or its body names it
/// in, no other type leaves right.
bool Checker::named_once(Var v) const {
  const DeclInfo& info = e_.infos[g_.index];
  const Global& g = p_.globals[g_];
  size_t count = 0;
  for (const Pattern& p : g.params)
    if (p.annotation) count += axes_naming(vars_, *p.annotation, v);
  if (info.result) count += axes_naming(vars_, *info.result, v);
  for (const auto& [name, declared] : g.sizes) count += declared == v ? 1 : 0;
  return count <= 1;
}

/// Whether every size that differs is a name that nothing else mentions, spelt nearly like the one that fits.
bool Checker::is_misspelt(const Shape& written, const Shape& fits) const {
  if (written.size() != fits.size()) return false;
  for (size_t i = 0; i < written.size(); ++i) {
    if (!is_dim(written[i]) || !is_dim(fits[i])) return false;
    if (written[i].dim == fits[i].dim) continue;
    const auto from = written[i].dim.as_var(), to = fits[i].dim.as_var();
    if (!from || !to || !named_once(*from)) return false;
    if (!nearest(shape::var_name(*from), {shape::var_name(*to)})) return false;
  }
  return true;
}

/// Whether names that are written as distinct sizes would be the same one, or stand the other way round.
bool Checker::relates_names(const Shape& written, const Shape& fits) const {
  if (written.size() != fits.size()) return false;
  if (repeats_a_name(fits) && !repeats_a_name(written)) return true;
  bool permuted = true;
  for (size_t i = 0; i < written.size(); ++i) {
    if (!is_dim(written[i]) || !is_dim(fits[i])) return false;
    const auto same = [&](const ShapeItem& item) { return is_dim(item) && item.dim == written[i].dim; };
    permuted &=
        std::count_if(fits.begin(), fits.end(), same) == std::count_if(written.begin(), written.end(), same);
    const auto from = written[i].dim.as_var(), to = fits[i].dim.as_var();
    if (from && to && *from != *to && !named_once(*from)) return true;
  }
  return permuted;
}

/// Whether a written type of the declaration leaves something to inference, which has found it and so would
/// hold on to it in every attempt.
static bool leaves_open(const Program& p, const DeclInfo& info) {
  const std::function<bool(const Pattern&)> written = [&](const Pattern& pattern) {
    return pattern.annotation || std::any_of(pattern.items.begin(), pattern.items.end(), written);
  };
  for (uint32_t i = info.first_expr; i < info.end_expr; ++i) {
    const Expr& e = p.exprs[{i}];
    if (e.annotation || std::any_of(e.params.begin(), e.params.end(), written)) return true;
  }
  return false;
}

void Checker::blame(PendingReport& pending, size_t attempts) {
  const Failure::Kind kind = pending.failure.kind;
  const bool any_axes = kind == Failure::Kind::rank;
  if (!any_axes && kind != Failure::Kind::size && kind != Failure::Kind::broadcast) return;
  if (e_.infos[g_.index].signature || leaves_open(p_, e_.infos[g_.index])) return;
  std::vector<WrittenTensor> tensors;
  const std::vector<Pattern> params = p_.globals[g_].params;
  for (size_t i = 0; i < params.size(); ++i)
    if (params[i].kind == Pattern::Kind::name && params[i].annotation) {
      const Local& local = p_.locals[params[i].local];
      find_written(*params[i].annotation,
                   {i, params[i].local, {}, "", local.span, static_cast<uint32_t>(local.name.size()), {}},
                   tensors);
    }
  const DeclInfo& info = e_.infos[g_.index];
  const bool affordable = tensors.size() <= most_tensors && tensors.size() < attempts &&
                          (tensors.size() + 1) * (info.end_expr - info.first_expr) <= most_blame_work;
  if (tensors.size() < 2 || !affordable) return;
  Shape none;
  const std::set<std::string> before = failures_without(nullptr, false, none);
  const Var first = vars_.dim("n");  // what is newer belongs to an attempt
  std::optional<WrittenTensor> culprit;
  std::optional<Shape> fits;
  for (const WrittenTensor& t : tensors) {
    Shape found;
    const std::set<std::string> left = failures_without(&t, any_axes, found);
    const auto fails = [&](const std::string& key) { return left.count(key) != 0; };
    if (fails(pending.key) || std::any_of(pending.others.begin(), pending.others.end(), fails) ||
        !std::includes(before.begin(), before.end(), left.begin(), left.end()))
      continue;
    if (culprit) return;  // either may be wrong
    culprit = t;
    fits = implied(found, vars_[t.type].shape, [&](Var v) { return v < first; });
  }
  if (!culprit || !fits) return;
  // Where an operand meets the wrong axis, all else fits a tensor that has a size twice, which nobody means.
  if (kind == Failure::Kind::broadcast && repeats_a_name(*fits) &&
      !repeats_a_name(vars_[culprit->type].shape))
    return;
  name_culprit(pending, *culprit, *fits);
}

}  // namespace axon::core
