// docs/find-the-bug.md is true: its commands, typed in its order, print what it shows, and its changes of the
// scripts mend them.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/support/program.h"

using namespace lunagrad::test;
namespace fs = std::filesystem;

namespace {

const std::string kDots = "…";

// A line of the page that is typed, and what it prints; or the lines of a change of a file.
struct Block {
  std::string command, file;
  std::vector<std::string> lines;
};

std::vector<Block> blocks_of(const std::string& document) {
  std::vector<Block> blocks;
  std::istringstream in(read_file(LUNAGRAD_SOURCE_DIR "/" + document));
  std::string fence;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("```")) {
      fence = fence.empty() ? line : "";
    } else if (fence == "```console" && line.starts_with("$ ")) {
      blocks.push_back({line.substr(2), "", {}});
    } else if (fence == "```diff" && line.starts_with("+++ ")) {
      blocks.push_back({"", line.substr(4), {}});
    } else if (!fence.empty() && !blocks.empty()) {
      blocks.back().lines.push_back(line);
    }
  }
  return blocks;
}

std::vector<std::string> words_of(const std::string& line) {
  std::istringstream in(line);
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

// Whole numbers are the same everywhere; the last digits of others depend on the processor.
bool same_word(const std::string& shown, const std::string& printed) {
  if (shown == printed) return true;
  if (shown.find('.') == shown.npos) return false;
  char *end = nullptr, *printed_end = nullptr;
  const double a = std::strtod(shown.c_str(), &end), b = std::strtod(printed.c_str(), &printed_end);
  return end != shown.c_str() && std::string(end) == printed_end && std::abs(a - b) <= 0.1 * std::abs(a);
}

// Dots stand for the rest of the line.
bool same_line(const std::string& shown, const std::string& printed) {
  const std::vector<std::string> a = words_of(shown), b = words_of(printed);
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i] == kDots) return true;
    if (i >= b.size() || !same_word(a[i], b[i])) return false;
  }
  return a.size() == b.size();
}

// The first line of the page that is not printed behind those before it; "" when there is none.
std::string missing_line(const Block& block, const std::string& printed) {
  std::istringstream in(printed);
  std::string line;
  for (const std::string& shown : block.lines) {
    if (shown == kDots) continue;
    bool found = false;
    while (!found && std::getline(in, line)) found = same_line(shown, line);
    if (!found) return shown;
  }
  return "";
}

// Replaces the lines with "-" by those with "+"; the first line that is not in the file as it is said, else
// "".
std::string change(const std::string& path, const Block& block) {
  std::string text = read_file(path);
  size_t at = 0;
  for (const std::string& line : block.lines) {
    const std::string content = line.substr(1) + "\n";
    if (line[0] == '+') {
      text.insert(at, content);
    } else {
      at = text.find(content, at);
      if (at == text.npos) return line;
      if (line[0] == '-') text.erase(at, content.size());
    }
    if (line[0] != '-') at += content.size();
  }
  std::ofstream(path) << text;
  return "";
}

}  // namespace

TEST_CASE("the page on finding bugs shows what its commands print") {
  const Folder folder;
  for (const auto& [name, place] : {std::pair("build", LUNAGRAD_BINARY_DIR),
                                    {"assets", LUNAGRAD_SOURCE_DIR "/assets"},
                                    {"examples", LUNAGRAD_SOURCE_DIR "/examples"}})
    fs::create_directory_symlink(place, folder.path() + "/" + name);
  size_t commands = 0, changes = 0;
  for (const Block& block : blocks_of("docs/find-the-bug.md")) {
    CAPTURE(block.command);
    if (block.command.empty()) {
      ++changes;
      CHECK(change(folder.path() + "/" + block.file, block) == "");
      continue;
    }
    ++commands;
    const Finished done =
        Program({"sh", "-c", "(" + block.command + ") 2>&1"}, "", {}, folder.path()).finish();
    INFO(done.out);
    CHECK(missing_line(block, done.out) == "");
  }
  CHECK(commands > 12);
  CHECK(changes == 4);
}
