// See locations.h.
#include "lsp/locations.h"

namespace axon::lsp {

std::optional<Json> Locations::of(source::Span span) {
  if (!span.valid()) return std::nullopt;
  const source::SourceManager& sources = server_.session().sources();
  span = sources.in_whole(span);
  auto file = files_.find(span.file);
  if (file == files_.end())
    file = files_
               .emplace(span.file, File{server_.uri_of(span.file),
                                        Positions(sources[span.file].text(), server_.encoding())})
               .first;
  return Json{{"uri", file->second.uri},
              {"range", Server::range(file->second.positions, span.begin, span.end)}};
}

}  // namespace axon::lsp
