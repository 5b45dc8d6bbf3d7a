#pragma once
// Warnings of several ranks. Rank 0 prints its own warnings at once, and its session sends them to the other
// ranks. Another rank waits a moment and prints, with its number, only warnings that rank 0 does not have.
// Any thread.
#include <chrono>
#include <deque>
#include <functional>
#include <mutex>
#include <set>
#include <string>

namespace lunagrad {

class RankWarnings {
 public:
  // `print` gets a line without its newline. With a single rank, only prints.
  explicit RankWarnings(std::function<void(const std::string&)> print);
  ~RankWarnings();
  RankWarnings(const RankWarnings&) = delete;

  void add(const std::string& warning);
  void look();    // prints warnings that waited long enough; call it regularly
  void settle();  // at the end: waits for the rest and prints it

 private:
  using Clock = std::chrono::steady_clock;
  void forget_told();

  const std::function<void(const std::string&)> print_;
  const int rank_;  // as the launcher numbers it
  std::mutex mutex_;
  std::set<std::string> received_;  // warnings that rank 0 sent
  std::deque<std::pair<Clock::time_point, std::string>> held_;
};

}  // namespace lunagrad
