// A record lacks a field that something reads: where the field is set under another name.
//
// In: the failure, with the record and, where two records do not fit, the other one; types of records carry
// where each field is set, stated or read (Type::places). Out: a diagnostic. A record that is passed to what
// reads it is wrong where the field is set, so that is the primary place, unless the reading is misspelt
// (is_misread); in `p.w` with a known p it is the reading.
#include <fmt/format.h>

#include <algorithm>

#include "core/reporter.h"

namespace axon::core {

using source::Applicability;
using source::Code;
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

/// How often the name stands in the text of the file.
static size_t occurrences(const std::string& name, std::string_view text) {
  const auto in_a_name = [&](size_t i) {
    return i < text.size() && (std::isalnum(static_cast<unsigned char>(text[i])) || text[i] == '_');
  };
  size_t count = 0;
  for (size_t at = text.find(name); at != std::string_view::npos; at = text.find(name, at + 1))
    count += (at == 0 || !in_a_name(at - 1)) && !in_a_name(at + name.size()) ? 1 : 0;
  return count;
}

/// Whether the place that reads a field is misspelt, not the one that sets it: the name that is read occurs
/// nowhere else in the file, the other one does. So all calls of a function say the same of its reading.
bool Reporter::is_misread(const std::string& field, Span read, const std::string& meant, Span set) const {
  if (!read.valid() || read.file != set.file || !e_.sources.text(read).ends_with("." + field)) return false;
  const std::string_view text = e_.sources[read.file].text();
  return occurrences(field, text) == 1 && occurrences(meant, text) > 1;
}

void Reporter::report_field(const Failure& f, const Why& w) {
  if (w.found.valid() && !missing_fields_.emplace(vars_.head(w.found).index, f.text).second) {
    failed_ = true;
    return;
  }
  const Type record = f.record.valid() ? vars_[vars_.zonk(f.record)] : Type{};
  const Type other = f.other.valid() ? vars_[vars_.zonk(f.other)] : Type{};
  const bool passed = f.other.valid() || attempt_ != nullptr;
  const std::vector<std::string> unread = not_read(record, other);
  auto meant = nearest(f.text, unread);
  if (!meant && !passed) meant = nearest(f.text, record.fields);
  if (!meant && passed && unread.size() == 1) meant = unread[0];
  const Span read = f.other.valid() ? place_of_field(other, f.text) : w.span;
  const Span set = meant ? place_of_field(record, *meant) : Span{};
  auto d = error(Code::E0305, w.span, fmt::format("the record has no field `{}`", f.text));
  std::string all;
  for (const std::string& name : record.fields) all += (all.empty() ? "`" : ", `") + name + "`";
  if (record.kind == Type::Kind::record)
    d.text(record.fields.empty() ? "It has no fields." : "Its fields are " + all + ".");
  const bool at_setting = passed && set.valid() && set.file == w.span.file;
  const bool misread = at_setting && is_misread(f.text, read, *meant, set);
  if (at_setting) {
    const bool value = set.size() == meant->size();  // `w = e`, no `w : t`
    const source::Label setting{set, fmt::format("it is called `{}` here", *meant)};
    if (misread) {
      d.primary = {read, fmt::format("`{}` is read here", f.text)};
      d.secondary.push_back(setting);
    } else {
      d.primary = setting;
    }
    if (f.other.valid() && d.primary.span != w.span) d.also(w.span, "the record is given here");
    d.help(fmt::format("call it `{}`", f.text),
           Edit{{set.file, set.begin, set.begin + static_cast<uint32_t>(meant->size())},
                f.text,
                value ? Applicability::safe : Applicability::maybe});
    d.helps.back().trial = misread ? 2 : 1;
  } else if (set.valid()) {
    d.also(set, fmt::format("`{}` is here", *meant));
  }
  if (read.valid() && read != d.primary.span) d.also(read, fmt::format("`{}` is read here", f.text));
  if (meant && e_.sources.text(read).ends_with("." + f.text)) {
    const auto length = static_cast<uint32_t>(f.text.size());
    d.help(fmt::format("a similar field is `{}`", *meant),
           Edit{{read.file, read.end - length, read.end}, *meant, Applicability::maybe});
    d.helps.back().trial = misread ? 1 : at_setting ? 2 : 0;
  }
  report(std::move(d));
}

}  // namespace axon::core
