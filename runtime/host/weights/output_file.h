// How every tool writes a file: bytes in, and the file appears under its name complete or not at all.
//
// What stands under the path decides how:
// - A regular file is replaced: the bytes go to a temporary file beside it, commit() renames that over it. It
//   keeps its permissions and, where the system allows it, its owner. One that may not be written is an
//   error, although a rename would succeed.
// - Where nothing stands, the same with the permissions of a new file.
// - A symbolic link stays: what it points to, be it there or not, is written as above.
// - A device, a FIFO, or a descriptor that is open already (/dev/stdout, /dev/fd/3) is written to as it is.
//   Here nothing can be taken back.
#pragma once
#include <string>

#include "host/weights/result.h"
#include "host/weights/span.h"

namespace axon::weights {

class OutputFile {
 public:
  explicit OutputFile(std::string path) : path_(std::move(path)) {}
  /// Without a commit, what was written beside the path is removed.
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  /// Appends. The first call opens the file, and finds out whether it may be written at all.
  Status write(Bytes);
  Status commit();

 private:
  Status fail(const char* what) const;
  Status open();
  Status open_beside(const std::string& target);
  std::string path_;       ///< as given; errors name it
  std::string target_;     ///< what commit() replaces; empty when the descriptor is written to as it is
  std::string temporary_;  ///< beside it; empty while there is none to remove
  int descriptor_ = -1;
};

/// Whether a commit makes or replaces a file; false for what is written to as it is, and for a directory.
bool becomes_a_file(const std::string& path);

/// All of a file that is in memory.
Status write_file(const std::string& path, Bytes bytes);

}  // namespace axon::weights
