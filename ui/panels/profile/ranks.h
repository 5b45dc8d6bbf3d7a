#pragma once
// The profiler's view of the ranks of a run: the slowest rank, and for each rank a lane of its script
// (compute, communication, waiting) above a lane of its transfers. Drawing thread only.
#include <memory>
#include <vector>

#include "script/view/rank_profile.h"
#include "ui/widgets/timeline.h"
#include "ui/workbench/panel.h"

namespace lunagrad {

class RanksView {
 public:
  // Draws the lanes of the last `steps` steps, and sums over these steps or over `all` measured steps.
  void draw(Workbench&, const RankProfile&, size_t steps, bool all);

 private:
  // What a block of the timeline shows.
  struct Source {
    const RankStep* step;
    size_t lane;
    RankTime time;
    int32_t transfer;  // index of the block's transfer; -1: unknown
    double length_ns;
  };
  void make_rows(const RankProfile&, size_t steps, int slowest);
  void draw_legend(Workbench&, const RankSums&);
  void draw_lanes(Workbench&);
  static void draw_table(Workbench&, const RankSums&);
  void draw_tip(Workbench&, const Source&, const TimelineHit&) const;

  TimeAxis axis_;
  std::vector<TimeRow> rows_;
  std::vector<Source> sources_;                         // by TimeBlock::id
  std::vector<std::shared_ptr<const RankStep>> shown_;  // the steps that the sources point into
  double length_ns_ = 0;
  int slowest_ = -1;
  bool dark_ = false, over_lanes_ = false;
};

}  // namespace lunagrad
