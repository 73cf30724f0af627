// Files: read and mapped. Writing is output_file.h.
//
// A File keeps a descriptor, the size at opening and a read-only mapping. Headers are always read with
// read(), which uses pread and reports a file that became shorter; so no load can be crashed by another
// process that truncates the file meanwhile. view() hands out mapped bytes after checking that the file
// still has its size: whoever keeps such a view accepts that truncating the file later makes touching it a
// SIGBUS, and uses read() where that matters.
#pragma once
#include <sys/stat.h>
#include <sys/types.h>

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "host/weights/result.h"
#include "host/weights/span.h"

namespace axon::weights {

/// The system calls of this folder. Tests replace single ones to make them fail.
struct SystemCalls {
  int (*open)(const char* path, int flags, mode_t mode);
  int (*fstat)(int descriptor, struct stat* out);
  ssize_t (*pread)(int descriptor, void* out, size_t count, off_t offset);
  void* (*map)(size_t size, int descriptor);  ///< read-only, private; nullptr on failure
  ssize_t (*write)(int descriptor, const void* data, size_t count);
  int (*fsync)(int descriptor);
  int (*rename)(const char* from, const char* to);
};
extern SystemCalls system_calls;
constexpr uint64_t io_chunk = 1u << 30;  ///< one system call moves less than 2 GiB

class File {
 public:
  static Result<std::shared_ptr<File>> open(const std::string& path);
  static std::shared_ptr<File> from_memory(std::string name, std::vector<uint8_t> bytes);
  ~File();
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  const std::string& name() const { return name_; }
  uint64_t size() const { return size_; }
  /// Copies bytes out; an error when they are not (or no longer) in the file.
  Status read(uint64_t offset, void* out, uint64_t count) const;
  /// The whole file without a copy, see above.
  Result<Bytes> view() const;

 private:
  File() = default;
  std::string name_;
  uint64_t size_ = 0;
  int descriptor_ = -1;
  const void* mapping_ = nullptr;
  std::vector<uint8_t> memory_;  ///< instead of a descriptor
};

/// "cannot WHAT `NAME`: REASON", the reason from errno.
Error system_error(const std::string& name, const char* what);

}  // namespace axon::weights
