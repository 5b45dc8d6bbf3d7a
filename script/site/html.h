#pragma once
// Text as HTML and HTML as text. Pure; any thread.
#include <string>
#include <string_view>

namespace lunagrad {

// Escapes `<`, `>`, `&` and `"`.
std::string as_html(std::string_view text);
// A sentence of the help: code between backticks becomes <code>, everything else is escaped.
std::string sentence_html(std::string_view text);
// The text of a piece of HTML: without tags, with the four escapes of as_html undone.
std::string text_of(std::string_view html);
// GitHub's anchor of a heading: lower case, hyphens for spaces, no other punctuation.
std::string anchor_of(std::string_view heading);

}  // namespace lunagrad
