#pragma once
// The picture of a tape: a box for each visible node and closed module, a frame around the content of an open
// module. Each open module is laid out separately and then placed in the module around it, so that a change
// in one does not change the others. Pure except arrange_with_dot; any thread.
#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "script/view/tape.h"
#include "ui/graph/canvas.h"
#include "ui/tape/tree.h"

namespace lunagrad {

struct TapePicture {
  CanvasGraph canvas;
  std::vector<TapeTree::Item> boxes;  // the content of each box
  std::vector<uint64_t> keys;         // key of each box, the same in every step
  std::vector<uint32_t> frames;       // the group of each frame
  std::vector<uint64_t> frame_keys;
  std::vector<uint32_t> box_of;  // for each node: the box that shows or contains it
};

// The picture runs from top to bottom, or `sideways` from left to right, with the leaves of a node above and
// below it. The content of a module that is longer than `longest` is wrapped into rows (ui/graph/rows.h); 0:
// nothing is. Empty when stopped.
TapePicture tape_picture(const TapeSnapshot&, const TapeTree&, const std::vector<char>& open,
                         const TextMeasure&, std::stop_token = {}, bool sideways = false, float longest = 0);
// The part of a leaf's name that its frame does not show: "weight" for "fc1.weight" in the module "Net.fc1".
std::string local_name(const std::string& name, const std::string& module_path);

// Moves `next` so that the box or frame `anchor` is at its place in `last`. Without such a box, as many boxes
// as possible keep their places. Returns the fraction of `next`'s boxes that are in both.
double keep_places(TapePicture& next, const TapePicture& last, uint64_t anchor = 0);

// Uses Graphviz's positions if there are at most kMostForDot boxes. Returns false when nothing was changed;
// `reason` then says why, if the user should know.
constexpr size_t kMostForDot = 800;
bool arrange_with_dot(TapePicture&, const TapeTree&, const std::function<bool()>& stop,
                      const std::string& program, std::string& reason);

}  // namespace lunagrad
