// See context.h.
#include "module/tiles/context.h"

#include <algorithm>

#include "base/bug.h"

namespace axon::module::tiles {

std::optional<std::vector<Dim>> nonnegatives(const Fact& fact) {
  switch (fact.relation) {
    case shape::Relation::lt:
      return std::vector<Dim>{fact.rhs - fact.lhs - 1};
    case shape::Relation::le:
      return std::vector<Dim>{fact.rhs - fact.lhs};
    case shape::Relation::eq:
      return std::vector<Dim>{fact.rhs - fact.lhs, fact.lhs - fact.rhs};
    case shape::Relation::ne:
      break;
  }
  return std::nullopt;
}

namespace {

/// The least values of an expression affine in the variables: one, or several that one of them is.
bool add_least(const Dim& d, std::map<Var, int64_t> extents, std::vector<Dim>& out) {
  for (const auto& [label, extent] : extents) {
    if (!d.contains(label)) continue;
    const auto split = d.linear_in(label);
    if (!split) return false;
    const int64_t last = extent - 1;
    const Var done = label;
    const auto step = split->first.constant();
    const Dim low = split->second, high = split->second + split->first * last;
    extents.erase(done);
    if (step) return add_least(*step < 0 ? high : low, extents, out);
    return add_least(low, extents, out) && add_least(high, extents, out);
  }
  out.push_back(d);
  return true;
}

}  // namespace

std::optional<std::vector<Dim>> nonnegatives_everywhere(const Fact& fact,
                                                        const std::map<Var, int64_t>& extents) {
  const auto all = nonnegatives(fact);
  if (!all) return std::nullopt;
  std::vector<Dim> out;
  for (const Dim& d : *all)
    if (!add_least(d, extents, out)) return std::nullopt;
  return out;
}

Fact substituted(const Fact& fact, const Substitution& by) {
  return {fact.lhs.substitute(by), fact.relation, fact.rhs.substitute(by)};
}

// ---- what is known ----

Known::Known(const tile::Program& p) {
  facts_ = p.facts;
  facts_.insert(facts_.end(), p.guard.begin(), p.guard.end());
  for (const tile::Coordinate& c : p.grid) {
    facts_.push_back(shape::at_least(Dim(c.var), 0));
    facts_.push_back(shape::less(Dim(c.var), c.extent));
  }
}

bool Known::follows(const Dim& d) const {
  return std::any_of(supposed_.begin(), supposed_.end(), [&](const Dim& known) {
    const auto more = (d - known).constant();
    return more && *more >= 0;
  });
}

bool Known::nonnegative(const Dim& d) {
  if (const auto constant = d.constant()) return *constant >= 0;
  if (follows(d)) return true;
  std::vector<Dim> least;
  if (add_least(d, ranges_, least) && std::all_of(least.begin(), least.end(), [&](const Dim& l) {
        return l.constant() ? *l.constant() >= 0 : follows(l);
      }))
    return true;
  const auto [found, added] = proved_.emplace(d.node(), false);
  if (!added) return found->second;
  found->second =
      shape::prove(facts_, shape::at_least(d, 0), {.max_terms = 0}).verdict == shape::Verdict::proved;
  if (found->second) proofs_.push_back(d.node());
  return found->second;
}

void Known::bound(const std::map<Var, int64_t>& ranges) {
  for (const auto& [v, extent] : ranges) {
    ranges_[v] = extent;
    facts_.push_back(shape::at_least(Dim(v), 0));
    facts_.push_back(shape::less(Dim(v), extent));
  }
}

void Known::supposing(const std::vector<Dim>& nonnegative, const std::function<void()>& body) {
  const size_t before = supposed_.size();
  supposed_.insert(supposed_.end(), nonnegative.begin(), nonnegative.end());
  body();
  supposed_.resize(before);
}

/// What is proved inside may follow from there being an iteration: it is forgotten.
void Known::ranging(Var v, const Dim& extent, const std::function<void()>& body) {
  const auto constant = extent.constant();
  const size_t before = facts_.size(), proofs = proofs_.size();
  if (constant) ranges_[v] = *constant;
  facts_.push_back(shape::at_least(Dim(v), 0));
  facts_.push_back(shape::less(Dim(v), extent));
  body();
  facts_.resize(before);
  ranges_.erase(v);
  for (size_t i = proofs; i < proofs_.size(); ++i) proved_.erase(proofs_[i]);
  proofs_.resize(proofs);
}

// ---- values ----

Context::Context(Frame& frame, const tile::Program& program, const ProgramMemory& m)
    : f(frame), a(frame), p(program), memory(m), threads(frame, program), known(program), scopes_(1) {
  known.bound(threads.ranges());
}

const tile::Places& Context::places(TileId tile) {
  auto& found = places_[p.tiles[tile].layout.index];
  if (!found) found = std::make_unique<tile::Places>(p.layouts[p.tiles[tile].layout].layout);
  return *found;
}

Dim Context::in_registers(const Dim& d) const {
  const Dim here = threads.in_first(d);
  if (!back) return here;
  Substitution own;
  for (const Var v : back->vars()) own[v] = Dim(0);
  return here.substitute(own);
}

Value* Context::value(const Dim& d) {
  if (const auto constant = d.constant()) return f.i64(*constant);
  for (const auto& scope : scopes_)
    if (const auto found = scope.find(d.node()); found != scope.end()) return found->second;
  return scopes_.back()[d.node()] = f.emit(d);
}

bool Context::is_small(const Dim& d) const {
  constexpr int64_t most = int64_t{1} << 20;  // coordinates are less than 2^40
  return std::all_of(d.terms().begin(), d.terms().end(), [&](const shape::Term& term) {
    const bool is_coordinate = term.factors.size() == 1 && term.factors[0].kind() == shape::AtomKind::var &&
                               std::any_of(p.grid.begin(), p.grid.end(), [&](const tile::Coordinate& c) {
                                 return c.var == term.factors[0].var();
                               });
    return term.coefficient >= -most && term.coefficient <= most && (term.factors.empty() || is_coordinate);
  });
}

int64_t Context::elements_at_once() const {
  int64_t most = 1;
  for (const tile::Tensor& tensor : p.tensors)
    most = std::max<int64_t>(most, f.level.vector_bytes / base::elem_bytes(tensor.elem));
  return most;
}

bool Context::is_multiple(const Dim& d, int64_t of) const {
  const bool by_size = elements_at_once() % of == 0;
  return std::all_of(d.terms().begin(), d.terms().end(), [&](const shape::Term& term) {
    const auto is_size = [&](const shape::Atom& atom) {
      return atom.kind() == shape::AtomKind::var && multiples.contains(atom.var());
    };
    return term.coefficient % of == 0 ||
           (by_size && std::any_of(term.factors.begin(), term.factors.end(), is_size));
  });
}

void Context::scoped(const std::function<void()>& body) {
  scopes_.emplace_back();
  const auto outer = views;
  body();
  views = outer;
  scopes_.pop_back();
}

void Context::choose(Value* condition, const std::function<void()>& yes, const std::function<void()>& no) {
  auto& c = f.b.getContext();
  auto* then = llvm::BasicBlock::Create(c, "full", f.function);
  auto* otherwise = llvm::BasicBlock::Create(c, "edge");
  auto* after = llvm::BasicBlock::Create(c, "after");
  f.b.CreateCondBr(condition, then, otherwise);
  f.b.SetInsertPoint(then);
  scoped(yes);
  f.b.CreateBr(after);
  otherwise->insertInto(f.function);
  f.b.SetInsertPoint(otherwise);
  scoped(no);
  f.b.CreateBr(after);
  after->insertInto(f.function);
  f.b.SetInsertPoint(after);
}

void Context::each_count(Value* count, int64_t most, const std::function<void(int64_t)>& body) {
  auto& b = f.b;
  auto* const after = llvm::BasicBlock::Create(b.getContext(), "after");
  auto* const which = b.CreateSwitch(count, after, static_cast<unsigned>(most));
  for (int64_t n = 1; n <= most; ++n) {
    auto* const block = llvm::BasicBlock::Create(b.getContext(), "rows", f.function);
    which->addCase(b.getInt64(static_cast<uint64_t>(n)), block);
    b.SetInsertPoint(block);
    scoped([&] { body(n); });
    b.CreateBr(after);
  }
  after->insertInto(f.function);
  b.SetInsertPoint(after);
}

Value* Context::all_nonnegative(const std::vector<Dim>& dims) {
  Value* all = f.b.getTrue();
  for (const Dim& d : dims) all = f.b.CreateAnd(all, f.b.CreateICmpSGE(value(d), f.i64(0)));
  return all;
}

// ---- loops ----

void Context::run(const Axis& axis, Value* low, Value* end, const std::function<void()>& body,
                  LoopKind kind) {
  f.loop(axis, low, end, kind, [&] { one(axis, body); });
}

/// One iteration, where the variable has a value.
void Context::one(const Axis& axis, const std::function<void()>& body) {
  scoped([&] { known.ranging(axis.var, axis.extent, body); });
}

/// Those of the conditions that an interval of the variable is all of.
Context::Interior Context::interior(Var v, const std::vector<Dim>& conditions) {
  Interior out;
  for (const Dim& d : conditions) {
    const auto split = d.linear_in(v);
    const auto step = split ? split->first.constant() : std::nullopt;
    if (!step || *step == 0 || *step == INT64_MIN || known.nonnegative(d)) continue;
    out.conditions.push_back(d);
    if (*step > 0)
      out.lows.push_back(-shape::floor_div(split->second, *step));
    else
      out.ends.push_back(shape::floor_div(split->second, -*step) + 1);
  }
  return out;
}

void Context::loop(const Axis& axis, const std::vector<Dim>& conditions, const std::function<void()>& body,
                   LoopKind kind, const Iterations& iterations) {
  const Interior inside = may_split ? interior(axis.var, conditions) : Interior();
  Value* extent = value(axis.extent);
  auto& b = f.b;
  const auto extremum = [&](llvm::Intrinsic::ID id, Value* x, Value* y) {
    return b.CreateBinaryIntrinsic(id, x, y);
  };
  if (iterations.end) extent = extremum(llvm::Intrinsic::smin, extent, iterations.end);
  Value* const first = iterations.first ? iterations.first : f.i64(0);
  if (inside.conditions.empty()) return run(axis, first, extent, body, kind);
  Value *low = first, *end = extent;
  for (const Dim& d : inside.lows) low = extremum(llvm::Intrinsic::smax, low, value(d));
  low = extremum(llvm::Intrinsic::smin, low, extremum(llvm::Intrinsic::smax, extent, first));
  for (const Dim& d : inside.ends) end = extremum(llvm::Intrinsic::smin, end, value(d));
  end = extremum(llvm::Intrinsic::smax, end, low);
  const auto edge = [&](Value* from, Value* to, bool is_one) {
    may_split = false;
    if (is_one)
      f.when(b.CreateICmpSLT(from, to), [&] { f.with(axis, from, [&] { one(axis, body); }); });
    else
      run(axis, from, to, body, LoopKind::plain);
    may_split = true;
  };
  if (!inside.lows.empty()) edge(first, low, false);
  known.supposing(inside.conditions, [&] { run(axis, low, end, body, kind); });
  const bool has_one = std::all_of(inside.ends.begin(), inside.ends.end(),
                                   [&](const Dim& d) { return known.nonnegative(d + 1 - axis.extent); });
  edge(end, extent, has_one && inside.lows.empty());
}

}  // namespace axon::module::tiles
