#pragma once
// $XDG_CACHE_HOME for the life of the object.
#include <stdlib.h>

#include <cstdlib>
#include <string>

namespace lunagrad::tests {

class CacheHome {
 public:
  explicit CacheHome(const std::string& path) {
    if (const char* before = std::getenv(kName)) before_ = before;
    ::setenv(kName, path.c_str(), 1);
  }
  ~CacheHome() {
    if (before_.empty())
      ::unsetenv(kName);
    else
      ::setenv(kName, before_.c_str(), 1);
  }
  CacheHome(const CacheHome&) = delete;

 private:
  static constexpr const char* kName = "XDG_CACHE_HOME";
  std::string before_;
};

}  // namespace lunagrad::tests
