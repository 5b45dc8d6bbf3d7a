#pragma once
// What a reader of a file may take, so that a small file can ask neither for much memory nor for deep
// recursion. A reader charges its budget before it allocates; the memory limit of the thread counts the
// charges as long as the budget lives. One thread.
#include <cstdint>
#include <string>

#include "runtime/memory_limit.h"
#include "runtime/nesting.h"

namespace lunagrad {

class ReadBudget {
 public:
  // `where` is for errors: "x.pt: data.pkl". The content has this size in the file. Values that it makes may
  // take `ratio` times as many bytes, and kSmallContent more.
  ReadBudget(std::string where, uint64_t content_bytes, uint64_t ratio);
  explicit ReadBudget(std::string where) : where_(std::move(where)) {}  // of what the file has compressed

  // Error of kind file if the content does not justify the bytes, of kind memory if they do not fit. Both
  // name the file and the limit.
  void take(uint64_t bytes) {
    if (bytes > left_) refuse();
    left_ -= bytes;
    pending_ += bytes;
    if (pending_ >= kPiece) hold();
  }

 private:
  static constexpr uint64_t kSmallContent = uint64_t(1) << 20;
  static constexpr uint64_t kPiece = uint64_t(64) << 10;  // small charges are summed up before they are held
  void hold();
  [[noreturn]] void refuse() const;

  std::string where_;
  uint64_t most_ = UINT64_MAX, left_ = UINT64_MAX, pending_ = 0;
  HeldMemory held_;
};

}  // namespace lunagrad
