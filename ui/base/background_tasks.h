#pragma once
// Background tasks that may wait for a disk and have a result: writing an export, deleting a run. They run in
// order on a separate thread; update() reports the results on the drawing thread. The destructor finishes all
// tasks and reports nothing.
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "ui/base/disk_thread.h"

namespace lunagrad {

class BackgroundTasks {
 public:
  // `wake` is called on the background thread when there is a result.
  explicit BackgroundTasks(std::function<void()> wake = {});

  // Drawing thread. `work` runs on the background thread and must not use the window; if it throws, `done`
  // gets the error text, otherwise "".
  void add(std::function<void()> work, std::function<void(const std::string& problem)> done);
  bool update();  // true: a result was reported

 private:
  struct Answer {
    std::function<void(const std::string&)> done;
    std::string problem;
  };

  std::function<void()> wake_;
  std::mutex mutex_;
  std::vector<Answer> answers_;  // guarded by mutex_
  DiskThread thread_;            // last: its destructor waits for tasks that use the members above
};

}  // namespace lunagrad
