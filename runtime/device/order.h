// The order of one row: what a task that sorts calls.
//
// The row of results is the only memory: k words of 64 bits. While elements are compared, a word holds the
// leading bits of an element's key and, in the low bits, its position; n elements need so many of these.
// Words differ, and compare as the keys do as far as their bits go, then as the positions. Keys of 32 bits
// fit as a whole where there are at most 2^32 elements. Of longer ones, what agrees in the leading bits is
// sorted once more, by the bits that follow.
#pragma once
#include <stdint.h>

/// Stores the keys of elements first .. first + count - 1 of the row that `place` names. A key is an unsigned
/// number whose order is that of the elements, in the upper `key_bits` bits: 1, 32 or 64. `first` is a
/// multiple of 256, or the count is 1.
using KeysOfRow = void (*)(const int64_t* place, int64_t first, int64_t count, uint64_t* keys);

extern "C" {
/// Stores in `row` the positions of the first k of n elements in ascending order of their keys, equal ones in
/// ascending order of positions. Where there are fewer elements, the rest of the row is 0.
void axon_order(KeysOfRow keys, const int64_t* place, int64_t n, uint64_t* row, int64_t k, int64_t key_bits);
}
