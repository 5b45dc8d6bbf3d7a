#pragma once
// The largest resident memory of the process since this was made.
#include <fstream>
#include <string>

namespace lunagrad::tests {

class ResidentPeak {
 public:
  ResidentPeak() {
    std::ofstream("/proc/self/clear_refs") << 5;  // resets the peak
    before_ = status_kib("VmRSS");
  }
  size_t grown() const {  // bytes
    const size_t now = status_kib("VmHWM");
    return now > before_ ? (now - before_) << 10 : 0;
  }

 private:
  static size_t status_kib(const std::string& name) {
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);)
      if (line.starts_with(name + ":")) return size_t(std::stoull(line.substr(name.size() + 1)));
    return 0;
  }
  size_t before_ = 0;
};

}  // namespace lunagrad::tests
