// The modules that a program sees and the names that they declare.
//
// In: the parsed file of the program, and a loader for the others. Out: for each module its names by kind and
// what they are declared as; of no declaration more than its name and kind is looked at. Names that are
// declared twice and imports that cannot be read are in Diagnostics. Invariants: a module is known by the
// file that it is, so two ways to name it are one module; a file outside of the directory of the program (or
// of the library that the importing file belongs to) is never read; modules never import each other in a
// circle.
#pragma once
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/core.h"
#include "core/elaborate.h"
#include "layout/axis.h"
#include "source/diagnostic.h"
#include "source/files.h"
#include "syntax/ast.h"

namespace axon::core {

using DeclId = base::Id<struct DeclTag>;  ///< a declaration of one of the modules

/// What a declaration is called, whatever else has changed: its module by the file that it is.
struct DeclKey {
  enum class Space : uint8_t { values, types, layouts };
  std::string module;
  Space space = Space::values;
  std::string name;
  friend auto operator<=>(const DeclKey&, const DeclKey&) = default;
};
using SharedKey = std::shared_ptr<const DeclKey>;

struct Module {
  std::string name;
  std::string identity;  ///< the file that it is
  syntax::Text text;
  bool library = true;
  std::map<std::string, DeclId> values, types, layouts;
  std::map<std::string, std::vector<layout::Axes::MeshAxis>> meshes;  ///< and their axes
  std::map<std::string, Module*> imports;                             ///< null for one that could not be read
  std::filesystem::path root;    ///< the directory that its own imports stay inside of
  bool open = false;             ///< its imports are being read
  source::Span importing;        ///< while it is open: the import that is being read
  std::vector<DeclId> in_order;  ///< values and types

  const std::map<std::string, DeclId>& space(DeclKey::Space space) const;
  bool has_mesh_axis(const std::string& axis) const;
};

/// A declaration as it is written, with the file that holds its nodes.
struct Written {
  const syntax::File* file = nullptr;
  const syntax::Decl* decl = nullptr;
  explicit operator bool() const { return decl != nullptr; }
  const syntax::Decl& operator*() const { return *decl; }
  const syntax::Decl* operator->() const { return decl; }
};

/// The file that a module is in: that of the program may be one of the library, and is then a module besides
/// that.
std::string file_of_module(const std::string& identity);

/// The name that a declaration declares, and among which names; nothing for an import, a mesh and what has
/// none.
std::optional<std::pair<DeclKey::Space, std::string>> declared_name(const syntax::Decl& d);

struct Declared {
  Module* module = nullptr;
  std::string name;
  Written written;
  Written stated;  ///< `val f : t` before `fun f`, if there is one
  Global::Kind kind = Global::Kind::value;
  source::Span span;  ///< of the name, or of the whole where it has none
};

class Modules {
 public:
  Modules(const source::SourceManager& sources, source::Paths& paths, Loader loader,
          source::Diagnostics& diagnostics);

  /// Reads the prelude, and the file with all that it imports. `root`: the directory that its imports stay
  /// inside of; empty: that of the file.
  const Module& open_program(const syntax::Text& text, const std::string& root);

  const Declared& operator[](DeclId d) const { return decls_[d]; }
  const DeclKey& key(DeclId d) const { return *shared_key(d); }
  const SharedKey& shared_key(DeclId d) const;
  DeclId find(const DeclKey& key) const;  ///< invalid when there is none
  bool is_private(DeclId d) const { return decls_[d].written->is_private; }
  const Module* module(const std::string& identity) const;  ///< null when there is none
  std::vector<const Module*> all() const;
  const Module* holding(
      source::Span place) const;  ///< the module in whose text it is; null when there is none
  bool occurs_again(const Module& in, const std::string& word) const;  ///< more than once in its text
  /// What is seen without import; invalid when there is none.
  DeclId in_library(DeclKey::Space space, const std::string& name) const;
  const std::vector<std::string>& library_names() const { return names_; }  ///< of the values seen so
  /// How the file of a module names a type: `Cache`, and `rope.Table` of an import; empty for one that it
  /// does not see.
  std::string name_of_type(const Module& in, DeclId type) const;

 private:
  void declare(Module& m);
  void declare(Module& m, const syntax::File& file, const syntax::Decl& d);
  void declare_mesh(Module& m, const syntax::File& file, const syntax::Decl& d, const syntax::MeshDecl& mesh);
  void import(Module& m, const syntax::Decl& d, const syntax::ImportDecl& i);
  Module* library_module(const std::string& name);
  Module* module_of(const syntax::Text& text, const std::string& name, const std::filesystem::path& root,
                    source::Span at);
  Module* add_module(const std::string& identity, std::unique_ptr<Module> m);
  std::filesystem::path directory_of(const syntax::Text& text) const;
  std::string identity(const syntax::Text& text) const;
  void open_prelude();
  std::map<DeclId, std::string> types_seen(const Module& file) const;

  const source::SourceManager& sources_;
  source::Paths& paths_;
  const Loader loader_;
  source::Diagnostics& diagnostics_;
  base::Store<DeclTag, Declared> decls_;
  mutable std::vector<SharedKey> keys_;  ///< of those that were asked for, by declaration
  std::vector<const Module*> prelude_;   ///< what is seen without import; the first that has a name wins
  std::vector<std::string> names_;
  mutable std::map<const Module*, std::map<DeclId, std::string>> type_names_;  ///< of those that were asked
  std::map<std::string, std::unique_ptr<Module>> modules_;  ///< by the file that each one is
};

}  // namespace axon::core
