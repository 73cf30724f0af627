// The container: named sections behind a table.
//
// Layout, little-endian:
//   char magic[8] = "AXONBNDL"; u32 format = 1; u32 section count; u64 file size;
//   per section: char name[24], zero-padded; u64 offset; u64 size; u64 FNV-1a-64 of the bytes;
//   the sections in that order, each at a multiple of 64, zeros between.
#include "base/bug.h"
#include "image/build.h"

namespace axon::image {

namespace {

constexpr size_t name_bytes = 24, header_bytes = 24, record_bytes = 48, alignment = 64;
constexpr uint32_t format = 1;

template <class T>
void append(std::string& out, T value) {
  for (size_t i = 0; i < sizeof value; ++i) out += static_cast<char>(value >> (8 * i));
}

uint64_t fnv1a(const std::string& bytes) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (const char c : bytes) hash = (hash ^ static_cast<uint8_t>(c)) * 0x100000001b3u;
  return hash;
}

size_t aligned(size_t offset) { return (offset + alignment - 1) / alignment * alignment; }

}  // namespace

std::string make_container(const std::vector<std::pair<std::string, std::string>>& sections) {
  std::string table;
  size_t end = header_bytes + record_bytes * sections.size();
  for (const auto& [name, bytes] : sections) {
    if (name.size() >= name_bytes) base::bug("make_container", "section name too long: " + name);
    table += name + std::string(name_bytes - name.size(), '\0');
    append(table, static_cast<uint64_t>(aligned(end)));
    append(table, static_cast<uint64_t>(bytes.size()));
    append(table, fnv1a(bytes));
    end = aligned(end) + bytes.size();
  }
  std::string out = "AXONBNDL";
  append(out, format);
  append(out, static_cast<uint32_t>(sections.size()));
  append(out, static_cast<uint64_t>(end));
  out += table;
  for (const auto& [name, bytes] : sections) {
    out.resize(aligned(out.size()), '\0');
    out += bytes;
  }
  return out;
}

}  // namespace axon::image
