// Where a name stands in all files of a user, whether they are open or not.
//
// In: a session, a place of a name, and the files that may mention what it stands for. Out: every place.
// Invariant: a file counts as it is now, so it is checked before it is read; files that do not have the word
// are not looked at.
#pragma once
#include <string>
#include <vector>

#include "query/mentions.h"

namespace axon::query {

/// Whether all that may mention it is checked already, so that references() checks nothing.
bool references_are_known(const session::Session& session, const std::string& path, uint32_t offset,
                          const std::vector<std::string>& files);
/// By file and place; nothing where no name is. What belongs to the library is looked for in that, too.
std::vector<Mention> references(session::Session& session, const std::string& path, uint32_t offset,
                                const std::vector<std::string>& files);
/// Brings up to date what may mention the declaration.
void check_mentions(session::Session& session, const core::DeclKey& key,
                    const std::vector<std::string>& files);
bool mentions_are_known(const session::Session& session, const core::DeclKey& key,
                        const std::vector<std::string>& files);

}  // namespace axon::query
