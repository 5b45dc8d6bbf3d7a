#pragma once
// Other programs, and what other programs know of this process. Any thread.
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace lunagrad {

int64_t process_id();
std::string host_name();  // "localhost" when unknown

// Variables of the environment, for libraries and for programs that are started later. No other thread may
// read the environment meanwhile.
void set_variable(const char* name, const char* value);
void unset_variable(const char* name);

// Runs another program as a filter: a text goes to its standard input, and its standard output comes back.
struct FilterRun {
  enum class End { done, missing, failed, stopped } end = End::failed;
  std::string output;  // its standard output
  std::string reason;  // why it failed
};
// Runs `program OPTIONS` with `text` as its input, and waits. Calls `stop` every few milliseconds and kills
// the program when `stop` returns true.
FilterRun run_filter(const std::string& program, const std::vector<std::string>& options,
                     const std::string& text, const std::function<bool()>& stop = {});

// A program that runs beside this one, without input and messages. Ctrl-C at the terminal does not reach it.
class BackgroundProgram {
 public:
  BackgroundProgram() = default;
  ~BackgroundProgram() { wait(); }
  BackgroundProgram(const BackgroundProgram&) = delete;

  // Starts the program words[0]; its standard output goes to a new file. A program that cannot be started
  // counts as a program that has ended well.
  void start(std::vector<std::string> words, const std::string& output);
  bool wait();  // for its end; false when it failed. Without a running program it returns true

 private:
  int64_t child_ = -1;
};

}  // namespace lunagrad
