#pragma once
// The ops in writing, printed from their records: LuaCATS annotations for editors and the table of ops for
// the guide.
#include <iosfwd>

namespace lunagrad {

// A Lua file of annotations for the class Tensor and the module lunagrad: every op as a function and as a
// method.
void print_meta(std::ostream&);
// The part of it about lg.io's formats, from their records.
void print_format_meta(std::ostream&);
// The same as a Markdown table: name, arguments, sentence.
void print_op_table(std::ostream&);

}  // namespace lunagrad
