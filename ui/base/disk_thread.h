#pragma once
// Runs tasks that may wait for a disk, in order, on its own thread, which starts with the first task. Any
// thread may post; the destructor waits until all tasks are done.
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

  void post(std::function<void()> task);  // must not throw
  void settle();                          // waits until all posted tasks are done

 private:
  void work();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> tasks_;  // guarded by mutex_; the first one may be running
  bool ends_ = false;                        // guarded by mutex_
  std::thread thread_;
};

}  // namespace lunagrad
