#pragma once
// What `?name`, `lunagrad help NAME` and the errors of misspelt names say of what a script can call. No Lua;
// any thread.
#include <string>
#include <string_view>

namespace lunagrad {

// By the name or the end of it ("nn.Linear", "step": of each that has one), or the names in a table ("nn").
// "" when there is nothing of that name.
std::string explain(const std::string& asked);
// What a prompt says to `?asked`: the explanation, the name that was meant, or what there is to ask for.
std::string answer(const std::string& asked);
// What explain() says, and the section of the documents with that name ("exit-codes"), or a part of it.
std::string explain_topic(const std::string& topic);
// How many letters have to be changed, left out, added or swapped with the next to make one of the other.
size_t edits(std::string_view, std::string_view);
// "; did you mean lg.nn.Linear?" for "Liner", "" when nothing is near: among functions ("."), methods (":"),
// those of tensors alone ("x:"), or all ("").
std::string suggest(std::string_view misspelt, std::string_view among);

}  // namespace lunagrad
