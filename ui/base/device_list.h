#pragma once
// The devices that a run can use. The search loads drivers and takes up to a third of a second, so it starts
// at the first request, on a separate thread. All other members: drawing thread only.
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
  // Starts the search, only once; `wake` is called on the search thread when it is finished.
  void look(std::function<void()> wake);
  bool ready();  // the search is finished
  const std::vector<Found>& all() const { return found_; }
  const std::string& missing() const { return missing_; }  // why devices are missing, "" if none is

 private:
  std::vector<Found> found_;
  std::string missing_;
  std::future<void> looking_;
  bool ready_ = false;
};

}  // namespace lunagrad
