#pragma once
// A log of a stream's work, and an independent check that its barriers order that work. The check does not
// use epochs: it compares the bytes that each work reads and writes with the bytes of all work since the last
// barrier.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "gpu/vulkan/stream.h"

namespace lunagrad::tests {

struct Extent {
  uint64_t begin, end;
};

// A dispatch or a copy with the ranges that it declared, or a barrier.
struct LoggedWork {
  bool barrier = false;
  std::vector<Extent> reads, writes;
};

// The log entries before `end` that are in no earlier batch were submitted as `batch`, which waits for the
// uploads up to `upload`.
struct LoggedBatch {
  size_t end;
  uint64_t batch, upload;
};

// As StreamListener::uploaded(), when the log had `at` entries.
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

// The number of works with a hazard: they access bytes that a work since the last barrier writes, or write
// bytes that one reads. The entry `left_out` is ignored.
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

// The number of pairs of an upload and a work, or of two uploads, that access the same bytes while the later
// one does not wait for the earlier one. Only waits of the device count, not the host's.
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
