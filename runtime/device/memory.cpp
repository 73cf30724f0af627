// Asking for memory ahead, and the four memory functions that a code generator may call on its own. An image
// has no undefined symbols, so they are part of it. Compiled without builtins: otherwise the loops below
// would be recognised and call themselves.
using size_t = decltype(sizeof(0));
using int64_t = long;

extern "C" {

/// Asks for what lies from `from` on, as much as arrives while a worker waits for another.
void axon_prefetch(const char* from, int64_t bytes) {
  constexpr int64_t line = 64, most = 32 * 1024;
  if (bytes > most) bytes = most;
  for (int64_t at = 0; at < bytes; at += line) __builtin_prefetch(from + at, 0, 2);
}

void* memcpy(void* to, const void* from, size_t bytes) {
  void* result = to;
  __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(bytes) : : "memory");
  return result;
}

void* memmove(void* to, const void* from, size_t bytes) {
  char* t = static_cast<char*>(to);
  const char* f = static_cast<const char*>(from);
  if (t - f < 0 || static_cast<size_t>(t - f) >= bytes) return memcpy(to, from, bytes);
  while (bytes-- > 0) t[bytes] = f[bytes];
  return to;
}

void* memset(void* to, int value, size_t bytes) {
  void* result = to;
  if (bytes < 64) {  // a string instruction takes longer to begin than these stores take
    char* t = static_cast<char*>(to);
#pragma clang loop vectorize(disable) unroll(disable)
    for (; bytes >= 8; bytes -= 8, t += 8) {
      const unsigned long word = (value & 0xff) * 0x0101010101010101UL;
      __builtin_memcpy(t, &word, 8);
    }
#pragma clang loop vectorize(disable) unroll(disable)
    for (; bytes > 0; --bytes) *t++ = static_cast<char>(value);
    return result;
  }
  __asm__ volatile("rep stosb" : "+D"(to), "+c"(bytes) : "a"(value) : "memory");
  return result;
}

int memcmp(const void* left, const void* right, size_t bytes) {
  const unsigned char* a = static_cast<const unsigned char*>(left);
  const unsigned char* b = static_cast<const unsigned char*>(right);
  for (size_t i = 0; i < bytes; ++i)
    if (a[i] != b[i]) return a[i] < b[i] ? -1 : 1;
  return 0;
}

int bcmp(const void* left, const void* right, size_t bytes) { return memcmp(left, right, bytes); }
}
