#pragma once
// The generated pages of the documents, as Markdown: the table of ops (docs/operations.md) and the reference
// of the library (docs/library.md). No Lua; any thread.
#include <iosfwd>

namespace lunagrad {

// Every visible op: name, arguments, sentence; from the op records.
void print_op_table(std::ostream&);
// Every function of lua/meta with its arguments and results, one section per table or class.
void print_library(std::ostream&);

}  // namespace lunagrad
