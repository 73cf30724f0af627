// Which file an import means, and the modules that are known.
//
// `import a.b` and `import "a/b"` look beside the importing file first, then in the library. A module is
// known by the file that it is, so two ways to name it are one module. Invariants: a file outside of the
// directory of the program (or of the library that the importing file belongs to) is never read, whatever
// `..` or symbolic links say; modules never import each other in a circle.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "core/elaborator.h"
#include "syntax/parse.h"

namespace axon::core {

using source::Code;
using source::error;
namespace fs = std::filesystem;
namespace stx = axon::syntax;

// ---- Files ----

LibraryLoader::LibraryLoader(source::SourceManager& sources, source::Diagnostics& diagnostics,
                             std::vector<std::string> directories)
    : sources_(sources), diagnostics_(diagnostics), directories_(std::move(directories)) {}

const stx::File* LibraryLoader::operator()(const std::string& module) {
  if (auto it = files_.find(module); it != files_.end()) return it->second.get();
  auto read = [&](const std::string& path) -> const stx::File* {
    auto id = sources_.load(path, diagnostics_);
    if (!id) return nullptr;
    auto file = std::make_unique<stx::File>(stx::parse(sources_[*id], diagnostics_));
    return (files_[module] = std::move(file)).get();
  };
  std::error_code ignored;
  if (module.ends_with(".axn")) return fs::is_regular_file(module, ignored) ? read(module) : nullptr;
  std::string relative = module;
  std::replace(relative.begin(), relative.end(), '.', '/');
  for (const std::string& directory : directories_) {
    const std::string path = (directory.empty() ? "" : directory + "/") + relative + ".axn";
    if (fs::is_regular_file(path, ignored)) return read(path);
  }
  return nullptr;
}

namespace {

/// The path without symbolic links, as far as it exists; empty when links go round in a circle.
fs::path real(const fs::path& path) {
  std::error_code failed;
  fs::path out = fs::weakly_canonical(fs::absolute(path, failed), failed).lexically_normal();
  if (!out.has_filename()) out = out.parent_path();  // a trailing slash
  return failed ? fs::path() : out;
}

bool inside(const fs::path& path, const fs::path& root) {
  const fs::path relative = path.lexically_relative(root);
  return !relative.empty() && *relative.begin() != "..";
}

/// `nn/layers.axn` as the library names it; empty for what cannot be in a library.
std::string library_name(const fs::path& relative) {
  fs::path path = relative.lexically_normal();
  if (path.is_absolute() || path.empty() || *path.begin() == "..") return {};
  path.replace_extension();
  std::string out;
  for (const fs::path& part : path) out += (out.empty() ? "" : ".") + part.string();
  return out;
}

}  // namespace

fs::path Elaborator::directory_of(const stx::File& file) const {
  const fs::path directory = fs::path(sources[file.source].name()).parent_path();
  return real(directory.empty() ? "." : directory);
}

fs::path Elaborator::root_of(const stx::File& program) const {
  return options.root.empty() ? directory_of(program) : real(options.root);
}

std::string Elaborator::identity(const stx::File& file) const {
  return real(sources[file.source].name()).string();
}

// ---- Modules ----

Module* Elaborator::add_module(const std::string& key, std::unique_ptr<Module> m) {
  Module* out = (modules_[key] = std::move(m)).get();
  out->open = true;
  declare(*out);
  out->open = false;
  return out;
}

Module* Elaborator::library_module(const std::string& name) {
  const stx::File* file = loader(name);
  if (!file) {
    diagnostics.report(error(Code::E0403, {}, fmt::format("there is no module `{}`", name)));
    return nullptr;
  }
  return module_of(*file, name, {}, {});
}

Module* Elaborator::module_of(const stx::File& file, const std::string& name, const fs::path& root,
                              source::Span at) {
  const std::string key = identity(file);
  if (auto it = modules_.find(key); it != modules_.end()) {
    if (!it->second->open) return it->second.get();
    diagnostics.report(error(Code::E0407, at, fmt::format("the module `{}` imports itself", name))
                           .text("The imports go round in a circle; nothing in it could be declared first."));
    return nullptr;
  }
  auto m = std::make_unique<Module>();
  m->name = name;
  m->file = &file;
  m->root = root;
  if (root.empty()) {  // of the library: its directory is what is left without the module's own path
    m->root = directory_of(file);
    for (char c : name)
      if (c == '.') m->root = m->root.parent_path();
  }
  return add_module(key, std::move(m));
}

void Elaborator::import(Module& m, const stx::Decl& d, const stx::ImportDecl& i) {
  fs::path relative;
  std::string shown;
  if (i.file) {
    relative = shown = *i.file;
    if (relative.extension() != ".axn") relative += ".axn";
  } else {
    for (const stx::Name& part : i.path) {
      relative /= part.text;
      shown += (shown.empty() ? "" : ".") + part.text;
    }
    relative += ".axn";
  }
  auto refuse = [&](Code code, std::string message, const char* text) {
    auto e = error(code, d.span, std::move(message));
    if (text) e.text(text);
    diagnostics.report(std::move(e));
  };
  if (m.imports.count(d.name.text))
    return refuse(Code::E0404, fmt::format("two imports are called `{}`", d.name.text), nullptr);
  m.imports[d.name.text] = nullptr;       // its names stay silent where it cannot be read
  if (i.path.empty() && !i.file) return;  // the parser said so
  if (relative.is_absolute())
    return refuse(Code::E0408, "an import names a file relative to this one", nullptr);
  const fs::path beside = fs::path(sources[m.file->source].name()).parent_path() / relative;
  const fs::path place = real(beside);
  std::error_code ignored;
  Module* imported = nullptr;
  if (place.empty())
    return refuse(Code::E0403, fmt::format("there is no module `{}`", shown),
                  "Symbolic links on its path go round in a circle.");
  if (!inside(place, m.root))
    return refuse(Code::E0408, fmt::format("`{}` lies outside of the directory of the program", shown),
                  "A program reads files of its own directory, and the library.");
  if (fs::is_regular_file(place, ignored)) {
    const stx::File* file = loader(beside.lexically_normal().string());
    if (file) imported = module_of(*file, shown, m.root, d.span);
    if (!file) refuse(Code::E0403, fmt::format("the module `{}` cannot be read", shown), nullptr);
  } else {
    const std::string name = library_name(relative);
    const stx::File* file = name.empty() ? nullptr : loader(name);
    if (file) imported = module_of(*file, name, {}, d.span);
    if (!file) {
      auto e = error(Code::E0403, d.span, fmt::format("there is no module `{}`", shown));
      e.text("It is looked for beside this file, then in the library.");
      diagnostics.report(std::move(e));
    }
  }
  m.imports[d.name.text] = imported;
}

}  // namespace axon::core
