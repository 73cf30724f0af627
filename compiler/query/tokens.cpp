// See tokens.h.
#include "query/tokens.h"

#include <map>

#include "core/modules.h"

namespace axon::query {

using session::Session;

namespace {

bool is_function(const Session& session, const core::DeclKey& key) {
  const auto found = session.records().find(key);
  if (found == session.records().end()) return true;
  for (const session::Record* r = &found->second; r; r = r->last_good.get()) {
    if (!r->checked) continue;
    const core::Program& p = r->checked->program;
    const core::TypeId type = p.globals[r->checked->global].scheme.type;
    if (type.valid() && p.types.types[type].kind != core::Type::Kind::error)
      return p.types.types[type].kind == core::Type::Kind::function;
  }
  return true;
}

/// What the declarations that are mentioned are, each looked at once.
class Classifier {
 public:
  explicit Classifier(const Session& session) : session_(session) {}

  Token::Type type_of(const Meaning& meaning) {
    switch (meaning.kind) {
      case Kind::value:
        return of(*meaning.declared).function ? Token::Type::function : Token::Type::value;
      case Kind::type:
        return Token::Type::type;
      case Kind::layout:
        return Token::Type::layout;
      case Kind::module:
        return Token::Type::module;
      case Kind::local:
        return Token::Type::variable;
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
  bool is_library(const Meaning& meaning) { return meaning.declared && of(*meaning.declared).library; }

 private:
  struct Known {
    bool function, library;
  };
  const Known& of(const core::DeclKey& key) {
    const auto [at, is_new] = known_.try_emplace(key);
    if (is_new)
      at->second = {key.space == core::DeclKey::Space::values && is_function(session_, key),
                    session_.documents().is_library(core::file_of_module(key.module))};
    return at->second;
  }
  const Session& session_;
  std::map<core::DeclKey, Known> known_;
};

}  // namespace

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

std::vector<Token> tokens(const Session& session, const std::string& path) {
  std::vector<Token> out;
  Classifier classifier(session);
  for (const Mention& m : mentions(session, path)) {
    const char first = session.sources().text(m.span)[0];
    const bool name =
        first == '\'' || first == '_' || (first >= 'A' && first <= 'Z') || (first >= 'a' && first <= 'z');
    if (name)
      out.push_back({m.span, classifier.type_of(m.meaning), m.binds, classifier.is_library(m.meaning)});
  }
  return out;
}

}  // namespace axon::query
