#pragma once
// A file in the state folder that exists while a window is open and contains a text about its run. The file
// is locked, and the system releases the lock even if the process crashes: the next start recognizes windows
// that crashed and does not take a running one for them. One thread.
#include <optional>
#include <string>

namespace lunagrad {

class AliveMarker {
 public:
  explicit AliveMarker(std::string folder);  // "": no file is written
  ~AliveMarker() { end(); }
  AliveMarker(const AliveMarker&) = delete;

  void end();  // the window closes normally: removes the file

  void set_text(const std::string&);
  // The text of the latest window that crashed, found by the constructor.
  const std::optional<std::string>& crashed() const { return crashed_; }

 private:
  void look_for_crashes(const std::string& folder);

  std::string path_;
  int descriptor_ = -1;
  std::optional<std::string> crashed_;
};

}  // namespace lunagrad
