// What the parts of elaboration share: modules, the state of every declaration, and the program under
// construction.
//
// A declaration goes unseen -> lowered (names resolved, types still unknown) -> checked. Lowering a
// declaration finds what it uses; those are checked first, so inference never meets an unknown global and
// never grows the stores it reads.
#pragma once
#include <deque>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/core.h"
#include "core/elaborate.h"
#include "core/lookups.h"
#include "core/modules.h"
#include "core/uses.h"
#include "core/vars.h"
#include "source/diagnostic.h"
#include "syntax/ast.h"

namespace axon::core {

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
  DeclId id;
  Module* module = nullptr;
  Written written;
  Written stated;  ///< `val f : t` before `fun f`, if there is one
  enum class State : uint8_t { unseen, lowering, lowered, checking, done } state = State::unseen;
  /// Its text is not a program, or names what there is not. That was reported; what inference finds in the
  /// rest is not, since it may follow.
  bool not_read = false;
  bool given = false;  ///< by an Interface: what it says is known, and not its text
  std::vector<GlobalId> uses;
  std::vector<Use> names;                   ///< in its text and that of what states its type
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

class Interface;

class Elaborator {
 public:
  /// `file`: the one in whose words types are named.
  Elaborator(const source::SourceManager& sources, const Modules& modules, const Module& file,
             source::Diagnostics& diagnostics, const Options& options)
      : sources(sources), modules(modules), file(file), diagnostics(&diagnostics), options(options) {}
  void run();  ///< all declarations of the file

  void check_options();    ///< -D for a name that no entry has
  void check(GlobalId g);  ///< lowers and checks it, and first what it uses
  void read(GlobalId g);   ///< lowers it, which finds what it uses; its check begins there
  void report_recursion(GlobalId g);
  /// The same declaration with its body, where an Interface gave this one.
  GlobalId with_body(GlobalId g);
  /// The declaration in this program: from its first mention on, it is a part of it.
  GlobalId global(DeclId d);
  GlobalId library_value(const std::string& name);  ///< seen without import; invalid when there is none
  GlobalId library_type(const std::string& name);
  /// Is the expression a use of this function of the library, whatever else has its name?
  bool is_library_function(const Expr& callee, const std::string& name);

  const source::SourceManager& sources;
  const Modules& modules;  ///< what is named there is looked up through `lookups`
  Lookups lookups{modules};
  const Module& file;
  source::Diagnostics* diagnostics;
  const Options& options;
  /// Where a declaration is elaborated by itself: what is known of another one that it uses; null: that is
  /// elaborated here as well, and what is reported of it is not heard.
  std::function<const Interface*(DeclId)> given;
  Program program;
  Vars vars{program.types};
  std::deque<DeclInfo> infos;  ///< by GlobalId
  std::unordered_map<uint32_t, shape::Var>
      local_sizes;                           ///< a local named in a type -> the size it stands for
  std::map<GlobalId, TypeId> plain_aliases;  ///< declared types without parameters: one type for all uses
  std::set<std::string> entry_sizes, entry_elems;  ///< of entries, which -D can fix
  size_t unknown_names = 0;                        ///< reported; only the first ones get a suggestion
  bool only_counting = false;  ///< of a trial: its errors are counted, so none is explained

 private:
  void within_limits(GlobalId g, const std::function<void()>& step);
  GlobalId add_global(DeclId d);
  void silently(const std::function<void()>& step);
  std::map<DeclId, GlobalId> globals_;
  std::map<GlobalId, GlobalId> bodies_;  ///< of what was given
  source::Diagnostics unheard_;
};

/// decl_from_syntax.cpp: fills the Global and its DeclInfo.
void lower(Elaborator& e, GlobalId g);
/// check.cpp: infers, generalises, and writes the types back.
void check_declaration(Elaborator& e, GlobalId g);

/// The known name nearest to a misspelt one, if any is near.
std::optional<std::string> nearest(const std::string& name, const std::vector<std::string>& known);

}  // namespace axon::core
