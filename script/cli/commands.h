#pragma once
// The commands of the program `lunagrad`: reads the command line and carries it out.

namespace lunagrad {

// The exit code of the program.
int run_command_line(int argc, char** argv);

}  // namespace lunagrad
