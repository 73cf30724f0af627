// See answer.h.
#include "repl/answer.h"

#include <fmt/format.h>

#include <algorithm>

#include "query/typed.h"
#include "source/span.h"

namespace axon::repl {

Answer text_answer(std::string text) {
  Answer answer;
  answer.kind = Answer::Kind::text;
  answer.text = std::move(text);
  return answer;
}

Answer error_answer(std::string text) {
  Answer answer = text_answer(std::move(text));
  answer.kind = Answer::Kind::error;
  return answer;
}

std::string in_one_line(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool blank = c == ' ' || c == '\t' || c == '\n' || c == '\r';
    if (!blank)
      out += c;
    else if (!out.empty() && out.back() != ' ')
      out += ' ';
  }
  while (out.ends_with(' ')) out.pop_back();
  return out;
}

/// Whether every entry of the column is a number.
static bool is_numeric(const Table& table, size_t column) {
  return std::all_of(table.rows.begin(), table.rows.end(), [&](const std::vector<std::string>& row) {
    return row[column].find_first_not_of("-0123456789") == std::string::npos;
  });
}

std::string lines_of(const std::vector<Typed>& types) {
  size_t width = 0;
  for (const Typed& t : types) width = std::max(width, t.name.size());
  std::string text;
  for (const Typed& t : types)
    text += query::declaration_text(fmt::format("{:<{}}", t.name, width), t.type) + "\n";
  return text;
}

Answer table_answer(Table table, bool with_head) {
  std::vector<std::vector<std::string>> lines;
  if (with_head) lines.push_back(table.head);
  lines.insert(lines.end(), table.rows.begin(), table.rows.end());
  std::vector<std::string> texts(lines.size());
  for (size_t column = 0; column < table.head.size(); ++column) {
    size_t width = 0;
    for (const auto& line : lines) width = std::max<size_t>(width, source::display_width(line[column]));
    const bool right = is_numeric(table, column);
    for (size_t i = 0; i < lines.size(); ++i) {
      const std::string& entry = lines[i][column];
      const std::string blanks(width - source::display_width(entry), ' ');
      texts[i] += (column == 0 ? "" : "  ") + (right ? blanks + entry : entry + blanks);
    }
  }
  Answer answer = text_answer("");
  for (std::string& line : texts) {
    line.erase(line.find_last_not_of(' ') + 1);
    answer.text += line + "\n";
  }
  answer.table = std::move(table);
  return answer;
}

}  // namespace axon::repl
