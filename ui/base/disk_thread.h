#pragma once
// Does what may wait for a disk, one after the other, on a thread of its own that begins with the first of
// it. Any thread posts; the destructor waits until all is done.
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace lunagrad {

class DiskThread {
 public:
  DiskThread() = default;
  ~DiskThread();
  DiskThread(const DiskThread&) = delete;

  void post(std::function<void()> task);  // which must not throw
  void settle();                          // waits until all that was posted is done

 private:
  void work();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> tasks_;  // guarded by mutex_; the first may be going on
  bool ends_ = false;                        // guarded by mutex_
  std::thread thread_;
};

}  // namespace lunagrad
