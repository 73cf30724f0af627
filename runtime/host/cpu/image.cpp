// Choosing and loading an image (image.h).
#include "host/cpu/image.h"

#include <dlfcn.h>
#include <elf.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "host/cpu/fork.h"
#include "host/versions.h"

#ifndef MFD_EXEC
#define MFD_EXEC 0x0010U  // Linux 6.3; older kernels refuse the flag, and need none
#endif

namespace axon::host {
namespace {

Failure wrong_machine(std::string what) { return {AXON_BAD_BUNDLE, code::machine, std::move(what)}; }
Failure bad_image(std::string what) { return {AXON_BAD_BUNDLE, code::image, std::move(what)}; }

std::string list_of_levels(const Container& container) {
  std::string out;
  for (const std::string& level : known_levels())
    if (container.find(level)) out += (out.empty() ? "" : ", ") + level;
  return out.empty() ? "none" : out;
}

Result<const Section*> choose(const Container& container) {
  const char* const forced = std::getenv("AXON_LEVEL");
  if (forced && *forced) {
    const std::string level = forced;
    const auto& known = known_levels();
    if (std::find(known.begin(), known.end(), level) == known.end())
      return wrong_machine(text("AXON_LEVEL is ", printable(level), ", which is no instruction-set level"));
    if (!machine_has(level))
      return wrong_machine(text("AXON_LEVEL is ", level, ", which this machine cannot run"));
    if (const Section* found = container.find(level)) return found;
    return wrong_machine(text("AXON_LEVEL is ", level, ", but the bundle has ", list_of_levels(container)));
  }
  for (const std::string& level : known_levels())
    if (const Section* found = container.find(level); found && machine_has(level)) return found;
  return wrong_machine(
      text("this machine runs no level of the bundle, which has ", list_of_levels(container)));
}

/// What the loader maps lies within the bytes: touching a mapping past the end of its file kills the process.
Status check_segments(const Section& section, const Elf64_Ehdr& header) {
  for (uint64_t i = 0; i < header.e_phnum; ++i) {
    const auto offset = weights::checked_add(header.e_phoff, i * sizeof(Elf64_Phdr));
    const auto segment = offset ? section.bytes.load<Elf64_Phdr>(*offset) : std::nullopt;
    if (!segment || !section.bytes.sub(segment->p_offset, segment->p_filesz))
      return bad_image(text("section ", printable(section.name), " is cut off"));
  }
  return std::nullopt;
}

Status check_header(const Section& section) {
  const auto header = section.bytes.load<Elf64_Ehdr>(0);
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
      header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_type != ET_DYN)
    return bad_image(text("section ", printable(section.name), " is no shared object"));
  if (header->e_machine != EM_X86_64)
    return wrong_machine(text("section ", printable(section.name), " is for another processor"));
  return check_segments(section, *header);
}

/// An anonymous file with these bytes; -1 on failure.
int memory_file(Bytes bytes) {
  int file = memfd_create("axon-image", MFD_CLOEXEC | MFD_EXEC);
  if (file < 0 && errno == EINVAL) file = memfd_create("axon-image", MFD_CLOEXEC);
  if (file < 0) return -1;
  for (size_t done = 0; done < bytes.size();) {
    const ssize_t written = write(file, bytes.data() + done, bytes.size() - done);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) {
      close(file);
      return -1;
    }
    done += static_cast<size_t>(written);
  }
  return file;
}

}  // namespace

const std::vector<std::string>& known_levels() {
  static const std::vector<std::string> levels = [] {
    std::vector<std::string> all{
#define MACHINE(suffix, name, ...) name,
#include "device/machines.def"
    };
    std::reverse(all.begin(), all.end());
    return all;
  }();
  return levels;
}

bool machine_has(const std::string& level) {
#define MACHINE(suffix, name, ...) \
  if (level == name) return __builtin_cpu_supports(name);
#include "device/machines.def"
  return false;
}

Result<std::shared_ptr<Image>> Image::load(const Container& container) {
  const auto section = choose(container);
  if (!section) return Result<const Section*>(section).failure();
  if (auto failure = check_header(**section)) return *failure;
  std::shared_ptr<Image> image(new Image);
  image->level_ = (*section)->name;
  image->file_ = memory_file((*section)->bytes);
  if (image->file_ < 0) return system_failure(text("cannot load machine code: ", std::strerror(errno)));
  // The loader takes two files of one name for the same library; a closed file's number would be used again.
  const std::string path = text("/proc/self/fd/", image->file_);
  const NoFork whole;  // a child of a process that is loading could never load anything
  image->handle_ = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!image->handle_) return bad_image(text("cannot load machine code: ", dlerror()));
  const auto* const version = static_cast<const uint32_t*>(dlsym(image->handle_, "axon_abi_version"));
  if (!version) return bad_image("the machine code does not state its kernel interface");
  if (auto failure = check_version("machine code of interface", *version, kernel_interfaces))
    return std::move(*failure);
  return image;
}

Image::~Image() {
  const NoFork whole;
  if (handle_) dlclose(handle_);
  if (file_ >= 0) close(file_);
}

Result<axon_kernel> Image::kernel(const std::string& symbol) const {
  const NoFork whole;
  void* const address = dlsym(handle_, symbol.c_str());
  if (!address) return bad_image(text("the machine code lacks ", printable(symbol)));
  return reinterpret_cast<axon_kernel>(address);
}

}  // namespace axon::host
