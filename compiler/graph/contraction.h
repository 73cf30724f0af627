// Contractions: which sums of products are matrix products, and what plays which part. The one recogniser:
// tiling, weight layouts and emission all read its answer.
#pragma once
#include <optional>
#include <vector>

#include "graph/graph.h"
#include "layout/placement.h"

namespace axon::graph {

/// A body reduce(sum, binders, product of factors). Some factors, mostly one load whose elements are
/// streamed, are the right operand, the product of the others is the left operand:
///     result[.., row, .., column] = sum(.., depth) left[.., row, depth] * right[.., depth, column]
struct Contraction {
  ScalarId reduce;
  std::vector<ScalarId> left;   ///< factors
  std::vector<ScalarId> right;  ///< factors; with a `load` one: the load, perhaps under casts that widen it
  ScalarId load;                ///< what kernels stream; invalid when they can read none: plain loops do it
  // What the kernels want to know, where there is a load:
  Elem accumulator = Elem::f32;
  Axis column;  ///< of the domain: only the right operand depends on it
  /// Of the binders, outermost first: the last, of which both operands depend, and those that run together
  /// with it in a row-major right operand, as one axis of their product does; one that is stored as panels or
  /// in blocks has only the last. The sum goes over the other binders, too.
  std::vector<Axis> depths;
  const Axis& depth() const { return depths.back(); }
  // All axes of the domain, by position:
  std::vector<uint32_t> rows;     ///< only the left operand depends on them, or none
  std::vector<uint32_t> columns;  ///< only the right operand depends on them
  std::vector<uint32_t> batch;    ///< both do
  /// Where there are no rows: one of the batch along which only data says how the right operand moves, as the
  /// expert of a token does. Where that stays the same, such products are rows of one.
  std::optional<uint32_t> runs;
};

/// The body as a contraction; nullopt when it is no sum of products with binders on both sides. `domain` is
/// that of the body, `locals` are those of its node. Of several right operands that kernels can read, floats
/// and integers whose values the accumulator holds and whose indices are affine or the same all along the
/// column and the depth, it is the one whose elements lie best: column after column in a weight, then in
/// any tensor, then depth after depth. Where they can read none, the right operand is what depends on the
/// last axis of the domain that some factors have and others lack.
std::optional<Contraction> find_contraction(const Graph&, const std::vector<Local>& locals, ScalarId body,
                                            const std::vector<Axis>& domain);

/// The contractions of a compute node: the number of the local (nullopt: of the output) and the match.
struct PlacedContraction {
  std::optional<uint32_t> local;
  uint32_t output = 0;
  Contraction contraction;
};
std::vector<PlacedContraction> contractions_of(const Graph&, const Node&);

/// Of a right operand that is a weight: the axes of its tensor that the column and the depth run along, with
/// step 1, each alone on its own, so that it can be stored as panels. nullopt where it cannot, or where it is
/// not worth it: columns that are not the last axis under several depths that run together as they lie.
std::optional<layout::PanelAxes> panel_axes(const Graph&, const Contraction&);

/// Of a load of panels (Node::packs), whose last axis has so many columns of each and the one before the
/// whole depth (index column / width on an earlier axis, column mod width on the last): the column. nullopt
/// of any other load.
std::optional<Var> column_of_panels(const Graph&, const Scalar& load);

/// A choice by sizes alone between a right operand in panels and the same as it was before it was packed
/// (passes/pack_operands.cpp). Where the condition holds both are the same.
struct PackedChoice {
  ScalarId condition, panels, operand;
};
std::optional<PackedChoice> packed_choice(const Graph&, ScalarId);

/// The value under casts to types that hold every value of it.
ScalarId under_widening_casts(const Graph&, ScalarId);

/// The load that kernels stream when the factor is a right operand and sums are of this type: under casts
/// that widen, or the factor itself. Invalid where they cannot.
ScalarId streamed_load(const Graph&, const std::vector<Local>& locals, ScalarId factor, Elem accumulator);

/// A sum of products of floats as the score of a query for a key: the factors that are the query's, and the
/// load of the key, the one factor that depends on `key`, which kernels stream. nullopt where it is no such
/// sum, or the data decides where the key lies.
struct Score {
  std::vector<ScalarId> query;
  ScalarId key;
};
std::optional<Score> score_of_key(const Graph&, const std::vector<Local>& locals, ScalarId reduce, Var key);

}  // namespace axon::graph
