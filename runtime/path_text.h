#pragma once
// Paths, arguments and other bytes of the system as text that JSON, XML and ZIP can hold: UTF-8 in which each
// byte of no character is "\xe9", with two lower-case digits, and a backslash "\x5c" in a text with such
// bytes or that reads like one. A text without either is the path itself. Pure.
#include <string>
#include <string_view>
#include <vector>

namespace lunagrad {

std::string path_text(std::string_view path);
std::vector<std::string> path_texts(const std::vector<std::string>& paths);
std::string path_of_text(std::string_view text);  // the bytes again

}  // namespace lunagrad
