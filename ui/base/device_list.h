#pragma once
// The devices that a run can take. Looking for them starts drivers and may take a third of a second, so it
// happens at the first question, on a thread of its own. Drawing thread only, but for that.
#include <functional>
#include <future>
#include <string>
#include <vector>

namespace lunagrad {

class DeviceList {
 public:
  struct Found {
    std::string name, description;
  };
  // Begins to look, once; `wake` is called on the looking thread when it is over.
  void look(std::function<void()> wake);
  bool ready();  // whether it is over
  const std::vector<Found>& all() const { return found_; }
  const std::string& missing() const { return missing_; }  // why there are no more, "" if nothing is missing

 private:
  std::vector<Found> found_;
  std::string missing_;
  std::future<void> looking_;
  bool ready_ = false;
};

}  // namespace lunagrad
