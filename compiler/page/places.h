// Places of the entry's file, as pages name them.
#pragma once
#include "page/expressions.h"
#include "source/span.h"

namespace axon::page {

/// {line, column, end}: the first line and column from 1, and the last line.
Json place(const source::SourceFile& file, uint32_t begin, uint32_t end);

}  // namespace axon::page
