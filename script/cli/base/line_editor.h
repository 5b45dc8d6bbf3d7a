#pragma once
// Reads lines from standard input. On a terminal libedit edits and completes them and keeps a history. Owned
// and called by the main thread.
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace lunagrad {

using Completer = std::function<std::vector<std::string>(const std::string& line)>;

class LineEditor {
 public:
  LineEditor(std::string history_file, Completer);
  ~LineEditor();
  LineEditor(const LineEditor&) = delete;

  enum class Status { line, cancelled, end };  // cancelled: Ctrl-C; end: Ctrl-D on an empty line
  Status read(const char* prompt, std::string& line);
  void remember(const std::string& entry);  // adds it to the history
  bool interactive() const;                 // whether lines are read from a terminal

 private:
  struct Terminal;
  std::unique_ptr<Terminal> terminal_;  // null when standard input or output is not a terminal
};

}  // namespace lunagrad
