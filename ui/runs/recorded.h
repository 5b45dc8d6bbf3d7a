#pragma once
// The points of metrics from run folders: all points, and exact, unlike the curves in memory. Reads files;
// one thread at a time.
#include <map>
#include <string>
#include <vector>

namespace lunagrad {

struct RecordedPoints {
  std::vector<double> steps, times, values;
};

class RecordedRuns {
 public:
  // Returns null when the folder cannot be read or does not have this metric. Each folder is read once.
  const RecordedPoints* find(const std::string& folder, const std::string& metric);

 private:
  std::map<std::string, std::map<std::string, RecordedPoints>> runs_;
};

}  // namespace lunagrad
