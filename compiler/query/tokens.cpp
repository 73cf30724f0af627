// See tokens.h.
#include "query/tokens.h"

#include <map>
#include <set>
#include <unordered_map>

#include "core/modules.h"

namespace axon::query {

namespace stx = axon::syntax;
using session::Session;

namespace {

/// The names that patterns of parameters bind, in a part of a file.
class Parameters {
 public:
  Parameters(const Session& session, const stx::File& part) : sources_(session.sources()), part_(part) {}

  void run(std::set<uint32_t>& begins) const {
    for (const stx::Decl& d : part_.decls)
      if (const auto* fun = stx::as<stx::FunDecl>(d)) add(fun->params, begins);
    for (const stx::Expr& e : part_.exprs) {
      if (const auto* lambda = stx::as<stx::LambdaExpr>(e)) add(lambda->params, begins);
      if (const auto* let = stx::as<stx::LetExpr>(e))
        for (const stx::Let& one : let->lets) add(one.params, begins);
    }
  }

 private:
  void add(const std::vector<stx::PatternId>& patterns, std::set<uint32_t>& begins) const {
    for (const stx::PatternId id : patterns) {
      const stx::Pattern& pattern = part_[id];
      if (const auto* name = stx::as<stx::NamePattern>(pattern))
        begins.insert(sources_.in_whole(name->name.span).begin);
      if (const auto* tuple = stx::as<stx::TuplePattern>(pattern)) add(tuple->elements, begins);
    }
  }
  const source::SourceManager& sources_;
  const stx::File& part_;
};

/// What the declarations that are mentioned are, each looked at once.
class Classifier {
 public:
  Classifier(const Session& session, const std::string& path) : session_(session) {
    const session::Document* const document = session.documents().find(path);
    if (!document) return;
    for (const stx::File* part : document->text().parts) Parameters(session, *part).run(parameters_);
  }

  Token::Type type_of(const Meaning& meaning) {
    switch (meaning.kind) {
      case Kind::value:
        return of(meaning.declared).function ? Token::Type::function : Token::Type::value;
      case Kind::type:
        return Token::Type::type;
      case Kind::layout:
        return Token::Type::layout;
      case Kind::module:
        return Token::Type::module;
      case Kind::local:
        return parameters_.count(meaning.binding.begin) ? Token::Type::parameter : Token::Type::variable;
      case Kind::index:
        return Token::Type::index;
      case Kind::axes:
      case Kind::shape:
      case Kind::row:
        return Token::Type::shape;
      case Kind::size:
        return Token::Type::size;
      case Kind::element:
        return Token::Type::element;
      case Kind::axis:
      case Kind::mesh:
        return Token::Type::axis;
      case Kind::field:
        return Token::Type::field;
    }
    return Token::Type::variable;
  }
  bool is_library(const Meaning& meaning) { return meaning.declared && of(meaning.declared).library; }
  bool is_entry(const Meaning& meaning) { return meaning.declared && of(meaning.declared).entry; }

 private:
  struct Known {
    bool function, entry, library;
  };
  const Known& of(const core::SharedKey& shared) {
    const Known*& found = found_[shared.get()];
    return found ? *found : *(found = &of(*shared));
  }
  const Known& of(const core::DeclKey& key) {
    const auto [at, is_new] = known_.try_emplace(key);
    if (!is_new) return at->second;
    const auto [module, other_file] = library_.try_emplace(key.module);
    if (other_file) module->second = session_.documents().is_library(core::file_of_module(key.module));
    const bool value = key.space == core::DeclKey::Space::values;
    at->second = {value && is_function(session_, key), value && is_entry(key), module->second};
    return at->second;
  }
  bool is_entry(const core::DeclKey& key) const {
    const auto found = session_.records().find(key);
    return found != session_.records().end() && found->second.entry;
  }

  const Session& session_;
  std::set<uint32_t> parameters_;  ///< where their names begin
  std::map<core::DeclKey, Known, session::ByName> known_;
  std::unordered_map<const core::DeclKey*, const Known*> found_;  ///< of `known_`
  std::map<std::string, bool> library_;                           ///< by module
};

}  // namespace

bool is_function(const Session& session, const core::DeclKey& key) {
  const auto found = session.records().find(key);
  if (found == session.records().end()) return true;
  for (const session::Record* r = &found->second; r; r = r->last_good.get())
    if (r->function) return *r->function;
  return true;
}

const char* token_type_name(Token::Type type) {
  switch (type) {
    case Token::Type::module:
      return "namespace";
    case Token::Type::type:
      return "type";
    case Token::Type::layout:
      return "layout";
    case Token::Type::function:
      return "function";
    case Token::Type::value:
      return "constant";
    case Token::Type::parameter:
      return "parameter";
    case Token::Type::variable:
      return "variable";
    case Token::Type::index:
      return "index";
    case Token::Type::size:
      return "size";
    case Token::Type::shape:
      return "shape";
    case Token::Type::element:
      return "typeParameter";
    case Token::Type::axis:
      return "axis";
    case Token::Type::field:
      return "property";
  }
  return "variable";
}

std::vector<Token> tokens(const Session& session, const std::string& path, uint32_t begin, uint32_t end) {
  std::vector<Token> out;
  Classifier classifier(session, path);
  const std::vector<Mention> all = mentions_in(session, path, begin, end);
  out.reserve(all.size());
  for (const Mention& m : all) {
    if (m.span.end < begin || end < m.span.begin) continue;
    const char first = session.sources().text(m.span)[0];
    const bool name =
        first == '\'' || first == '_' || (first >= 'A' && first <= 'Z') || (first >= 'a' && first <= 'z');
    if (name)
      out.push_back({m.span, classifier.type_of(m.meaning), m.binds, classifier.is_library(m.meaning),
                     classifier.is_entry(m.meaning)});
  }
  return out;
}

}  // namespace axon::query
