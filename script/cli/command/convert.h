#pragma once
// `lunagrad convert A B`: arrays from one file format to another, by the ends of the names. Names of arrays
// are kept; what the target cannot hold is an error, or said on standard error where it is only metadata.
#include <string>

namespace lunagrad {

struct ConvertOptions {
  std::string dtype;    // of what is written; as it is when empty
  bool header = false;  // the first line of a csv file holds names
};

// The exit code.
int convert_file(const std::string& from, const std::string& to, const ConvertOptions&);

}  // namespace lunagrad
