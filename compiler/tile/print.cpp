// clang-format off
// A tile program as text; parse.cpp reads it back.
//
//   tiles softmax on x86-64-v3                  or: on toy lanes 32 warps 4 registers 255 of 4 scratch 65536
//   sizes m, n
//   facts 1 <= n                                of the sizes
//   guard n <= 8192                             under which this program is chosen
//   layout rows = S[(8,8):(1,1@v)]
//   grid i < max(1, m)                          coordinates and their extents
//   tensor x f32[m, n] round [1, 32] align 4 reads [i : i + 1, 0 : n] at S[(m,n):(n,1)]
//   tensor y f32[m, n] align 4 writes [i : min(i + 1, m), 0 : n] stated at S[(m,n):(r,1)]
//   waits x[i : i + 1, 0 : n]                   wait 0 guards this
//   notifies y[i : min(i + 1, m), 0 : n]        notify 0 announces this
//   registers t f32[8, 8] as rows
//   scratch s f32[8, 8] as rows at 1024         bytes
//   ring r f32[8, 8] as rows at 0 depth 4
//   view w f32[8, 8]
//   do
//     wait 0
//     for b < cdiv(n, 64) carry t
//       copy t[r, c] = x[8*i + r, c] if 8*i + r < m and c < n fill 0
//       copy t[r, c] = x[table[r] + 4*b, c] checked  gather
//       copy s[c] = x[8*i, table[c]] in runs         mostly of neighbours
//     for b < cdiv(n, 64) from low[] below end[]     of these iterations those that the data says
//       ...
//     copy t[r, c] to y[8*i + r, c] if 8*i + r < m and c < n streaming
//     copy t[r, c] to blocks[b, r, c]                a block of a tile in scratch
//     view w[r, c] = x[c, r]                         of a row that the data says: x[table[], r]
//     prefetch r < 8, c < 64 of x[8*i + r + 8, c] if 2 <= m    a hint: what is read soon
//     map t[r, c] = exp(sub(t[r, c], s[r, c])) if c < n fill 0
//     map t[r, c] = f32(index(r + 8*i))              a type converts; constants: f32(0.5), i64(-3)
//     gemm t[r, c] += s[r, k] * w[k, c] in f32 by mma.m16n8k16 async
//     reduce max m[r] = t[r, c] in f32
//     scan add t[r, c] = s[r, c] along c from m[r] in f32
//     scatter add t[r, c] to s[table[r] + -8*i, c]
//     check 1 o[r] below n if 8*i + r < m
//     check 2 g[r] shows o[r], n - 1
//     acquire r
//     release r
//     settle 1
//     barrier
//     fence
//     notify 0
//   role load warps 0 : 4 registers 40               instead of `do`: each with operations of its own
// clang-format on
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "layout/text.h"
#include "tile/names.h"
#include "tile/pointwise.h"

namespace axon::tile {

namespace {

const char* space_name(Space space) {
  switch (space) {
    case Space::registers:
      return "registers";
    case Space::scratch:
      return "scratch";
    case Space::ring:
      return "ring";
    case Space::view:
      return "view";
  }
  return "?";
}

class Printer {
 public:
  explicit Printer(const Program& p) : p_(p), names_(p) {}

  std::string program() {
    head();
    for (const Tensor& t : p_.tensors) tensor(t);
    for (const Announcement& a : p_.waits) announcement("waits", a);
    for (const Announcement& a : p_.notifications) announcement("notifies", a);
    for (const Tile& t : p_.tiles) tile(t);
    const bool has_roles = !p_.body.empty() && std::holds_alternative<Role>(p_.ops[p_.body.front()]);
    if (!has_roles) out_ += "do\n";
    body(p_.body, has_roles ? 0 : 1);
    return std::move(out_);
  }
  std::string line(OpId id) {
    names_.begin_labels(p_.ops[id]);
    return std::visit([this](const auto& op) { return words(op); }, p_.ops[id]);
  }

 private:
  void head() {
    const Machine& m = p_.machine;
    out_ += fmt::format("tiles {} on {}", p_.name, m.name);
    if (!m.listed)
      out_ += fmt::format(" lanes {} warps {} registers {} of {} scratch {}", m.lanes, m.warps, m.registers,
                          m.register_bytes, m.scratch);
    out_ += "\n";
    if (!p_.sizes.empty()) {
      std::vector<std::string> sizes;
      for (Var v : p_.sizes) sizes.push_back(names_(v));
      out_ += fmt::format("sizes {}\n", fmt::join(sizes, ", "));
    }
    if (!p_.facts.empty()) out_ += names_("facts", p_.facts).substr(1) + "\n";
    if (!p_.guard.empty()) out_ += names_("guard", p_.guard).substr(1) + "\n";
    for (const NamedLayout& l : p_.layouts)
      out_ += fmt::format("layout {} = {}\n", l.name, l.atom.empty() ? layout::print(l.layout) : l.atom);
    for (const Coordinate& c : p_.grid)
      out_ += fmt::format("grid {} < {}\n", names_(c.var), names_(c.extent));
  }

  void tensor(const Tensor& t) {
    out_ += fmt::format("tensor {} {}[{}]", t.name, base::elem_name(t.elem), names_(t.shape));
    if (std::any_of(t.multiples.begin(), t.multiples.end(), [](int64_t m) { return m != 1; }))
      out_ += fmt::format(" round [{}]", fmt::join(t.multiples, ", "));
    out_ += fmt::format(" align {}", t.align);
    if (t.reads) out_ += " reads " + names_(*t.reads);
    if (t.writes) out_ += " writes " + names_(*t.writes);
    if (t.stated) out_ += " stated";
    out_ += " at " + layout::print(t.place, [this](const Dim& size) { return names_(size); }) + "\n";
  }
  void announcement(const char* word, const Announcement& a) {
    out_ += fmt::format("{} {}{}\n", word, p_.tensors[a.tensor].name, names_(a.box));
  }
  void tile(const Tile& t) {
    out_ += fmt::format("{} {} {}[{}]", space_name(t.space), t.name, base::elem_name(t.elem),
                        fmt::join(t.shape, ", "));
    if (t.space != Space::view) out_ += " as " + p_.layouts[t.layout].name;
    if (t.space == Space::scratch || t.space == Space::ring) out_ += fmt::format(" at {}", t.offset);
    if (t.space == Space::ring) out_ += fmt::format(" depth {}", t.depth);
    out_ += "\n";
  }

  void body(const std::vector<OpId>& ops, size_t depth) {
    for (OpId id : ops) {
      out_ += std::string(2 * depth, ' ') + line(id) + "\n";
      if (const auto* inner = tile::body(p_.ops[id])) body(*inner, depth + 1);
    }
  }

  // ---- operations ----

  std::string index(const Index& index) const {
    std::string text;
    if (index.table) text += names_(*index.table) + (index.dim.is(0) ? "" : " + ");
    if (!index.table || !index.dim.is(0)) text += names_(index.dim);
    return text;
  }
  std::string access(const Access& a) const {
    std::string text;
    for (const Index& index : a.at) text += (text.empty() ? "" : ", ") + this->index(index);
    return (a.tensor ? p_.tensors[a.tensor].name : p_.tiles[a.tile].name) + "[" + text + "]" +
           (a.in_runs ? " in runs" : "");
  }
  std::string bounds(const Bounds& b, Elem elem) const {
    return names_("if", b.facts) + (b.fill ? " fill " + literal(*b.fill, elem) : "");
  }
  Elem elem(const Use& use) const { return p_.tiles[use.tile].elem; }

  std::string expr(const Map& map, uint32_t at) const {
    const Expr& e = map.exprs[at];
    const std::string type(base::elem_name(e.elem));
    switch (e.kind) {
      case Expr::Kind::tile:
        return names_(e.use);
      case Expr::Kind::constant:
        return fmt::format("{}({})", type, literal(e.number, e.elem));
      case Expr::Kind::index:
        return fmt::format("{}(index({}))", type, names_(e.index));
      case Expr::Kind::cast:
        return fmt::format("{}({})", type, expr(map, e.args[0]));
      case Expr::Kind::apply:
        break;
    }
    std::string args;
    for (uint32_t arg : e.args) args += (args.empty() ? "" : ", ") + expr(map, arg);
    return fmt::format("{}({})", op_name(e.op), args);
  }

  std::string words(const Copy& op) const {
    return fmt::format("copy {} = {}{}{}", names_(op.to), access(op.from), bounds(op.bounds, elem(op.to)),
                       op.checked ? " checked" : "");
  }
  std::string words(const Store& op) const {
    return fmt::format("copy {} to {}{}{}", names_(op.from), access(op.to),
                       bounds({op.bounds, {}}, Elem::f32), op.streaming ? " streaming" : "");
  }
  std::string words(const View& op) const {
    return fmt::format("view {} = {}{}{}", names_(op.to), access(op.from), bounds(op.bounds, elem(op.to)),
                       op.checked ? " checked" : "");
  }
  std::string words(const Prefetch& op) const {
    std::vector<std::string> labels;
    for (const auto& [v, extent] : op.labels) labels.push_back(fmt::format("{} < {}", names_(v), extent));
    return fmt::format("prefetch {}{} of {}[{}]{}", op.along ? "along " : "", fmt::join(labels, ", "),
                       p_.tensors[op.tensor].name, names_(op.at), names_("if", op.facts));
  }
  std::string words(const Map& op) const {
    return fmt::format("map {} = {}{}", names_(op.to), expr(op, static_cast<uint32_t>(op.exprs.size() - 1)),
                       bounds(op.bounds, elem(op.to)));
  }
  std::string words(const Gemm& op) const {
    return fmt::format("gemm {} += {} * {} in {}{}{}", names_(op.acc), names_(op.a), names_(op.b),
                       base::elem_name(op.in), op.by.empty() ? "" : " by " + op.by, op.async ? " async" : "");
  }
  std::string words(const Reduce& op) const {
    return fmt::format("reduce {} {} = {} in {}", op_name(op.monoid), names_(op.to), names_(op.from),
                       base::elem_name(op.in));
  }
  std::string words(const Scan& op) const {
    return fmt::format("scan {} {} = {} along {}{} in {}", op_name(op.monoid), names_(op.to), names_(op.from),
                       names_(op.along), op.start ? " from " + names_(*op.start) : "",
                       base::elem_name(op.in));
  }
  std::string words(const Scatter& op) const {
    return fmt::format("scatter {} {} to {}{}", op_name(op.monoid), names_(op.from), access(op.to),
                       bounds({op.bounds, {}}, Elem::f32));
  }
  std::string words(const Check& op) const {
    const std::string what = op.extent ? "below " + names_(*op.extent)
                                       : fmt::format("shows {}, {}", index(op.found), index(op.wanted));
    return fmt::format("check {} {} {}{}", op.number, names_(op.of), what, names_("if", op.bounds));
  }
  std::string words(const Loop& op) const {
    std::vector<std::string> carries;
    for (TileId t : op.carries) carries.push_back(p_.tiles[t].name);
    return fmt::format("for {} < {}{}{}{}{}{}", names_(op.index), names_(op.extent),
                       op.first ? " from " + names_(*op.first) : "",
                       op.count ? " below " + names_(*op.count) : "", carries.empty() ? "" : " carry ",
                       fmt::join(carries, ", "), op.order ? words(*op.order) : "");
  }
  std::string words(const Order& order) const {
    return fmt::format(" order {} of {} to {}[{}] of {}{}", p_.tiles[order.keys].name, names_(order.count),
                       p_.tensors[order.to].name, names_(order.row), names_(order.kept),
                       order.descending ? " descending" : "");
  }
  std::string words(const Role& op) const {
    return fmt::format("role {} warps {} : {} registers {}", op.name, op.first_warp, op.end_warp,
                       op.registers);
  }
  std::string words(const Wait& op) const { return fmt::format("wait {}", op.number); }
  std::string words(const Notify& op) const { return fmt::format("notify {}", op.number); }
  std::string words(const Barrier&) const { return "barrier"; }
  std::string words(const Fence&) const { return "fence"; }
  std::string words(const Acquire& op) const { return "acquire " + p_.tiles[op.ring].name; }
  std::string words(const Release& op) const { return "release " + p_.tiles[op.ring].name; }
  std::string words(const Settle& op) const { return fmt::format("settle {}", op.left); }

  const Program& p_;
  Names names_;
  std::string out_;
};

}  // namespace

std::string print(const Program& p) { return Printer(p).program(); }
std::string print(const Program& p, OpId id) { return Printer(p).line(id); }

}  // namespace axon::tile
