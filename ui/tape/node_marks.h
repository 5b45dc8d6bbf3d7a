#pragma once
// What a comparison says about each node of a tape, as one of a few kinds that the boxes show by a colour and
// a sign. Plain values and pure functions; any thread, except `color`, which reads the theme of the drawing
// thread.
#include <imgui.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "ui/tape/picture.h"

namespace lunagrad {

struct MarkKind {
  const char* name;  // "wrong by itself": of the legend
  const char* sign;  // "X": one letter in the corner of the box
  ImU32 (*color)();
  bool strong;  // it stands out at each zoom
};

struct NodeMarks {
  // Where a box stands for several nodes, a later kind outweighs an earlier one.
  std::span<const MarkKind> kinds;
  std::vector<int> of;             // for each node of the tape its kind; -1: nothing is said about it
  std::vector<std::string> notes;  // for each node what its box says below the title; "": what it says anyway
  uint64_t number = 0;             // another one for other marks
};
uint64_t next_marks_number();

// A box of the picture: the kind that outweighs the others, and how many of its nodes have it.
struct BoxMark {
  int kind = -1, count = 0;
};
std::vector<BoxMark> box_marks(const NodeMarks&, const TapePicture&);

}  // namespace lunagrad
