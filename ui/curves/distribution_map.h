#pragma once
// Histograms over time. x is the step, and a column reaches to the next one. There is a row per bin, whose
// colour is the stronger the more values it has, and a row for exact zeros. The bins of all columns share
// their edges. Knows numbers, no sessions. Drawing thread only.
#include <imgui.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "ui/curves/plot_data.h"

namespace lunagrad {

struct Distribution {
  int64_t step = 0;
  const std::vector<double>* edges = nullptr;  // one more than counts, ascending
  const std::vector<int64_t>* counts = nullptr;
  int64_t zeros = 0;  // exact zeros among the values in the bin around 0
};

struct DistributionColors {
  ImU32 background, grid, text, muted, low, high;  // low, high: the colours of few and of many values
};

// at(i) returns column i of `count`, with ascending steps; draws at most one column per two pixels. Returns
// the pixel of the cursor's line, if the columns reach it.
std::optional<float> draw_distributions(const char* id, size_t count,
                                        const std::function<Distribution(size_t)>& at, ImVec2 size,
                                        const DistributionColors&,
                                        const std::optional<ChartCursor>& cursor = {});

}  // namespace lunagrad
