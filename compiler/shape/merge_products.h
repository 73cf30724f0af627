// Variables that a question only knows as a product: h and w, where nothing but h*w is ever mentioned. One
// variable in the place of the product makes the question linear. It forgets that the value is a product, so
// what is proved of it holds, and nothing else is said.
#pragma once
#include <optional>
#include <vector>

#include "shape/prover.h"

namespace axon::shape {

struct Question {
  std::vector<Fact> facts, goals;
};

/// The question with such products merged; nullopt when there are none. Facts that only give the sign of one
/// factor are replaced by the sign of the product.
std::optional<Question> merge_products(const std::vector<Fact>& facts, const std::vector<Fact>& goals);

}  // namespace axon::shape
