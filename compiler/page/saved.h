// Pages in files of their own, for browsers.
#pragma once
#include <string>

namespace axon::page {

/// Puts a page into a folder for temporary files that this process has for itself, and gives its path; empty
/// where that cannot be done. `name` becomes part of the file's name; another page of that name is replaced.
/// It stays when the process ends: a browser may show it.
std::string saved(const std::string& page, const std::string& name);

}  // namespace axon::page
