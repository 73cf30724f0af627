// What written sizes and conditions say.
//
// In: a size or a fact of a tree, and what its names stand for. Out: the same as a Dim, or as a Fact over
// Dims; what is no size is reported, and a size that nothing is known of stands for it. Types, the `where` of
// declarations and what is asked of conditions outside of a program are all read by this.
#pragma once
#include <functional>

#include "shape/prover.h"
#include "source/diagnostic.h"
#include "source/span.h"
#include "syntax/ast.h"

namespace axon::core {

class WrittenSizes {
 public:
  struct Context {
    const source::SourceManager& sources;
    const syntax::File& file;
    std::function<shape::Dim(const syntax::Name&)> named;
    std::function<shape::Dim()> unknown;  ///< a size of which nothing is known
    std::function<void(source::Diagnostic)> report;
  };
  explicit WrittenSizes(Context context) : c_(std::move(context)) {}

  shape::Dim dim(syntax::DimId id) const;
  shape::Fact fact(const syntax::Fact& fact) const;

 private:
  shape::Dim number(uint64_t value, source::Span at) const;
  shape::Dim binary(const syntax::BinaryDim& b, source::Span at) const;
  shape::Dim call(const syntax::CallDim& c, source::Span at) const;

  Context c_;
};

}  // namespace axon::core
