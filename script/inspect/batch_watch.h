#pragma once
// Holds on to the batch that a data loader gave last, while somebody wants to see it. watch() may be called
// from any thread, everything else from the session's.
#include <atomic>
#include <string>
#include <vector>

#include "runtime/tensor.h"
#include "script/view/batch.h"

namespace lunagrad {

class BatchWatch {
 public:
  void watch(bool on) { watching_.store(on); }
  // Asked at each batch. When the answer is no, the batch before is let go.
  bool wants() {
    if (watching_.load(std::memory_order_relaxed)) return true;
    if (!columns_.empty()) clear();
    return false;
  }
  struct Source {
    std::string loader;
    int64_t epoch, batch, batches, step;
  };
  void give(Source, TensorList columns);
  void clear() { columns_.clear(); }
  // The first `limit` elements of each column and the statistics over all of them; waits for the tensors'
  // device.
  BatchView view(int64_t limit) const;

 private:
  std::atomic<bool> watching_{false};
  struct Column {
    Tensor value;
    uint32_t version;
  };
  Source source_;
  std::vector<Column> columns_;
};

}  // namespace lunagrad
