// Lowering of one declaration: names to ids, sugar to applications, written types to types over variables.
//
// Names of values, of sizes and of dimensions in types share one scope (language reference, "Types and
// shapes"); shape variables and type variables are spelt apart (`..s`, `'t`) and live for the whole
// declaration. The parts:
//   DeclLowering   decl_lowering.h   one declaration: its parameters, its stated types, its body
//   TypeLowering   type_lowering.h   types, sizes, facts and layouts
//   NameLowering   name_lowering.h   patterns, and what a name stands for
//   ExprLowering   expr_lowering.h   expressions
//   IndexLowering  index_lowering.h  index notation
#pragma once
#include "core/elaborator.h"

namespace axon::core {

/// Whether an error of this code says that a text is not a program, or names what there is not.
bool says_not_read(source::Code code);
/// Whether a syntax error was reported inside of the declaration. One at its first word is of what stands
/// before it.
bool holds_unread_text(const Written& written);

/// "`Pair` has 2 parameters, and 1 is given".
std::string counts_differ(const std::string& name, const std::string& what, size_t has,
                          const std::string& given);

/// A name in scope. A value that is no integer scalar names no size: in types the name is that of a size, if
/// there is one, and in expressions that of the value.
struct ScopeEntry {
  enum class Seen : uint8_t { anywhere, in_types, in_expressions };
  std::string name;
  LocalId local;                   ///< or
  std::optional<shape::Dim> size;  ///< the name of a size
  Seen seen = Seen::anywhere;
  source::Span binding;  ///< where it is named first
};

/// What a name in a type that nothing binds yet becomes.
enum class Unbound : uint8_t { rigid, meta, refuse };

/// The integers that the type of a parameter names, `(k : i64)`.
struct NamedIntegers {
  VarKind kind;
  std::vector<shape::Var> all;
};

/// What the parts share.
struct LoweringContext {
  LoweringContext(Elaborator& e, GlobalId g)
      : elaborator(e), global(g), module(e.infos[g.index].module), file(e.infos[g.index].written.file) {}
  LoweringContext(const LoweringContext&) = delete;
  LoweringContext& operator=(const LoweringContext&) = delete;

  Elaborator& elaborator;
  GlobalId global;
  Module* module;  ///< whose names are seen: another one inside of a declared type
  const syntax::File* file;
  std::vector<ScopeEntry> scope;
  Unbound unbound = Unbound::rigid;
  bool top_level = true;  ///< not in the body
  bool entry = false;
  NamedIntegers* integers = nullptr;          ///< takes those of a type; null where none may stand
  std::vector<shape::Var>* exists = nullptr;  ///< takes the `?k` of a type; null where none may stand
  std::vector<FactAt>* exists_facts = nullptr;
};

/// Access to the context under the names that all parts use for it, and what each of them does.
class LoweringPart {
 protected:
  explicit LoweringPart(LoweringContext& c)
      : e_(c.elaborator),
        p_(c.elaborator.program),
        g_(c.global),
        module_(c.module),
        file_(c.file),
        scope_(c.scope),
        unbound_(c.unbound),
        top_level_(c.top_level),
        entry_(c.entry),
        integers_(c.integers),
        exists_(c.exists),
        exists_facts_(c.exists_facts) {}

  /// What the name is in an expression, a value or a size; null when there is none.
  const ScopeEntry* find(const std::string& name) const;
  const ScopeEntry* find_size(const std::string& name) const;  ///< the same of a name in a type
  const ScopeEntry* find_axes(const std::string& name) const;  ///< `..p` of a `for`; a name space of its own
  GlobalId find_value(const std::string& name) const;          ///< of the module or the library
  DeclId find_own(const std::string& name) const;              ///< of the module

  /// The name at the place stands for what is declared so, or is bound there.
  void note(Use::Kind kind, source::Span at, DeclId declared);
  void note(Use::Kind kind, source::Span at, source::Span binding);
  /// Of a name in an expression or in a type.
  void note(const ScopeEntry& entry, source::Span at);

  ExprId add(Expr::Kind kind, source::Span at);
  Expr& at(ExprId id) { return p_.exprs[id]; }
  const syntax::File& file() const { return *file_; }
  void report(source::Diagnostic d);
  /// The declaration mentions what was reported elsewhere: nothing more is said of it.
  void not_read();

  Elaborator& e_;
  Program& p_;
  const GlobalId g_;
  Module*& module_;
  const syntax::File*& file_;
  std::vector<ScopeEntry>& scope_;
  Unbound& unbound_;
  bool& top_level_;
  bool& entry_;
  NamedIntegers*& integers_;
  std::vector<shape::Var>*& exists_;
  std::vector<FactAt>*& exists_facts_;
};

}  // namespace axon::core
