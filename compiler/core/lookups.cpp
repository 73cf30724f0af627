// See lookups.h. A question is its kind, module and name; an answer, the key of what was found.
#include "core/lookups.h"

#include <fmt/format.h>

#include <algorithm>

namespace axon::core {

namespace stx = axon::syntax;

namespace {

enum class QuestionKind : char {
  find = 'f',
  library = 'l',
  import = 'i',
  mesh_axis = 'm',
  names = 'n',
  names_of_library = 'p',
  mesh_axes = 'x',
  occurs_again = 'o',
  reduction_arity = 'r',
  size_params = 's'
};

/// The module by its identity, or the library as a whole.
struct Question {
  QuestionKind kind;
  std::string module;
  DeclKey::Space space = DeclKey::Space::values;
  std::string name;

  std::string text() const {
    return fmt::format("{}{}\n{}\n{}", static_cast<char>(kind), static_cast<int>(space), module, name);
  }
  static Question read(const std::string& text) {
    const size_t line = text.find('\n'), next = text.find('\n', line + 1);
    return {static_cast<QuestionKind>(text[0]), text.substr(line + 1, next - line - 1),
            static_cast<DeclKey::Space>(text[1] - '0'), text.substr(next + 1)};
  }
};

/// What a value is, its interface says. Of a type or layout the text is read: which one of several, too.
std::string described(const Modules& modules, DeclId d) {
  if (!d.valid()) return "";
  const DeclKey key = modules.key(d);
  const std::string text =
      key.space == DeclKey::Space::values ? "" : std::to_string(modules[d].written.file->source.index);
  return fmt::format("{} {} {} {}", key.module, key.name, modules.is_private(d) ? "private" : "", text);
}

size_t reduction_arity_of(const Written& written) {
  size_t params = 0;
  if (const auto* f = stx::as<stx::FunDecl>(*written)) params = f->params.size();
  if (const auto* s = stx::as<stx::SignatureDecl>(*written))
    for (const auto* arrow = stx::as<stx::ArrowType>((*written.file)[s->type]); arrow;
         arrow = stx::as<stx::ArrowType>((*written.file)[arrow->to]))
      ++params;
  return params == 0 ? 0 : params - 1;
}

const std::vector<stx::SizeParam>& size_params_of(const Written& written) {
  static const std::vector<stx::SizeParam> none;
  const auto* f = stx::as<stx::FunDecl>(*written);
  return f ? f->sizes : none;
}

std::string words_of(const std::vector<stx::SizeParam>& params) {
  std::string all;
  for (const stx::SizeParam& param : params)
    all += fmt::format("{} {}\n", static_cast<int>(param.kind), param.name.text);
  return all;
}

std::string answer(const Modules& modules, const Question& q) {
  const Module* in = modules.module(q.module);
  switch (q.kind) {
    case QuestionKind::find:
      return in ? described(modules, modules.find({q.module, q.space, q.name})) : "";
    case QuestionKind::library:
      return described(modules, modules.in_library(q.space, q.name));
    case QuestionKind::import: {
      if (!in) return "";
      const auto found = in->imports.find(q.name);
      if (found == in->imports.end()) return "";
      return found->second ? "module " + found->second->identity : "unread";
    }
    case QuestionKind::mesh_axis:
      return in && in->has_mesh_axis(q.name) ? "yes" : "";
    case QuestionKind::names: {
      std::string all;
      for (const auto& [name, d] : in ? in->space(q.space) : std::map<std::string, DeclId>())
        all += name + (modules.is_private(d) ? " private\n" : "\n");
      return all;
    }
    case QuestionKind::names_of_library:
      return fmt::format("{}", fmt::join(modules.library_names(), "\n"));
    case QuestionKind::mesh_axes: {
      std::string all;
      if (in)
        for (const auto& [mesh, axes] : in->meshes) {
          all += mesh + "\n";
          for (const auto& axis : axes) all += fmt::format(" {} {}\n", axis.name, axis.count.value_or(0));
        }
      return all;
    }
    case QuestionKind::occurs_again:
      return in && modules.occurs_again(*in, q.name) ? "yes" : "";
    case QuestionKind::reduction_arity: {
      const DeclId d = modules.find({q.module, q.space, q.name});
      return d.valid() ? std::to_string(reduction_arity_of(modules[d].written)) : "";
    }
    case QuestionKind::size_params: {
      const DeclId d = modules.find({q.module, q.space, q.name});
      return d.valid() ? words_of(size_params_of(modules[d].written)) : "";
    }
  }
  return "";
}

}  // namespace

std::string seen_by_others(const source::SourceManager& sources, const stx::File& file, const stx::Decl& d) {
  const auto named = declared_name(d);
  if (!named) return std::string(sources.text(d.span));
  return fmt::format("{}{} {} {} {}\n{}", d.is_private ? "private " : "",
                     stx::as<stx::SignatureDecl>(d) ? "stated" : "", static_cast<int>(named->first),
                     named->second, reduction_arity_of({&file, &d}), words_of(size_params_of({&file, &d})));
}

bool Answers::are_those_of(const Lookups::Log& log) {
  return std::all_of(log.begin(), log.end(), [&](const auto& entry) {
    const auto [known, is_new] = known_.try_emplace(entry.first);
    if (is_new) known->second = answer(modules_, Question::read(entry.first));
    return known->second == entry.second;
  });
}

/// Writes the question down, if a log is kept.
template <class Q>
void Lookups::note(const Q& question) {
  if (!keeps_log) return;
  const auto [entry, is_new] = log_.try_emplace(question.text());
  if (is_new) entry->second = answer(modules_, question);
}

DeclId Lookups::find(const Module& in, Space space, const std::string& name) {
  note(Question{QuestionKind::find, in.identity, space, name});
  return modules_.find({in.identity, space, name});
}

DeclId Lookups::find_in_library(Space space, const std::string& name) {
  note(Question{QuestionKind::library, "", space, name});
  return modules_.in_library(space, name);
}

std::optional<const Module*> Lookups::import(const Module& in, const std::string& name) {
  note(Question{QuestionKind::import, in.identity, Space::values, name});
  const auto found = in.imports.find(name);
  return found == in.imports.end() ? std::nullopt : std::optional<const Module*>(found->second);
}

bool Lookups::has_mesh_axis(const Module& in, const std::string& axis) {
  note(Question{QuestionKind::mesh_axis, in.identity, Space::values, axis});
  return in.has_mesh_axis(axis);
}

std::vector<std::string> Lookups::names(const Module& in, Space space, bool with_private) {
  note(Question{QuestionKind::names, in.identity, space, ""});
  std::vector<std::string> out;
  for (const auto& [name, d] : in.space(space))
    if (with_private || !modules_.is_private(d)) out.push_back(name);
  return out;
}

std::vector<std::string> Lookups::names_of_library() {
  note(Question{QuestionKind::names_of_library, "", Space::values, ""});
  return modules_.library_names();
}

std::vector<std::string> Lookups::mesh_axes(const Module& in) {
  std::vector<std::string> out;
  for (const auto& [mesh, axes] : meshes(in))
    for (const auto& axis : axes) out.push_back(axis.name);
  return out;
}

const std::map<std::string, std::vector<layout::Axes::MeshAxis>>& Lookups::meshes(const Module& in) {
  note(Question{QuestionKind::mesh_axes, in.identity, Space::values, ""});
  return in.meshes;
}

bool Lookups::occurs_again(const Module& in, const std::string& word) {
  note(Question{QuestionKind::occurs_again, in.identity, Space::values, word});
  return modules_.occurs_again(in, word);
}

size_t Lookups::reduction_arity(DeclId value) {
  const DeclKey key = modules_.key(value);
  note(Question{QuestionKind::reduction_arity, key.module, key.space, key.name});
  return reduction_arity_of(modules_[value].written);
}

const std::vector<stx::SizeParam>& Lookups::size_params(DeclId value) {
  const DeclKey key = modules_.key(value);
  note(Question{QuestionKind::size_params, key.module, key.space, key.name});
  return size_params_of(modules_[value].written);
}

}  // namespace axon::core
