#pragma once
// The path of the program that runs, to start it once more. Any thread.
#include <string>

namespace lunagrad {

std::string own_program();

}  // namespace lunagrad
