#include "script/site/frame.h"

#include <algorithm>
#include <cctype>
#include <string_view>

#include "runtime/core/version.h"
#include "script/site/html.h"

namespace lunagrad {
namespace {

std::vector<std::string> groups_of(const std::vector<SitePage>& pages) {
  std::vector<std::string> groups;
  for (const SitePage& page : pages)
    if (std::count(groups.begin(), groups.end(), page.group) == 0) groups.push_back(page.group);
  return groups;
}

std::string links_of(const std::vector<SitePage>& all, const std::string& group, const SitePage& from) {
  std::string html = "<ul>\n";
  for (const SitePage& page : all) {
    if (page.group != group) continue;
    html += "<li><a href=\"" + to_root(from) + as_html(page.path) + "\"" +
            (page.path == from.path ? " aria-current=\"page\"" : "") + ">" + as_html(page.title) +
            "</a></li>\n";
  }
  return html + "</ul>\n";
}

std::string navigation(const std::vector<SitePage>& all, const SitePage& from) {
  std::string html = "<nav class=\"pages\" aria-label=\"Pages\">\n";
  for (const std::string& group : groups_of(all))
    html += std::string("<details") + (group == from.group ? " open" : "") + "><summary>" + as_html(group) +
            "</summary>\n" + links_of(all, group, from) + "</details>\n";
  return html + "</nav>\n";
}

// The list of a page's contents, "" for fewer than three.
std::string contents(const SitePage& page) {
  std::string html;
  size_t count = 0;
  for (const SiteEntry& entry : page.entries) {
    if (!entry.listed) continue;
    ++count;
    html += "<li><a href=\"#" + as_html(entry.anchor) + "\">" +
            as_html(entry.name.empty() ? entry.title : entry.name) + "</a></li>\n";
  }
  if (count < 3) return {};
  return "<nav class=\"contents\" aria-label=\"On this page\">\n<ul>\n" + html + "</ul>\n</nav>\n";
}

// The place of a name at the start of a piece of code: "lg.nn.Linear(3, 2)", "x:sum()", "lunagrad runs ls".
const std::string* place_of_code(const std::string& code, const std::map<std::string, std::string>& places) {
  std::string name = code;
  if (!code.starts_with("lunagrad ")) name.resize(std::min(code.find_first_of("({ "), code.size()));
  while (true) {
    const auto place = places.find(name);
    if (place != places.end()) return &place->second;
    const size_t space = name.rfind(' ');
    if (space == std::string::npos || name.find(' ') == space) return nullptr;  // of a command two words stay
    name.resize(space);
  }
}

// The body of a page with tables that scroll, and with links from code that begins with a name which the site
// explains. Code in headings, links and blocks stays as it is.
std::string finished_body(const SitePage& page, const std::map<std::string, std::string>& places) {
  const std::string_view body = page.body, begin = "<code>", end = "</code>";
  std::string html;
  std::string_view closing;  // of the element in which code is not linked
  for (size_t at = 0; at < body.size();) {
    const size_t open = std::min(body.find('<', at), body.size());
    html += body.substr(at, open - at);
    at = open;
    const std::string_view rest = body.substr(at);
    size_t length = std::min(rest.find('>'), rest.size() - 1) + 1;
    if (rest.empty()) break;
    if (!closing.empty()) {
      if (rest.starts_with(closing)) closing = {};
    } else if (rest.starts_with("<a ")) {
      closing = "</a>";
    } else if (rest.starts_with("<pre")) {
      closing = "</pre>";
    } else if (rest.starts_with("<h") && std::isdigit(static_cast<unsigned char>(rest[2]))) {
      closing = "</h";
    } else if (rest.starts_with("<table>")) {
      html += "<div class=\"scroll\">";
    } else if (rest.starts_with("</table>")) {
      html += "</table></div>";
      at += length;
      continue;
    } else if (rest.starts_with(begin)) {
      length = rest.find(end) + end.size();
      const std::string_view code = rest.substr(0, length);
      const std::string* place = place_of_code(text_of(code), places);
      if (place && *place != page.path) {
        html += "<a href=\"" + to_root(page) + as_html(*place) + "\">" + std::string(code) + "</a>";
        at += length;
        continue;
      }
    }
    html += rest.substr(0, length);
    at += length;
  }
  return html;
}

}  // namespace

std::map<std::string, std::string> named_places(const std::vector<SitePage>& pages) {
  std::map<std::string, std::string> places;
  for (const SitePage& page : pages)
    for (const SiteEntry& entry : page.entries) {
      if (entry.name.empty()) continue;
      const std::string place = page.path + (entry.anchor.empty() ? "" : "#" + entry.anchor);
      places.emplace(entry.name, place);
      // Most ops are methods of Tensor, too.
      if (page.group == "Operations" && entry.name.find('.') == entry.name.rfind('.'))
        places.emplace("x:" + entry.name.substr(entry.name.find('.') + 1), place);
    }
  return places;
}

std::string framed(const SitePage& page, const std::vector<SitePage>& all,
                   const std::map<std::string, std::string>& places) {
  const std::string root = to_root(page);
  std::string body = finished_body(page, places);
  const std::string_view title_end = "</h1>";
  const size_t after_title = body.find(title_end) + title_end.size();
  body.insert(after_title, "\n" + contents(page));
  return "<!DOCTYPE html>\n<html lang=\"en\" data-root=\"" + root +
         "\">\n<head>\n<meta charset=\"utf-8\">\n<title>" + as_html(page.title) +
         " - Lunagrad</title>\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
         "<meta name=\"color-scheme\" content=\"light dark\">\n<link rel=\"stylesheet\" href=\"" +
         root + "site.css\">\n<script src=\"" + root +
         "site.js\" defer></script>\n</head>\n<body>\n<a class=\"skip\" href=\"#content\">Skip to the "
         "content</a>\n<header>\n<a class=\"home\" href=\"" +
         root +
         "index.html\">Lunagrad</a>\n<form role=\"search\" hidden>\n<label for=\"search\">Search</label>\n"
         "<input id=\"search\" type=\"search\" autocomplete=\"off\" spellcheck=\"false\" "
         "aria-describedby=\"search-keys\">\n<span id=\"search-keys\">/ to search, arrow keys to "
         "choose</span>\n"
         "<div class=\"found\" hidden>\n<p role=\"status\"></p>\n<ul></ul>\n</div>\n</form>\n</header>\n"
         "<div class=\"columns\">\n" +
         navigation(all, page) + "<main id=\"content\" tabindex=\"-1\">\n" + body +
         "</main>\n</div>\n<footer><p>Lunagrad " LUNAGRAD_VERSION "</p></footer>\n</body>\n</html>\n";
}

std::string list_of_pages(const std::vector<SitePage>& all, const SitePage& from) {
  std::string html;
  for (const std::string& group : groups_of(all))
    html += "<h3>" + as_html(group) + "</h3>\n" + links_of(all, group, from);
  return html;
}

}  // namespace lunagrad
