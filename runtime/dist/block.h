#pragma once
// CPU memory that belongs to no tensor yet, or no longer. The transfer thread may allocate and free it,
// whereas tensors belong to the script's thread. It becomes the storage of a tensor without a copy.
#include <cstddef>
#include <utility>

#include "runtime/core/device.h"

namespace lunagrad::dist {

class Block {
 public:
  Block() = default;
  explicit Block(size_t bytes) : Block(cpu_device().alloc(bytes), bytes) {}  // Error of kind memory
  // Owns `data`, which cpu_device().alloc(bytes) returned.
  Block(void* data, size_t bytes) : data_(data), bytes_(bytes) {}
  ~Block() { cpu_device().free(data_, bytes_); }
  Block(Block&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
  Block& operator=(Block&& other) noexcept {
    Block old(std::move(*this));
    data_ = std::exchange(other.data_, nullptr);
    bytes_ = std::exchange(other.bytes_, 0);
    return *this;
  }

  char* data() const { return static_cast<char*>(data_); }
  size_t bytes() const { return bytes_; }
  void* release() {  // the caller owns the memory
    bytes_ = 0;
    return std::exchange(data_, nullptr);
  }

 private:
  void* data_ = nullptr;
  size_t bytes_ = 0;
};

}  // namespace lunagrad::dist
