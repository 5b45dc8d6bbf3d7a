#pragma once
// What an example must be given to run. Reads the file; no thread waits long for it.
#include <string>

namespace lunagrad {

// The arguments behind "--" in the first command that the leading comment of a script shows: "FOLDER" for
//   --   lunagrad run examples/05_mnist_cnn.lua -- FOLDER
// "" if it needs none.
std::string needed_arguments(const std::string& script);

}  // namespace lunagrad
