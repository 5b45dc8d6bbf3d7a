#pragma once
// What a stream was told of its work, and an independent look at whether its barriers keep that work in
// order. It knows nothing of epochs: it compares the bytes that each work reads and writes with those of all
// work since the last barrier.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "gpu/stream.h"

namespace lunagrad::tests {

struct Extent {
  uint64_t begin, end;
};

// A dispatch or a copy with what it declared, or a barrier.
struct LoggedWork {
  bool barrier = false;
  std::vector<Extent> reads, writes;
};

// What lies in the log before `end`, and in no batch before, was submitted as `batch`, which waits for the
// uploads up to `upload`.
struct LoggedBatch {
  size_t end;
  uint64_t batch, upload;
};

// As StreamListener::uploaded, where the log had `at` entries.
struct LoggedUpload {
  size_t at;
  Extent bytes;
  uint64_t upload, batch, earlier;
};

class HazardLog final : public gpu::StreamListener {
 public:
  void barrier() override { log.push_back({true, {}, {}}); }
  void work(std::span<gpu::Range* const> reads, std::span<gpu::Range* const> writes,
            const std::function<void()>& record) override {
    record();
    log.push_back({false, extents(reads), extents(writes)});
  }
  void submitted(uint64_t batch, uint64_t upload) override { batches.push_back({log.size(), batch, upload}); }
  void uploaded(uint64_t address, uint64_t bytes, uint64_t upload, uint64_t batch,
                uint64_t earlier) override {
    uploads.push_back({log.size(), {address, address + bytes}, upload, batch, earlier});
  }
  std::vector<LoggedWork> log;
  std::vector<LoggedBatch> batches;
  std::vector<LoggedUpload> uploads;

 private:
  static std::vector<Extent> extents(std::span<gpu::Range* const> ranges) {
    std::vector<Extent> found;
    for (const gpu::Range* range : ranges) found.push_back({range->address, range->address + range->size});
    return found;
  }
};

inline bool overlap(const std::vector<Extent>& some, const std::vector<Extent>& others) {
  for (const Extent& a : some)
    for (const Extent& b : others)
      if (a.begin < b.end && b.begin < a.end) return true;
  return false;
}

// The number of works that touch what a work since the last barrier writes, or write what one reads. The
// entry `left_out` is taken for absent.
inline size_t count_hazards(const std::vector<LoggedWork>& log, size_t left_out = SIZE_MAX) {
  size_t hazards = 0;
  std::vector<Extent> reads, writes;
  for (size_t i = 0; i < log.size(); ++i) {
    const LoggedWork& work = log[i];
    if (work.barrier) {
      if (i == left_out) continue;
      reads.clear();
      writes.clear();
      continue;
    }
    hazards += overlap(work.reads, writes) || overlap(work.writes, writes) || overlap(work.writes, reads);
    reads.insert(reads.end(), work.reads.begin(), work.reads.end());
    writes.insert(writes.end(), work.writes.begin(), work.writes.end());
  }
  return hazards;
}

// The number of pairs of an upload and a work, or another upload, that touch the same bytes without the later
// one's waiting for the earlier. It knows of waits of the device alone: what the host had seen to be done
// counts for nothing.
inline size_t count_upload_hazards(const HazardLog& seen) {
  size_t hazards = 0;
  for (const LoggedUpload& upload : seen.uploads) {
    size_t at = 0;
    uint64_t awaited = 0;
    for (const LoggedBatch& batch : seen.batches) {
      awaited = std::max(awaited, batch.upload);
      for (; at < batch.end; ++at) {
        const LoggedWork& work = seen.log[at];
        if (!overlap({upload.bytes}, work.reads) && !overlap({upload.bytes}, work.writes)) continue;
        hazards += at < upload.at ? upload.batch < batch.batch : awaited < upload.upload;
      }
    }
    for (const LoggedUpload& later : seen.uploads)
      if (later.upload > upload.upload && overlap({upload.bytes}, {later.bytes}))
        hazards += later.earlier < upload.upload;
  }
  return hazards;
}

}  // namespace lunagrad::tests
