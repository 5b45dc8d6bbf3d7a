#pragma once
// The ops in writing, printed from their records: LuaCATS annotations for editors, the table of operations
// for the guide, and JSON for tools. Any thread.
#include <iosfwd>

namespace lunagrad {

// A Lua file of annotations for the class Tensor and the module lunagrad: every public op as a function and
// as a method.
void print_meta(std::ostream&);
// docs/operations.md: a Markdown table of name, arguments and sentence of every public op.
void print_op_table(std::ostream&);
// A JSON array of the records, hidden ones too: name, doc, arguments, family, autocast policy, formula of the
// floating-point operations, whether it is a composition, takes complex numbers and draws random ones,
// examples.
void print_records(std::ostream&);

}  // namespace lunagrad
