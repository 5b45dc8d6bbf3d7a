#pragma once
// The memory that a reader of a file may take, so that a small file can ask neither for much memory nor for
// deep recursion. A reader charges its budget before it allocates; the memory limit of the thread counts the
// charges as long as the budget lives. One thread.
#include <cstdint>
#include <string>

#include "runtime/core/memory_limit.h"
#include "runtime/core/nesting.h"

namespace lunagrad {

inline constexpr uint64_t kLargestDeflateRatio = 1032;  // 258 bytes from two bits

class ReadBudget {
 public:
  // `where` is for errors: "x.pt: data.pkl". `content_bytes` is the content's size in the file. Its values
  // may take `ratio` times as many bytes, and kSmallContent more.
  ReadBudget(std::string where, uint64_t content_bytes, uint64_t ratio);
  // without a ratio: for content that is compressed in the file
  explicit ReadBudget(std::string where) : where_(std::move(where)) {}

  // Error of kind file if the content does not justify the bytes, of kind memory if they do not fit the
  // limit. Both texts name the file and the limit.
  void take(uint64_t bytes) {
    if (bytes > left_) refuse();
    left_ -= bytes;
    pending_ += bytes;
    if (pending_ >= kPiece) hold();
  }

 private:
  static constexpr uint64_t kSmallContent = uint64_t(1) << 20;
  static constexpr uint64_t kPiece = uint64_t(64) << 10;  // small charges are collected before they are held
  void hold();
  [[noreturn]] void refuse() const;

  std::string where_;
  uint64_t most_ = UINT64_MAX, left_ = UINT64_MAX, pending_ = 0;
  HeldMemory held_;
};

}  // namespace lunagrad
