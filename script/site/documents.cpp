#include "script/site/documents.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "runtime/core/error.h"
#include "runtime/io/atomic_file.h"
#include "runtime/system/processes.h"
#include "script/meta/library.h"
#include "script/site/html.h"

namespace lunagrad {
namespace {

namespace fs = std::filesystem;

// The folder that contains docs/ and examples/.
std::string root() { return library_directory() + "/../"; }

struct Source {
  std::string file;  // below root(): "docs/guide.md"
  std::string page;  // in the site: "guide.html"
  std::string group;
};

// The names of the Markdown files in a folder: as its README links to them, then the others.
std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  const std::string readme = read_file(root() + folder + "/README.md");
  for (size_t at = 0; (at = readme.find("](", at)) != std::string::npos;) {
    at += 2;
    const std::string name = readme.substr(at, readme.find_first_of("#)", at) - at);
    if (name.ends_with(".md") && name.find('/') == std::string::npos) names.push_back(name);
  }
  std::vector<std::string> others;
  for (const auto& entry : fs::directory_iterator(root() + folder))
    if (entry.path().extension() == ".md") others.push_back(entry.path().filename().string());
  std::sort(others.begin(), others.end());
  names.insert(names.end(), others.begin(), others.end());
  std::vector<std::string> found;
  for (const std::string& name : names)
    if (name != "README.md" && std::count(found.begin(), found.end(), name) == 0) found.push_back(name);
  return found;
}

std::string html_name(const std::string& markdown) {
  return markdown.substr(0, markdown.size() - std::string_view(".md").size()) + ".html";
}

std::vector<Source> sources() {
  std::vector<Source> found{{"docs/README.md", "index.html", "Guides"}};
  for (const std::string& name : names_in("docs"))
    found.push_back({"docs/" + name, html_name(name), "Guides"});
  found.push_back({"docs/decisions/README.md", "decisions/index.html", "Decisions"});
  for (const std::string& name : names_in("docs/decisions"))
    found.push_back({"docs/decisions/" + name, "decisions/" + html_name(name), "Decisions"});
  // An installed program has neither.
  for (const auto& [name, page] :
       {std::pair("CONTRIBUTING.md", "contributing.html"), std::pair("CHANGELOG.md", "changelog.html")})
    if (fs::exists(root() + name)) found.push_back({name, page, "Project"});
  return found;
}

constexpr const char* kExamples = "examples.html";

// Where a link of the documents leads in the site. Nothing if the site does not have the file.
std::optional<std::string> place_of(const std::string& file,
                                    const std::map<std::string, std::string>& places) {
  const auto page = places.find(file);
  if (page != places.end()) return page->second;
  if (file == "docs/decisions") return "decisions/index.html";
  if (file == "examples") return kExamples;
  const std::string_view pictures = "docs/pictures/", examples = "examples/";
  if (file.starts_with(pictures)) return file.substr(std::string_view("docs/").size());
  if (file.starts_with(examples) && file.ends_with(".lua"))
    return std::string(kExamples) + "#" + file.substr(examples.size());
  return std::nullopt;
}

// The address of a link in the page of `source`, as the site has it. Nothing if the site lacks the file.
std::optional<std::string> address_of(const std::string& link, const Source& source, const SitePage& page,
                                      const std::map<std::string, std::string>& places) {
  if (link.find(':') != std::string::npos || link.starts_with("#")) return link;
  const size_t hash = std::min(link.find('#'), link.size());
  std::string file = (fs::path(source.file).parent_path() / link.substr(0, hash)).lexically_normal().string();
  if (file.ends_with('/')) file.pop_back();
  const std::optional<std::string> place = place_of(file, places);
  if (!place) return std::nullopt;
  return to_root(page) + *place + link.substr(hash);
}

std::string as_markdown_html(const std::string& file) {
  const FilterRun run = run_filter("cmark-gfm",
                                   {"--extension", "table", "--extension", "strikethrough",
                                    "--table-prefer-style-attributes", "--to", "html"},
                                   read_file(root() + file));
  if (run.end == FilterRun::End::missing)
    fail_as(ErrorKind::file, "the program cmark-gfm is not installed (Debian: apt install cmark-gfm)");
  if (run.end != FilterRun::End::done) fail_as(ErrorKind::file, file, ": cmark-gfm: ", run.reason);
  return run.output;
}

// Copies the HTML of cmark-gfm into a page: headings get anchors and are entries, links and pictures get the
// addresses of the site. A link to a file that the site lacks becomes its text.
class Rewriter {
 public:
  Rewriter(const Source& source, const std::map<std::string, std::string>& places)
      : source_(source), places_(places) {
    page_.path = source.page;
    page_.group = source.group;
  }

  SitePage rewrite(std::string_view html) {
    for (size_t at = 0; at < html.size();) {
      const size_t open = std::min(html.find('<', at), html.size());
      page_.body += html.substr(at, open - at);
      if (open == html.size()) break;
      const size_t end = html.find('>', open) + 1;
      const std::string_view tag = html.substr(open, end - open);
      at = end;
      if (tag.size() == 4 && tag[1] == 'h' && tag[2] >= '1' && tag[2] <= '6') {
        const size_t close = html.find("</h", end);
        add_heading(tag[2], html.substr(end, close - end));
        at = close;
      } else if (tag.starts_with("<a ")) {
        add_address(tag, "href=\"");
      } else if (tag == "</a>") {
        if (linked_) page_.body += tag;
      } else if (tag.starts_with("<img ")) {
        add_address(tag, "src=\"");
      } else {
        page_.body += tag;
      }
    }
    end_section();
    return std::move(page_);
  }

 private:
  void end_section() {
    if (!page_.entries.empty())
      page_.entries.back().text = text_of(std::string_view(page_.body).substr(start_));
    start_ = page_.body.size();
  }

  void add_heading(char level, std::string_view content) {
    end_section();
    const std::string title = text_of(content), anchor = free_anchor(page_, anchor_of(title));
    if (page_.title.empty()) page_.title = title;
    page_.body += std::string("<h") + level + " id=\"" + as_html(anchor) + "\">";
    start_ = page_.body.size();
    page_.body += content;
    page_.entries.push_back({title, anchor, "", "", level == '2'});
  }

  // Copies the tag with the address that follows `attribute` rewritten.
  void add_address(std::string_view tag, std::string_view attribute) {
    const size_t begin = tag.find(attribute) + attribute.size(), end = tag.find('"', begin);
    const std::optional<std::string> address =
        address_of(text_of(tag.substr(begin, end - begin)), source_, page_, places_);
    linked_ = address.has_value();
    if (linked_)
      page_.body += std::string(tag.substr(0, begin)) + as_html(*address) + std::string(tag.substr(end));
  }

  const Source& source_;
  const std::map<std::string, std::string>& places_;
  SitePage page_;
  size_t start_ = 0;    // of the current section in the body
  bool linked_ = true;  // whether the current link has its tag
};

SitePage examples_page() {
  SitePage page{kExamples, "Guides", "Examples", "<h1>Examples</h1>\n", {}};
  std::vector<std::string> names;
  for (const auto& entry : fs::recursive_directory_iterator(root() + "examples"))
    if (entry.path().extension() == ".lua")
      names.push_back(entry.path().lexically_relative(root() + "examples").string());
  std::sort(names.begin(), names.end());
  for (const std::string& name : names) {
    const std::string script = read_file(root() + "examples/" + name);
    page.entries.push_back({name, name, "", script});
    page.body += "<h2 id=\"" + as_html(name) + "\">" + as_html(name) +
                 "</h2>\n<pre><code class=\"language-lua\">" + as_html(script) + "</code></pre>\n";
  }
  return page;
}

}  // namespace

std::vector<SitePage> document_pages() {
  const std::vector<Source> files = sources();
  std::map<std::string, std::string> places;
  for (const Source& source : files) places[source.file] = source.page;
  std::vector<SitePage> pages;
  for (const Source& source : files)
    pages.push_back(Rewriter(source, places).rewrite(as_markdown_html(source.file)));
  const auto decisions = std::find_if(pages.begin(), pages.end(),
                                      [](const SitePage& page) { return page.group == "Decisions"; });
  pages.insert(decisions, examples_page());
  return pages;
}

std::string pictures_directory() { return root() + "docs/pictures"; }

}  // namespace lunagrad
