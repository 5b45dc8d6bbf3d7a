#pragma once
// The ops, printed from their records: LuaCATS annotations for Lua editors, and JSON for tools. No Lua; any
// thread.
#include <iosfwd>

namespace lunagrad {

// A Lua file that annotates the class Tensor and the module lunagrad: every public op as a function and as a
// method.
void print_meta(std::ostream&);
// The part of it about lg.io's formats, from their records.
void print_format_meta(std::ostream&);
// A JSON array of the records, hidden ones too: name, doc, arguments, family, autocast policy, formula of the
// floating-point operations, whether it is a composition, takes complex numbers and draws random ones,
// examples.
void print_records(std::ostream&);

}  // namespace lunagrad
