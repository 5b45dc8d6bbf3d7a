#pragma once
// A trial in its own process, `lunagrad run --json`, so that a crash of the script does not end the worker.
// It has its own process group: Ctrl-C reaches only the worker, which passes it on. It ends when the worker
// is killed. For the main thread.
#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "script/run/record.h"

namespace lunagrad::sweep {

class Child {
 public:
  // Starts the program in `directory`, without the variables that would make it a launcher's rank. Error of
  // kind file when it cannot start.
  Child(std::vector<std::string> argv, const std::string& directory, std::string metric);
  ~Child();  // kills the process if it still runs
  Child(const Child&) = delete;

  // Reads the process's events for at most `milliseconds`. False once it has ended.
  bool listen(int milliseconds);
  void stop();  // stops at the end of its step, with a checkpoint
  void kill();

  // From its events.
  int64_t step() const { return step_; }
  int64_t total() const { return total_; }
  std::optional<double> latest() const { return latest_; }  // latest value of the metric
  int64_t rows() const { return rows_; }                    // rows that contain the metric
  const std::string& error() const { return error_; }       // the first line of its error message
  bool incomplete() const { return incomplete_; }           // some files of its folder could not be written
  // Valid once it has ended.
  int exit_code() const { return exit_code_; }  // -1 when a signal ended it
  int signal() const { return signal_; }        // 0 when no signal ended it

 private:
  bool hear(int milliseconds);  // false: no data came
  void read_some(int& file, std::string& text);
  void take_line(const std::string& line);

  std::string metric_;
  pid_t pid_ = -1;
  int out_ = -1, err_ = -1;
  std::string lines_, messages_;  // incomplete ends of its streams
  int64_t step_ = 0, total_ = 0, rows_ = 0;
  std::optional<double> latest_;
  std::string error_;
  bool incomplete_ = false;
  int exit_code_ = -1, signal_ = 0;
};

}  // namespace lunagrad::sweep
