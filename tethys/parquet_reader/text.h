// The text of a row of an Arrow column, whichever of Arrow's types holds it.
#pragma once

#include <arrow/type_fwd.h>

#include <cstdint>
#include <string>

#include "data/sources/lines.h"

namespace tethys {

// A string, large string or string view, or a dictionary of them.
bool is_text(const arrow::DataType& type);
// A list of structs that have a role and a content, both text.
bool is_chat(const arrow::DataType& type);

// Of a column of such a type: fills the text of the line, or what is wrong with it. `name` is the column's.
void read_text(const arrow::Array& column, int64_t row, const std::string& name, Line& line);
// The text is {"messages": [{"role": …, "content": …}, …]}, with null for what is null.
void read_chat(const arrow::Array& column, int64_t row, Line& line);

}  // namespace tethys
