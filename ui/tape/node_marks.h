#pragma once
// The result of a comparison for each node of a tape, as one of a few kinds, which the boxes show by a colour
// and a sign. Plain values and pure functions; any thread, except `color`, which reads the theme of the
// drawing thread.
#include <imgui.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "ui/tape/picture.h"

namespace lunagrad {

struct MarkKind {
  const char* name;  // name in the legend: "wrong by itself"
  const char* sign;  // one letter in the corner of the box: "X"
  ImU32 (*color)();
  bool strong;  // the box stands out at each zoom
};

struct NodeMarks {
  // The kinds in increasing order of weight. A box that stands for several nodes shows the last of their
  // kinds.
  std::span<const MarkKind> kinds;
  std::vector<int> of;             // for each node of the tape its kind; -1: it has no mark
  std::vector<std::string> notes;  // for each node the text of its box below the title; "": the usual text
  uint64_t number = 0;             // a number that differs for other marks
};
uint64_t next_marks_number();

// The mark of a box in the picture: the kind of the greatest weight, and the number of its nodes of that
// kind.
struct BoxMark {
  int kind = -1, count = 0;
};
std::vector<BoxMark> box_marks(const NodeMarks&, const TapePicture&);

}  // namespace lunagrad
