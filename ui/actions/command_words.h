#pragma once
// Synonyms of the commands: what a researcher may type who does not know what the window calls a thing. The
// table of all of them is in command_words.cpp, so that one look shows which word leads where. Pure; any
// thread.
#include <span>
#include <string_view>

namespace lunagrad {

struct CommandWords {
  std::string_view command;  // its name: "Tape: compare"
  std::string_view words;    // separated by spaces
};

std::span<const CommandWords> command_words();
std::string_view synonyms_of(std::string_view command);  // "" for a command without an entry

}  // namespace lunagrad
