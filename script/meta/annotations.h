#pragma once
// Prints the ops from their records: LuaCATS annotations for Lua editors, and JSON for tools. No Lua; any
// thread.
#include <iosfwd>

namespace lunagrad {

// A Lua file that annotates the class Tensor and the module lunagrad: every public op as a function and as a
// method.
void print_meta(std::ostream&);
// The annotations of lg.io's formats, from the formats' records.
void print_format_meta(std::ostream&);
// A JSON array of all records, hidden ones included: name, doc, arguments, family, autocast policy, the
// formula for its FLOPs, whether the op is a composition, accepts complex numbers and draws random numbers,
// examples.
void print_records(std::ostream&);

}  // namespace lunagrad
