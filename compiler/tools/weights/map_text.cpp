// The text of a proposal (propose.h), short where rules follow one pattern.
//
// Rules are made shorter in three steps, each of which keeps what the map says: what most names begin with
// becomes the prefix; rules for the fields of one stack, or of one record, become one with `*`, where `words`
// can tell what each field is written as; conversions become `all as`. A rule that does not follow stays as
// it is, since a rule without `*` comes first.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "host/weights/binding.h"
#include "tools/weights/names.h"
#include "tools/weights/propose.h"

namespace axon::tools {

namespace {

using weights::quoted_name;
using Words = std::map<std::string, std::string>;

constexpr size_t longest_line = 100, widest_left = 44;

std::vector<std::string> components(std::string_view name) {
  std::vector<std::string> out(1);
  for (const char c : name) {
    if (c == '.')
      out.emplace_back();
    else
      out.back() += c;
  }
  return out;
}

std::string dotted(const std::vector<std::string>& parts, size_t first, size_t last) {
  return fmt::format("{}", fmt::join(parts.begin() + static_cast<ptrdiff_t>(first),
                                     parts.begin() + static_cast<ptrdiff_t>(last), "."));
}

/// Rules that one rule with `*` may stand for: what each has in the place of `*`, on both sides.
struct Group {
  std::string field_front, tensor_front, tensor_back;
  std::vector<size_t> rules;
};

class MapWriter {
 public:
  explicit MapWriter(const Proposal& proposal) : proposal_(proposal), rules_(proposal.rules) {}

  std::string run() {
    choose_type();
    choose_prefix();
    merge_stacks();
    merge_records();
    return print();
  }

 private:
  // ---- what holds for the whole map ----

  void choose_type() {
    std::map<Elem, size_t> counts;
    for (const ProposedRule& rule : rules_)
      if (rule.as) ++counts[*rule.as];
    for (const auto& [type, count] : counts)
      if (!all_ || count > counts[*all_]) all_ = type;
    for (ProposedRule& rule : rules_)
      if (rule.as == all_) rule.as = std::nullopt;
  }

  /// The longest beginning, whole components, that most of the names have, and that leaves no index in front.
  void choose_prefix() {
    std::map<std::string, std::vector<std::string>> by_first;
    size_t all = 0;
    for (const ProposedRule& rule : rules_)
      for (const std::string& name : is_plain(rule) ? std::vector<std::string>() : rule.tensors)
        by_first[components(name)[0]].push_back(name), ++all;
    for (const auto& [first, names] : by_first) {
      if (names.size() < 2 || 2 * names.size() <= all) continue;
      size_t depth = components(names[0]).size();
      for (const std::string& name : names) {
        const auto parts = components(name), others = components(names[0]);
        size_t same = 0;
        while (same < depth && same + 1 < parts.size() && parts[same] == others[same]) ++same;
        while (same > 0 && parts[same].find('{') != std::string::npos) --same;
        depth = std::min(depth, same);
      }
      if (depth > 0) prefix_ = dotted(components(names[0]), 0, depth) + ".";
      if (prefix_.find('{') != std::string::npos) prefix_.clear();
    }
    for (ProposedRule& rule : rules_)
      for (std::string& name : rule.tensors)
        if (!prefix_.empty() && name.starts_with(prefix_)) name.erase(0, prefix_.size());
  }

  /// A parameter that is the tensor of its own name, which needs no rule.
  static bool is_plain(const ProposedRule& rule) {
    return rule.fields == rule.tensors && rule.cut.empty() && !rule.transposed && rule.axes.empty() &&
           !rule.as && rule.fields[0].find('*') == std::string::npos;
  }

  // ---- rules with `*` ----

  /// The fields of one stack: `layers.*[l] <- model.layers.{l}.*`.
  void merge_stacks() {
    std::map<std::string, std::vector<size_t>> by_head;
    for (size_t i = 0; i < rules_.size(); ++i) {
      const ProposedRule& rule = rules_[i];
      if (rule.fields.size() != 1 || rule.tensors.size() != 1 || rule.indices == 0 || !rule.axes.empty())
        continue;
      const size_t brace = rule.tensors[0].rfind("}.");
      if (brace != std::string::npos) by_head[rule.tensors[0].substr(0, brace + 2)].push_back(i);
    }
    for (const auto& [head, some] : by_head) {
      Group group{common_parent(some), head, "", some};
      if (group.field_front.empty() || some.size() < 2) continue;
      Group other = group;
      other.tensor_back = common_back(group);
      Words words, others;
      const std::vector<size_t> follow = following(group, words), more = following(other, others);
      if (more.size() >= follow.size())
        merge(other, more, others);
      else
        merge(group, follow, words);
    }
  }

  /// The components that all names of these fields begin with, and a dot; empty where there are none.
  std::string common_parent(const std::vector<size_t>& some) const {
    const auto first = components(rules_[some[0]].fields[0]);
    size_t depth = first.size() - 1;
    for (const size_t i : some) {
      const auto parts = components(rules_[i].fields[0]);
      size_t same = 0;
      while (same < depth && same + 1 < parts.size() && parts[same] == first[same]) ++same;
      depth = same;
    }
    return depth == 0 ? "" : dotted(first, 0, depth) + ".";
  }

  /// What all tensors of a group end with.
  std::string common_back(const Group& group) const {
    const auto rest = [&](size_t i) {
      return components(rules_[i].tensors[0].substr(group.tensor_front.size()));
    };
    const std::vector<std::string> first = rest(group.rules[0]);
    size_t length = first.size() - 1;
    for (const size_t i : group.rules) {
      const std::vector<std::string> parts = rest(i);
      size_t same = 0;
      while (same < length && same + 1 < parts.size() &&
             parts[parts.size() - 1 - same] == first[first.size() - 1 - same])
        ++same;
      length = same;
    }
    return length == 0 ? "" : "." + dotted(first, first.size() - length, first.size());
  }

  /// Weights and biases of one record: `norm.* <- ln_f.*`, also of several that share a tensor.
  void merge_records() {
    std::map<std::string, std::vector<size_t>> by_parents;
    for (size_t i = 0; i < rules_.size(); ++i) {
      const ProposedRule& rule = rules_[i];
      if (absorbed_.contains(i) || rule.as || !rule.axes.empty() ||
          rule.fields[0].find('*') != std::string::npos)
        continue;
      std::string key = fmt::format("{} {} {}", rule.cut, rule.summed, rule.indices);
      bool one_leaf = true;
      for (const auto* names : {&rule.fields, &rule.tensors})
        for (const std::string& name : *names) {
          one_leaf = one_leaf && leaf_of(name) == leaf_of(names->front()) && !parent_of(name).empty() &&
                     leaf_of(name).find('{') == std::string_view::npos;
          key += fmt::format("\n{}", parent_of(name));
        }
      if (one_leaf) by_parents[key].push_back(i);
    }
    for (const auto& [key, some] : by_parents)
      if (some.size() > 1) merge_record(some);
  }

  void merge_record(const std::vector<size_t>& some) {
    if (std::all_of(some.begin(), some.end(), [&](size_t i) { return is_plain(rules_[i]); })) return;
    Words words = words_;
    for (const size_t i : some) {
      if (rules_[i].matrix && rules_[i].transposed != transposed(some)) return;
      if (!agree(words, std::string(leaf_of(rules_[i].fields[0])),
                 std::string(leaf_of(rules_[i].tensors[0]))))
        return;
    }
    ProposedRule& rule = rules_[some[0]];
    ProposedRule merged = rule;
    for (auto* names : {&merged.fields, &merged.tensors})
      for (std::string& name : *names) name = fmt::format("{}.*", parent_of(name));
    for (const std::string& field : merged.fields)
      if (stars_.contains(field) || hides_others(field, some)) return;
    stars_.insert(merged.fields.begin(), merged.fields.end());
    words_ = std::move(words);
    rule = std::move(merged);
    rule.transposed = transposed(some);
    absorbed_.insert(some.begin() + 1, some.end());
  }

  /// Is most of these transposed, of what has two axes?
  bool transposed(const std::vector<size_t>& some) const {
    int votes = 0;
    for (const size_t i : some)
      if (rules_[i].matrix) votes += rules_[i].transposed ? 1 : -1;
    return votes > 0;
  }

  /// Would a rule for this field with `*` be taken for one that stands in another rule with `*`?
  bool hides_others(const std::string& field, const std::vector<size_t>& own) const {
    const std::string front = field.substr(0, field.size() - 1);
    for (size_t i = 0; i < rules_.size(); ++i) {
      const bool is_own = std::find(own.begin(), own.end(), i) != own.end();
      const bool in_another = absorbed_.contains(i) || rules_[i].fields[0].find('*') != std::string::npos;
      if (!is_own && in_another && proposal_.rules[i].fields[0].starts_with(front)) return true;
    }
    return false;
  }

  static bool agree(Words& words, const std::string& word, const std::string& meaning) {
    return words.emplace(word, meaning).first->second == meaning;
  }

  /// The rules of a group that follow its pattern, and the words for that.
  std::vector<size_t> following(const Group& group, Words& words) const {
    words = words_;
    const bool turned = transposed(group.rules);
    std::vector<size_t> follow;
    for (const size_t i : group.rules) {
      const ProposedRule& rule = rules_[i];
      if (rule.as || (rule.matrix && rule.transposed != turned)) continue;
      const auto field = components(rule.fields[0].substr(group.field_front.size()));
      std::string rest = rule.tensors[0].substr(group.tensor_front.size());
      rest.resize(rest.size() - group.tensor_back.size());
      const auto tensor = components(rest);
      if (field.size() > 2 || tensor.size() < field.size()) continue;
      Words tried = words;
      const size_t first = field.size() == 1 ? tensor.size() : tensor.size() - 1;
      if (!agree(tried, field[0], dotted(tensor, 0, first))) continue;
      if (field.size() == 2 && !agree(tried, field[1], tensor.back())) continue;
      words = std::move(tried);
      follow.push_back(i);
    }
    return follow;
  }

  /// Makes one rule of these.
  void merge(const Group& group, const std::vector<size_t>& follow, const Words& words) {
    const std::string field = group.field_front + "*";
    if (follow.size() < 2 || hides_others(field, follow) || !stars_.insert(field).second) return;
    words_ = words;
    ProposedRule& rule = rules_[follow[0]];
    rule.transposed = transposed(group.rules);
    rule.fields = {group.field_front + "*"};
    rule.tensors = {group.tensor_front + "*" + group.tensor_back};
    absorbed_.insert(follow.begin() + 1, follow.end());
  }

  // ---- text ----

  static std::string with_indices(std::string pattern) {
    constexpr std::string_view letters = "leij";
    for (size_t at = 0; at + 2 < pattern.size(); ++at) {
      const std::string_view rest = std::string_view(pattern).substr(at);
      if (rest.starts_with("{{") || rest.starts_with("}}"))
        ++at;  // characters of a name
      else if (rest[0] == '{' && rest[2] == '}' && rest[1] != '*')
        pattern[at + 1] = letters[static_cast<size_t>(rest[1] - '0')];
    }
    return pattern;
  }

  static std::string left_of(const ProposedRule& rule) {
    constexpr const char* indices[] = {"", "[l]", "[l, e]", "[l, e, i]", "[l, e, i, j]"};
    std::vector<std::string> out;
    for (const std::string& field : rule.fields) out.push_back(field + indices[rule.indices]);
    return fmt::format("{}", fmt::join(out, ", "));
  }

  static std::string right_of(const ProposedRule& rule) {
    std::vector<std::string> names;
    for (const std::string& tensor : rule.tensors) names.push_back(quoted_name(with_indices(tensor)));
    std::string out = fmt::format("{}", fmt::join(names, " + "));
    if (rule.transposed) out += ", transposed";
    if (!rule.axes.empty()) out += ", " + rule.axes;
    if (rule.summed) out += ", summed";
    if (!rule.cut.empty()) out += ", " + rule.cut;
    if (rule.as) out += fmt::format(", as {}", elem_name(*rule.as));
    return out;
  }

  /// The items with commas between them, on lines that begin so and are not too long.
  static std::string print_list(const char* beginning, const std::vector<std::string>& items) {
    std::string out, line;
    for (const std::string& item : items) {
      if (!line.empty() && line.size() + item.size() + 2 > longest_line) {
        out += line + "\n";
        line.clear();
      }
      line += (line.empty() ? beginning : ", ") + item;
    }
    return line.empty() ? out : out + line + "\n";
  }

  std::string print_words() const {
    std::vector<std::string> items;
    for (const auto& [word, meaning] : words_)
      if (word != meaning) items.push_back(fmt::format("{} = {}", word, quoted_name(meaning)));
    return print_list("words ", items);
  }

  /// Would a rule with `*` be taken for the field, if it had none of its own?
  bool is_under_star(const std::string& field) const {
    return std::any_of(rules_.begin(), rules_.end(), [&](const ProposedRule& rule) {
      const std::string& pattern = rule.fields[0];
      return pattern.ends_with('*') && field.starts_with(pattern.substr(0, pattern.size() - 1));
    });
  }

  std::string print() const {
    std::string out;
    if (!prefix_.empty()) out += fmt::format("prefix {}\n", quoted_name(prefix_));
    if (all_) out += fmt::format("all as {}\n", elem_name(*all_));
    out += print_words();
    size_t width = 0;
    std::vector<const ProposedRule*> printed;
    std::vector<std::string> plain;
    for (size_t i = 0; i < rules_.size(); ++i) {
      if (absorbed_.contains(i)) continue;
      if (is_plain(rules_[i]) && !is_under_star(rules_[i].fields[0]))
        plain.push_back(rules_[i].fields[0]);
      else
        printed.push_back(&rules_[i]);
    }
    for (const ProposedRule* rule : printed)
      if (left_of(*rule).size() <= widest_left) width = std::max(width, left_of(*rule).size());
    for (const ProposedRule* rule : printed)
      out += fmt::format("{:{}} <- {}\n", left_of(*rule), width, right_of(*rule));
    out += print_list("-- the tensors of their own names: ", plain);
    for (const std::string& doubt : proposal_.doubts) out += fmt::format("-- unsure: {}\n", doubt);
    for (const std::string& name : proposal_.unbound) out += fmt::format("-- {}\n", name);
    return out;
  }

  const Proposal& proposal_;
  std::vector<ProposedRule> rules_;
  std::set<size_t> absorbed_;    ///< rules that another one stands for
  std::set<std::string> stars_;  ///< fields with `*`, each of which has one rule
  Words words_;                ///< those that stay as they are, too
  std::string prefix_;
  std::optional<Elem> all_;
};

}  // namespace

std::string map_text(const Proposal& proposal) { return MapWriter(proposal).run(); }

}  // namespace axon::tools
