#pragma once
// Texts as parts of files in other languages. Pure; any thread.
#include <string>
#include <string_view>

namespace lunagrad {

// A field of a line of CSV (RFC 4180): in quotes if it has a comma, a quote or a line break.
std::string csv_field(std::string_view);

// Content of an element or value of a quoted attribute in XML 1.0 and HTML. Leaves out control characters
// that XML forbids. The text must be valid UTF-8.
std::string xml_text(std::string_view);

}  // namespace lunagrad
