#include "script/report/page.h"

#include <string_view>

namespace lunagrad {

// Written by the build from script/report/web/ (cmake/embed.cmake).
extern const char* const kReportTemplate;
extern const char* const kReportStyle;
extern const char* const kReportScript;
extern const char* const kTapeDiffScript;

namespace {

std::string as_html(std::string_view text) {
  std::string html;
  for (const char c : text) {
    switch (c) {
      case '<':
        html += "&lt;";
        break;
      case '&':
        html += "&amp;";
        break;
      case '"':
        html += "&quot;";
        break;
      default:
        html += c;
    }
  }
  return html;
}

// Within a script element only "<" can end or hide anything, and in JSON it occurs in strings alone.
std::string as_data(std::string_view json) {
  std::string text;
  text.reserve(json.size() + json.size() / 64);
  for (const char c : json) {
    if (c == '<')
      text += "\\u003c";
    else
      text += c;
  }
  return text;
}

}  // namespace

std::string report_page(const std::string& title, const std::string& data, ReportPage kind) {
  const bool live = kind == ReportPage::live;
  const std::string_view page = kReportTemplate;
  std::string html;
  html.reserve(data.size() + (1 << 17));
  size_t at = 0;
  for (size_t open; (open = page.find("{{", at)) != page.npos;) {
    const size_t close = page.find("}}", open);
    html += page.substr(at, open - at);
    const std::string_view name = page.substr(open + 2, close - open - 2);
    if (name == "title") html += as_html(title);
    if (name == "style") html += kReportStyle;
    if (name == "script") html += kind == ReportPage::tape_diff ? kTapeDiffScript : kReportScript;
    if (name == "data") html += as_data(data);
    if (name == "connect") html += live ? "'self'" : "'none'";
    if (name == "images") html += live ? "'self' data:" : "data:";
    at = close + 2;
  }
  html += page.substr(at);
  return html;
}

}  // namespace lunagrad
