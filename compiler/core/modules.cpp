// See modules.h. `import a.b` and `import "a/b"` look beside the importing file first, then in the library.
// What `..` or symbolic links lead out to is never read.
#include "core/modules.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <filesystem>

#include "source/files.h"
#include "syntax/parse.h"

namespace axon::core {

using source::Code;
using source::error;
namespace fs = std::filesystem;
namespace stx = axon::syntax;

// ---- Files ----

std::vector<std::string> places_of_module(const std::string& module,
                                          const std::vector<std::string>& directories) {
  if (module.ends_with(".axn")) return {module};
  std::string relative = module;
  std::replace(relative.begin(), relative.end(), '.', '/');
  std::vector<std::string> out;
  for (const std::string& directory : directories)
    out.push_back((directory.empty() ? "" : directory + "/") + relative + ".axn");
  return out;
}

LibraryLoader::LibraryLoader(source::SourceManager& sources, source::Diagnostics& diagnostics,
                             std::vector<std::string> directories)
    : sources_(sources), diagnostics_(diagnostics), directories_(std::move(directories)) {}

const stx::Text* LibraryLoader::operator()(const std::string& module) {
  if (auto it = files_.find(module); it != files_.end()) return &it->second->text;
  const std::vector<std::string> places = places_of_module(module, directories_);
  std::error_code ignored;
  const auto path = std::find_if(places.begin(), places.end(),
                                 [&](const std::string& p) { return fs::is_regular_file(p, ignored); });
  absent_.insert(places.begin(), path);
  const auto id = path == places.end() ? std::nullopt : sources_.load(*path, diagnostics_);
  if (!id) return nullptr;
  auto& file = files_[module] = std::make_unique<Parsed>();
  file->file = stx::parse(sources_[*id], diagnostics_);
  file->text = {*id, {&file->file}};
  return &file->text;
}

namespace {

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

fs::path Modules::directory_of(const stx::Text& text) const {
  const fs::path directory = fs::path(sources_[text.source].name()).parent_path();
  return paths_.real(directory.empty() ? "." : directory);
}

std::string Modules::identity(const stx::Text& text) const {
  return paths_.identity(sources_[text.source].name());
}

// ---- Names ----

namespace {

/// What a declaration declares, and under which name; nothing for an import, a mesh and what was not read.
std::optional<std::pair<Global::Kind, std::string>> kind_and_name(const stx::Decl& d) {
  using Kind = Global::Kind;
  const auto kind =
      std::visit(stx::Overloaded{[](const stx::FunDecl& f) -> std::optional<Kind> {
                                   return f.is_entry ? Kind::entry : Kind::function;
                                 },
                                 [](const stx::ValueDecl&) -> std::optional<Kind> { return Kind::value; },
                                 [](const stx::TestDecl&) -> std::optional<Kind> { return Kind::value; },
                                 [](const stx::SignatureDecl& s) -> std::optional<Kind> {
                                   return s.is_prim ? Kind::prim : Kind::value;
                                 },
                                 [](const stx::TypeDecl&) -> std::optional<Kind> { return Kind::type; },
                                 [](const stx::LayoutDecl&) -> std::optional<Kind> { return Kind::type; },
                                 [](const stx::ErrorDecl& e) -> std::optional<Kind> {
                                   if (e.of == stx::ErrorDecl::Of::other) return std::nullopt;
                                   return e.of == stx::ErrorDecl::Of::value ? Kind::value : Kind::type;
                                 },
                                 [](const auto&) -> std::optional<Kind> { return std::nullopt; }},
                 d.node);
  const auto* test = stx::as<stx::TestDecl>(d);
  std::string name = test ? test_name(test->title) : d.name.text;
  if (!kind || name.empty()) return std::nullopt;
  return std::pair(*kind, std::move(name));
}

/// Layouts have names of their own.
bool is_layout(const stx::Decl& d) {
  const auto* error = stx::as<stx::ErrorDecl>(d);
  return stx::as<stx::LayoutDecl>(d) || (error && error->of == stx::ErrorDecl::Of::layout);
}

DeclKey::Space space_of(Global::Kind kind, const stx::Decl& d) {
  if (kind != Global::Kind::type) return DeclKey::Space::values;
  return is_layout(d) ? DeclKey::Space::layouts : DeclKey::Space::types;
}

}  // namespace

std::optional<std::pair<DeclKey::Space, std::string>> declared_name(const stx::Decl& d) {
  auto named = kind_and_name(d);
  if (!named) return std::nullopt;
  return std::pair(space_of(named->first, d), std::move(named->second));
}

void Modules::declare(Module& m) {
  size_t count = 0;
  for (const stx::File* file : m.text.parts) count += file->decls.size();
  decls_.reserve(count);
  for (const stx::File* file : m.text.parts)
    for (const stx::Decl& d : file->decls) {
      if (const auto* i = stx::as<stx::ImportDecl>(d)) import(m, d, *i);
      if (const auto* mesh = stx::as<stx::MeshDecl>(d)) declare_mesh(m, *file, d, *mesh);
      declare(m, *file, d);
    }
}

void Modules::declare(Module& m, const stx::File& file, const stx::Decl& d) {
  const auto named = kind_and_name(d);
  if (!named) return;
  const auto& [kind, name] = *named;
  const DeclKey::Space space = space_of(kind, d);
  auto& names = space == DeclKey::Space::values  ? m.values
                : space == DeclKey::Space::types ? m.types
                                                 : m.layouts;
  Declared declared{&m, name, {&file, &d}, {}, kind, d.name.span.valid() ? d.name.span : d.span};
  const auto [it, is_new] = names.try_emplace(name);
  if (!is_new) {
    // `val f : t` followed by `fun f` or `val f = e` states the type of f
    const Declared& earlier = decls_[it->second];
    const bool signature =
        stx::as<stx::SignatureDecl>(*earlier.written) &&
        (stx::as<stx::FunDecl>(d) || stx::as<stx::ValueDecl>(d) || stx::as<stx::ErrorDecl>(d));
    if (!signature) {
      diagnostics_.report(error(Code::E0404, declared.span, fmt::format("`{}` is declared twice", name))
                              .also(earlier.span, "here first"));
      return;
    }
    declared.stated = earlier.written;
    std::erase(m.in_order, it->second);
  }
  const DeclId id = it->second = decls_.add(std::move(declared));
  if (space != DeclKey::Space::layouts) m.in_order.push_back(id);
}

/// nullopt of what no mesh has: 0 devices, or more than a number has digits for.
static std::optional<int64_t> number_of(const std::string& digits) {
  int64_t out = 0;
  const auto [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), out);
  return problem == std::errc() && end == digits.data() + digits.size() && out > 0 ? std::optional(out)
                                                                                   : std::nullopt;
}

/// The axes of a mesh are numbers of devices.
void Modules::declare_mesh(Module& m, const stx::File& file, const stx::Decl& d, const stx::MeshDecl& mesh) {
  if (m.meshes.count(d.name.text))
    diagnostics_.report(
        error(Code::E0404, d.name.span, fmt::format("the mesh `{}` is declared twice", d.name.text)));
  auto& axes = m.meshes[d.name.text];
  for (const stx::FieldValue& f : mesh.fields) {
    const auto* number = stx::as<stx::NumberExpr>(file[f.value]);
    if (!number || number->is_float || number->text == "0")
      diagnostics_.report(
          error(Code::E0301, file[f.value].span, "the size of a mesh axis is a number, at least 1"));
    const bool twice =
        std::any_of(axes.begin(), axes.end(), [&](const auto& axis) { return axis.name == f.name.text; });
    const bool taken = layout::Axes().find(f.name.text) != nullptr;
    if (twice)
      diagnostics_.report(
          error(Code::E0404, f.name.span, fmt::format("the mesh has two axes `{}`", f.name.text)));
    if (taken)
      diagnostics_.report(error(Code::E0404, f.name.span,
                                fmt::format("`{}` is an axis that every machine has", f.name.text)));
    if (twice || taken) continue;
    axes.push_back({f.name.text, number && !number->is_float ? number_of(number->text) : std::nullopt});
  }
}

const std::map<std::string, DeclId>& Module::space(DeclKey::Space space) const {
  return space == DeclKey::Space::values ? values : space == DeclKey::Space::types ? types : layouts;
}

bool Module::has_mesh_axis(const std::string& axis) const {
  return std::any_of(meshes.begin(), meshes.end(), [&](const auto& mesh) {
    return std::any_of(mesh.second.begin(), mesh.second.end(),
                       [&](const auto& one) { return one.name == axis; });
  });
}

const Module* Modules::module(const std::string& identity) const {
  const auto found = modules_.find(identity);
  return found == modules_.end() ? nullptr : found->second.get();
}

const Module* Modules::holding(source::Span place) const {
  const source::FileId text = sources_.in_whole(place).file;
  for (const auto& [identity, m] : modules_)
    if (place.valid() && m->text.source == text) return m.get();
  return nullptr;
}

bool Modules::occurs_again(const Module& in, const std::string& word) const {
  const std::string_view text = sources_[in.text.source].text();
  const auto in_a_word = [&](size_t i) {
    return i < text.size() && (std::isalnum(static_cast<unsigned char>(text[i])) || text[i] == '_');
  };
  size_t count = 0;
  for (size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1))
    count += (at == 0 || !in_a_word(at - 1)) && !in_a_word(at + word.size()) ? 1 : 0;
  return count > 1;
}

std::vector<const Module*> Modules::all() const {
  std::vector<const Module*> out;
  for (const auto& [identity, m] : modules_) out.push_back(m.get());
  return out;
}

DeclId Modules::in_library(DeclKey::Space space, const std::string& name) const {
  for (const Module* m : prelude_) {
    const auto& names = m->space(space);
    if (auto it = names.find(name); it != names.end() && !is_private(it->second)) return it->second;
  }
  return {};
}

const SharedKey& Modules::shared_key(DeclId d) const {
  if (keys_.size() <= d.index) keys_.resize(decls_.size());
  SharedKey& key = keys_[d.index];
  if (!key) {
    const Declared& declared = decls_[d];
    key = std::make_shared<const DeclKey>(declared.module->identity,
                                          space_of(declared.kind, *declared.written), declared.name);
  }
  return key;
}

DeclId Modules::find(const DeclKey& key) const {
  const Module* const m = module(key.module);
  if (!m) return {};
  const auto& names = m->space(key.space);
  const auto found = names.find(key.name);
  return found == names.end() ? DeclId{} : found->second;
}

std::string Modules::name_of_type(const Module& in, DeclId type) const {
  auto names = type_names_.find(&in);
  if (names == type_names_.end()) names = type_names_.emplace(&in, types_seen(in)).first;
  const auto known = names->second.find(type);
  return known == names->second.end() ? "" : known->second;
}

/// A name of the file hides that of the library. Of two imports of a module the first in the alphabet counts.
std::map<DeclId, std::string> Modules::types_seen(const Module& file) const {
  std::map<DeclId, std::string> out;
  for (const auto& [name, d] : file.types) out.emplace(d, name);
  for (const auto& [qualifier, m] : file.imports) {
    if (!m) continue;  // it could not be read
    for (const auto& [name, d] : m->types)
      if (!is_private(d)) out.emplace(d, qualifier + "." + name);
  }
  for (const Module* m : prelude_)
    for (const auto& [name, d] : m->types)
      if (!file.types.count(name) && in_library(DeclKey::Space::types, name) == d) out.emplace(d, name);
  return out;
}

// ---- Modules ----

Modules::Modules(const source::SourceManager& sources, source::Paths& paths, Loader loader,
                 source::Diagnostics& diagnostics)
    : sources_(sources), paths_(paths), loader_(std::move(loader)), diagnostics_(diagnostics) {}

/// The module `prelude`, what it imports, and `prim`.
void Modules::open_prelude() {
  if (const Module* prelude = library_module("prelude")) {
    prelude_.push_back(prelude);
    for (const auto& [name, part] : prelude->imports)
      if (part) prelude_.push_back(part);
  }
  if (const Module* prim = library_module("prim")) prelude_.push_back(prim);
  for (const Module* m : prelude_)
    for (const auto& [name, d] : m->values)
      if (!is_private(d)) names_.push_back(name);
}

/// What the identity of the program's file ends with where it is one of the library itself.
static constexpr std::string_view besides = " (checked)";

std::string file_of_module(const std::string& identity) {
  const bool is_besides = identity.ends_with(besides);
  return is_besides ? identity.substr(0, identity.size() - besides.size()) : identity;
}

const Module& Modules::open_program(const stx::Text& text, const std::string& root) {
  open_prelude();
  auto own = std::make_unique<Module>();
  own->text = text;
  own->library = false;
  own->root = root.empty() ? directory_of(text) : paths_.real(root);
  std::string key = identity(text);
  while (modules_.count(key)) key += besides;
  return *add_module(key, std::move(own));
}

Module* Modules::add_module(const std::string& key, std::unique_ptr<Module> m) {
  Module* out = (modules_[key] = std::move(m)).get();
  out->identity = key;
  out->open = true;
  declare(*out);
  out->open = false;
  return out;
}

Module* Modules::library_module(const std::string& name) {
  const stx::Text* text = loader_(name);
  if (!text) {
    diagnostics_.report(error(Code::E0403, {}, fmt::format("there is no module `{}`", name)));
    return nullptr;
  }
  return module_of(*text, name, {}, {});
}

Module* Modules::module_of(const stx::Text& text, const std::string& name, const fs::path& root,
                           source::Span at) {
  const std::string key = identity(text);
  if (auto it = modules_.find(key); it != modules_.end()) {
    if (!it->second->open) return it->second.get();
    // Said in each file of the circle when that is the program.
    const source::Span first = it->second->importing;
    auto e = error(Code::E0407, first, fmt::format("the module `{}` imports itself", name));
    if (at != first) e.also(at, "what it imports leads back here");
    e.text("The imports go round in a circle; nothing in it could be declared first.");
    diagnostics_.report(std::move(e));
    return nullptr;
  }
  auto m = std::make_unique<Module>();
  m->name = name;
  m->text = text;
  m->root = root;
  if (root.empty()) {  // of the library: its directory is what is left without the module's own path
    m->root = directory_of(text);
    for (char c : name)
      if (c == '.') m->root = m->root.parent_path();
  }
  return add_module(key, std::move(m));
}

void Modules::import(Module& m, const stx::Decl& d, const stx::ImportDecl& i) {
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
    diagnostics_.report(std::move(e));
  };
  if (m.imports.count(d.name.text))
    return refuse(Code::E0404, fmt::format("two imports are called `{}`", d.name.text), nullptr);
  m.imports[d.name.text] = nullptr;  // its names stay silent where it cannot be read
  m.importing = d.span;
  if (i.path.empty() && !i.file) return;  // the parser said so
  if (relative.is_absolute())
    return refuse(Code::E0408, "an import names a file relative to this one", nullptr);
  const fs::path beside = fs::path(sources_[m.text.source].name()).parent_path() / relative;
  const fs::path& place = paths_.real(beside);
  std::error_code ignored;
  Module* imported = nullptr;
  if (place.empty())
    return refuse(Code::E0403, fmt::format("there is no module `{}`", shown),
                  "Symbolic links on its path go round in a circle.");
  if (!inside(place, m.root))
    return refuse(Code::E0408, fmt::format("`{}` lies outside of the directory of the program", shown),
                  "A program reads files of its own directory, and the library.");
  if (const stx::Text* text = loader_(beside.lexically_normal().string())) {
    imported = module_of(*text, shown, m.root, d.span);
  } else if (fs::is_regular_file(place, ignored)) {
    refuse(Code::E0403, fmt::format("the module `{}` cannot be read", shown), nullptr);
  } else {
    const std::string name = library_name(relative);
    const stx::Text* text = name.empty() ? nullptr : loader_(name);
    if (text) imported = module_of(*text, name, {}, d.span);
    if (!text) {
      auto e = error(Code::E0403, d.span, fmt::format("there is no module `{}`", shown));
      e.text("It is looked for beside this file, then in the library.");
      diagnostics_.report(std::move(e));
    }
  }
  m.imports[d.name.text] = imported;
}

}  // namespace axon::core
