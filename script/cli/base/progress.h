#pragma once
// Shows the progress of a run on standard error: a bar that is redrawn in place on a terminal, or plain
// lines at intervals of at least 5 s. step() and metrics() are called on the session's thread, write() and
// finish() on any thread.
#include <chrono>
#include <mutex>
#include <string>
#include <string_view>

#include "script/view/run.h"

namespace lunagrad {

enum class ProgressStyle { automatic, bar, plain, none };

// Replaces `automatic` by a bar on a terminal outside of CI, otherwise by none. With `json` always none.
ProgressStyle resolve(ProgressStyle, bool json);

// " 45% █████████            450/1000  loss 0.123  12 it/s  0:46 left", at most `width` columns wide.
struct ProgressState {
  int64_t step = 0, total = 0;  // total 0 = unknown
  double rate = 0;              // steps a second, 0 = unknown
  std::vector<std::pair<std::string, double>> metrics;
};
std::string bar_line(const ProgressState&, int width, bool utf8);
std::string plain_line(const ProgressState&);

int terminal_width();  // columns of standard error; 80 when it is no terminal
// The first `width` columns of a text; continuation bytes of UTF-8 take no column.
std::string cut_to_columns(const std::string& text, int width);

// Shows "[3/20] name" in place when standard error is a terminal. Removes it when all are done.
void show_count(size_t done, size_t all, std::string_view name);

class Progress {
 public:
  explicit Progress(ProgressStyle style);
  ~Progress();

  void step(int64_t step, int64_t total);
  void metrics(const Event&);
  // Removes the bar and writes text to a stream. A later step() draws it again.
  void write(std::FILE*, std::string_view text);
  void finish();  // draws the last state, which stays on the screen

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
