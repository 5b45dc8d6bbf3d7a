#pragma once
// A page of the documents as a person follows it, from top to bottom. Commands to type, files to save and
// changes are in fenced blocks:
//
//   ```console   lines "$ COMMAND" are typed; the lines below one are its output. "…" stands for the rest
//                of a line or words in it, and in a line of its own for any lines. "^C" is typed when the
//                lines above it have been printed.
//   ```lua       a script: saved under the name in its first line, "-- NAME.lua"; without a name it runs
//                by itself.
//   ```diff      "+++ NAME" and the lines of a change of that file.
//
// A command ends with exit code 0, unless the comment behind it begins with another: "# exit code 7".
#include <string>
#include <vector>

namespace lunagrad::test {

struct PageStep {
  enum class Kind { command, script, change };
  Kind kind;
  std::string text;                // what is typed; the name of the file
  std::vector<std::string> lines;  // what is printed; the file; its changes
  int line;                        // of the page, from 1
};

struct Page {
  std::vector<PageStep> steps;
  std::vector<std::string> prose;      // the lines outside of blocks
  std::vector<std::string> other;      // the lines of indented blocks and of blocks in other languages
  std::vector<std::string> languages;  // of the fenced blocks
};

Page read_page(const std::string& text);

// The exit code that the comment behind a command names.
int shown_exit_code(const std::string& command);

// Whether a line of output matches the shown one. Spaces do not count. Whole numbers must be equal; the last
// digits of other numbers depend on the processor.
bool same_line(const std::string& shown, const std::string& printed);

// The first shown line that is not printed after the shown lines before it; "" when all are.
std::string missing_line(const std::vector<std::string>& shown, const std::string& printed);

// The numbers with a decimal point and the percentages in prose, as they are written; not in code or
// pictures.
std::vector<std::string> numbers_in(const std::vector<std::string>& prose);
// Whether a number in some output, rounded or cut to as many digits, is the given one.
bool is_printed(const std::string& number, const std::string& output);

// Applies a change to a file's text: "-" removes a line, "+" adds one, " " is there. Returns the first line
// that the text does not have where the change expects it; "" when it has all.
std::string change_text(std::string& text, const std::vector<std::string>& change);

}  // namespace lunagrad::test
