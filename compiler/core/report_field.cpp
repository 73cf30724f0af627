// A record lacks a field that something reads: where the field is set under another name.
//
// In: the failure, with the record and, where two records do not fit, the other one; types of records carry
// where each field is set, stated or read (Type::places). Out: a diagnostic. A record that is passed to what
// reads it is wrong where the field is set, so that is the primary place, unless the reading is misspelt
// (is_misread); in `p.w` with a known p it is the reading.
#include <fmt/format.h>

#include <algorithm>

#include "core/reporter.h"
#include "core/size_names.h"

namespace axon::core {

using source::Applicability;
using source::Code;
using source::Diagnostic;
using source::Edit;
using source::error;
using source::Span;

/// The fields of a record that `other` does not have; where that is no record, that no expression of the
/// declaration reads.
std::vector<std::string> Reporter::not_read(const Type& record, const Type& other) const {
  std::vector<std::string> left = record.fields;
  const DeclInfo& info = e_.infos[g_.index];
  std::erase_if(left, [&](const std::string& field) {
    if (other.kind == Type::Kind::record)
      return std::find(other.fields.begin(), other.fields.end(), field) != other.fields.end();
    for (uint32_t i = info.first_expr; i < info.end_expr; ++i)
      if (p_.exprs[{i}].kind == Expr::Kind::field && p_.exprs[{i}].text == field) return true;
    return false;
  });
  return left;
}

/// What stands at the place of a field: `p.w` reads it, `w = e` sets it, `w : t` states it.
static const char* use_of_field(const std::string& field, std::string_view text) {
  if (text.ends_with("." + field)) return "read";
  return text == field ? "set" : "stated";
}

/// Whether the place that reads a field is misspelt, not the one that sets it: the name that is read occurs
/// nowhere else in the file, and the other one does or is stated in a type. So all calls of a function say
/// the same of its reading.
bool Reporter::is_misread(const std::string& field, Span read, const std::string& meant, Span set) const {
  const std::string_view set_text = e_.sources.text(set);
  const Module* const in = e_.modules.holding(read);
  if (!in || in != e_.modules.holding(set) || !e_.sources.text(read).ends_with("." + field)) return false;
  if (e_.lookups.occurs_again(*in, field)) return false;
  return e_.lookups.occurs_again(*in, meant) || use_of_field(meant, set_text) == std::string_view("stated");
}

static std::string listed(const std::vector<std::string>& fields) {
  std::string all;
  for (const std::string& name : fields) all += (all.empty() ? "`" : ", `") + name + "`";
  return all;
}

/// How many fields the record lacks of those that are expected of it.
size_t Reporter::lacking(const Type& record, const Type& other, ExprId reading) const {
  std::set<std::string> expected(other.fields.begin(), other.fields.end());
  const bool reads = other.kind != Type::Kind::record && p_.exprs[reading].kind == Expr::Kind::field;
  const std::string path = reads ? path_of(p_, p_.exprs[reading].args[0]) : "";
  if (reads) expected.insert(p_.exprs[reading].text);
  const DeclInfo& info = e_.infos[g_.index];
  for (uint32_t i = info.first_expr; !path.empty() && i < info.end_expr; ++i)
    if (const Expr& e = p_.exprs[{i}]; e.kind == Expr::Kind::field && path_of(p_, e.args[0]) == path)
      expected.insert(e.text);
  for (const std::string& field : record.fields) expected.erase(field);
  return expected.size();
}

/// The field that was meant: one of nearly the same name or, where a record that is passed lacks one only,
/// the only one that nothing asks for.
std::optional<MeantField> Reporter::meant_field(const Failure& f, const Why& w, const Type& record,
                                                const Type& other) const {
  const bool passed = f.other.valid() || attempt_ != nullptr;
  const std::vector<std::string> unread = not_read(record, other);
  auto near = nearest(f.text, unread);
  if (!near && !passed) near = nearest(f.text, record.fields);
  if (near) return MeantField{*near, place_of_field(record, *near), true};
  if (!passed || unread.size() != 1 || lacking(record, other, w.expr) != 1) return std::nullopt;
  return MeantField{unread[0], place_of_field(record, unread[0]), false};
}

/// What is passed has all fields that are expected, and one more.
void Reporter::report_surplus_field(const Failure& f, const Why& w, const Type& expected, Span at) {
  auto d =
      error(Code::E0305, w.span, fmt::format("the record has a field `{}`, which is not expected", f.text));
  const std::string all = listed(expected.fields);
  d.text(all.empty() ? "It should have no fields." : "Its fields should be " + all + ".");
  if (at.valid())
    d.also(at, fmt::format("`{}` is {} here", f.text, use_of_field(f.text, e_.sources.text(at))));
  report(std::move(d));
}

/// The field that was meant gets the name that is expected. Spelling is all that this changes where the names
/// are similar and no type is edited.
static void draft_name(Diagnostic& d, const std::string& name, const MeantField& meant, uint8_t trial) {
  const bool value = meant.set.size() == meant.name.size();  // `w = e`, no `w : t`
  const auto end = meant.set.begin + static_cast<uint32_t>(meant.name.size());
  d.help(fmt::format("call it `{}`", name),
         Edit{{meant.set.file, meant.set.begin, end},
              name,
              value && meant.similar ? Applicability::safe : Applicability::maybe});
  d.helps.back().trial = trial;
}

void Reporter::report_field(const Failure& f, const Why& w) {
  if (w.found.valid() && !missing_fields_.emplace(vars_.head(w.found).index, f.text).second) {
    failed_ = true;
    return;
  }
  const Type record = f.record.valid() ? vars_[vars_.zonk(f.record)] : Type{};
  const Type other = f.other.valid() ? vars_[vars_.zonk(f.other)] : Type{};
  const Span wanted = f.other.valid() ? place_of_field(other, f.text) : w.span;
  const std::string use = use_of_field(f.text, e_.sources.text(wanted));
  if (f.surplus && use != "read") return report_surplus_field(f, w, record, wanted);
  auto d = error(Code::E0305, w.span, fmt::format("the record has no field `{}`", f.text));
  if (record.kind == Type::Kind::record)
    d.text(record.fields.empty() ? "It has no fields." : "Its fields are " + listed(record.fields) + ".");
  const auto meant = meant_field(f, w, record, other);
  const bool passed = f.other.valid() || attempt_ != nullptr;
  const bool at_setting =
      passed && meant && meant->set.valid() && e_.modules.holding(meant->set) == e_.modules.holding(w.span);
  const std::string wanted_here = fmt::format("`{}` is {} here", f.text, use);
  bool misread = false;
  if (at_setting) {
    misread = meant->similar && is_misread(f.text, wanted, meant->name, meant->set);
    const source::Label setting{meant->set, meant->similar
                                                ? fmt::format("it is called `{}` here", meant->name)
                                                : fmt::format("nothing asks for `{}`", meant->name)};
    if (misread) {
      d.primary = {wanted, wanted_here};
      d.secondary.push_back(setting);
    } else {
      d.primary = setting;
    }
    if (f.other.valid() && d.primary.span != w.span) d.also(w.span, "the record is given here");
    draft_name(d, f.text, *meant, misread ? 2 : 1);
  } else if (meant && meant->set.valid()) {
    d.also(meant->set, fmt::format("`{}` is here", meant->name));
  }
  if (wanted.valid() && wanted != d.primary.span) d.also(wanted, wanted_here);
  if (meant && meant->similar && use == "read") {
    const auto length = static_cast<uint32_t>(f.text.size());
    d.help(fmt::format("a similar field is `{}`", meant->name),
           Edit{{wanted.file, wanted.end - length, wanted.end}, meant->name, Applicability::maybe});
    d.helps.back().trial = misread ? 1 : at_setting ? 2 : 0;
  }
  report(std::move(d));
}

}  // namespace axon::core
