// See pages.h.
#include "lsp/pages.h"

#include <fmt/format.h>

#include <filesystem>

#include "page/page.h"
#include "page/planned.h"
#include "page/saved.h"
#include "session/whole.h"

namespace axon::lsp {

std::string make_page(session::Session& session, const std::string& path, const std::string& entry,
                      std::string& problem) {
  const std::unique_ptr<session::Whole> whole = whole_program(session, path);
  if (!whole) {
    problem = "the file has errors";
    return "";
  }
  const shape::UseArena use(whole->arena);
  const core::GlobalId id = whole->program.find(entry);
  if (!id.valid() || whole->program.globals[id].kind != core::Global::Kind::entry) {
    problem = fmt::format("the file has no entry `{}`", entry);
    return "";
  }
  source::Diagnostics found;
  const auto made = page::planned(whole->program, id, session.sources(), found);
  if (!made) {
    const auto errors = found.sorted();
    problem = errors.empty() ? "the entry is refused" : std::string(errors[0].headline());
    return "";
  }
  const source::FileId file = session.documents().find(path)->text().source;
  const std::string page =
      page::html({whole->program, id, session.sources(), file, made->plan, &made->written, path});
  const std::string name = std::filesystem::path(path).stem().string() + "." + entry;
  std::string saved = page::saved(page, name);
  if (saved.empty()) problem = "the page cannot be written";
  return saved;
}

}  // namespace axon::lsp
