#pragma once
// Keeps the latest batch of a data loader while a viewer watches. watch() may be called from any thread,
// everything else from the session's thread.
#include <atomic>
#include <string>
#include <vector>

#include "runtime/core/tensor.h"
#include "script/view/batch.h"

namespace lunagrad {

class BatchWatch {
 public:
  void watch(bool on) { watching_.store(on); }
  // Called at each batch. Releases the previous batch if it returns false.
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
  // The first `limit` elements of each column, and statistics over all its elements. Waits for the tensors'
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
