// Whether the test runs under a sanitizer, which GCC and clang say in different words: then it takes longer,
// and memory is not the process's own.
#pragma once

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
