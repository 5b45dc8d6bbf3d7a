#pragma once
// A file in the state folder that exists while a window is open and contains a text about its run. The file
// is locked, and the system frees the lock however the process ends: the next start recognizes crashed
// windows, and does not mistake a running one for them. One thread.
#include <optional>
#include <string>

namespace lunagrad {

class AliveMarker {
 public:
  explicit AliveMarker(std::string folder);  // "" marks nothing
  ~AliveMarker() { end(); }
  AliveMarker(const AliveMarker&) = delete;

  void end();  // in order

  void set_text(const std::string&);
  // The text of the latest window that crashed; found by the constructor.
  const std::optional<std::string>& crashed() const { return crashed_; }

 private:
  void look_for_crashes(const std::string& folder);

  std::string path_;
  int descriptor_ = -1;
  std::optional<std::string> crashed_;
};

}  // namespace lunagrad
