// See loop_positions.h.
#include "graph/from_core/loop_positions.h"

#include <algorithm>

namespace axon::graph {

using core::Expr;
using core::ExprId;
using Kind = core::Expr::Kind;

LoopPositions::LoopPositions(const core::Program& program, const Val& step, const Val& state, bool scanning)
    : p_(program), state_(state) {
  if (step.kind != Val::Kind::closure || !step.closure->choices.empty()) return;
  const Closure& fn = *step.closure;
  if (fn.global.valid() && p_.globals[fn.global].kind != core::Global::Kind::function) return;
  const auto& params = fn.global.valid() ? p_.globals[fn.global].params : p_.exprs[fn.lambda].params;
  const ExprId body = fn.global.valid() ? p_.globals[fn.global].body : p_.exprs[fn.lambda].args[0];
  if (fn.args.size() >= params.size() || !body.valid()) return;
  for (const core::Pattern& pattern : params) names_.add(pattern);
  names_.add(p_, body);
  name_parts(params[fn.args.size()], {});
  next_ = without_lets(body);
  if (!scanning) return;
  const Expr& both = p_.exprs[next_];
  next_ = both.kind == Kind::tuple && both.args.size() == 2 ? without_lets(both.args[0]) : ExprId{};
}

std::map<uint32_t, PositionStep> LoopPositions::find() {
  compare({}, next_);
  return std::move(found_);
}

void LoopPositions::name_parts(const core::Pattern& pattern, const Path& path) {
  if (pattern.kind == core::Pattern::Kind::name) parts_[pattern.local] = path;
  for (size_t i = 0; i < pattern.items.size(); ++i) {
    Path inner = path;
    inner.push_back(i);
    name_parts(pattern.items[i], inner);
  }
}

/// What a `let` gives, or a name of one.
ExprId LoopPositions::without_lets(ExprId id) {
  for (;;) {
    const Expr& e = p_.exprs[id];
    if (e.kind == Kind::let) {
      if (e.params[0].kind == core::Pattern::Kind::name) lets_[e.params[0].local] = e.args[0];
      id = e.args[1];
    } else if (const auto let = lets_.find(e.local); e.kind == Kind::local && let != lets_.end()) {
      id = let->second;
    } else {
      return id;
    }
  }
}

const Val& LoopPositions::part(const Path& path) const {
  const Val* at = &state_;
  for (const size_t item : path) at = &at->items.at(item);
  return *at;
}

/// Which part of the state before the step the expression is.
std::optional<LoopPositions::Path> LoopPositions::path_of(ExprId id) const {
  const Expr& e = p_.exprs[id];
  if (e.kind == Kind::local) {
    if (const auto known = parts_.find(e.local); known != parts_.end()) return known->second;
    const auto let = lets_.find(e.local);
    return let == lets_.end() ? std::nullopt : path_of(let->second);
  }
  if (e.kind != Kind::field) return std::nullopt;
  auto path = path_of(e.args[0]);
  if (!path) return std::nullopt;
  const std::vector<std::string>& fields = part(*path).fields;
  path->push_back(static_cast<size_t>(std::find(fields.begin(), fields.end(), e.text) - fields.begin()));
  return path->back() < fields.size() ? path : std::nullopt;
}

/// One part of the state after the step.
std::optional<ExprId> LoopPositions::part_of(ExprId next, const Val& whole, size_t item) {
  const Expr& e = p_.exprs[next];
  if (e.kind == Kind::tuple) return item < e.args.size() ? std::optional(e.args[item]) : std::nullopt;
  if (item >= whole.fields.size()) return std::nullopt;
  const std::string& field = whole.fields[item];
  if (e.kind == Kind::record)
    for (size_t i = 0; i < e.fields.size(); ++i)
      if (e.fields[i] == field) return e.args[i];
  if (e.kind == Kind::with_field)
    return e.text == field ? std::optional(e.args[1]) : part_of(without_lets(e.args[0]), whole, item);
  return std::nullopt;
}

void LoopPositions::compare(const Path& path, ExprId next) {
  const Val& now = part(path);
  if (now.kind == Val::Kind::array) {
    const uint32_t leaf = leaf_++;
    const bool number = now.array->shape.empty() && now.array->elem == Elem::i64;
    if (const auto step = number && next.valid() ? step_of(path, next) : std::nullopt) found_[leaf] = *step;
    return;
  }
  for (size_t i = 0; i < now.items.size(); ++i) {
    Path inner = path;
    inner.push_back(i);
    const auto item = next.valid() ? part_of(next, now, i) : std::nullopt;
    compare(inner, item ? without_lets(*item) : ExprId{});
  }
}

std::optional<PositionStep> LoopPositions::step_of(const Path& path, ExprId next) {
  if (path_of(next) == path) return PositionStep{};
  const Expr& e = p_.exprs[next];
  if (e.kind != Kind::apply || e.args.size() != 3 || p_.exprs[e.args[0]].kind != Kind::global)
    return std::nullopt;
  const core::Global& callee = p_.globals[p_.exprs[e.args[0]].global];
  const bool adds = callee.prim == core::Prim::add, subtracts = callee.prim == core::Prim::sub;
  if (callee.kind != core::Global::Kind::prim || !(adds || subtracts)) return std::nullopt;
  const bool first = path_of(e.args[1]) == path, second = adds && path_of(e.args[2]) == path;
  if (first == second) return std::nullopt;
  const ExprId by = without_lets(e.args[first ? 2 : 1]);
  return stands_outside(by) ? std::optional(PositionStep{by, subtracts}) : std::nullopt;
}

/// Arithmetic of what has a name outside of the step.
bool LoopPositions::stands_outside(ExprId id) const {
  const Expr& e = p_.exprs[id];
  if (e.kind == Kind::number || e.kind == Kind::size || e.kind == Kind::global) return true;
  if (e.kind == Kind::local) return !names_.all.contains(e.local);
  bool outside = e.kind == Kind::apply || e.kind == Kind::field || e.kind == Kind::index;
  core::each_part(e, [&](ExprId part) { outside = outside && stands_outside(part); });
  return outside;
}

}  // namespace axon::graph
