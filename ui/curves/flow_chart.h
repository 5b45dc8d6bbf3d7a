#pragma once
// Two quantities for each stage of a network, from its input to its loss, on a logarithmic scale: a band
// between the mean and the maximum. Knows numbers and names, no sessions. Drawing thread only.
#include <imgui.h>

#include <string>
#include <vector>

namespace lunagrad {

struct FlowStage {
  std::string name;  // tooltip
  double mean = 0, max = 0;
  bool alarm = false;  // contains NaN or infinity
};

struct FlowColors {
  ImU32 background, grid, text, muted, mean, max, alarm, selected;
};

// Returns the stage that was clicked, -1 for none.
int draw_flow_chart(const char* id, const std::vector<FlowStage>&, int selected, ImVec2 size,
                    const FlowColors&);

}  // namespace lunagrad
