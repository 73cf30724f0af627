// etcc doc FILE|DIR ... -o FOLDER: a browsable reference, one static page per module. Private declarations
// and tests are left out. Nothing is written when a module does not check.
#include <fmt/format.h>

#include <filesystem>

#include "core/print.h"
#include "tools/common.h"
#include "tools/doc/pages.h"
#include "tools/files.h"

namespace axon::tools {

namespace fs = std::filesystem;

namespace {

struct DocOptions {
  CommonOptions common;
  std::vector<std::string> paths;
  std::string out;
};

/// `nn/layers.axn` below a given directory is the module nn.layers; a file given alone has its own name.
std::string module_name(const SourcePath& source) {
  const fs::path file = source.file;
  fs::path relative = source.directory.empty() ? file.filename() : file.lexically_relative(source.directory);
  std::string name = relative.replace_extension().generic_string();
  for (char& c : name)
    if (c == '/') c = '.';
  return name;
}

/// The title in `-- ---- Title ----`; empty when the comment is none.
std::string section_title(std::string_view comment) {
  if (!comment.starts_with("-- ----")) return "";
  const size_t first = comment.find_first_not_of("- ", 3);
  const size_t last = comment.find_last_not_of("- ");
  return first == std::string_view::npos ? "" : std::string(comment.substr(first, last - first + 1));
}

class ModuleReader {
 public:
  ModuleReader(const Compilation& c, std::string name) : c_(c), tree_(*c.syntax), file_(c.sources[c.file]) {
    module_.name = std::move(name);
    module_.file = file_.name();
    module_.doc = tree_.doc;
    module_.text = file_.text();
  }

  DocModule read() {
    size_t comment = 0;
    std::string section;
    for (const syntax::Decl& decl : tree_.decls) {
      for (; comment < tree_.comments.size() && tree_.comments[comment].span.begin < decl.span.begin;
           ++comment)
        if (const std::string title = section_title(c_.sources.text(tree_.comments[comment].span));
            !title.empty())
          section = title;
      std::optional<DocItem> item = item_of(decl);
      if (!item) continue;
      item->section = section;
      module_.items.push_back(std::move(*item));
    }
    return std::move(module_);
  }

 private:
  std::optional<DocItem> item_of(const syntax::Decl& decl) const {
    DocItem item;
    item.name = decl.name.text;
    item.doc = decl.doc;
    item.line = file_.line_of(decl.span.begin);
    if (decl.is_private) return std::nullopt;
    if (const auto* fun = syntax::as<syntax::FunDecl>(decl)) {
      item.kind = fun->is_entry ? DocItem::Kind::entry : DocItem::Kind::function;
      for (syntax::PatternId param : fun->params)
        item.params += (item.params.empty() ? "" : " ") + written(param);
    } else if (const auto* signature = syntax::as<syntax::SignatureDecl>(decl)) {
      item.kind = signature->is_prim ? DocItem::Kind::primitive : DocItem::Kind::value;
      if (!signature->is_prim && has_definition(decl)) return std::nullopt;  // the definition is shown
    } else if (syntax::as<syntax::ValueDecl>(decl)) {
      item.kind = DocItem::Kind::value;
    } else if (syntax::as<syntax::TypeDecl>(decl)) {
      item.kind = DocItem::Kind::type;
      item.type = c_.sources.text(decl.span);
      return item;
    } else {
      return std::nullopt;
    }
    item.type = type_of(decl);
    return item;
  }

  bool has_definition(const syntax::Decl& signature) const {
    for (const syntax::Decl& decl : tree_.decls)
      if (&decl != &signature && decl.name.text == signature.name.text && syntax::as<syntax::FunDecl>(decl))
        return true;
    return false;
  }

  std::string written(syntax::PatternId id) const {
    const syntax::Pattern& pattern = tree_[id];
    if (const auto* name = syntax::as<syntax::NamePattern>(pattern)) return name->name.text;
    const auto* tuple = syntax::as<syntax::TuplePattern>(pattern);
    if (!tuple) return "_";
    std::string out;
    for (syntax::PatternId element : tuple->elements) out += (out.empty() ? "" : ", ") + written(element);
    return "(" + out + ")";
  }

  std::string type_of(const syntax::Decl& decl) const {
    for (core::GlobalId id : c_.core->own) {
      const core::Global& global = c_.core->globals[id];
      if (global.name != decl.name.text || global.kind == core::Global::Kind::type ||
          !global.scheme.type.valid())
        continue;
      core::Names names(c_.core->types);
      for (shape::Var v : global.scheme.dims) names.of(v);
      for (core::ShapeVarId v : global.scheme.shapes) names.of(v);
      for (core::TypeVarId v : global.scheme.types) names.of(v);
      return core::print(c_.core->types, global.scheme, names, 2);
    }
    return "?";
  }

  const Compilation& c_;
  const syntax::File& tree_;
  const source::SourceFile& file_;
  DocModule module_;
};

int write_pages(const DocOptions& o, const std::map<std::string, std::string>& files) {
  source::Diagnostics diagnostics;
  for (const auto& [path, text] : files) {
    const fs::path full = fs::path(o.out) / path;
    std::error_code failed;  // the file in it says so, too
    fs::create_directories(full.parent_path(), failed);
    if (!write_file(full.string(), text, diagnostics)) break;
  }
  return report(diagnostics, {}, o.common);
}

}  // namespace

Command add_doc(CLI::App& app) {
  auto o = std::make_shared<DocOptions>();
  app.add_option("FILE", o->paths, ".axn files and directories of them")->required();
  app.add_option("-o", o->out, "the folder to write to")->required();
  add_library(app, o->common);
  add_talk(app, o->common);
  return [o] {
    std::vector<SourcePath> files;
    int status = find(o->paths, files, o->common);
    std::vector<DocModule> modules;
    for (const SourcePath& source : files) {
      const CommonOptions one = options_for(source, o->common);
      int opened = ok;
      const auto c = open(one, opened);
      if (c) {
        run(*c, "core");
        opened = report(*c, one);
      }
      status = std::max(status, opened);
      if (c && !c->diagnostics.has_errors()) modules.push_back(ModuleReader(*c, module_name(source)).read());
    }
    if (status != ok) return status;
    return write_pages(*o, doc_pages(modules));
  };
}

}  // namespace axon::tools
