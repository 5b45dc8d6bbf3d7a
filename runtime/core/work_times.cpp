#include "runtime/core/work_times.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <utility>

namespace lunagrad {
namespace {

constexpr size_t kMostWork = 1u << 18;  // records kept until take()

struct Watches {
  std::atomic<int> count{0};
  std::mutex mutex;
  std::vector<HelperWatch*> all;  // guarded by the mutex, like the records in them
};

// Never destroyed: helper threads outlive main().
Watches& watches() {
  static Watches* const made = new Watches;
  return *made;
}

}  // namespace

HelperWatch::HelperWatch(const Context& context) : context_(context) {
  const std::lock_guard lock(watches().mutex);
  watches().all.push_back(this);
  ++watches().count;
}

HelperWatch::~HelperWatch() {
  const std::lock_guard lock(watches().mutex);
  std::erase(watches().all, this);
  --watches().count;
}

std::vector<HelperWork> HelperWatch::take() {
  const std::lock_guard lock(watches().mutex);
  return std::exchange(work_, {});
}

HelperSpan::HelperSpan(const Context* context, Helper helper, int index)
    : context_(context),
      helper_(helper),
      index_(index),
      begin_(watches().count.load(std::memory_order_relaxed) > 0 ? ticks() : 0) {}

HelperSpan::~HelperSpan() {
  if (begin_ == 0) return;
  const uint64_t end = ticks();
  const std::lock_guard lock(watches().mutex);
  for (HelperWatch* const watch : watches().all)
    if (&watch->context_ == context_ && watch->work_.size() < kMostWork)
      watch->work_.push_back({helper_, index_, begin_, end});
}

}  // namespace lunagrad
