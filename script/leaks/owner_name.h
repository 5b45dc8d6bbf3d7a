#pragma once
// A path through the Lua heap to a tensor, and its owner's name for the user: "local losses[*]", "upvalue
// history[*] of train.lua:12, in local record". Pure functions; any thread.
#include <string>
#include <vector>

#include "runtime/core/trace.h"

namespace lunagrad {

// A step of a path: to a root, or from a value to a value that it holds.
struct HeapStep {
  enum class Kind : uint8_t {
    local,      // of an active function; after the first step, of a coroutine's function
    temporary,  // a value without a name in an active function
    global,
    module,    // the result of require
    state,     // of lg.run.state
    host,      // lg.host, whose values are fields
    hook,      // a function that the engine keeps; the name says what for
    registry,  // Lua's registry
    function,  // an active function
    field,     // a string key of a table
    entry,     // any other key
    key,       // the key itself is the held value
    metatable,
    upvalue,
    uservalue,
    gradient  // of a tensor
  } kind = Kind::entry;
  std::string name;
  // local: the declaration; temporary, function, upvalue: the function; hook: the call that made it
  SourceLine line;
};
using HeapKind = HeapStep::Kind;
using HeapPath = std::vector<HeapStep>;

// `star`: keys that are no strings are written as [*].
std::string owner_name(const HeapPath&, bool star);
// The innermost variable with its fields: "stats.loss".
std::string variable_name(const HeapPath&);
// The line that belongs to the name: of the path's innermost variable, function or hook.
SourceLine owner_line(const HeapPath&);
// Whether the script may have made up the step's name as it ran: a string key, a global, a state.
bool is_name(const HeapStep&);
// The path with this step replaced by one that stands for any name.
HeapPath with_any_name(HeapPath, size_t step);
// The path with each run of equal steps reduced to one: the elements of a linked list have one owner.
HeapPath without_repeats(const HeapPath&);

}  // namespace lunagrad
