// Reading the container (container.h). Layout, little-endian:
//   char magic[8] = "AXONBNDL"; u32 format; u32 section count; u64 file size;
//   per section: char name[24], zero-padded; u64 offset; u64 size; u64 FNV-1a-64 of the bytes;
//   the sections, each at a multiple of 64, zeros between.
// Every byte is accounted for: sections in order, no overlap, padding zero, the hashes over all of the rest.
#include "host/container.h"

#include <algorithm>

#include "host/limits.h"
#include "host/versions.h"

namespace axon::host {
namespace {

constexpr uint64_t header_bytes = 24, record_bytes = 48, name_bytes = 24, section_alignment = 64;

Failure damaged(std::string what) {
  return {AXON_BAD_BUNDLE, code::container, text("damaged bundle: ", std::move(what))};
}

bool all_zero(Bytes bytes) {
  return std::all_of(bytes.data(), bytes.data() + bytes.size(), [](uint8_t byte) { return byte == 0; });
}

Result<Section> read_section(Bytes file, uint64_t record, uint64_t& end) {
  const auto name_field = *file.sub(record, name_bytes);
  const size_t length = name_field.text().find('\0');
  if (length == std::string_view::npos || length == 0)
    return damaged("a section name is empty or does not end");
  if (!all_zero(*name_field.from(length)))
    return damaged("a section name is followed by other bytes than zeros");
  Section section{std::string(name_field.text().substr(0, length)), {}};
  const uint64_t offset = *file.load<uint64_t>(record + name_bytes);
  const uint64_t size = *file.load<uint64_t>(record + name_bytes + 8);
  const uint64_t hash = *file.load<uint64_t>(record + name_bytes + 16);
  const auto bytes = file.sub(offset, size);
  if (!bytes) return damaged(text("section ", printable(section.name), " is not within the file"));
  if (offset < end || offset - end >= section_alignment || offset % section_alignment != 0 ||
      !all_zero(*file.sub(end, offset - end)))
    return damaged(text("section ", printable(section.name), " does not follow the one before it"));
  if (fnv1a(*bytes) != hash)
    return damaged(text("the hash of section ", printable(section.name), " differs"));
  section.bytes = *bytes;
  end = offset + size;
  return section;
}

}  // namespace

const Section* Container::find(std::string_view name) const {
  for (const Section& section : sections)
    if (section.name == name) return &section;
  return nullptr;
}

uint64_t fnv1a(Bytes bytes) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (size_t i = 0; i < bytes.size(); ++i) hash = (hash ^ bytes.data()[i]) * 0x100000001b3u;
  return hash;
}

Result<Container> read_container(Bytes file) {
  if (file.size() < header_bytes || !file.text().starts_with(bundle_magic))
    return Failure{AXON_BAD_BUNDLE, code::container, "not an Axon bundle"};
  const uint32_t format = *file.load<uint32_t>(8), count = *file.load<uint32_t>(12);
  if (auto failure = check_version("format", format, container_formats)) return std::move(*failure);
  if (*file.load<uint64_t>(16) != file.size())
    return damaged(text("it should have ", *file.load<uint64_t>(16), " bytes and has ", file.size()));
  if (count > limits::sections)
    return damaged(text(count, " sections, at most ", limits::sections, " are possible"));
  uint64_t end = header_bytes + count * record_bytes;
  if (end > file.size()) return damaged("its section table is cut off");
  Container out;
  for (uint32_t i = 0; i < count; ++i) {
    auto section = read_section(file, header_bytes + i * record_bytes, end);
    if (!section) return section.failure();
    if (out.find(section->name)) return damaged(text("two sections named ", printable(section->name)));
    out.sections.push_back(std::move(*section));
  }
  if (end != file.size()) return damaged("bytes after its last section");
  return out;
}

}  // namespace axon::host
