#include "mutants.h"

#include <regex>
#include <sstream>

namespace axon::tile {
namespace {

using Lines = std::vector<std::string>;

Lines lines_of(const std::string& text) {
  Lines out;
  std::stringstream in(text);
  for (std::string line; std::getline(in, line);) out.push_back(line);
  return out;
}
std::string with_ends(const Lines& lines) {
  std::string out;
  for (const std::string& line : lines) out += line + "\n";
  return out;
}

/// In lines that match `where`, each match of `part` becomes `other`, one at a time.
struct Change {
  MutantKind kind;
  const char* where;
  const char* part;
  const char* other;
};
constexpr MutantKind layout = MutantKind::layout, order = MutantKind::order, bounds = MutantKind::bounds;
const Change changes[] = {
    // layouts and places
    {layout, "^layout", R"(\(([^,()]+),([^,()]+))", "($2,$1"},
    {layout, "^layout", R"(,([^,()]+),([^,()]+)\))", ",$2,$1)"},
    {layout, "^layout", R"(:\(1([@,)]))", ":(0$1"},
    {layout, "^layout", R"((\d)@(lane|v))", "$1"},
    {layout, "^layout", R"((\d)@warpgroup)", "$1@warp"},
    {layout, "^layout", R"(R\[(\d+):1)", "R[2:1"},
    {layout, "^layout", R"( \+ R\[.*)", ""},
    {layout, "^layout", R"(:1\])", ":2]"},
    {layout, "^layout", R"( \^ \(3,3,3\))", " ^ (4,3,3)"},
    {layout, "^scratch", R"(at \d+)", "at 0"},
    {layout, "^scratch", R"(at (\d+)$)", "at 2"},
    {layout, "^ring", R"(at \d+)", "at 64"},
    {layout, "^tensor", R"( at S\[\((\w+),(\w+)\):\((\w+),1\)\])", " at S[($1,$2):(1,$1)]"},
    {layout, "^tensor.*writes", R"( at S\[\((\w+),(\w+)\):\((\w+),1\)\])", " at S[($1,$2):(1,1)]"},
    {layout, "^tensor", R"(32,32\):\(32,32\*k,1)", "32,32):(32,k,1"},
    {layout, "^tensor", R"(round \[1, 32\])", "round [1, 16]"},
    {layout, "^registers", R"(as \w+)", "as one"},
    {layout, "by wgmma", R"(by wgmma\.m64n\d+k16)", "by wgmma.m64n8k16"},
    {layout, "by wgmma", R"( by wgmma.*)", ""},
    {layout, "by wgmma", R"(wgmma\.m64n\d+k16 async)", "mma.m16n8k16"},
    {layout, "^tiles", R"(scratch \d+)", "scratch 65536"},
    {layout, "^role", R"(registers \d+)", "registers 60"},
    {layout, "^role", R"(4 : 12)", "4 : 8"},
    {layout, "copy u", R"(t\[r, c\])", "t[c, r]"},
    // waits, notifications, barriers, rings
    {order, "^ring", R"(depth \d+)", "depth 1"},
    {order, "^  *settle 0", "0", "1"},
    {order, "^  *settle 1", "1", "2"},
    {order, "async", " async", ""},
    {order, "carry", R"( carry \w+,)", " carry"},
    {order, "carry", R"( carry \w+$)", ""},
    {order, "carry", R"(, \w+$)", ""},
    {order, "for .* - 1", " - 1", ""},
    {order, "for ", R"(max\((.*), 1\))", "$1"},
    {order, "^waits", R"(: min\(\w+, [^)]*\))", ": 0"},
    {order, "^waits", R"(\[(\w+) :)", "[$1 + 1 :"},
    {order, "^notifies", R"(min\((\w+), [^)]*\))", "$1"},
    {order, "streaming", "^", "  fence\n"},
    {order, "wait 0", "0", "1"},
    {order, "notify 1", "1", "0"},
    {order, "copy .* to ", "$", " streaming"},
    // bounds, fills, indices, boxes
    {bounds, " if ", R"( if [^=]*? and )", " if "},
    {bounds, " if .* and ", R"( and [^a]*?( fill| streaming|$))", "$1"},
    {bounds, " if ", R"( if .*?( fill| streaming|$))", "$1"},
    {bounds, "^[^@]*= [a-su-z]\\w*\\[.* fill 0", "fill 0", "fill 1"},
    {bounds, " fill -inf", "fill -inf", "fill 0"},
    {bounds, " fill -1", "fill -1", "fill 0"},
    {bounds, " fill ", R"( fill \S+)", ""},
    {bounds, "  (copy|view|map) .* if ", " < ", " <= "},
    {bounds, "  (copy|view) ", R"(\+ (\w)([\],]))", "+ $1 + 1$2"},
    {bounds, "  (copy|view) ", R"(\[(\d+)\*(\w))", "[$1*$2 + 1"},
    {bounds, "  (copy|view) .* to ", R"((\d+)\*([ij]))", "$1*$2 + 1"},
    {bounds, "^tensor", R"(min\((\w+), [^)]*\))", "$1"},
    {bounds, "^tensor", R"(writes \[.*\] at)", "writes [0 : 1] at"},
    {bounds, "^tensor", R"(0 : (\w+))", "1 : $1"},
    {bounds, "^guard", R"(<= (\d+))", "<= 9000"},
    {bounds, "^guard", R"(r == 3)", "r <= 4"},
    {bounds, "^grid", R"(max\((.*), 1\))", "$1"},
    {bounds, "  for ", R"(cdiv\((\w+), (\d+)\))", "cdiv($1, $2) + 1"},
    {bounds, " order ", R"(of (\w+))", "of $1 + 1"},
    {bounds, " order ", R"(cdiv\((\w+), (\d+)\))", "$1 / $2"},
    {bounds, " order ", R"(y\[i)", "y[i + 1"},
    {bounds, "  check .* if ", " < ", " <= "},
    {bounds, " checked", " checked", ""},
    // loops that the data counts
    {bounds, " below length", R"(length\[\])", "blocks[]"},
    {bounds, " from first", R"( from \w+\[\])", ""},
    {bounds, " below blocks", R"( below \w+\[\])", ""},
    {order, "^  copy total", "^", "  "},
    // slots of what a loop around carries
    {bounds, "\\(l \\+ 1\\) % 2", R"(\(l \+ 1\) % 2)", "l % 2"},
    {bounds, "l % 2", R"(\[l % 2,)", "[1,"},
    {bounds, "l % 2", R"(l % 2)", "l"},
    {bounds, "^facts.*l < k", "l < k", "l <= k"},
    // blocks
    {bounds, "to [de]\\[", R"(\[(\w), j\])", "[0, j]"},
    {bounds, "to [de]\\[", R"(\[(\w), j\])", "[$1 + 1, j]"},
    {bounds, "= [de]\\[", R"(\[(\w), j\])", "[$1 + 1, j]"},
    {layout, "^scratch d", R"(at \d+)", "at 4096"},
};

void change_lines(const Lines& lines, std::vector<Mutant>& out) {
  for (const Change& change : changes) {
    const std::regex where(change.where), part(change.part);
    for (size_t i = 0; i < lines.size(); ++i) {
      if (!std::regex_search(lines[i], where)) continue;
      for (std::sregex_iterator m(lines[i].begin(), lines[i].end(), part), end; m != end; ++m) {
        Lines changed = lines;
        changed[i] = m->prefix().str() + m->format(change.other) + m->suffix().str();
        if (changed[i] == lines[i]) continue;
        out.push_back({change.kind, lines[i] + "  ->  " + changed[i], with_ends(changed)});
      }
    }
  }
}

/// Lines that order something: left out, doubled, or one place later.
void move_lines(const Lines& lines, std::vector<Mutant>& out) {
  static const std::regex orders("^ *(wait|notify|barrier|fence|acquire|release|settle)\\b");
  const auto indentation = [](const std::string& line) { return line.find_first_not_of(' '); };
  for (size_t i = 0; i < lines.size(); ++i) {
    const bool fills = lines[i].starts_with("  copy") && lines[i].find(" fill ") != std::string::npos;
    const bool ordering = std::regex_search(lines[i], orders);
    if (!ordering && !fills) continue;
    Lines fewer = lines, more = lines, later = lines;
    fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
    out.push_back({order, "without " + lines[i], with_ends(fewer)});
    if (i + 1 < lines.size() && indentation(lines[i + 1]) == indentation(lines[i])) {
      std::swap(later[i], later[i + 1]);
      out.push_back({order, "later: " + lines[i], with_ends(later)});
    }
    if (!ordering) continue;
    more.insert(more.begin() + static_cast<std::ptrdiff_t>(i), lines[i]);
    out.push_back({order, "twice " + lines[i], with_ends(more)});
  }
}

}  // namespace

std::vector<Mutant> mutants_of(const std::string& text) {
  std::vector<Mutant> out;
  change_lines(lines_of(text), out);
  move_lines(lines_of(text), out);
  return out;
}

}  // namespace axon::tile
