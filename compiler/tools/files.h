// The .axn files that a command line names, and how results become files.
#pragma once
#include <string>
#include <vector>

#include "source/diagnostic.h"

namespace axon::tools {

/// Files as given and, for each directory, every .axn file below it in order of path; hidden directories are
/// left out. What is not there is reported.
void find_sources(const std::vector<std::string>& paths, std::vector<std::string>& files,
                  source::Diagnostics&);

/// Writes the whole file or changes nothing (host/weights/output_file.h says how); `-` is stdout. False, with
/// E0701 reported, on failure.
bool write_file(const std::string& path, const std::string& bytes, source::Diagnostics&);

}  // namespace axon::tools
