// One file of programs through every executor of the same meaning:
//
//   meaning     the reference interpreter on the graph as it was built, before any pass, in float64
//   storage     the same in the program's own element types
//   simulated   the plan's task program, in random legal orders, with the plan's memory slots shared; the
//               tasks of types that have tile programs are runs of those, on a machine that the seed draws
//   native      the bundle, through the runtime's C interface, with a number of workers
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "axon/axon.h"
#include "generator.h"
#include "graph/interpret.h"
#include "pipeline.h"

namespace axon::differential {

class TilePrograms;
using graph::Outcome;
using Inputs = std::vector<graph::Tensor>;  ///< one per graph input, in order

/// A source file compiled to a bundle; the graphs are also kept as they were before the passes.
class Compiled {
 public:
  /// `last`: the stage to stop after. The library is the standard one.
  /// Imports are relative to `name`.
  Compiled(const std::string& source, CompileOptions, const std::string& last = "bundle",
           const std::string& name = "generated.axn");
  ~Compiled();
  const std::string& error() const { return error_; }  ///< rendered diagnostics, or obligations not proved
  const Compilation& compilation() const { return *compilation_; }
  const graph::Graph& meaning(const std::string& entry) const { return meanings_.at(entry); }
  const CompiledEntry& entry(const std::string& name) const;

  /// "" or which of the results has not the shape that the entry's type says for these inputs. What only the
  /// data decides is not compared.
  std::string shape_difference(const std::string& entry, const Inputs&, const Outcome&) const;

  Outcome interpret(const std::string& entry, const Inputs&, graph::Precision) const;
  /// The plan variant that the runtime would choose for these inputs.
  Outcome simulate(const std::string& entry, const Inputs&, uint64_t seed) const;
  /// How many simulated tasks ran a tile program.
  uint64_t tile_tasks() const;

 private:
  TilePrograms& tiles_of(const CompiledEntry&, const plan::Variant&, uint64_t seed) const;

  std::unique_ptr<Compilation> compilation_;
  std::map<std::string, graph::Graph> meanings_;
  /// Of variants of entries, by their symbols, on machines. Kept: one is run many times.
  mutable std::map<std::pair<std::string, std::string>, std::unique_ptr<TilePrograms>> tiles_;
  std::string error_;
};

/// A bundle that is loaded at a level and bound to the weights of all of its entries.
class Loaded {
 public:
  /// `level` empty: the best of this machine.
  Loaded(const Compiled&, const std::map<std::string, Inputs>& inputs, const std::string& level = "");
  ~Loaded();
  Loaded(const Loaded&) = delete;
  Loaded& operator=(const Loaded&) = delete;
  const std::string& error() const { return error_; }
  std::string level() const { return axon_bundle_level(bundle_); }
  /// States start as the inputs say and are handed back in the outcome. Each further launch of the call must
  /// give the same bits as the first; else that is the outcome's error.
  Outcome run(const std::string& entry, const Inputs&, uint32_t workers, int launches = 1) const;
  /// One call launched with each of the inputs in turn, twice over: the first difference from fresh calls.
  /// For programs without weights, whose sizes are free to change. `may_fail`: where a fresh call is an
  /// error, it is the same one in turn.
  std::string difference_in_turn(const std::string& entry, const std::vector<Inputs>&, uint32_t workers,
                                 bool may_fail = false) const;

 private:
  const Compiled& compiled_;
  axon_error* failure_ = nullptr;
  axon_bundle* bundle_ = nullptr;
  axon_parameters* parameters_ = nullptr;
  std::string error_;
};

/// Levels that this machine runs, the least first.
std::vector<std::string> levels_of_this_machine();
/// Options to compile for those levels; without any, for the best of this machine.
CompileOptions for_levels(std::vector<std::string> levels = {});

/// What is allowed between a result and its meaning, element by element:
///
///     |got - meaning| <= u * (64 + 64 * |meaning|) + 8 * e
///
/// with u the unit roundoff of the result's element type and e the largest error, over the finite elements of
/// this result, that rounding at every operator makes: |storage - meaning|. The first term is for
/// well-conditioned programs of up to thirty operators over axes of up to a few hundred elements; the second
/// scales with how much this program amplifies any rounding. For f64 the meaning is itself rounded and e is
/// 0, so u is 16 times larger. Integers, NaNs and infinities agree exactly, except for float elements where
/// the storage run itself overflows, which the float64 meaning does not. "" or the first element that
/// differs.
std::string first_difference(const Outcome& got, const Outcome& meaning, const Outcome& storage);
/// The same bits: NaN equals NaN.
std::string first_bit_difference(const Outcome& a, const Outcome& b);

/// An entry in every executor: the interpreter in both precisions, the simulator in two orders, and each
/// loaded bundle with one worker and with several, whose bits are to be the same; the shapes of all are those
/// of the entry's type. `may_fail`: where the meaning is an error, all end with the same one. "" or who
/// differs where.
std::string disagreement(const Compiled&, const std::vector<const Loaded*>&, const std::string& entry,
                         const Inputs&, uint64_t seed, bool may_fail = false);

}  // namespace axon::differential
