#pragma once
// A file of the state folder that stands while a window lives, and holds the script that is open in it. It is
// locked, and the system drops the lock however the process ends: so the next start finds those that crashed,
// and no window that still lives. One thread.
#include <optional>
#include <string>

namespace lunagrad {

class AliveMarker {
 public:
  explicit AliveMarker(std::string folder);  // "" marks nothing
  ~AliveMarker() { end(); }
  AliveMarker(const AliveMarker&) = delete;

  void end();  // in order

  void set_script(const std::string&);
  // What the constructor found: the script of the latest window that did not end orderly ("" if it had none).
  const std::optional<std::string>& crashed() const { return crashed_; }

 private:
  void look_for_crashes(const std::string& folder);

  std::string path_;
  int descriptor_ = -1;
  std::optional<std::string> crashed_;
};

}  // namespace lunagrad
