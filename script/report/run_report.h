#pragma once
// A run as JSON for a page in a browser: facts, curves, histograms, images, texts, tapes, console, script.
// Its size is bounded; "left_out" says in sentences what is missing. No Lua; each object belongs to one
// thread. Errors are of kind file.
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "script/report/curve_buckets.h"
#include "script/run/record.h"
#include "script/view/json.h"

namespace lunagrad {

// How much of one run a page may hold.
struct ReportLimits {
  size_t buckets = 65536, buckets_per_curve = 2048, curves = 400;
  int64_t image_bytes = 24 << 20;
  size_t images_per_name = 24;
  size_t histograms_per_name = 40, histograms = 2000;
  size_t texts_per_name = 50;
  int64_t text_bytes = 64 << 10, all_text_bytes = 4 << 20;
  int64_t log_begin = 256 << 10, log_end = 768 << 10;
  int64_t script_bytes = 1 << 20, diff_bytes = 512 << 10;
  int64_t tape_bytes = 8 << 20;

  ReportLimits shared_by(size_t runs) const;
};

// How far a reader that follows a run has read.
struct ReportCursor {
  uint64_t rows = 0;           // bytes of metrics.jsonl
  int64_t log = 0, tapes = 0;  // bytes of the files
};

class RunReport {
 public:
  // `embed`: the JSON contains the pictures; otherwise it contains their file names.
  RunReport(std::string folder, ReportLimits limits, bool embed);

  // Reads what the run has written since the last call. Returns false if nothing was added.
  bool more();
  const RunRecord& record() const { return follower_.record(); }
  // Everything, or with a cursor what came after it. "cursor" in the result is the new position.
  Json json(ReportCursor since = {}) const;
  uint64_t offset() const { return offset_; }  // how much of metrics.jsonl was read
  // Changes when earlier rows became void; a reader that follows then starts from the beginning.
  int64_t generation() const { return generation_; }

 private:
  using LeftOut = std::vector<std::string>;
  Json facts() const;
  Json curves(uint64_t since, LeftOut&) const;
  Json images(uint64_t since, LeftOut&) const;
  Json histograms(uint64_t since, LeftOut&) const;
  Json texts(uint64_t since, LeftOut&) const;
  Json log(int64_t& since, LeftOut&) const;
  Json tapes(int64_t& since, LeftOut&) const;
  Json script(LeftOut&) const;
  Json row_at(const RowPlace&) const;

  std::string folder_;
  ReportLimits limits_;
  bool embed_;
  RunFollower follower_;
  int64_t generation_ = 0, voided_ = 0;
  uint64_t offset_ = 0;
  std::map<std::string, CurveBuckets> curves_;
  std::map<std::string, size_t> taken_;  // number of points that are in the buckets, by metric
};

}  // namespace lunagrad
