// See build_id.h.
#include "tools/build_id.h"

#include <elf.h>
#include <link.h>

#include <cstddef>
#include <cstring>
#include <vector>

namespace axon::tools {

namespace {

size_t padded(size_t size) { return (size + 3) / 4 * 4; }

/// The build id among the notes of a segment, in hexadecimal; empty where there is none.
std::string build_id_in(const char* at, size_t size) {
  while (size >= sizeof(ElfW(Nhdr))) {
    ElfW(Nhdr) note;
    std::memcpy(&note, at, sizeof note);
    const size_t name = padded(note.n_namesz), content = padded(note.n_descsz);
    if (size - sizeof note < name + content) break;
    const char* const bytes = at + sizeof note + name;
    if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
        std::memcmp(at + sizeof note, "GNU", 4) == 0) {
      std::string out;
      for (size_t i = 0; i < note.n_descsz; ++i) {
        const auto byte = static_cast<unsigned char>(bytes[i]);
        out += "0123456789abcdef"[byte >> 4];
        out += "0123456789abcdef"[byte & 15];
      }
      return out;
    }
    at += sizeof note + name + content;
    size -= sizeof note + name + content;
  }
  return "";
}

int add_object(dl_phdr_info* object, size_t, void* ids) {
  std::string id;
  for (int i = 0; i < object->dlpi_phnum && id.empty(); ++i) {
    const ElfW(Phdr)& segment = object->dlpi_phdr[i];
    if (segment.p_type == PT_NOTE)
      id = build_id_in(reinterpret_cast<const char*>(object->dlpi_addr + segment.p_vaddr), segment.p_memsz);
  }
  static_cast<std::vector<std::string>*>(ids)->push_back(id.empty() ? object->dlpi_name : id);
  return 0;
}

}  // namespace

std::string build_id() {
  std::vector<std::string> ids;  // the program's first; a library without one is known by its path
  dl_iterate_phdr(add_object, &ids);
  if (ids.empty() || ids[0].empty()) return "";
  std::string out;
  for (const std::string& id : ids) out += (out.empty() ? "" : " ") + id;
  return out;
}

}  // namespace axon::tools
