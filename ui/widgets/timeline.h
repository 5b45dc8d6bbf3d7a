#pragma once
// A timeline: blocks of time in rows under a common axis. The wheel zooms around the mouse, dragging pans, a
// double click shows everything. Draws what is visible and wider than a pixel. Also a stacked chart of the
// parts of a sum over the same axis. Knows times, texts and colours, no sessions. Drawing thread only.
#include <imgui.h>

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "ui/window/tooltip.h"

namespace lunagrad {

// The visible time range, shared by charts below each other.
struct TimeAxis {
  double low = 0, high = 1;  // visible, in ns
  double length = 1;         // length of the whole timeline, in ns
  bool fits = true;          // shows everything, also when the timeline becomes longer
  void update(double whole);
  void fit() { fits = true; }
  // Handles input over [left, right] of the screen while the last item is active or hovered.
  void navigate(float left, float right);
  float x_of(double at, float left, float right) const {
    return left + float((at - low) / (high - low)) * (right - left);
  }
};

struct TimeBlock {
  double start = 0, length = 0;  // ns
  ImU32 color = 0;
  int id = 0;           // chosen by the caller
  bool marked = false;  // has a bar across its top, in addition to its colour
};

struct TimeRow {
  std::string name;               // "" for a row that belongs to the row above
  std::vector<TimeBlock> blocks;  // sorted by start, not overlapping
};

struct TimelineColors {
  ImU32 background, grid, text, muted, mark, outline;
};

struct TimelineHit {
  bool hovered = false, clicked = false;
  int id = 0;         // id of the block under the mouse
  ScreenArea area{};  // of this block, as far as it is visible
};

// Index of the first block that ends after `at`; the row's size if there is none.
size_t first_block_behind(const std::vector<TimeBlock>&, double at);

TimelineHit draw_timeline(const char* id, std::span<const TimeRow>, ImVec2 size, float label_width, TimeAxis&,
                          const TimelineColors&, const std::function<std::string(int id)>& label);
float timeline_row_height();
float timeline_height(size_t rows);  // height including the axis

// The parts of a sum at one moment; valid until the next sample.
struct StackSample {
  double at;
  std::span<const double> parts;
};
struct StackHit {
  bool hovered = false;
  size_t sample = 0;
  ScreenArea area{};  // the column of the sample
};
StackHit draw_stack(const char* id, size_t count, const std::function<StackSample(size_t)>& sample,
                    size_t peak, std::span<const ImU32> colors, ImVec2 size, float label_width, TimeAxis&,
                    const TimelineColors&, const std::function<std::string(double)>& number);

std::string time_axis_text(double ns,
                           double step);  // "1.2 ms", with as many digits as the distance of ticks needs

}  // namespace lunagrad
