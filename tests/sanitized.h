// Whether the test runs under a sanitizer, which GCC and clang say in different words: then it takes longer,
// and memory is not the process's own.
#pragma once

#include <cstddef>
#include <vector>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define AXON_UNDER_ADDRESS_SANITIZER
#endif
#if __has_feature(thread_sanitizer)
#define AXON_UNDER_THREAD_SANITIZER
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define AXON_UNDER_ADDRESS_SANITIZER
#endif
#if defined(__SANITIZE_THREAD__)
#define AXON_UNDER_THREAD_SANITIZER
#endif
#if defined(AXON_UNDER_ADDRESS_SANITIZER) || defined(AXON_UNDER_THREAD_SANITIZER)
#define AXON_UNDER_SANITIZER
#endif

namespace axon {

/// Of what is only more of the same, seeds and programs by the hundred, one of so many is taken: what is
/// wrong with memory shows in few, and takes ten times as long to look for.
#ifdef AXON_UNDER_SANITIZER
constexpr unsigned one_of = 10;
#else
constexpr unsigned one_of = 1;
#endif

/// How many of them, at least one; and which.
template <class Number>
constexpr Number sampled(Number all) {
  return static_cast<Number>((all + static_cast<Number>(one_of - 1)) / static_cast<Number>(one_of));
}
/// What a sample surely counts where the whole counts more than `all`: half of its share, because the files
/// or seeds taken do not each hold as much.
template <class Number>
constexpr Number sampled_floor(Number all) {
  return one_of == 1 ? all : static_cast<Number>(all / static_cast<Number>(2 * one_of));
}
template <class T>
std::vector<T> sampled(const std::vector<T>& all) {
  std::vector<T> some;
  for (size_t i = 0; i < all.size(); i += one_of) some.push_back(all[i]);
  return some;
}

}  // namespace axon
