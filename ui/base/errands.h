#pragma once
// What may wait for a disk and has something to tell: writing an export, deleting a run. Done in order on a
// thread of their own; what came of it is told on the drawing thread, by update(). What was given is done
// before the object goes, and told to nobody any more.
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "ui/base/disk_thread.h"

namespace lunagrad {

class Errands {
 public:
  // `wake` is called on the errands' thread when there is something to tell.
  explicit Errands(std::function<void()> wake = {});

  // Drawing thread. `work` runs on the errands' thread and may know nothing of the window; what it throws
  // reaches `done` as a sentence, "" when it went well.
  void add(std::function<void()> work, std::function<void(const std::string& problem)> done);
  bool update();  // true: something was told

 private:
  struct Answer {
    std::function<void(const std::string&)> done;
    std::string problem;
  };

  std::function<void()> wake_;
  std::mutex mutex_;
  std::vector<Answer> answers_;  // under mutex_
  DiskThread thread_;            // last: it uses the others
};

}  // namespace lunagrad
