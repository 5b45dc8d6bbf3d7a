#pragma once
// A path through the Lua heap to a tensor, and what a user calls its owner: "local losses[*]", "upvalue
// history[*] of train.lua:12, in local record". Pure functions; any thread.
#include <string>
#include <vector>

#include "runtime/trace.h"

namespace lunagrad {

// A step of a path: from nowhere to a root, or from a value to one that it holds.
struct HeapStep {
  enum class Kind : uint8_t {
    local,      // of an active function; after the first step: of a coroutine's
    temporary,  // a value without a name in an active function
    global,
    module,    // what require returned
    state,     // of lg.run.state
    host,      // lg.host, whose values are fields
    hook,      // a function that the engine keeps; the name says for what
    registry,  // of Lua
    function,  // an active one
    field,     // a string key of a table
    entry,     // any other key
    key,       // the key itself is what is held
    metatable,
    upvalue,
    uservalue,
    gradient  // of a tensor
  } kind = Kind::entry;
  std::string name;
  // local: of its declaration; temporary, function, upvalue: of the function; hook: of the call that made it
  SourceLine line;
};
using HeapPath = std::vector<HeapStep>;

// `star`: keys that are no strings read [*].
std::string owner_name(const HeapPath&, bool star);
// The innermost variable with its fields: "stats.loss".
std::string variable_name(const HeapPath&);
// The line that belongs to the name: of the innermost variable, function or hook of the path.
SourceLine owner_line(const HeapPath&);
// Whether the step has a name that a script may have made up as it ran: a string key, a global, a state.
bool is_name(const HeapStep&);
// With one that stands for any name in place of it.
HeapPath with_any_name(HeapPath, size_t step);
// With one step for each run of equal ones: the elements of a list that is linked have one owner.
HeapPath without_repeats(const HeapPath&);

}  // namespace lunagrad
