#include "ui/panels/profile/timeline.h"

#include <algorithm>
#include <iterator>

#include "ui/window/theme.h"

namespace lunagrad {
namespace {

constexpr size_t kDepths = 4;       // rows of nested operations
constexpr size_t kOtherSeries = 4;  // index of the theme's colour for work outside of operations
enum Row : size_t { kSteps, kPasses, kScript };

}  // namespace

ProfileTimeline profile_timeline(std::span<const std::shared_ptr<const StepProfile>> steps) {
  ProfileTimeline timeline;
  std::vector<TimeRow>& rows = timeline.rows;
  std::vector<TimeRow> lanes;
  rows.resize(kScript + kDepths);
  rows[kSteps].name = "steps";
  rows[kPasses].name = "passes";
  rows[kScript].name = "script";
  const auto add = [&](TimeRow& row, double start, double length, ImU32 color, bool marked,
                       const ProfileTimeline::Source& source) {
    row.blocks.push_back({timeline.length_ns + start, length, color, int(timeline.sources.size()), marked});
    timeline.sources.push_back(source);
  };
  for (const auto& step : steps) {
    add(rows[kSteps], 0, step->length_ns, theme().raised, false, {step.get(), ProfileTimeline::kStep});
    for (const StepProfile::Stretch& wait : step->waits)
      add(rows[kScript], wait.start_ns, wait.length_ns, theme().faint, false,
          {step.get(), ProfileTimeline::kWait, nullptr, wait.length_ns});
    for (const StepProfile::Stretch& pass : step->passes)
      add(rows[kPasses], pass.start_ns, pass.length_ns, theme().series[size_t(ProfilePhase::backward)], false,
          {step.get(), ProfileTimeline::kPass});
    for (size_t i = 0; i < step->spans.size(); ++i) {
      const ProfileSpan& span = step->spans[i];
      if (span.depth >= kDepths) continue;
      add(rows[kScript + span.depth], span.start_ns, span.length_ns, theme().series[size_t(span.phase)],
          span.fell_back, {step.get(), int(i)});
    }
    for (const ProfileLane& lane : step->lanes) {
      auto row = std::find_if(lanes.begin(), lanes.end(),
                              [&](const TimeRow& made) { return made.name == lane.name; });
      if (row == lanes.end()) row = lanes.insert(row, TimeRow{lane.name, {}});
      for (const ProfileLane::Block& block : lane.blocks) {
        const bool known = block.span >= 0;
        const size_t series = known ? size_t(step->spans[size_t(block.span)].phase) : kOtherSeries;
        add(*row, block.start_ns, block.length_ns, theme().series[series], false,
            {step.get(), known ? block.span : int(ProfileTimeline::kNoCall), &lane, block.length_ns,
             block.kernel});
      }
    }
    timeline.length_ns += step->length_ns;
  }
  for (TimeRow& row : rows)
    std::sort(row.blocks.begin(), row.blocks.end(),
              [](const TimeBlock& a, const TimeBlock& b) { return a.start < b.start; });
  while (rows.size() > kScript + 1 && rows.back().blocks.empty()) rows.pop_back();
  std::move(lanes.begin(), lanes.end(), std::back_inserter(rows));
  return timeline;
}

}  // namespace lunagrad
