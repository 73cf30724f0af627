// A record lacks a field that something reads: where the field is set under another name.
//
// In: the failure, with the record and, where two records do not fit, the other one; types of records carry
// where each field is set, stated or read (Type::places). Out: a diagnostic. A record that is passed to what
// reads it is wrong where the field is set, so that is the primary place; in `p.w` with a known p it is the
// reading.
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
  if (at_setting) {
    const bool value = set.size() == meant->size();  // `w = e`, no `w : t`
    d.primary = {set, fmt::format("it is called `{}` here", *meant)};
    if (f.other.valid()) d.also(w.span, "the record is given here");
    d.help(fmt::format("call it `{}`", f.text),
           Edit{{set.file, set.begin, set.begin + static_cast<uint32_t>(meant->size())},
                f.text,
                value ? Applicability::safe : Applicability::maybe});
    d.helps.back().trial = 1;
  } else if (set.valid()) {
    d.also(set, fmt::format("`{}` is here", *meant));
  }
  if (read.valid() && read != d.primary.span) d.also(read, fmt::format("`{}` is read here", f.text));
  if (meant && e_.sources.text(read).ends_with("." + f.text)) {
    const auto length = static_cast<uint32_t>(f.text.size());
    d.help(fmt::format("a similar field is `{}`", *meant),
           Edit{{read.file, read.end - length, read.end}, *meant, Applicability::maybe});
    d.helps.back().trial = at_setting ? 2 : 0;
  }
  report(std::move(d));
}

}  // namespace axon::core
