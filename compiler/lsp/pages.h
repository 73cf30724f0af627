// The page of an entry that an editor has open, as a file that a browser shows.
#pragma once
#include <string>

#include "session/session.h"

namespace axon::lsp {

/// Makes it of the text as it is in the session, which has checked it. The file's path; empty, with why in
/// `problem`, where the entry is refused or there is none.
std::string make_page(session::Session& session, const std::string& path, const std::string& entry,
                      std::string& problem);

}  // namespace axon::lsp
