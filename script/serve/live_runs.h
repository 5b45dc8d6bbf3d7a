#pragma once
// The runs of one folder, as JSON for a browser. Keeps what it has read of the runs that a page shows, so
// that a request for a long run reads only what was added. Nothing outside the folder is read: names with
// slashes and symbolic links are not runs. Any thread.
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "script/report/run_report.h"

namespace lunagrad {

// How far a page has read a run; empty generation: it has read nothing.
struct LiveCursor {
  std::string generation;
  ReportCursor read;
};

class LiveRuns {
 public:
  // A folder of runs, or the folder of one run.
  explicit LiveRuns(std::string folder);

  // {"folder", "runs": [{"name", "outcome", "steps", "metrics", "age", …}, …]}
  std::string list();
  // What came after the cursor; if that is not known, everything, with "whole": true. Empty if there is no
  // such run. Error of kind file if it cannot be read.
  std::optional<std::string> run(const std::string& name, const LiveCursor&);
  std::optional<std::string> picture(const std::string& name, const std::string& file) const;

 private:
  using Clock = std::chrono::steady_clock;
  // A run's entry in the list, valid while its files do not change.
  struct Row {
    int64_t stamp = 0;
    nlohmann::ordered_json json;
  };
  // A run that a page shows.
  struct Shown {
    std::mutex mutex;  // guards the following members
    std::unique_ptr<RunReport> report;
    uint64_t inode = 0;
    std::string end;     // the latest bytes read of metrics.jsonl, to notice that the file was replaced
    int64_t number = 0;  // grows when the report is read again from the beginning
  };
  std::string find(const std::string& name) const;  // the run's folder; "" when there is none
  std::shared_ptr<Shown> show(const std::string& name);

  const std::string folder_;
  const bool single_;
  const std::string process_;  // tells pages of an earlier server to start again
  // Two mutexes, so that a request for a run does not wait until a long list was read.
  std::mutex rows_mutex_, shown_mutex_;
  std::map<std::string, Row> rows_;
  std::map<std::string, std::pair<Clock::time_point, std::shared_ptr<Shown>>> shown_;
};

}  // namespace lunagrad
