#pragma once
// Advice for errors about nil: which name is misspelt. Lua names a global, field or method that it calls,
// indexes or computes with. Where a nil was passed to a function, the names come from the bytecode of the
// line. The bytecode also tells where the table that lacks a field is: in a variable, or in a field of one.
// Private to script/; called by the message handler, while the stack of the error still exists.
#include <lua.hpp>
#include <string>

namespace lunagrad {

// For an error about nil: appends which name is misspelt, as "; did you mean 'model'?". Lua's text about a
// field that an object of a script's class lacks is replaced: "train.lua:12: Block has no field 'dwon'".
// Returns whether the message is complete. `line`: of the script. in_script: Lua raised the error there, not
// in the library.
bool explain_missing(lua_State*, int user_level, int line, bool in_script, std::string& message);
// "in model.fc1 (Linear): " for an error inside a module that another module called; otherwise "".
std::string module_path(lua_State*);

}  // namespace lunagrad
