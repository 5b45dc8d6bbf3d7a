#pragma once
// Shows the progress of a run on standard error: a bar redrawn in place on a terminal, or a plain line now
// and then. step() and metrics() are called on the session's thread, write() on any thread.
#include <chrono>
#include <mutex>
#include <string>
#include <string_view>

#include "script/session.h"

namespace lunagrad {

enum class ProgressStyle { automatic, bar, plain, none };

// What `automatic` means here: a bar on a terminal outside of CI, else none.
ProgressStyle resolve(ProgressStyle, bool json);

// "  45 % ████▌      450/1000  loss 0.123  12.3 it/s  0:45 left", at most `width` columns wide.
struct ProgressState {
  int64_t step = 0, total = 0;  // total 0 = unknown
  double rate = 0;              // steps a second, 0 = unknown
  std::vector<std::pair<std::string, double>> metrics;
};
std::string bar_line(const ProgressState&, int width, bool utf8);
std::string plain_line(const ProgressState&);

// "[3/20] name" in place on a terminal's standard error, nothing elsewhere; removed when all are done.
void show_count(size_t done, size_t all, std::string_view name);

class Progress {
 public:
  explicit Progress(ProgressStyle style);
  ~Progress();

  void step(int64_t step, int64_t total);
  void metrics(const Event&);
  // Writes text to a stream, with the bar out of the way.
  void write(std::FILE*, std::string_view text);
  void finish();  // the last state stays on the screen

 private:
  using Clock = std::chrono::steady_clock;
  void draw();
  void clear();

  std::mutex mutex_;
  const ProgressStyle style_;
  const bool utf8_;
  ProgressState state_;
  Clock::time_point last_draw_;
  Clock::time_point rate_time_;
  int64_t rate_step_ = 0;
  bool started_ = false;
  bool drawn_ = false;  // a bar is on the screen
};

}  // namespace lunagrad
