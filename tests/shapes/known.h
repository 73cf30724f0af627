// known.txt: what does not come out as stated yet. Such a case is expected to fail, and must leave the list
// when it passes.
#pragma once
#include <map>
#include <string>

namespace axon::corpus {

/// `file:name` to the reason.
const std::map<std::string, std::string>& known_failures();

/// Fails the running test at a place of a file, when there is a problem that is not known or none where one
/// is.
void expect_as_known(const std::string& file, const std::string& name, size_t line,
                     const std::string& problem);

}  // namespace axon::corpus
