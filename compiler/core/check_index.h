// Index notation: `for`, indexing, slices, gathers, updates and rearrange. check_index.cpp has `for` and
// rearrange, check_select.cpp what stands in brackets.
#pragma once
#include <map>

#include "core/check_size.h"

namespace axon::core {

class IndexChecker : InferencePart {
 public:
  IndexChecker(InferenceContext& c, Reporter& reporter, OpenedSizes& opened, LoopScopes& scopes,
               SizeChecker& sizes, ExprChecker& exprs)
      : InferencePart(c),
        reporter_(reporter),
        opened_(opened),
        scopes_(scopes),
        sizes_(sizes),
        exprs_(exprs) {}

  /// The most axes that an index of each value names, and that a function names that it is given to: where an
  /// index names fewer, the others are kept. Called once, before inference.
  void find_named_axes();

  TypeId infer_for(ExprId id);
  TypeId infer_index(ExprId id);
  TypeId infer_with_index(ExprId id);
  TypeId infer_rearrange(ExprId id);

 private:
  /// One use of an index: the position of an axis that it occurs in. A use says more of the range than those
  /// of the kinds behind its own.
  struct Use {
    enum class Kind : uint8_t {
      point,    ///< index < axis
      guarded,  ///< with an `else`: the position may be outside of the axis
      slice     ///< an end of a slice whose size does not depend on the index: index < axis
    };
    shape::Dim index, axis;
    Kind kind;
    source::Span span;
  };
  struct IndexBinder {
    shape::Var var;
    shape::Dim range;
    bool bare = false;   ///< it stands alone in an index, so its range is that axis
    bool given = false;  ///< its range is written
    std::vector<Use> uses;
  };
  struct RankBinder {
    ShapeVarId var;
    std::vector<Shape> indexed;
  };

  // ---- `for` and rearrange (check_index.cpp)
  TypeId tabulated(const Shape& axes, TypeId body, bool number, WhyId w);
  std::optional<ValueRange> tabulated_range(TypeId body);
  bool is_lost(LocalId binder) const;
  void find_range(LocalId local);
  std::optional<shape::Dim> extreme(const shape::Dim& d, bool greatest);
  std::optional<shape::Dim> range_of_use(const IndexBinder& b, const Use& u);
  TypeId infer_reshape(ExprId id);

  // ---- what stands in brackets (check_select.cpp)
  TypeId selected(ExprId id, TypeId base);
  std::optional<shape::Dim> element_of(ExprId id, const Type& vector) const;
  /// The shape that indexing selects; states what the base must be.
  Shape select(ExprId id, TypeId base, bool has_otherwise);
  IndexBinder* lone_binder(const IndexItem& item);
  std::vector<size_t> axes_of_parameters(ExprId callee) const;
  void note_given(ExprId id, size_t axes);
  void settle_axes(TypeId base, size_t named, WhyId w);
  void select_point(const IndexItem& item, const shape::Dim& axis, bool has_otherwise, Shape& result,
                    WhyId why);
  void select_slice(const IndexItem& item, const shape::Dim& axis, Shape& result, ExprId id);
  WhyId why_inside(source::Span at, const char* what, ExprId id);
  WhyId why_end(ExprId end, ExprId id);
  void ends_in_range(const IndexItem& item, const shape::Dim& start, const shape::Dim& stop,
                     const shape::Dim& axis, ExprId id);
  void note_use(const shape::Dim& index, const shape::Dim& axis, bool otherwise, source::Span at);
  void note_window(const shape::Dim& start, const shape::Dim& stop, const shape::Dim& axis, source::Span at);
  void in_range(const shape::Dim& index, const shape::Dim& axis, bool end_allowed, WhyId why);

  Reporter& reporter_;
  OpenedSizes& opened_;
  LoopScopes& scopes_;
  SizeChecker& sizes_;
  ExprChecker& exprs_;
  std::map<LocalId, IndexBinder> index_binders_;
  std::map<LocalId, RankBinder> rank_binders_;
  std::vector<LocalId> open_binders_;         ///< whose range is not found yet
  std::map<std::string, size_t> named_axes_;  ///< by the indices of a value, at most
  std::map<std::string, size_t> given_axes_;  ///< by the functions that a value is given to, at most
};

}  // namespace axon::core
