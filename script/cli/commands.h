#pragma once
// The commands of the program `lunagrad`: reads the command line and carries it out.

namespace lunagrad {

// Returns the program's exit code.
int run_command_line(int argc, char** argv);

}  // namespace lunagrad
