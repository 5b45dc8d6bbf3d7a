#pragma once
// Blocks of time in rows under a common axis: the wheel zooms about the mouse, dragging pans, a double click
// shows all. Draws what is in sight and wider than a pixel. And parts of a sum stacked over the same axis.
// Knows times, texts and colours, nothing of sessions.
#include <imgui.h>

#include <functional>
#include <span>
#include <string>
#include <vector>

namespace lunagrad {

// The stretch of time that is shown, shared by what stands over each other.
struct TimeAxis {
  double low = 0, high = 1;  // shown, in ns
  double length = 1;         // of all
  bool fits = true;          // shows all, also when it becomes longer
  void update(double whole);
  void fit() { fits = true; }
  // Input over [left, right] on the screen: the last item is active or hovered.
  void navigate(float left, float right);
  float x_of(double at, float left, float right) const {
    return left + float((at - low) / (high - low)) * (right - left);
  }
};

struct TimeBlock {
  double start = 0, length = 0;  // ns
  ImU32 color = 0;
  int id = 0;           // the caller's
  bool marked = false;  // a second sign beside its colour: a bar across its top
};

struct TimeRow {
  std::string name;               // "" for a row that belongs to the one above
  std::vector<TimeBlock> blocks;  // by start; they do not overlap
};

struct TimelineColors {
  ImU32 background, grid, text, muted, mark, outline;
};

struct TimelineHit {
  bool hovered = false, clicked = false;
  int id = 0;  // of the block under the mouse
};

// Block i of a row that ends behind `at`, the row's size when there is none.
size_t first_block_behind(const std::vector<TimeBlock>&, double at);

TimelineHit draw_timeline(const char* id, std::span<const TimeRow>, ImVec2 size, float label_width, TimeAxis&,
                          const TimelineColors&, const std::function<std::string(int id)>& label);
float timeline_row_height();
float timeline_height(size_t rows);  // with the axis

// A sum over time, as it was at some moments; it holds until the next.
struct StackSample {
  double at;
  std::span<const double> parts;
};
struct StackHit {
  bool hovered = false;
  size_t sample = 0;
};
StackHit draw_stack(const char* id, size_t count, const std::function<StackSample(size_t)>& sample,
                    size_t peak, std::span<const ImU32> colors, ImVec2 size, float label_width, TimeAxis&,
                    const TimelineColors&, const std::function<std::string(double)>& number);

std::string time_axis_text(double ns,
                           double step);  // "1.2 ms", as many digits as tell it from its neighbours

}  // namespace lunagrad
