// The .axn files that a command line names, and how a file is replaced.
#pragma once
#include <string>
#include <vector>

namespace axon::tools {

/// Files as given and, for each directory, every .axn file below it in order of path; hidden directories are
/// left out. False, with a message on stderr, when one of them is not there.
bool find_sources(const std::vector<std::string>& paths, std::vector<std::string>& files);

/// Writes the whole file or changes nothing: a temporary beside it, then a rename. A file that exists keeps
/// its permissions and, behind a symbolic link, its place; one without permission to write is left alone.
/// False, with a message on stderr, on failure. `-` is stdout.
bool write_file(const std::string& path, const std::string& bytes);

}  // namespace axon::tools
