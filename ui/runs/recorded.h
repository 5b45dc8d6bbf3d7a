#pragma once
// The points of metrics as run folders hold them: all of them and exactly, which the curves in memory do not.
// Reads files; one thread at a time.
#include <map>
#include <string>
#include <vector>

namespace lunagrad {

struct RecordedPoints {
  std::vector<double> steps, times, values;
};

class RecordedRuns {
 public:
  // Null: the folder cannot be read, or has no such metric. Each folder is read once.
  const RecordedPoints* find(const std::string& folder, const std::string& metric);

 private:
  std::map<std::string, std::map<std::string, RecordedPoints>> runs_;
};

}  // namespace lunagrad
