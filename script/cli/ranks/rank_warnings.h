#pragma once
// Warnings of several ranks: rank 0 prints its own at once, and its session tells the others; another rank
// prints, with its number, only those that rank 0 does not have. It waits for a moment to find out. Any
// thread.
#include <chrono>
#include <deque>
#include <functional>
#include <mutex>
#include <set>
#include <string>

namespace lunagrad {

class RankWarnings {
 public:
  // `print` gets a line without its end. Nothing but print for a world of one.
  explicit RankWarnings(std::function<void(const std::string&)> print);
  ~RankWarnings();
  RankWarnings(const RankWarnings&) = delete;

  void add(const std::string& warning);
  void look();    // prints what has waited long enough; from time to time
  void settle();  // at the end: waits, for what is left

 private:
  using Clock = std::chrono::steady_clock;
  void forget_told();

  const std::function<void(const std::string&)> print_;
  const int rank_;  // of the launcher
  std::mutex mutex_;
  std::set<std::string> told_;  // by rank 0
  std::deque<std::pair<Clock::time_point, std::string>> held_;
};

}  // namespace lunagrad
