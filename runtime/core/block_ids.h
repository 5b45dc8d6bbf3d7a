#pragma once
// Unique ids from 1 on. Each thread takes a block of consecutive ids from a shared counter and hands them out
// in increasing order, so that threads rarely write to the same cache line. Any thread.
#include <atomic>
#include <cstdint>

namespace lunagrad {

// `Kind` is an empty tag type: each kind has its own counter.
template <class Kind, uint64_t block>
uint64_t next_block_id() {
  static std::atomic<uint64_t> next_block{0};
  thread_local uint64_t next = 0, end = 0;
  if (next == end) {
    next = next_block.fetch_add(1, std::memory_order_relaxed) * block + 1;
    end = next + block;
  }
  return next++;
}

}  // namespace lunagrad
