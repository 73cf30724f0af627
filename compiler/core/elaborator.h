// What the parts of elaboration share: modules, the state of every declaration, and the program under
// construction.
//
// A declaration goes unseen -> lowered (names resolved, types still unknown) -> checked. Lowering a
// declaration finds what it uses; those are checked first, so inference never meets an unknown global and
// never grows the stores it reads.
#pragma once
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/core.h"
#include "core/elaborate.h"
#include "core/vars.h"
#include "source/diagnostic.h"
#include "syntax/ast.h"

namespace axon::core {

struct Module {
  std::string name;
  const syntax::File* file = nullptr;
  bool library = true;
  std::map<std::string, GlobalId> values, types, layouts;
  std::map<std::string, std::vector<std::string>> meshes;  ///< and the names of their axes
  std::map<std::string, Module*> imports;                  ///< null for one that could not be read
  std::filesystem::path root;  ///< the directory that its own imports stay inside of
  bool open = false;           ///< its imports are being read
  std::vector<GlobalId> in_order;
};

struct FactAt {
  shape::Fact fact;
  source::Span span;
};

/// `where ..w into [..s, n]`
struct IntoAt {
  IntoConstraint into;
  source::Span span;
};

/// What elaboration knows of a global besides the Global itself.
struct DeclInfo {
  Module* module = nullptr;
  const syntax::Decl* decl = nullptr;
  const syntax::Decl* stated = nullptr;  ///< `val f : t` before `fun f`
  enum class State : uint8_t { unseen, lowering, lowered, checking, done } state = State::unseen;
  /// Its text is not a program, or names what there is not. That was reported; what inference finds in the
  /// rest is not, since it may follow.
  bool not_read = false;
  std::vector<GlobalId> uses;
  std::vector<syntax::SizeParam> declared;  ///< f[h, ..s, 't], in order
  std::vector<ShapeVarId> declared_shapes;
  std::optional<TypeId> result;
  source::Span result_span;
  std::vector<FactAt> where;
  std::vector<IntoAt> into;
  std::vector<shape::Var> exists;  ///< `?k` in the result type
  std::vector<FactAt> exists_facts;
  std::optional<TypeId> signature;  ///< of a prim or val, or of the `val f : t` before `fun f`
  uint32_t first_expr = 0, end_expr = 0, first_local = 0, end_local = 0;
};

class Elaborator {
 public:
  Elaborator(const source::SourceManager& sources, const Loader& loader, source::Diagnostics& diagnostics,
             const Options& options);
  void run(const syntax::File& file);

  bool is_private(GlobalId g) const { return infos[g.index].decl->is_private; }
  void check_options();                             ///< -D for a name that no entry has
  void check(GlobalId g);                           ///< lowers and checks it, and first what it uses
  GlobalId library_value(const std::string& name);  ///< seen without import; invalid when there is none
  GlobalId library_type(const std::string& name);

  const source::SourceManager& sources;
  const Loader& loader;
  source::Diagnostics& diagnostics;
  const Options& options;
  Program program;
  Vars vars{program.types};
  std::vector<DeclInfo> infos;  ///< by GlobalId
  std::unordered_map<uint32_t, shape::Var>
      local_sizes;                           ///< a local named in a type -> the size it stands for
  std::map<GlobalId, TypeId> plain_aliases;  ///< declared types without parameters: one type for all uses
  std::vector<std::string> names_in_scope;   ///< of library modules, for suggestions
  std::set<std::string> entry_sizes, entry_elems;  ///< of entries, which -D can fix
  size_t unknown_names = 0;                        ///< reported; only the first ones get a suggestion
  bool only_counting = false;  ///< of a trial: its errors are counted, so none is explained

 private:
  void declare(Module& m);
  void declare_mesh(Module& m, const syntax::Decl& d, const syntax::MeshDecl& mesh);
  void report_recursion(GlobalId g);
  void within_limits(GlobalId g, const std::function<void()>& step);
  void import(Module& m, const syntax::Decl& d, const syntax::ImportDecl& i);
  Module* library_module(const std::string& name);
  Module* module_of(const syntax::File& file, const std::string& name, const std::filesystem::path& root,
                    source::Span at);
  Module* add_module(const std::string& identity, std::unique_ptr<Module> m);
  std::filesystem::path directory_of(const syntax::File& file) const;
  std::filesystem::path root_of(const syntax::File& program) const;
  std::string identity(const syntax::File& file) const;
  void open_prelude();
  void name_types(const Module& file);
  std::vector<const Module*> prelude_;  ///< what is seen without import; the first that has a name wins
  std::map<std::string, std::unique_ptr<Module>> modules_;  ///< by the file that each one is
};

/// decl_from_syntax.cpp: fills the Global and its DeclInfo.
void lower(Elaborator& e, GlobalId g);
/// check.cpp: infers, generalises, and writes the types back.
void check_declaration(Elaborator& e, GlobalId g);

/// The known name nearest to a misspelt one, if any is near.
std::optional<std::string> nearest(const std::string& name, const std::vector<std::string>& known);

}  // namespace axon::core
