#include "script/cli/ranks/rank_warnings.h"

#include <algorithm>
#include <thread>
#include <vector>

#include "runtime/core/error.h"
#include "runtime/dist/world.h"

namespace lunagrad {
namespace {

constexpr std::chrono::seconds kPatience{3};  // within this time rank 0 has a warning that all ranks have
constexpr std::chrono::milliseconds kWarningInterval{10};

}  // namespace

RankWarnings::RankWarnings(std::function<void(const std::string&)> print)
    : print_(std::move(print)), rank_(dist::launched_rank()) {
  if (rank_ == 0) return;
  dist::on_warning([this](const std::string& text) {
    const std::lock_guard lock(mutex_);
    received_.insert(text);
  });
}

RankWarnings::~RankWarnings() {
  if (rank_ > 0) dist::on_warning(nullptr);
}

void RankWarnings::add(const std::string& warning) {
  if (rank_ == 0) return print_("warning: " + warning);
  const std::lock_guard lock(mutex_);
  held_.emplace_back(Clock::now(), warning);
}

// Called with the lock held. Each rank is expected to have a warning of rank 0 once.
void RankWarnings::forget_told() {
  std::erase_if(held_, [&](const auto& held) { return received_.contains(held.second); });
}

void RankWarnings::look() {
  if (rank_ == 0) return;
  std::vector<std::string> due;
  {
    const std::lock_guard lock(mutex_);
    if (held_.empty()) return;
    forget_told();
    while (!held_.empty() && Clock::now() - held_.front().first > kPatience) {
      due.push_back(std::move(held_.front().second));
      held_.pop_front();
    }
  }
  for (const std::string& warning : due) print_(text("rank ", rank_, ": warning: ", warning));
}

void RankWarnings::settle() {
  const Clock::time_point end = Clock::now() + kPatience + 2 * kWarningInterval;
  for (look(); dist::is_world_open() && Clock::now() < end; std::this_thread::sleep_for(kWarningInterval)) {
    look();
    const std::lock_guard lock(mutex_);
    if (held_.empty()) return;
  }
  std::deque<std::pair<Clock::time_point, std::string>> left;
  {
    const std::lock_guard lock(mutex_);
    left.swap(held_);
  }
  for (const auto& [since, warning] : left) print_(text("rank ", rank_, ": warning: ", warning));
}

}  // namespace lunagrad
