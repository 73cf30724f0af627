// See order.h. Where all elements are kept, their words are stored as they come. Where only k are, the least
// so far are a heap, whose greatest word most later keys are not less than; where these are many, the
// greatest key that is kept is found before. Where keys are single bits, positions are stored in one pass for
// each. Words are sorted in place: by 6 bits at a time, from the first
// on in which they differ, and short runs by comparing.
#include "order.h"

namespace {

constexpr int64_t keys_at_once = 256;

struct Row {
  KeysOfRow keys;
  const int64_t* place;
  int64_t n, key_bits;
  int64_t position_bits;
  uint64_t positions;  ///< the bits of a word that hold the position

  /// The word of an element whose first `taken` bits are used up.
  uint64_t word(uint64_t key, int64_t taken, int64_t position) const {
    return ((key << taken) & ~positions) | static_cast<uint64_t>(position);
  }
  int64_t bits_in_word() const { return 64 - position_bits; }
};

// ---- sorting different words in place ----

void sort_by_insertion(uint64_t* words, int64_t count) {
  for (int64_t i = 1; i < count; ++i) {
    const uint64_t word = words[i];
    int64_t j = i;
    for (; j > 0 && words[j - 1] > word; --j) words[j] = words[j - 1];
    words[j] = word;
  }
}

/// Moves what is less than the pivot to the front, without branches; returns how much that is.
int64_t divide(uint64_t* words, int64_t count, uint64_t pivot) {
  const uint64_t first = words[0];
  int64_t less = 0, hole = 0;
  for (int64_t i = 1; i < count; ++i) {
    words[hole] = words[less];
    words[less] = words[i];
    less += words[less] < pivot ? 1 : 0;
    hole = i;
  }
  words[hole] = words[less];
  words[less] = first;
  return less + (first < pivot ? 1 : 0);
}

uint64_t middle_of(uint64_t a, uint64_t b, uint64_t c) {
  const uint64_t low = a < b ? a : b, high = a < b ? b : a;
  return c < low ? low : c < high ? c : high;
}

/// For runs so short that no input makes it slow.
void sort_by_dividing(uint64_t* words, int64_t count) {
  constexpr int64_t shortest = 24;
  while (count > shortest) {
    const uint64_t pivot = middle_of(words[count / 4], words[count / 2], words[count - 1 - count / 4]);
    const int64_t less = divide(words, count, pivot);
    if (less < count - less) {
      sort_by_dividing(words, less);
      words += less;
      count -= less;
    } else {
      sort_by_dividing(words + less, count - less);
      count = less;
    }
  }
  sort_by_insertion(words, count);
}

constexpr int digit_bits = 6;
constexpr int digits = 1 << digit_bits;
constexpr int64_t short_run = 512;

/// Exchanges words until each lies among those of its digit. `begin` and `end`: where these lie; afterwards
/// both are where they end. One exchange hardly waits for the one before.
void place_by_digit(uint64_t* words, int shift, int64_t* begin, const int64_t* end) {
  uint8_t open[digits];
  int count = 0;
  for (int d = 0; d < digits; ++d)
    if (begin[d] < end[d]) open[count++] = static_cast<uint8_t>(d);
  while (count > 1) {
    int left = 0;
    for (int o = 0; o < count; ++o) {
      const int digit = open[o];
      for (int64_t i = begin[digit]; i < end[digit]; ++i) {
        const uint64_t word = words[i];
        const int64_t to = begin[(word >> shift) % digits]++;
        words[i] = words[to];
        words[to] = word;
      }
      if (begin[digit] < end[digit]) open[left++] = static_cast<uint8_t>(digit);
    }
    count = left;
  }
}

void sort(uint64_t* words, int64_t count) {
  if (count <= short_run) return sort_by_dividing(words, count);
  uint64_t differing = 0;
  bool sorted = true;
  for (int64_t i = 1; i < count; ++i) {
    differing |= words[i] ^ words[0];
    sorted &= words[i - 1] < words[i];
  }
  if (sorted) return;
  const int used = 64 - __builtin_clzll(differing);
  const int shift = used > digit_bits ? used - digit_bits : 0;
  int64_t begin[digits], end[digits] = {};
  for (int64_t i = 0; i < count; ++i) ++end[(words[i] >> shift) % digits];
  int64_t sum = 0;
  for (int d = 0; d < digits; ++d) {
    begin[d] = sum;
    sum += end[d];
    end[d] = sum;
  }
  place_by_digit(words, shift, begin, end);
  for (int d = 0, first = 0; shift > 0 && d < digits; ++d) {
    const int64_t low = d == 0 ? first : end[d - 1];
    sort(words + low, end[d] - low);
  }
}

// ---- the least words ----

/// Puts a word in the place of the greatest of a heap.
void replace_greatest(uint64_t* heap, int64_t count, uint64_t word) {
  int64_t at = 0;
  for (int64_t child = 1; child < count; child = 2 * at + 1) {
    child += child + 1 < count && heap[child + 1] > heap[child] ? 1 : 0;
    if (heap[child] <= word) break;
    heap[at] = heap[child];
    at = child;
  }
  heap[at] = word;
}

void make_heap(uint64_t* words, int64_t count) {
  for (int64_t root = count / 2; root-- > 0;) {
    const uint64_t word = words[root];
    int64_t at = root;
    for (int64_t child = 2 * at + 1; child < count; child = 2 * at + 1) {
      child += child + 1 < count && words[child + 1] > words[child] ? 1 : 0;
      if (words[child] <= word) break;
      words[at] = words[child];
      at = child;
    }
    words[at] = word;
  }
}

using Block = uint64_t __attribute__((ext_vector_type(16)));
constexpr int64_t block_keys = 16;

/// Is any key of the block, with some bits turned, less than the limit?
inline bool any_less(const uint64_t* keys, uint64_t turned, uint64_t limit) {
  Block block;
  __builtin_memcpy(&block, keys, sizeof block);
  return __builtin_reduce_or((block ^ turned) < limit) != 0;
}

/// Keeps the least words of those elements whose first `taken` bits are those of `same`.
class Least {
 public:
  Least(const Row& row, uint64_t* words, int64_t count, int64_t taken, uint64_t same)
      : row_(row), words_(words), count_(count), taken_(taken), same_(same) {}

  void run() {
    for (int64_t first = 0; first < row_.n; first += keys_at_once) {
      const int64_t count = row_.n - first < keys_at_once ? row_.n - first : keys_at_once;
      row_.keys(row_.place, first, count, keys_);
      for (int64_t i = 0; i < count; i += block_keys) {
        const int64_t end = i + block_keys < count ? i + block_keys : count;
        if (end == i + block_keys && is_beyond(keys_ + i)) continue;
        for (int64_t j = i; j < end; ++j) consider(keys_[j], first + j);
      }
    }
  }

 private:
  /// Is no key of the block kept?
  bool is_beyond(const uint64_t* keys) const {
    if (taken_ > 0) return !any_less(keys, same_, uint64_t{1} << (64 - taken_));
    return filled_ == count_ && !any_less(keys, 0, limit_);
  }

  void consider(uint64_t key, int64_t position) {
    if (taken_ > 0 && ((key ^ same_) >> (64 - taken_)) != 0) return;
    const uint64_t word = row_.word(key, taken_, position);
    if (filled_ < count_) {
      words_[filled_++] = word;
      if (filled_ == count_) make_heap(words_, count_);
    } else if ((word & ~row_.positions) < limit_) {
      replace_greatest(words_, count_, word);
    } else {
      return;
    }
    limit_ = words_[0] & ~row_.positions;
  }

  const Row& row_;
  uint64_t* const words_;
  const int64_t count_, taken_;
  const uint64_t same_;
  int64_t filled_ = 0;
  uint64_t limit_ = 0;  ///< once all are filled: what has no lesser leading bits comes after them
  uint64_t keys_[keys_at_once];
};

// ---- what agrees in the leading bits ----

/// Sorted words become those of the bits after the first `taken`, where they agree so far, and are sorted by
/// them.
void sort_rest(const Row& row, uint64_t* words, int64_t count, int64_t taken) {
  if (taken >= row.key_bits) return;
  for (int64_t low = 0, high = 0; low < count; low = high) {
    const uint64_t leading = words[low] & ~row.positions;
    for (high = low + 1; high < count && (words[high] & ~row.positions) == leading;) ++high;
    if (high == low + 1) continue;
    for (int64_t i = low; i < high; ++i) {
      const auto position = static_cast<int64_t>(words[i] & row.positions);
      uint64_t key = 0;
      row.keys(row.place, position, 1, &key);
      words[i] = row.word(key, taken, position);
    }
    sort(words + low, high - low);
    sort_rest(row, words + low, high - low, taken + row.bits_in_word());
  }
}

void store_all(const Row& row, uint64_t* words) {
  for (int64_t first = 0; first < row.n; first += keys_at_once) {
    const int64_t count = row.n - first < keys_at_once ? row.n - first : keys_at_once;
    row.keys(row.place, first, count, words + first);
    for (int64_t i = first; i < first + count; ++i) words[i] = row.word(words[i], 0, i);
  }
  sort(words, row.n);
  sort_rest(row, words, row.n, row.bits_in_word());
}

/// The greatest key that is kept, and how many of those that are equal to it.
struct Threshold {
  uint64_t key = 0;
  int64_t equal = 0;
};

/// By counting digits of the keys, from the first on, of those that agree with the threshold so far.
Threshold threshold_of(const Row& row, int64_t count) {
  constexpr int64_t counted_bits = 11;
  Threshold found{0, count};
  for (int64_t taken = 0; taken < row.key_bits; taken += counted_bits) {
    const int64_t bits = 64 - taken < counted_bits ? 64 - taken : counted_bits, shift = 64 - taken - bits;
    int64_t counts[1 << counted_bits] = {};
    for (int64_t first = 0; first < row.n; first += keys_at_once) {
      uint64_t keys[keys_at_once];
      const int64_t here = row.n - first < keys_at_once ? row.n - first : keys_at_once;
      row.keys(row.place, first, here, keys);
      for (int64_t i = 0; i < here; ++i) {
        const uint64_t digit = (keys[i] ^ found.key) >> shift;
        if (digit >> bits == 0) ++counts[digit];
      }
    }
    uint64_t digit = 0;
    while (found.equal > counts[digit]) found.equal -= counts[digit++];
    found.key |= digit << shift;
  }
  return found;
}

/// Of many, where a heap would wait for memory at each step.
void store_up_to(const Row& row, uint64_t* words, int64_t count) {
  Threshold last = threshold_of(row, count);
  for (int64_t first = 0, filled = 0; filled < count; first += keys_at_once) {
    uint64_t keys[keys_at_once];
    const int64_t here = row.n - first < keys_at_once ? row.n - first : keys_at_once;
    row.keys(row.place, first, here, keys);
    for (int64_t i = 0; i < here && filled < count; ++i) {
      words[filled] = row.word(keys[i], 0, first + i);
      const bool is_equal = keys[i] == last.key && last.equal > 0;
      filled += keys[i] < last.key || is_equal ? 1 : 0;
      last.equal -= is_equal ? 1 : 0;
    }
  }
  sort(words, count);
  sort_rest(row, words, count, row.bits_in_word());
}

/// Of the elements that agree with the last one kept, in as many bits as words have, others may come first:
/// these are looked for again, by the bits that follow.
void store_least(const Row& row, uint64_t* words, int64_t count) {
  uint64_t same = 0;
  for (int64_t taken = 0; count > 0; taken += row.bits_in_word()) {
    Least(row, words, count, taken, same).run();
    sort(words, count);
    const int64_t next = taken + row.bits_in_word();
    if (next >= row.key_bits) return;
    const uint64_t last = words[count - 1] & ~row.positions;
    int64_t sure = count - 1;
    while (sure > 0 && (words[sure - 1] & ~row.positions) == last) --sure;
    sort_rest(row, words, sure, next);
    same |= last >> taken;
    words += sure;
    count -= sure;
  }
}

/// Stores the positions first .. first + here - 1 of keys with that upper bit; returns how many they are. It
/// writes behind the last of them, without a branch, so there is room for `here`.
int64_t store_where(const uint64_t* keys, uint64_t bit, int64_t first, int64_t here, uint64_t* words) {
  int64_t filled = 0;
  for (int64_t i = 0; i < here; ++i) {
    words[filled] = static_cast<uint64_t>(first + i);
    filled += keys[i] >> 63 == bit ? 1 : 0;
  }
  return filled;
}

/// Keys of one bit: the elements of the lesser one in their order, then, where more are kept, those of the
/// other.
void store_two_values(const Row& row, uint64_t* words, int64_t count) {
  int64_t filled = 0;
  for (uint64_t bit = 0; bit < 2; ++bit)
    for (int64_t first = 0; first < row.n && filled < count; first += keys_at_once) {
      uint64_t keys[keys_at_once];
      const int64_t here = row.n - first < keys_at_once ? row.n - first : keys_at_once;
      row.keys(row.place, first, here, keys);
      if (count - filled >= here) {
        filled += store_where(keys, bit, first, here, words + filled);
        continue;
      }
      for (int64_t i = 0; i < here && filled < count; ++i)
        if (keys[i] >> 63 == bit) words[filled++] = static_cast<uint64_t>(first + i);
    }
}

}  // namespace

extern "C" void axon_order(KeysOfRow keys, const int64_t* place, int64_t n, uint64_t* words, int64_t k,
                           int64_t key_bits) {
  for (int64_t i = n; i < k; ++i) words[i] = 0;
  const int64_t kept = k < n ? k : n;
  if (n == 1 && kept == 1) words[0] = 0;
  if (n <= 1 || kept <= 0) return;
  const int64_t position_bits = 64 - __builtin_clzll(static_cast<uint64_t>(n - 1));
  const Row row{keys, place, n, key_bits, position_bits, (uint64_t{1} << position_bits) - 1};
  if (key_bits == 1) return store_two_values(row, words, kept);
  if (kept == n)
    store_all(row, words);
  else if (kept > 8192 && kept > n / 32)
    store_up_to(row, words, kept);
  else
    store_least(row, words, kept);
  for (int64_t i = 0; i < kept; ++i) words[i] &= row.positions;
}
