// See context_counts.h.
#include "query/context_counts.h"

#include <cmath>
#include <functional>

#include "source/diagnostic.h"
#include "syntax/tokens.h"

namespace axon::query {

namespace {

/// What is counted of one occurrence of a name: the name, and the name with tokens beside it.
struct Keys {
  Keys(const std::string& name, const ContextCounts::Around& a)
      : alone(name),
        left(a.before + " " + name),
        right(name + "  " + a.after),
        both(a.before + " " + name + "  " + a.after),
        left_two(a.before_that + " " + a.before + " " + name),
        right_two(name + "  " + a.after + " " + a.after_that) {}
  std::string alone, left, right, both, left_two, right_two;
};

}  // namespace

ContextCounts::ContextCounts(const session::Session& session) {
  static thread_local std::map<std::string, File> counted;
  for (const std::string& path : session.documents().paths()) {
    const session::Document* const document = session.documents().find(path);
    const std::string_view text = session.sources()[document->text().source].text();
    File& file = counted[path];
    const size_t hash = std::hash<std::string_view>()(text);
    if (file.hash != hash) {
      file = count(text);
      file.hash = hash;
    }
    files_[path] = &file;
  }
}

ContextCounts::File ContextCounts::count(std::string_view text) {
  File out;
  const source::SourceFile file(source::FileId{0}, "", std::string(text));
  source::Diagnostics ignored;
  const std::vector<syntax::Token> tokens = syntax::lex(file, ignored).tokens;
  const auto word = [&](size_t i) {
    return i < tokens.size() ? std::string(text.substr(tokens[i].begin, tokens[i].end - tokens[i].begin))
                             : std::string();
  };
  for (size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i].kind != syntax::TokenKind::ID) continue;
    const Keys keys(word(i), {i > 1 ? word(i - 2) : "", i > 0 ? word(i - 1) : "", word(i + 1), word(i + 2)});
    for (const std::string* key :
         {&keys.alone, &keys.left, &keys.right, &keys.both, &keys.left_two, &keys.right_two})
      ++out.counts[*key];
  }
  return out;
}

double ContextCounts::weight(const std::string& name, const Around& around, const std::string& own) const {
  const Keys keys(name, around);
  double alone = 0, left = 0, right = 0, both = 0, left_two = 0, right_two = 0;
  for (const auto& [path, file] : files_) {
    const double scale = path == own ? 3 : 1;
    const auto get = [&](const std::string& key) {
      const auto found = file->counts.find(key);
      return found == file->counts.end() ? 0.0 : scale * found->second;
    };
    const double here = get(keys.alone);
    if (here == 0) continue;
    alone += here;
    left += get(keys.left);
    right += get(keys.right);
    both += get(keys.both);
    left_two += get(keys.left_two);
    right_two += get(keys.right_two);
  }
  return 1.5 * std::log1p(both) + std::log1p(left) + 1.2 * std::log1p(right) + 0.2 * std::log1p(alone) +
         1.2 * std::log1p(left_two) + 1.8 * std::log1p(right_two);
}

}  // namespace axon::query
