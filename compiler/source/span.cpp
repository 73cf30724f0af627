// Files, lines, columns; the checks on raw bytes that spare every later stage from thinking about them.
#include "source/span.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "source/diagnostic.h"
#include "source/files.h"
#include "source/limits.h"

namespace axon::source {
namespace {

/// Decodes one code point at `at`; length 0 when the bytes there are not UTF-8 (overlong forms and surrogates
/// are not).
struct Decoded {
  uint32_t code_point = 0;
  uint32_t length = 0;
};
Decoded decode(std::string_view text, size_t at) {
  auto byte = [&](size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
  uint32_t first = byte(at);
  if (first < 0x80) return {first, 1};
  uint32_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4) return {};
  uint32_t value = first & (0xff >> (length + 1));
  for (uint32_t i = 1; i < length; ++i) {
    uint32_t next = byte(at + i);
    if ((next & 0xc0) != 0x80) return {};
    value = value << 6 | (next & 0x3f);
  }
  bool overlong = (length == 3 && value < 0x800) || (length == 4 && value < 0x10000);
  if (overlong || value > 0x10ffff || (value >= 0xd800 && value <= 0xdfff)) return {};
  return {value, length};
}

struct Range {
  uint32_t first, last;
};
template <size_t n>
bool contains(const Range (&ranges)[n], uint32_t value) {
  return std::any_of(ranges, ranges + n, [&](Range r) { return value >= r.first && value <= r.last; });
}

uint32_t code_point_width(uint32_t c) {
  static constexpr Range zero[] = {{0x0300, 0x036f}, {0x0483, 0x0489}, {0x0591, 0x05bd}, {0x064b, 0x065f},
                                   {0x200b, 0x200f}, {0x202a, 0x202e}, {0x2060, 0x2069}, {0x20d0, 0x20ff},
                                   {0xfe00, 0xfe0f}, {0xfe20, 0xfe2f}, {0xfeff, 0xfeff}, {0xe0100, 0xe01ef}};
  static constexpr Range wide[] = {
      {0x1100, 0x115f}, {0x2e80, 0x303e},   {0x3041, 0x33ff},   {0x3400, 0x4dbf},   {0x4e00, 0x9fff},
      {0xa000, 0xa4cf}, {0xac00, 0xd7a3},   {0xf900, 0xfaff},   {0xfe30, 0xfe6f},   {0xff00, 0xff60},
      {0xffe0, 0xffe6}, {0x1f300, 0x1f64f}, {0x1f680, 0x1f6ff}, {0x1f900, 0x1f9ff}, {0x20000, 0x3fffd}};
  if (c < 0x300) return 1;
  return contains(zero, c) ? 0 : contains(wide, c) ? 2 : 1;
}

/// Characters that reorder the text on a screen, so that what is read is not what is compiled.
bool changes_direction(uint32_t c) { return (c >= 0x202a && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069); }

/// Replaces, byte for byte, what no later stage should see, and reports the first of each kind.
class ByteCheck {
 public:
  ByteCheck(FileId file, std::string& text, Diagnostics& diagnostics)
      : file_(file), text_(text), diagnostics_(diagnostics) {}

  void run() {
    if (text_.starts_with("\xef\xbb\xbf")) text_.replace(0, 3, 3, ' ');  // a byte order mark
    uint32_t line_start = 0;
    for (uint32_t at = 0; at < text_.size();) {
      if (text_[at] == '\n') {
        check_line(line_start, at);
        line_start = at + 1;
      }
      at += check_character(at);
    }
    check_line(line_start, static_cast<uint32_t>(text_.size()));
  }

 private:
  uint32_t check_character(uint32_t at) {
    if (static_cast<unsigned char>(text_[at]) - 1u < 0x7f) return 1;  // the common case, 1 to 0x7f
    if (text_[at] == '\0') {
      Diagnostic zero = error(Code::E0003, {file_, at, at + 1});
      if (text_.starts_with("AXONBNDL"))
        zero.note("this is a compiled program; C and Python call it, and etcc takes its text");
      report_once(nul_, zero);
      text_[at] = ' ';
      return 1;
    }
    Decoded decoded = decode(text_, at);
    if (decoded.length == 0) {
      report_once(utf8_, error(Code::E0004, {file_, at, at + 1}));
      text_[at] = '?';
      return 1;
    }
    if (changes_direction(decoded.code_point))
      report_once(direction_, warning(Code::E0110, {file_, at, at + decoded.length})
                                  .note("what an editor shows may differ from what is compiled"));
    return decoded.length;
  }
  void check_line(uint32_t begin, uint32_t end) {
    if (end - begin > limits::line_bytes)
      report_once(long_line_, error(Code::E0002, {file_, begin, begin + 1}));
  }
  void report_once(bool& reported, const Diagnostic& diagnostic) {
    if (!reported) diagnostics_.report(diagnostic);
    reported = true;
  }

  FileId file_;
  std::string& text_;
  Diagnostics& diagnostics_;
  bool nul_ = false, utf8_ = false, direction_ = false, long_line_ = false;
};

}  // namespace

Span join(Span a, Span b) {
  if (!a.valid()) return b;
  if (!b.valid()) return a;
  return {a.file, std::min(a.begin, b.begin), std::max(a.end, b.end)};
}

uint32_t display_width(std::string_view text) {
  uint32_t width = 0;
  for (size_t at = 0; at < text.size();) {
    Decoded decoded = decode(text, at);
    width += decoded.length == 0 ? 1 : code_point_width(decoded.code_point);
    at += std::max(decoded.length, 1u);
  }
  return width;
}

SourceFile::SourceFile(FileId id, std::string name, std::string text) : id_(id), name_(std::move(name)) {
  set_text(std::move(text));
}

void SourceFile::set_text(std::string text) {
  text_ = std::move(text);
  line_starts_ = {0};
  for (uint32_t at = 0; at < text_.size(); ++at)
    if (text_[at] == '\n') line_starts_.push_back(at + 1);
}

uint32_t SourceFile::line_of(uint32_t offset) const {
  auto after = std::upper_bound(line_starts_.begin(), line_starts_.end(), offset);
  return static_cast<uint32_t>(after - line_starts_.begin());
}

std::string_view SourceFile::line(uint32_t line) const {
  uint32_t begin = line_starts_[line - 1];
  uint32_t end = line < line_count() ? line_starts_[line] - 1 : size();
  if (end > begin && text_[end - 1] == '\r') --end;
  return text().substr(begin, end - begin);
}

Position SourceFile::position(uint32_t offset) const {
  offset = std::min(offset, size());
  uint32_t line = line_of(offset);
  uint32_t begin = line_begin(line);
  return {line, 1 + display_width(text().substr(begin, offset - begin))};
}

uint32_t SourceFile::original(uint32_t offset) const {
  const auto after =
      std::upper_bound(repetitions_.begin(), repetitions_.end(), offset,
                       [](uint32_t place, const Repetition& repetition) { return place < repetition.made; });
  if (after == repetitions_.begin()) return offset;
  const Repetition& r = *std::prev(after);
  return r.of.begin + (offset < r.begin ? 0 : std::min(offset - r.begin, r.of.size()));
}

Span SourceFile::original(Span span) const { return {span.file, original(span.begin), original(span.end)}; }

namespace {

/// What later stages see of a file's bytes.
std::string checked(FileId id, std::string text, Diagnostics& diagnostics) {
  if (text.size() > limits::file_bytes) {
    diagnostics.report(error(Code::E0001, {id, 0, 0}).note(fmt::format("it has {} bytes", text.size())));
    text.clear();
  }
  ByteCheck(id, text, diagnostics).run();
  return text;
}

}  // namespace

FileId SourceManager::add(std::string name, std::string text, Diagnostics& diagnostics) {
  const FileId id{static_cast<uint32_t>(files_.size())};
  files_.emplace_back(id, std::move(name), checked(id, std::move(text), diagnostics));
  return id;
}

FileId SourceManager::add_part(Span piece) {
  const FileId id{static_cast<uint32_t>(files_.size())};
  files_.emplace_back(id, files_[piece.file.index].name(), std::string());
  place_part(id, piece);
  return id;
}

void SourceManager::place_part(FileId part, Span piece) {
  SourceFile& file = files_[part.index];
  file.piece_ = piece;
  if (file.text() != text(piece)) file.set_text(std::string(text(piece)));
}

void SourceManager::replace(FileId file, std::string text, Diagnostics& diagnostics) {
  files_[file.index].set_text(checked(file, std::move(text), diagnostics));
}

Span SourceManager::in_whole(Span span) const {
  if (!span.valid()) return span;
  const Span piece = files_[span.file.index].piece();
  return piece.valid() ? Span{piece.file, piece.begin + span.begin, piece.begin + span.end} : span;
}

std::optional<FileId> SourceManager::load(const std::string& path, Diagnostics& diagnostics) {
  return add_read(path, read_bytes(path), diagnostics);
}

std::optional<FileId> SourceManager::read(int descriptor, const std::string& name, Diagnostics& diagnostics) {
  return add_read(name, read_bytes(descriptor), diagnostics);
}

/// `text`: as read_bytes gave it, with the reason in errno.
std::optional<FileId> SourceManager::add_read(const std::string& name, std::optional<std::string> text,
                                              Diagnostics& diagnostics) {
  const int reason = errno;
  if (text) return add(name, std::move(*text), diagnostics);
  diagnostics.report(
      error(Code::E0005, {}, fmt::format("the file `{}` cannot be read", name)).note(std::strerror(reason)));
  return std::nullopt;
}

std::unique_ptr<SourceManager> SourceManager::with(FileId changed, std::string text,
                                                   Diagnostics& diagnostics) const {
  auto other = std::make_unique<SourceManager>();
  for (const SourceFile& file : files_) {
    if (file.id() == changed) {
      other->add(file.name(), std::move(text), diagnostics);
    } else {
      other->files_.push_back(file);
    }
  }
  return other;
}

std::string_view SourceManager::text(Span span) const {
  if (!span.valid()) return {};
  return files_[span.file.index].text().substr(span.begin, span.size());
}

Span SourceManager::original(Span span) const {
  const Span whole = in_whole(span);
  return whole.valid() ? files_[whole.file.index].original(whole) : whole;
}

std::string SourceManager::describe(Span span) const {
  if (!span.valid()) return {};
  const Span written = original(span);
  const SourceFile& file = files_[written.file.index];
  const Position at = file.position(written.begin);
  return fmt::format("{}:{}:{}", file.name(), at.line, at.column);
}

}  // namespace axon::source
