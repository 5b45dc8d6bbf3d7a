#pragma once
// Text in lower case; letters outside of ASCII stay as they are. Pure; any thread.
#include <cctype>
#include <string>

namespace lunagrad {

inline std::string lower_case(std::string text) {
  for (char& c : text) c = char(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

}  // namespace lunagrad
