// The .axn files that a command line names, and how results become files.
#pragma once
#include <string>
#include <vector>

#include "source/diagnostic.h"

namespace axon::tools {

struct SourcePath {
  std::string file;
  std::string directory;  ///< the one that was given, where the file was found in it; else empty
};

/// Files as given and, for each directory, every .axn file below it in order of path; hidden directories are
/// left out. What is not there is reported.
void find_sources(const std::vector<std::string>& paths, std::vector<SourcePath>& files,
                  source::Diagnostics&);

/// Writes the whole file or changes nothing (host/weights/output_file.h says how); `-` is stdout. False, with
/// E0701 reported, on failure.
bool write_file(const std::string& path, const std::string& bytes, source::Diagnostics&);

}  // namespace axon::tools
