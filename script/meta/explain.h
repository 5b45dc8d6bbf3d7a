#pragma once
// Looks up help texts: for `?name` at a prompt, `lunagrad help NAME` and the suggestions in errors of
// misspelt names. No Lua; any thread.
#include <string>
#include <string_view>

namespace lunagrad {

// The help on a name or on its last part ("nn.Linear"; "step" explains every function with that name), or the
// list of functions in a table ("nn"). "" if nothing has that name.
std::string explain(const std::string& asked);
// The answer to `?asked` at a prompt: the help, a suggestion for a misspelt name, or an overview for "".
std::string answer(const std::string& asked);
// The document of that name ("tutorial") followed by explain(). If there is no such document: explain()
// followed by the section whose name is `topic` ("exit-codes"), or else the only section whose name contains
// it.
std::string explain_topic(const std::string& topic);
// Optimal string alignment distance: counts changed, deleted and inserted letters and swaps of adjacent
// letters.
size_t edits(std::string_view, std::string_view);
// "; did you mean lg.nn.Linear?" for "Liner"; "" if no name is close. `among` restricts the names: functions
// ("."), methods (":"), methods of tensors ("x:"), or all ("").
std::string suggest(std::string_view misspelt, std::string_view among);

}  // namespace lunagrad
