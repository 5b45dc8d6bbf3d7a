#pragma once
// The output of a worker: a line on standard output for each leg that ended, and on a terminal a progress
// line on standard error that is redrawn. For the main thread.
#include <chrono>
#include <string>

#include "script/cli/sweep/child.h"
#include "script/sweep/board.h"

namespace lunagrad::sweep {

class Report {
 public:
  Report();
  ~Report();  // removes the progress line
  Report(const Report&) = delete;

  void say(const std::string& line);                   // on standard output
  void warn(const std::string& line);                  // on standard error
  void ended(const Plan&, const Leg&, const Result&);  // a leg of this worker
  void know(const Board&);                             // for the progress line
  // Redraws the progress line, at most ten times a second.
  void progress(const Plan&, const Leg&, const Child&);
  void waiting();

 private:
  void draw(const std::string& doing);
  void clear();

  const bool terminal_;
  bool drawn_ = false;
  std::string known_;
  std::chrono::steady_clock::time_point last_{};
};

// "lr 0.01, width 8"
std::string values_text(const Plan&, int64_t trial);

}  // namespace lunagrad::sweep
