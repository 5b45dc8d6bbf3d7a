#pragma once
// What may wait for a disk and must not hold up a frame: writing an export, deleting a run. One thread does what it is
// given in order; what there is to tell of it is told on the drawing thread, by update(). What was given is done before
// the object goes, and told to nobody any more.
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace lunagrad {

class Errands {
 public:
  // `wake` is called on the errands' thread when there is something to tell.
  explicit Errands(std::function<void()> wake = {});
  ~Errands();
  Errands(const Errands&) = delete;

  // Drawing thread. `work` runs on the errands' thread and may know nothing of the window; what it throws reaches `done`
  // as a sentence, "" when it went well.
  void add(std::function<void()> work, std::function<void(const std::string& problem)> done);
  bool update();  // true: something was told

 private:
  struct Errand {
    std::function<void()> work;
    std::function<void(const std::string&)> done;
    std::string problem;
  };
  void run();

  std::function<void()> wake_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Errand> waiting_;  // under mutex_, as the next two
  std::vector<Errand> finished_;
  bool stop_ = false;
  std::thread thread_;  // begins with the first errand
};

}  // namespace lunagrad
