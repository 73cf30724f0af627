// See arena.h. The tables of an arena: nodes by their content, and variables by their number.
#include "shape/arena.h"

#include <array>
#include <atomic>
#include <bit>
#include <deque>
#include <mutex>
#include <unordered_set>

#include "base/bug.h"
#include "base/work.h"
#include "shape/dim_node.h"

namespace axon::shape {
namespace arena_tables {

/// The nodes of one kind. Those of equal content are one node.
template <class Node>
class InternTable {
 public:
  const Node* intern(Node&& candidate) {
    Shard& shard = shards_[candidate.summary.hash % shards_.size()];
    std::lock_guard lock(shard.mutex);
    const auto found = shard.nodes.find(&candidate);
    if (found != shard.nodes.end()) return *found;
    return *shard.nodes.insert(&shard.owned.emplace_back(std::move(candidate))).first;
  }
  size_t size() const {
    size_t count = 0;
    for (const Shard& shard : shards_) {
      std::lock_guard lock(shard.mutex);
      count += shard.owned.size();
    }
    return count;
  }

 private:
  struct Hash {
    size_t operator()(const Node* node) const { return node->summary.hash; }
  };
  struct Same {
    bool operator()(const Node* a, const Node* b) const { return same(*a, *b); }
  };
  struct Shard {
    mutable std::mutex mutex;
    std::deque<Node> owned;
    std::unordered_set<const Node*, Hash, Same> nodes;
  };
  static bool same(const AtomNode& a, const AtomNode& b) {
    return a.kind == b.kind && a.var == b.var && a.lhs == b.lhs && a.rhs == b.rhs;
  }
  static bool same(const DimNode& a, const DimNode& b) {
    return a.summary.hash == b.summary.hash && std::equal(a.terms.begin(), a.terms.end(), b.terms.begin(),
                                                          b.terms.end(), [](const Term& s, const Term& t) {
                                                            return s.coefficient == t.coefficient &&
                                                                   s.factors == t.factors;
                                                          });
  }
  std::array<Shard, 4> shards_;
};

void summarise(DimNode& node) {
  NodeSummary& summary = node.summary;
  summary.hash = node.terms.size();
  for (const Term& term : node.terms) {
    summary.hash = mix(summary.hash, static_cast<size_t>(term.coefficient));
    for (const Atom& atom : term.factors) {
      const NodeSummary& below = atom.node->summary;
      summary.hash = mix(summary.hash, below.hash);
      summary.var_bits |= below.var_bits;
      summary.depth = std::max(summary.depth, below.depth + 1);
      summary.size = std::min(summary.size + below.size, max_dim_size + 1);
      summary.overflowed |= below.overflowed;
    }
  }
}

/// The constants that belong to all arenas; null for another one.
const DimNode* shared_constant(int64_t value) {
  constexpr int64_t first = -64, last = 1024;
  static const auto* nodes = [] {
    auto* made = new std::array<DimNode, last - first + 1>;
    for (int64_t v = first; v <= last; ++v) {
      DimNode& node = (*made)[static_cast<size_t>(v - first)];
      if (v != 0) node.terms = {{v, {}}};
      summarise(node);
    }
    return made;
  }();
  return value < first || value > last ? nullptr : &(*nodes)[static_cast<size_t>(value - first)];
}

/// Everything about one variable.
struct VarInfo {
  std::string name;
  AtomNode atom;
  const DimNode* dim = nullptr;
};

/// Variables lie in blocks, each twice as long as the one before, and are read without a lock once their
/// number is known.
class VarTable {
 public:
  ~VarTable() {
    for (auto& block : blocks_) delete[] block.load(std::memory_order_relaxed);
  }
  uint32_t size() const {
    std::lock_guard lock(mutex_);
    return count_;
  }
  Var add(Arena::Tables& tables, std::string name, bool overflowed);
  const VarInfo& operator[](Var var) const {
    const auto [block, offset] = place(var.id);
    const VarInfo* infos = block < blocks_.size() ? blocks_[block].load(std::memory_order_acquire) : nullptr;
    if (!infos || !infos[offset].dim) base::bug("shape", "a variable of another arena");
    return infos[offset];
  }

 private:
  static constexpr uint64_t first_block = 256;
  struct Place {
    size_t block, offset;
  };
  static Place place(uint32_t id) {
    const auto block = static_cast<size_t>(std::bit_width(id / first_block + 1)) - 1;
    return {block, id - first_block * ((uint64_t{1} << block) - 1)};
  }
  mutable std::mutex mutex_;
  uint32_t count_ = 0;
  std::array<std::atomic<VarInfo*>, 19> blocks_{};
};

}  // namespace arena_tables

struct Arena::Tables {
  arena_tables::InternTable<DimNode> dims;
  arena_tables::InternTable<AtomNode> atoms;
  arena_tables::VarTable vars;

  /// Counts nothing, so that it does not poll: for who holds a lock.
  const DimNode* intern(std::vector<Term> terms) {
    const bool constant = terms.empty() || terms[0].factors.empty();
    if (const DimNode* shared =
            constant ? arena_tables::shared_constant(terms.empty() ? 0 : terms[0].coefficient) : nullptr)
      return shared;
    DimNode node;
    node.terms = std::move(terms);
    arena_tables::summarise(node);
    return dims.intern(std::move(node));
  }
};

namespace arena_tables {

Var VarTable::add(Arena::Tables& tables, std::string name, bool overflowed) {
  base::work(2);
  std::lock_guard lock(mutex_);
  const uint32_t id = count_++;
  const auto [block, offset] = place(id);
  if (block >= blocks_.size()) base::bug("shape", "too many variables");
  if (!blocks_[block].load(std::memory_order_relaxed))
    blocks_[block].store(new VarInfo[first_block << block], std::memory_order_release);
  VarInfo& info = blocks_[block].load(std::memory_order_relaxed)[offset];
  info.name = std::move(name);
  info.atom.var = Var{id};
  info.atom.summary.hash = mix(17, id);
  info.atom.summary.var_bits = uint64_t{1} << (id % 64);
  info.atom.summary.overflowed = overflowed;
  info.dim = tables.intern({{1, {Atom{&info.atom}}}});
  return Var{id};
}

}  // namespace arena_tables

namespace {

thread_local Arena* innermost_arena = nullptr;
Arena::Tables& tables() { return Arena::current().tables(); }

}  // namespace

// ---- Arenas ----

Arena::Arena() : tables_(std::make_unique<Tables>()) {
  static std::atomic<uint64_t> count = 0;
  serial_ = ++count;
}
Arena::~Arena() = default;
Arena& Arena::current() {
  static auto* of_the_process = new Arena;
  return innermost_arena ? *innermost_arena : *of_the_process;
}
size_t Arena::size() const { return tables_->dims.size() + tables_->atoms.size() + tables_->vars.size(); }

UseArena::UseArena(Arena& arena) : outer_(innermost_arena) { innermost_arena = &arena; }
UseArena::~UseArena() { innermost_arena = outer_; }

// ---- What dims are made of ----

size_t mix(size_t seed, size_t value) {
  uint64_t x = static_cast<uint64_t>(seed) * 0x9e3779b97f4a7c15u + value;
  x ^= x >> 29;
  x *= 0xbf58476d1ce4e5b9u;
  return static_cast<size_t>(x ^ (x >> 32));
}

const DimNode* intern_terms(std::vector<Term> terms) {
  base::work(1 + terms.size());
  return tables().intern(std::move(terms));
}
const AtomNode* intern_atom(AtomNode node) { return tables().atoms.intern(std::move(node)); }

Var fresh_var(std::string name) { return tables().vars.add(tables(), std::move(name), false); }
const std::string& var_name(Var var) { return tables().vars[var].name; }
Dim too_large() { return Dim(tables().vars.add(tables(), "too large", true)); }

Dim::Dim() : node_(arena_tables::shared_constant(0)) {}
Dim::Dim(int64_t constant) : node_(arena_tables::shared_constant(constant)) {
  if (!node_) node_ = intern_terms({{constant, {}}});
}
Dim::Dim(Var var) : node_(tables().vars[var].dim) {}

}  // namespace axon::shape
