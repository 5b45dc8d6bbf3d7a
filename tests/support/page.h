#pragma once
// A page of the documents as a person follows it, from top to bottom. What is typed, saved and changed stands
// in fenced blocks:
//
//   ```console   lines "$ COMMAND" are typed; the lines below one are what it prints. "…" stands for the rest
//   of a line
//                or words in it, and in a line of its own for any lines. "^C" is typed when the lines above
//                it are there.
//   ```lua       a script: saved under the name in its first line, "-- NAME.lua"; without a name it runs by
//   itself.
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
  std::vector<std::string> prose;  // the lines outside of blocks
  std::vector<std::string> other;  // the lines of indented blocks and of blocks in other languages
};

Page read_page(const std::string& text);

// The exit code that the comment behind a command names.
int shown_exit_code(const std::string& command);

// Whether a line of output is the shown one. Spaces do not count. Whole numbers are equal; of others the last
// digits depend on the processor.
bool same_line(const std::string& shown, const std::string& printed);

// The first shown line that is not printed behind those before it; "" when all are.
std::string missing_line(const std::vector<std::string>& shown, const std::string& printed);

// The numbers with a decimal point and the percentages in prose, as they are written; not those in code and
// of pictures.
std::vector<std::string> numbers_in(const std::vector<std::string>& prose);
// Whether a number in some output, rounded or cut to as many digits, is the given one.
bool is_printed(const std::string& number, const std::string& output);

// Makes a change of a file's text: "-" removes a line, "+" adds one, " " is there. The first line that is not
// in the text as it is said; "" when all are.
std::string change_text(std::string& text, const std::vector<std::string>& change);

}  // namespace lunagrad::test
