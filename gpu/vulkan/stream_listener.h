#pragma once
// Observes a stream and its uploads, for tests. Called under the device's lock.
#include <cstdint>
#include <functional>
#include <span>

namespace lunagrad::gpu {

struct Range;

class StreamListener {
 public:
  virtual ~StreamListener() = default;
  virtual void barrier() = 0;  // a barrier was recorded
  // `record` records the work, after a barrier if one is needed. It may be called more than once.
  virtual void work(std::span<Range* const> reads, std::span<Range* const> writes,
                    const std::function<void()>& record) = 0;
  // The work since the previous submission was submitted as batch `batch`, which waits for the uploads up to
  // `upload`.
  virtual void submitted(uint64_t /*batch*/, uint64_t /*upload*/) {}
  // Upload `upload` writes these bytes. It waits for the batches up to `batch` and the uploads up to
  // `earlier`.
  virtual void uploaded(uint64_t /*address*/, uint64_t /*bytes*/, uint64_t /*upload*/, uint64_t /*batch*/,
                        uint64_t /*earlier*/) {}
};

}  // namespace lunagrad::gpu
