// The form of the Markdown files: links and anchors lead somewhere, rows of a table have equal numbers of
// cells.
#include <doctest/doctest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "folders.h"
#include "tests/support/program.h"

using namespace lunagrad::test;

namespace {

struct Page {
  std::vector<std::string> lines;  // outside of code blocks; lines of code are empty
  std::set<std::string> anchors;
};

// GitHub's anchor of a heading: lower case, hyphens for spaces, no other punctuation.
std::string anchor_of(const std::string& heading) {
  std::string anchor;
  for (const char c : heading) {
    if (std::isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '_' || (c & 0x80))
      anchor += char(std::tolower(static_cast<unsigned char>(c)));
    else if (c == ' ')
      anchor += '-';
  }
  return anchor;
}

Page read_page(const std::string& text) {
  Page page;
  std::map<std::string, int> count;
  bool fenced = false;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    const bool fence = line.starts_with("```");
    if (fence) fenced = !fenced;
    if (fence || fenced || line.starts_with("    ")) line.clear();
    const size_t level = line.find_first_not_of('#');
    if (level != std::string::npos && level > 0 && line[level] == ' ') {
      const std::string anchor = anchor_of(line.substr(level + 1));
      const int seen = count[anchor]++;
      page.anchors.insert(seen == 0 ? anchor : anchor + "-" + std::to_string(seen));
    }
    page.lines.push_back(line);
  }
  return page;
}

int bars(const std::string& row) {
  int count = 0;
  for (size_t i = 0; i < row.size(); ++i) count += row[i] == '|' && (i == 0 || row[i - 1] != '\\');
  return count;
}

// What is wrong with the tables of a page, a line for each fault.
std::string table_faults(const Page& page) {
  std::string faults;
  for (size_t i = 0; i < page.lines.size(); ++i) {
    if (!page.lines[i].starts_with('|')) continue;
    const size_t head = i;
    const auto fault = [&](size_t line, const char* what) {
      faults += "line " + std::to_string(line + 1) + ": " + what + "\n";
    };
    if (head + 1 >= page.lines.size() || page.lines[head + 1].find_first_not_of("|:- ") != std::string::npos)
      fault(head, "a row without a heading");
    for (; i < page.lines.size() && page.lines[i].starts_with('|'); ++i)
      if (bars(page.lines[i]) != bars(page.lines[head])) fault(i, "another number of cells than the heading");
  }
  return faults;
}

// Targets of links and pictures, without those in `code`.
std::vector<std::string> targets(const std::string& line) {
  static const std::regex code("`[^`]*`"), link("\\]\\(([^() ]+)\\)");
  const std::string text = std::regex_replace(line, code, "code");
  std::vector<std::string> found;
  for (std::sregex_iterator it(text.begin(), text.end(), link), end; it != end; ++it)
    found.push_back((*it)[1].str());
  return found;
}

std::vector<std::filesystem::path> markdown_files() {
  std::vector<std::filesystem::path> files;
  const std::filesystem::path root(LUNAGRAD_SOURCE_DIR);
  for (const auto& entry : std::filesystem::directory_iterator(root))
    if (entry.path().extension() == ".md") files.push_back(entry.path());
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root / "docs"))
    if (entry.path().extension() == ".md") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace

TEST_CASE("every link and anchor of the documents leads somewhere") {
  size_t links = 0;
  for (const auto& file : markdown_files()) {
    for (const std::string& line : read_page(read_file(file.string())).lines) {
      for (const std::string& target : targets(line)) {
        if (target.starts_with("https://")) continue;
        ++links;
        INFO(file.string(), ": ", target);
        const size_t hash = target.find('#');
        const auto path = hash == 0 ? file : file.parent_path() / target.substr(0, hash);
        REQUIRE(std::filesystem::exists(path));
        if (hash != std::string::npos)
          CHECK(read_page(read_file(path.string())).anchors.count(target.substr(hash + 1)) == 1);
      }
    }
  }
  CHECK(links > 30);
}

TEST_CASE("every table of the documents is well-formed") {
  for (const auto& file : markdown_files())
    CHECK_MESSAGE(table_faults(read_page(read_file(file.string()))) == "", file.string());
  CHECK(table_faults(read_page("| a | b |\n|---|---|\n| `\\|x\\|` | y |\n")) == "");
  CHECK(table_faults(read_page("| a | b |\n|---|---|\n| |x| | y |\n")) != "");
  CHECK(table_faults(read_page("| a | b |\n|---|---|\n\n| c | d |\n")) != "");
}
