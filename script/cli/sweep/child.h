#pragma once
// A trial as a process of its own, `lunagrad run --json`, so that a crash of the script ends no worker. It
// has a process group of its own: Ctrl-C reaches the worker alone, which passes it on. It ends when the
// worker is killed. For the main thread.
#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "script/run/record.h"

namespace lunagrad::sweep {

class Child {
 public:
  // Starts the program in `directory`; no rank of a launcher, whose variables it does not get. Error of kind
  // file when it cannot.
  Child(std::vector<std::string> argv, const std::string& directory, std::string metric);
  ~Child();  // kills it, if it still runs
  Child(const Child&) = delete;

  // Reads what it tells, for at most `milliseconds`. False once it has ended.
  bool listen(int milliseconds);
  void stop();  // at the end of its step, with a checkpoint
  void kill();

  // What it told.
  int64_t step() const { return step_; }
  int64_t total() const { return total_; }
  std::optional<double> latest() const { return latest_; }  // value of the metric
  int64_t rows() const { return rows_; }                    // that hold the metric
  const std::string& error() const { return error_; }       // the first line of its error
  bool incomplete() const { return incomplete_; }           // files of its folder could not be written
  // Once it has ended.
  int exit_code() const { return exit_code_; }  // -1 when a signal ended it
  int signal() const { return signal_; }        // 0 when none did

 private:
  bool hear(int milliseconds);  // false: nothing came
  void read_some(int& file, std::string& text);
  void take_line(const std::string& line);

  std::string metric_;
  pid_t pid_ = -1;
  int out_ = -1, err_ = -1;
  std::string lines_, messages_;  // unread ends of its streams
  int64_t step_ = 0, total_ = 0, rows_ = 0;
  std::optional<double> latest_;
  std::string error_;
  bool incomplete_ = false;
  int exit_code_ = -1, signal_ = 0;
};

}  // namespace lunagrad::sweep
