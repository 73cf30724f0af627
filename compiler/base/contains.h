// Membership in a short list that is in no order.
#pragma once

#include <algorithm>
#include <vector>

namespace axon::base {

template <class T>
bool contains(const std::vector<T>& list, const T& value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

}  // namespace axon::base
