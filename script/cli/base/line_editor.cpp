#include "script/cli/base/line_editor.h"

#include <histedit.h>
#include <unistd.h>

#include <algorithm>
#include <clocale>
#include <cstdio>
#include <filesystem>
#include <iostream>

namespace lunagrad {
namespace {

constexpr int kRemembered = 1000;

std::string common_start(const std::vector<std::string>& names) {
  std::string start = names.front();
  for (const std::string& name : names) {
    const auto [end, ignored] = std::mismatch(start.begin(), start.end(), name.begin(), name.end());
    start.erase(end, start.end());
  }
  return start;
}

}  // namespace

struct LineEditor::Terminal {
  EditLine* editor = nullptr;
  History* history = nullptr;
  std::string history_file;
  Completer completer;
  const char* prompt = "";
  bool cancelled = false;

  static Terminal& of(EditLine* editor) {
    void* self = nullptr;
    el_get(editor, EL_CLIENTDATA, &self);
    return *static_cast<Terminal*>(self);
  }
  static char* prompt_of(EditLine* editor) { return const_cast<char*>(of(editor).prompt); }

  // Ctrl-C: drops the line and returns an empty one.
  static unsigned char cancel(EditLine* editor, int) {
    of(editor).cancelled = true;
    const LineInfo* line = el_line(editor);
    el_cursor(editor, int(line->lastchar - line->cursor));
    el_deletestr(editor, int(line->lastchar - line->buffer));
    std::fputs("^C\n", stdout);
    std::fflush(stdout);
    return CC_NEWLINE;
  }

  static unsigned char complete(EditLine* editor, int) {
    const LineInfo* info = el_line(editor);
    const std::string line(info->buffer, info->cursor);
    if (line.find_first_not_of(" \t") == std::string::npos) {
      el_insertstr(editor, "  ");
      return CC_REFRESH;
    }
    const std::vector<std::string> names = of(editor).completer(line);
    if (names.empty()) return CC_REFRESH_BEEP;
    const size_t start = line.find_last_of(" \t.:()[]{}+-*/^%,=<>~#\"';") + 1;  // npos + 1 is 0
    const std::string more = common_start(names).substr(std::min(line.size() - start, names.front().size()));
    if (!more.empty()) {
      el_insertstr(editor, more.c_str());
      return CC_REFRESH;
    }
    if (names.size() == 1) return CC_REFRESH;
    std::fputc('\n', stdout);
    for (size_t i = 0; i < names.size(); ++i) std::printf("%s%s", names[i].c_str(), i % 6 == 5 ? "\n" : "  ");
    std::fputc('\n', stdout);
    std::fflush(stdout);
    return CC_REDISPLAY;
  }
};

LineEditor::LineEditor(std::string history_file, Completer completer) {
  if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO)) return;
  std::setlocale(LC_CTYPE, "");  // for libedit; numbers keep their decimal point
  terminal_ = std::make_unique<Terminal>();
  Terminal& terminal = *terminal_;
  terminal.history_file = std::move(history_file);
  terminal.completer = std::move(completer);
  terminal.editor = el_init("lunagrad", stdin, stdout, stderr);
  terminal.history = history_init();
  EditLine* editor = terminal.editor;
  el_set(editor, EL_CLIENTDATA, &terminal);
  el_set(editor, EL_PROMPT, &Terminal::prompt_of);
  el_set(editor, EL_EDITOR, "emacs");
  HistEvent event;
  history(terminal.history, &event, H_SETSIZE, kRemembered);
  history(terminal.history, &event, H_SETUNIQUE, 1);
  if (!terminal.history_file.empty())
    history(terminal.history, &event, H_LOAD, terminal.history_file.c_str());
  el_set(editor, EL_HIST, history, terminal.history);
  el_set(editor, EL_ADDFN, "lunagrad-complete", "Complete a name", &Terminal::complete);
  el_set(editor, EL_ADDFN, "lunagrad-cancel", "Drop the line", &Terminal::cancel);
  el_set(editor, EL_BIND, "\t", "lunagrad-complete", nullptr);
  el_set(editor, EL_BIND, "^R", "em-inc-search-prev", nullptr);
  // While a line is edited Ctrl-C is a key, not a signal.
  el_set(editor, EL_SETTY, "-d", "-isig", nullptr);
  el_set(editor, EL_BIND, "^C", "lunagrad-cancel", nullptr);
}

LineEditor::~LineEditor() {
  if (!terminal_) return;
  if (!terminal_->history_file.empty()) {
    std::error_code ignored;
    std::filesystem::create_directories(std::filesystem::path(terminal_->history_file).parent_path(),
                                        ignored);
    HistEvent event;
    history(terminal_->history, &event, H_SAVE, terminal_->history_file.c_str());
  }
  history_end(terminal_->history);
  el_end(terminal_->editor);
}

bool LineEditor::interactive() const { return bool(terminal_); }

LineEditor::Status LineEditor::read(const char* prompt, std::string& line) {
  line.clear();
  if (!terminal_) return std::getline(std::cin, line) ? Status::line : Status::end;
  terminal_->prompt = prompt;
  terminal_->cancelled = false;
  // Puts the terminal into editing mode before the prompt appears, so that the first key reaches the editor.
  el_set(terminal_->editor, EL_PREP_TERM, 1);
  int length = 0;
  const char* text = el_gets(terminal_->editor, &length);
  if (terminal_->cancelled) return Status::cancelled;
  if (!text || length <= 0) return Status::end;
  line.assign(text, size_t(length));
  while (!line.empty() && (line.back() == '\n' || line.back() == '\r')) line.pop_back();
  return Status::line;
}

void LineEditor::remember(const std::string& entry) {
  if (!terminal_ || entry.find_first_not_of(" \t\n") == std::string::npos) return;
  HistEvent event;
  history(terminal_->history, &event, H_ENTER, entry.c_str());
}

}  // namespace lunagrad
