#include "script/site/html.h"

#include <array>
#include <cctype>
#include <utility>

namespace lunagrad {
namespace {

constexpr std::array<std::pair<std::string_view, char>, 4> kEscapes = {
    {{"&lt;", '<'}, {"&gt;", '>'}, {"&amp;", '&'}, {"&quot;", '"'}}};

}  // namespace

std::string as_html(std::string_view text) {
  std::string html;
  for (const char c : text) {
    std::string_view written(&c, 1);
    for (const auto& [escape, character] : kEscapes)
      if (c == character) written = escape;
    html += written;
  }
  return html;
}

std::string sentence_html(std::string_view text) {
  std::string html;
  while (!text.empty()) {
    const size_t open = text.find('`'), close = open == text.npos ? open : text.find('`', open + 1);
    if (close == text.npos) break;
    html += as_html(text.substr(0, open)) + "<code>" + as_html(text.substr(open + 1, close - open - 1)) +
            "</code>";
    text.remove_prefix(close + 1);
  }
  return html + as_html(text);
}

std::string text_of(std::string_view html) {
  std::string text;
  for (size_t at = 0; at < html.size();) {
    if (html[at] == '<') {
      at = html.find('>', at);
      if (at == html.npos) break;
      ++at;
      continue;
    }
    char c = html[at];
    size_t length = 1;
    for (const auto& [escape, character] : kEscapes)
      if (html.substr(at).starts_with(escape)) c = character, length = escape.size();
    text += c;
    at += length;
  }
  return text;
}

std::string anchor_of(std::string_view heading) {
  std::string anchor;
  for (const char c : heading) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) || c == '-' || c == '_' || byte >= 0x80) anchor += char(std::tolower(byte));
    if (c == ' ') anchor += '-';
  }
  return anchor;
}

}  // namespace lunagrad
