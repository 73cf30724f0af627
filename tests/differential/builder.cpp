// See builder.h.
#include "builder.h"

#include <fmt/ranges.h>

#include <algorithm>

namespace axon::differential {

Builder::Builder(uint64_t seed, std::string group) : random_(seed * 7919 + 17) {
  out_.seed = seed;
  out_.group = std::move(group);
  out_.name = fmt::format("p{}", seed);
  constexpr const char* narrow_and_wide[] = {"f64", "bf16", "f16"};
  const int kind = below(12);
  out_.elem = kind < 3 ? narrow_and_wide[kind] : "f32";
  mixed_ = below(3) == 0;
  for (const char* name : {"n", "m", "k", "l"}) out_.sizes.emplace_back(name, shape::fresh_var(name));
}

// ---- choices ----

Dims Builder::pick_dims(int rank) {
  Dims dims;
  for (int a = 0; a < rank; ++a) dims.push_back(pick_size());
  return dims;
}

std::optional<Tensor> Builder::pick(std::initializer_list<size_t> ranks) {
  return pick_where(
      [&](const Tensor& t) { return std::find(ranks.begin(), ranks.end(), t.dims.size()) != ranks.end(); });
}

std::optional<Tensor> Builder::pick_where(const std::function<bool(const Tensor&)>& fits) {
  std::vector<const Tensor*> fit;
  for (const Tensor& t : pool_)
    if (fits(t)) fit.push_back(&t);
  if (fit.empty()) return std::nullopt;
  const Tensor& t = below(2) ? *fit.back() : *fit[static_cast<size_t>(below(static_cast<int>(fit.size())))];
  read_.insert(t.name);
  return t;
}

Tensor Builder::of_shape(const Dims& dims) {
  const auto found = pick_where([&](const Tensor& t) { return t.dims == dims; });
  return found ? *found : input(dims);
}

// ---- parameters ----

Tensor Builder::input(const Dims& dims) {
  out_.parameters.push_back({fresh("x"), Parameter::Kind::argument, out_.elem, dims, {}, {}});
  return pool_.emplace_back(Tensor{out_.parameters.back().path, dims, true});
}

namespace {

/// What weights are stored as; integers stand for numbers from -1 to 1.
constexpr const char* stored_elems[] = {"f32", "bf16", "f16", "f64", "i8", "u8"};

/// A field of a record that several entries share is named by its type, so that they mean the same.
std::string field_name(const std::string& elem, const Dims& dims, int number) {
  std::string name = fmt::format("a{}_{}", number, elem);
  const std::string operators = "+-*/%(),", letters = "pmxdrbes";  // of cdiv(n, 2), too
  for (const Dim& d : dims) {
    name += '_';
    for (const char c : d.str()) {
      const size_t at = operators.find(c);
      if (c != ' ') name += at == std::string::npos ? c : letters[at];
    }
  }
  return name;
}

}  // namespace

Tensor Builder::weight(const Dims& dims) {
  if (out_.group.empty() && below(3) == 0) return input(dims);
  const std::string elem = mixed_ && below(2) ? pick_form(stored_elems) : out_.elem;
  const Tensor stored = field(dims, elem);
  if (elem == out_.elem) return stored;
  ++out_.used[Family::mixed_weights];
  const char* const form = elem == "i8" || elem == "u8" ? "({} {} * 0.02 - 1.0)" : "({} {})";
  return {fmt::format(fmt::runtime(form), out_.elem, stored.name), dims, true};
}

Tensor Builder::field(const Dims& dims, const std::string& elem) {
  const std::string name = out_.group.empty() ? fresh("a") : field_name(elem, dims, below(3) / 2);
  const std::string path = record() + "." + name;
  const auto same = [&](const Parameter& p) { return p.path == path; };
  if (std::none_of(out_.parameters.begin(), out_.parameters.end(), same)) {
    out_.parameters.push_back({path, Parameter::Kind::weight, elem, dims, {}, {}});
    if (elem == "i8" || elem == "u8") out_.parameters.back().bound = 100;
  }
  return {path, dims, true};
}

std::string Builder::state(const Dims& dims) {
  out_.parameters.push_back({fresh("c"), Parameter::Kind::state, out_.elem, dims, {}, {}});
  return out_.parameters.back().path;
}

std::string Builder::integers(const Dims& dims, const Dim& bound, const char* elem) {
  out_.parameters.push_back({fresh("i"), Parameter::Kind::argument, elem, dims, bound, {}});
  return out_.parameters.back().path;
}

std::string Builder::checked_integers(const Dims& dims, const Dim& bound, const char* elem) {
  const std::string name = integers(dims, bound, elem);
  out_.parameters.back().checked = true;
  return name;
}

std::string Builder::datum(const Dim& value) {
  const std::string name = checked_integers({2}, value + 1, "i64");
  out_.parameters.back().value = value;
  return fmt::format("{}[{}]", name, below(2));
}

std::string Builder::indices(const Dims& dims, const Dim& axis, const char* elem) {
  at_least(axis, 1);
  return integers(dims, axis, elem);
}

std::string Builder::position(const Dim& bound) {
  at_least(bound, 1);
  out_.parameters.push_back({fresh("pos"), Parameter::Kind::size, "i64", {}, bound, {}});
  return out_.parameters.back().path;
}

void Builder::at_least(const Dim& d, int64_t value) {
  shape::Assignment all;
  const auto reached = [&](int64_t each) {
    for (const auto& [name, var] : out_.sizes) all[var] = each;
    return d.evaluate(all).value() >= value;
  };
  int64_t each = 0;
  while (!reached(each)) ++each;
  for (const auto& [name, var] : out_.sizes)
    if (d.contains(var)) out_.least[name] = std::max(out_.least[name], each);
}

// ---- lines ----

Dim Builder::volume(const Dims& dims) {
  Dim product = 1;
  for (const Dim& d : dims) product = product * d;
  return product;
}

bool Builder::small(const Dims& dims) {
  for (const Dim& d : dims) {
    if (d.terms().size() > 2) return false;
    for (const auto& term : d.terms()) {
      if (std::abs(term.coefficient) > 4) return false;
      for (const auto& factor : term.factors)
        if (factor.kind() != shape::AtomKind::var) return false;
    }
  }
  return true;
}

void Builder::count(Family family, int operators, const Dim& cost) {
  out_.operators += operators;
  ++out_.used[family];
  out_.cost = out_.cost + cost;
}

void Builder::define(Family family, const Dims& dims, int operators, const Dim& cost,
                     const std::string& expression) {
  const std::string name = fresh("t");
  body_ += fmt::format("  let {} = {}\n", name, expression);
  count(family, operators, cost + volume(dims) * operators);
  pool_.push_back({name, dims});
}

void Builder::define_result(Family family, const std::string& name, int operators, const Dim& cost,
                            const std::string& expression) {
  body_ += fmt::format("  let {} = {}\n", name, expression);
  count(family, operators, cost);
  extra_results_.push_back(name);
}

void Builder::define_with_state(Family family, const Dims& dims, int operators, const Dim& cost,
                                const std::string& expression) {
  const std::string name = fresh("t"), state = fresh("t");
  body_ += fmt::format("  let ({}, {}) = {}\n", name, state, expression);
  count(family, operators, cost);
  pool_.push_back({name, dims});
  extra_results_.push_back(state);
}

Builder::Body Builder::inside(const std::vector<Tensor>& bound, const std::function<void()>& steps) {
  const std::vector<Tensor> outside = pool_;
  const std::string text = std::exchange(body_, "");
  const Dim cost = std::exchange(out_.cost, 0);
  pool_.insert(pool_.end(), bound.begin(), bound.end());
  ++depth_;
  steps();
  --depth_;
  Body body{std::exchange(body_, text), std::exchange(pool_, outside), std::exchange(out_.cost, cost)};
  for (const Tensor& t : body.pool) {  // parameters are everybody's
    const auto same = [&](const Tensor& o) { return o.name == t.name; };
    if (t.input && std::none_of(outside.begin(), outside.end(), same)) pool_.push_back(t);
  }
  return body;
}

// ---- the whole ----

namespace {

std::string type_text(const std::string& elem, const Dims& dims) {
  std::vector<std::string> parts;
  for (const Dim& d : dims) parts.push_back(d.str());
  return parts.empty() ? elem : fmt::format("{}[{}]", elem, fmt::join(parts, ", "));
}

}  // namespace

std::string Builder::header() const {
  std::string text = "entry " + out_.name;
  std::vector<std::string> weights;
  for (const Parameter& p : out_.parameters) {
    if (p.kind == Parameter::Kind::weight)
      weights.push_back(
          fmt::format("{} : {}", p.path.substr(p.path.find('.') + 1), type_text(p.elem, p.dims)));
    else
      text += fmt::format(" ({} : {}{})", p.path, p.kind == Parameter::Kind::state ? "*" : "",
                          type_text(p.elem, p.dims));
  }
  if (weights.empty()) return text;
  // Some records are given at each call.
  const char* const mode = out_.group.empty() && out_.seed % 3 == 0 ? "" : "weights ";
  return fmt::format("{} ({} : {}{{ {} }})", text, record(), mode, fmt::join(weights, ", "));
}

std::string Builder::results() const {
  std::vector<std::string> names = extra_results_;
  for (const Tensor& t : pool_)
    if (!t.input && !read_.contains(t.name)) names.push_back(t.name);
  if (names.empty()) names.push_back(pool_.back().name);
  return fmt::format("{}", fmt::join(names, ", "));
}

Generated Builder::finish() {
  out_.source = fmt::format("{}{} =\n{}  in ({})\n", functions_, header(), body_, results());
  return std::move(out_);
}

}  // namespace axon::differential
