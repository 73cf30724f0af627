// See declared_types.h.
#include "query/declared_types.h"

#include <algorithm>
#include <set>

#include "query/mentions.h"
#include "query/typed.h"

namespace axon::query {

using core::DeclKey;
using core::Type;
using core::TypeId;
using session::Session;

namespace {

/// Collects the names of types in a type. Those in what a name stands for are not looked at.
class Names {
 public:
  Names(const Session& session, const core::Program& program, std::vector<DeclKey>& out)
      : session_(session), program_(program), out_(out) {}

  void add(TypeId id) {
    if (!id.valid() || !seen_.insert(id.index).second) return;
    const Type& type = program_.types.types[id];
    if (type.alias.declared.valid()) {
      const auto key = declared_type(session_, program_, id);
      if (key && std::find(out_.begin(), out_.end(), *key) == out_.end()) out_.push_back(*key);
      return;
    }
    for (const TypeId item : type.items) add(item);
  }

 private:
  const Session& session_;
  const core::Program& program_;
  std::vector<DeclKey>& out_;
  std::set<uint32_t> seen_;
};

TypeId type_of(const core::Local& local) {
  return local.scheme.type.valid() ? local.scheme.type : local.type;
}

/// Of the name that is bound there, else of the expression around the place.
TypeId type_at(const Typed& typed, const Layer& layer, const std::optional<Mention>& mention,
               uint32_t offset) {
  const core::Program& program = typed.program();
  if (mention) {
    const auto binding = layer.then(mention->meaning.binding);
    const core::LocalId local =
        binding && mention->meaning.kind == Kind::local ? typed.bound_at(*binding) : core::LocalId{};
    if (local.valid()) return type_of(program.locals[local]);
    if (const auto part = layer.then(mention->span))
      if (const core::ExprId e = typed.at(*part); e.valid()) return program.exprs[e].type;
  }
  const auto at = layer.then(offset);
  if (!at) return {};
  const core::ExprId e = typed.innermost({layer.part(), *at, *at + 1});
  return e.valid() ? program.exprs[e].type : TypeId{};
}

}  // namespace

std::optional<DeclKey> declared_type(const Session& session, const core::Program& program, TypeId type) {
  const core::GlobalId id = program.types.types[type].alias.declared;
  if (!id.valid()) return std::nullopt;
  const core::Global& declared = program.globals[id];
  const session::Document* const document = session.documents().find(declared.span.file);
  if (!document) return std::nullopt;
  const std::string& path = session.sources()[document->text().source].name();
  for (const session::Entry& entry : session.declarations(path))
    if (entry.key.space == DeclKey::Space::types && entry.key.name == declared.name) return entry.key;
  return std::nullopt;
}

std::vector<DeclKey> declared_types(const Session& session, const std::string& path, uint32_t offset) {
  const auto mention = mention_at(session, path, offset);
  if (mention && mention->meaning.kind == Kind::type) return {*mention->meaning.declared};
  std::vector<DeclKey> out;
  for (const Reading& r : readings_at(session, path, offset))
    for (const Layer& layer : r.layers) {
      if (!layer.record().checked || !layer.then(offset) || !out.empty()) continue;
      Typed typed(layer.record());
      Names names(session, typed.program(), out);
      if (mention && mention->meaning.declared && *mention->meaning.declared == r.entry.key)
        names.add(typed.global().scheme.type);
      else
        names.add(type_at(typed, layer, mention, offset));
    }
  return out;
}

}  // namespace axon::query
