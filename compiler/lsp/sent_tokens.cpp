// See sent_tokens.h.
#include "lsp/sent_tokens.h"

#include <algorithm>

namespace axon::lsp {

std::string SentTokens::remember(const std::string& uri, Numbers numbers) {
  std::string name = std::to_string(++count_);
  sent_[uri] = {name, std::move(numbers)};
  return name;
}

std::optional<SentTokens::Edit> SentTokens::difference(const std::string& uri, const std::string& name,
                                                       const Numbers& numbers) const {
  const auto known = sent_.find(uri);
  if (known == sent_.end() || known->second.name != name) return std::nullopt;
  const Numbers& before = known->second.numbers;
  const auto [a, b] = std::mismatch(before.begin(), before.end(), numbers.begin(), numbers.end());
  const auto [c, d] = std::mismatch(before.rbegin(), std::make_reverse_iterator(a), numbers.rbegin(),
                                    std::make_reverse_iterator(b));
  return Edit{static_cast<size_t>(a - before.begin()), static_cast<size_t>(c.base() - a),
              Numbers(b, d.base())};
}

}  // namespace axon::lsp
