// Places of files as they are written on the command line: FILE:LINE:COLUMN, both from 1, columns in display
// width.
#pragma once
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "source/span.h"

namespace axon::tools {

struct Place {
  std::string file;
  source::Position position;
};
std::optional<Place> parse_place(const std::string& at);

/// The offset of the character that covers the column; the end of the line or of the file behind that.
uint32_t offset_of(const source::SourceFile& file, source::Position at);

/// `line`, `column`, `end_line` and `end_column` of a span, and as `file` the given name.
nlohmann::json place_json(const source::SourceFile& file, source::Span span, const std::string& name);

}  // namespace axon::tools
