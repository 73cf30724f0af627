// The tree as S-expressions. Every node becomes a Form (an atom, or a list with a head); one layout rule then
// decides about line breaks: a form that fits stands on one line, else each of its children on its own,
// indented by two.
#include "syntax/print.h"

#include <fmt/format.h>

#include <algorithm>

#include "syntax/tokens.h"

namespace axon::syntax {
namespace {

constexpr size_t line_width = 100;

struct Form {
  std::string atom;  // the text of an atom, the head of a list
  bool is_list = false;
  std::vector<Form> children;
};
Form atom(std::string text) { return {std::move(text), false, {}}; }
template <class... Fs>
Form list(std::string head, Fs... children) {
  Form form{std::move(head), true, {}};
  (form.children.push_back(std::move(children)), ...);
  return form;
}

size_t flat_width(const Form& form) {
  size_t width = form.atom.size() + (form.is_list ? 2 : 0);
  for (const Form& child : form.children) width += 1 + flat_width(child);
  return width;
}

void write(const Form& form, size_t indent, bool flat, std::string& out) {
  if (!form.is_list) {
    out += form.atom;
    return;
  }
  flat = flat || indent + flat_width(form) <= line_width;
  out += "(" + form.atom;
  for (size_t i = 0; i < form.children.size(); ++i) {
    bool glued = i == 0 && form.atom.empty();
    if (!flat && !glued)
      out += "\n" + std::string(indent + 2, ' ');
    else if (!glued)
      out += ' ';
    write(form.children[i], indent + 2, flat, out);
  }
  out += ')';
}

std::string quoted(std::string_view text) {
  std::string result = "\"";
  for (char c : text) {
    if (c == '\n')
      result += "\\n";
    else if (c == '"' || c == '\\')
      result += {'\\', c};
    else
      result += c;
  }
  return result + "\"";
}

class Printer {
 public:
  explicit Printer(const File& file) : file_(file) {}

  Form form(const Decl& decl) const {
    Form result = std::visit([&](const auto& node) { return declaration(decl, node); }, decl.node);
    if (!decl.doc.empty())
      result.children.insert(result.children.begin(), list("doc", atom(quoted(decl.doc))));
    if (decl.is_private) result.children.insert(result.children.begin(), atom("private"));
    return result;
  }

 private:
  template <class Tag>
  Form form(base::Id<Tag> id) const {
    if (!id.valid()) return atom("-");
    return form(file_[id]);
  }
  Form form(const Name& name) const { return atom(name.text); }
  template <class T>
  Form forms(std::string head, const std::vector<T>& all) const {
    Form result = list(std::move(head));
    append(result, all);
    return result;
  }
  template <class T>
  void append(Form& to, const std::vector<T>& all) const {
    for (const T& one : all) to.children.push_back(form(one));
  }
  void append_result(Form& to, TypeId result, const std::vector<Condition>& where) const {
    if (result.valid()) to.children.push_back(list(":", form(result)));
    if (!where.empty()) to.children.push_back(forms("where", where));
  }

  // ---- Declarations
  Form declaration(const Decl& decl, const ErrorDecl&) const {
    return decl.name.text.empty() ? list("error") : list("error", form(decl.name));
  }
  Form declaration(const Decl& decl, const FunDecl& n) const {
    Form result = list(n.is_entry ? "entry" : "fun", form(decl.name));
    append_sizes(result, n.sizes);
    result.children.push_back(forms("params", n.params));
    append_result(result, n.result, n.where);
    result.children.push_back(form(n.body));
    return result;
  }
  Form declaration(const Decl& decl, const ValueDecl& n) const {
    return list("val", form(decl.name), form(n.body));
  }
  Form declaration(const Decl& decl, const SignatureDecl& n) const {
    Form result = list(n.is_prim ? "prim" : "signature", form(decl.name));
    append_result(result, n.type, n.where);
    return result;
  }
  Form declaration(const Decl& decl, const TypeDecl& n) const {
    Form result = list("type", form(decl.name));
    append_sizes(result, n.params);
    result.children.push_back(form(n.type));
    return result;
  }
  Form declaration(const Decl& decl, const LayoutDecl& n) const {
    Form result = list("layout", form(decl.name));
    append_sizes(result, n.params);
    result.children.push_back(form(n.layout));
    return result;
  }
  Form declaration(const Decl& decl, const MeshDecl& n) const {
    Form result = list("mesh", form(decl.name));
    append(result, n.fields);
    return result;
  }
  Form declaration(const Decl& decl, const ImportDecl& n) const {
    if (n.file) return list("import", atom(quoted(*n.file)), list("as", form(decl.name)));
    return list("import", forms("path", n.path), list("as", form(decl.name)));
  }
  Form declaration(const Decl&, const TestDecl& n) const {
    return list("test", atom(quoted(n.title)), form(n.body));
  }

  void append_sizes(Form& to, const std::vector<SizeParam>& sizes) const {
    if (sizes.empty()) return;
    Form result = list("sizes");
    for (const SizeParam& size : sizes) {
      const char* mark = size.kind == SizeParamKind::shape     ? ".."
                         : size.kind == SizeParamKind::element ? "'"
                                                               : "";
      result.children.push_back(atom(mark + size.name.text));
    }
    to.children.push_back(std::move(result));
  }

  // ---- Dimensions, items, types, layouts
  Form form(const Dim& dim) const {
    return std::visit(
        Overloaded{[&](const ErrorDim&) { return list("error"); },
                   [&](const NameDim& n) { return form(n.name); },
                   [&](const NumberDim& n) { return atom(std::to_string(n.value)); },
                   [&](const BinaryDim& n) { return list(dim_op_text(n.op), form(n.lhs), form(n.rhs)); },
                   [&](const NegateDim& n) { return list("-", form(n.of)); },
                   [&](const CallDim& n) {
                     Form result = list("call", form(n.fn));
                     append(result, n.args);
                     return result;
                   }},
        dim.node);
  }
  Form form(const Fact& n) const { return list(relation_text(n.relation), form(n.lhs), form(n.rhs)); }
  Form form(const Condition& condition) const {
    return std::visit(
        Overloaded{
            [&](const Fact& n) { return form(n); },
            [&](const IntoFact& n) { return list("into", atom(".." + n.shape.text), forms("", n.target)); },
            [&](const ClassFact& n) { return list("class", atom("'" + n.element.text), form(n.cls)); }},
        condition.node);
  }
  Form form(const Item& item) const {
    return std::visit(Overloaded{[&](const DimItem& n) { return form(n.dim); },
                                 [&](const SpreadItem& n) { return atom(".." + n.name.text); },
                                 [&](const AnySpreadItem&) { return atom(".."); },
                                 [&](const JoinItem& n) { return forms("join", n.names); },
                                 [&](const InferItem&) { return atom("_"); },
                                 [&](const TypeItem& n) { return list("type", form(n.type)); }},
                      item.node);
  }
  Form with_items(std::string name, const std::optional<std::vector<Item>>& items) const {
    if (!items) return atom(std::move(name));
    Form result = list(std::move(name));
    result.children.push_back(forms("", *items));
    return result;
  }
  Form form(const TypeField& n) const { return list(n.name.text, form(n.type)); }
  Form form(const Type& type) const {
    return std::visit([&](const auto& node) { return of(node); }, type.node);
  }
  Form of(const ErrorType&) const { return list("error"); }
  Form of(const NamedType& n) const {
    std::string path = n.path[0].text;
    for (size_t i = 1; i < n.path.size(); ++i) path += "." + n.path[i].text;
    return with_items(path, n.items);
  }
  Form of(const VariableType& n) const { return with_items("'" + n.name.text, n.items); }
  Form of(const ShapeType& n) const { return forms("shape", n.items); }
  Form of(const TupleType& n) const { return forms("tuple", n.elements); }
  Form of(const IntegerType& n) const { return list(":", form(n.name), form(n.type)); }
  Form of(const RecordType& n) const {
    Form result = forms("record", n.fields);
    if (n.rest) result.children.push_back(atom(".." + n.rest->text));
    return result;
  }
  Form of(const ArrowType& n) const { return list("->", form(n.from), form(n.to)); }
  Form of(const OwnedType& n) const { return list("*", form(n.type)); }
  Form of(const WeightsType& n) const { return list("weights", form(n.type)); }
  Form of(const PlacedType& n) const { return list("@", form(n.type), form(n.layout)); }
  Form of(const ExistsType& n) const {
    return list("exists", forms("", n.names), forms("where", n.facts), form(n.body));
  }
  Form form(const Spot& n) const { return n.axis ? list("@", form(n.size), form(*n.axis)) : form(n.size); }
  Form form(const LayoutPart& part) const {
    return std::visit(
        Overloaded{
            [&](const NameLayout& n) {
              return n.bracketed ? list(n.name.text, forms("", n.spots)) : form(n.name);
            },
            [&](const MapLayout& n) { return list("map", form(n.name), forms("", n.from), forms("", n.to)); },
            [&](const OffsetLayout& n) { return list("offset", form(n.amount), form(n.axis)); }},
        part);
  }
  Form form(const Layout& n) const { return n.parts.empty() ? list("error") : forms("layout", n.parts); }

  // ---- Patterns and expressions
  Form form(const Pattern& pattern) const {
    Form result = std::visit(Overloaded{[&](const ErrorPattern&) { return list("error"); },
                                        [&](const NamePattern& n) { return form(n.name); },
                                        [&](const WildcardPattern&) { return atom("_"); },
                                        [&](const TuplePattern& n) { return forms("tuple", n.elements); }},
                             pattern.node);
    return pattern.type.valid() ? list(":", std::move(result), form(pattern.type)) : result;
  }
  Form form(const Index& index) const {
    return std::visit(Overloaded{[&](const ElementIndex& n) { return form(n.value); },
                                 [&](const RestIndex&) { return atom(".."); },
                                 [&](const SpreadIndex& n) { return atom(".." + n.name.text); },
                                 [&](const SliceIndex& n) {
                                   return list("slice", form(n.first), form(n.last), form(n.step));
                                 }},
                      index.node);
  }
  Form form(const Binder& n) const {
    std::string name = (n.spread ? ".." : "") + n.name.text;
    return n.bound.valid() ? list("<", atom(name), form(n.bound)) : atom(name);
  }
  Form form(const FieldValue& n) const { return list(n.name.text, form(n.value)); }
  Form form(const Let& n) const {
    Form result = list("bind", form(n.pattern));
    if (!n.params.empty()) result.children.push_back(forms("params", n.params));
    append_result(result, n.result, n.where);
    result.children.push_back(form(n.value));
    return result;
  }

  Form form(const Expr& expr) const {
    return std::visit([&](const auto& node) { return of(node); }, expr.node);
  }
  Form of(const ErrorExpr&) const { return list("error"); }
  Form of(const NameExpr& n) const { return atom(n.name); }
  Form of(const NumberExpr& n) const { return atom(n.text); }
  Form of(const StringExpr& n) const { return atom(quoted(n.value)); }
  Form of(const BoolExpr& n) const { return atom(n.value ? "true" : "false"); }
  Form of(const ApplyExpr& n) const {
    Form result = list("apply", form(n.fn));
    append(result, n.args);
    return result;
  }
  Form of(const TupleExpr& n) const { return forms("tuple", n.elements); }
  Form of(const ListExpr& n) const { return forms("list", n.elements); }
  Form of(const RecordExpr& n) const { return forms("record", n.fields); }
  Form of(const LambdaExpr& n) const { return list("fn", forms("params", n.params), form(n.body)); }
  Form of(const LetExpr& n) const {
    Form result = forms("let", n.lets);
    result.children.push_back(form(n.body));
    return result;
  }
  Form of(const IfExpr& n) const {
    return list("if", form(n.condition), form(n.then_value), form(n.else_value));
  }
  Form of(const ForExpr& n) const { return list("for", forms("", n.binders), form(n.body)); }
  Form of(const ReduceExpr& n) const {
    Form result = list("reduce", form(n.head));
    append(result, n.args);
    result.children.push_back(list("=>", form(n.body)));
    return result;
  }
  Form of(const WithIndexExpr& n) const {
    return list("with", form(n.base), forms("index", n.indices), form(n.value));
  }
  Form of(const WithFieldExpr& n) const {
    return list("with", form(n.base), atom("." + n.field.text), form(n.value));
  }
  Form of(const CheckExpr& n) const { return list(":>", form(n.value), form(n.type)); }
  Form of(const BinaryExpr& n) const { return list(binary_op_text(n.op), form(n.lhs), form(n.rhs)); }
  Form of(const NegateExpr& n) const { return list("negate", form(n.value)); }
  Form of(const FieldExpr& n) const { return list("field", form(n.base), form(n.field)); }
  Form of(const IndexExpr& n) const {
    Form result = list("index", form(n.base));
    append(result, n.indices);
    if (n.otherwise.valid()) result.children.push_back(list("else", form(n.otherwise)));
    return result;
  }

  const File& file_;
};

}  // namespace

std::string print(const File& file) {
  std::string out;
  Printer printer(file);
  if (!file.doc.empty()) out += "(doc " + quoted(file.doc) + ")\n";
  for (const Decl& decl : file.decls) {
    write(printer.form(decl), 0, false, out);
    out += '\n';
  }
  return out;
}

std::string print_tokens(const source::SourceFile& file, source::Diagnostics& diagnostics) {
  std::string out;
  for (const Token& token : lex(file, diagnostics).tokens) {
    source::Position at = file.position(token.begin);
    std::string_view text = file.text().substr(token.begin, token.end - token.begin);
    std::string place = fmt::format("{}:{}", at.line, at.column);
    out += fmt::format("{:<8} {}{}{}\n", place, token_name(token.kind), text.empty() ? "" : "  ", text);
  }
  return out;
}

}  // namespace axon::syntax
