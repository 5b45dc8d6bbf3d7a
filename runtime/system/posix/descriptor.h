#pragma once
// A file descriptor that is closed at the end of its life. Negative: none.
#include <unistd.h>

#include <utility>

namespace lunagrad {

class Descriptor {
 public:
  explicit Descriptor(int file) : file_(file) {}
  ~Descriptor() {
    if (file_ >= 0) ::close(file_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  int get() const { return file_; }
  explicit operator bool() const { return file_ >= 0; }
  int release() { return std::exchange(file_, -1); }  // the caller closes it

 private:
  int file_;
};

}  // namespace lunagrad
