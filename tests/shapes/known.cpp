// See known.h.
#include "known.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "core/harness.h"

namespace axon::corpus {

const std::map<std::string, std::string>& known_failures() {
  static const std::map<std::string, std::string> known = [] {
    std::map<std::string, std::string> out;
    std::istringstream lines(core::read(AXON_SOURCE_DIR "/tests/shapes/known.txt"));
    for (std::string line; std::getline(lines, line);) {
      if (line.empty() || line.starts_with("#")) continue;
      const size_t end = std::min(line.find(' '), line.size());
      out[line.substr(0, end)] = line.substr(std::min(line.find_first_not_of(' ', end), line.size()));
    }
    return out;
  }();
  return known;
}

void expect_as_known(const std::string& file, const std::string& name, size_t line,
                     const std::string& problem) {
  const std::string path = AXON_SOURCE_DIR "/tests/shapes/" + file;
  const bool known = known_failures().count(file + ":" + name) != 0;
  if (!known && !problem.empty())
    ADD_FAILURE_AT(path.c_str(), static_cast<int>(line)) << name << ": " << problem;
  if (known && problem.empty())
    ADD_FAILURE_AT(path.c_str(), static_cast<int>(line))
        << name << " comes out as stated: take it from known.txt";
}

}  // namespace axon::corpus
