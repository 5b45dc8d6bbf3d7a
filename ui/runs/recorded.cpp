#include "ui/runs/recorded.h"

#include "runtime/core/error.h"
#include "script/run/record.h"
#include "ui/runs/journal.h"

namespace lunagrad {

const RecordedPoints* RecordedRuns::find(const std::string& folder, const std::string& metric) {
  if (folder.empty()) return nullptr;
  const auto [run, fresh] = runs_.try_emplace(folder);
  if (fresh) try {
      for (const auto& [name, points] : read_run(folder).metrics) {
        RecordedPoints& recorded = run->second[printable(name)];
        for (const MetricPoint& point : points) {
          recorded.steps.push_back(double(point.step));
          recorded.times.push_back(point.time);
          recorded.values.push_back(point.value);
        }
      }
    } catch (const Error&) {
      return nullptr;
    }
  const auto found = run->second.find(printable(metric));
  return found == run->second.end() ? nullptr : &found->second;
}

}  // namespace lunagrad
