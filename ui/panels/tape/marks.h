#pragma once
// Colours and marks of the tape's boxes: heat of a quantity, result of a comparison, search hits, progress of
// the player, outlines and failed nodes. Recomputed only when one of these has changed. Drawing thread only.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ui/graph/canvas.h"
#include "ui/tape/metric.h"
#include "ui/tape/node_marks.h"
#include "ui/tape/player.h"
#include "ui/tape/search.h"
#include "ui/workbench/workbench.h"

namespace lunagrad {

class TapeMarks {
 public:
  int metric = -1;  // index into tape_metrics(), -1: the op's family

  // `compared`: a comparison's marks of the nodes, which replace the quantity; or null.
  void update(const Workbench&, const TapePicture&, const TapeSearch&, const TapePlayer&,
              std::shared_ptr<const NodeMarks> compared);
  const NodeMarks* compared() const { return looks_.compared.get(); }
  // The marks of the alarms, beside the colours of the op families; null: none, or other colours are shown.
  const NodeMarks* alarms() const { return looks_.alarms.get(); }
  const std::vector<GraphCanvas::Mark>& boxes() const { return marks_; }
  const std::vector<uint32_t>& standing_out() const { return standing_out_; }  // outlined, failed or found
  // The bands of the groups in the tape's plan; empty while the settings hide them.
  const std::vector<GraphCanvas::Band>& bands() const { return bands_; }
  HeatScale scale() const { return HeatScale(values_); }
  // The text that replaces a box's second line: its quantity, or the number of hits in it. "": the line
  // stays.
  std::string note(const TapePicture&, const TapeSearch&, int box) const;
  // A box in words, with its note and marks, for users who cannot see it.
  std::string described(const TapePicture&, const TapeSearch&, int box) const;
  bool any_notes(const TapeSearch& search) const { return compared() || metric >= 0 || search.active(); }

 private:
  // The inputs of the marks.
  struct Looks {
    uint64_t picture = 0, search = 0, structure = 0;
    TapePtr tape;
    int metric = -1, position = -1;
    bool backward = false, groups = false, dark = false;
    int selected = -1;  // node whose group is highlighted
    std::vector<int> lit, failed;
    std::shared_ptr<const NodeMarks> compared, alarms;
    bool operator==(const Looks&) const = default;
  };
  const std::vector<int>& failed_nodes(const Workbench&);
  std::shared_ptr<const NodeMarks> alarms_on(const Workbench&);
  std::string compared_note(const TapePicture&, size_t box) const;

  Looks looks_;
  std::vector<int> rank_;  // for each node its position in the order of execution, -1: a leaf
  uint64_t ranked_ = 0;    // the structure for which rank_ was made
  std::pair<TapePtr, uint64_t> failed_key_{nullptr, 0};
  // The tape and the revision of the alarms for which alarms_ was made.
  std::pair<TapePtr, uint64_t> alarms_key_{nullptr, 0};
  std::shared_ptr<const NodeMarks> alarms_;
  std::vector<int> failed_;
  std::vector<GraphCanvas::Mark> marks_;
  std::vector<uint32_t> standing_out_;
  std::vector<int> hits_;
  std::vector<double> values_;
  std::vector<BoxMark> box_marks_;
  std::vector<GraphCanvas::Band> bands_;
};

}  // namespace lunagrad
