#pragma once
// Histograms over time, oldest left: a column per histogram, a row per bin; the darker, the more values. The
// bins of all columns share their edges. Knows numbers, no sessions. Drawing thread only.
#include <imgui.h>

#include <cstdint>
#include <functional>
#include <vector>

namespace lunagrad {

struct Distribution {
  int64_t step = 0;
  const std::vector<double>* edges = nullptr;  // one more than counts, ascending
  const std::vector<int64_t>* counts = nullptr;
};

struct DistributionColors {
  ImU32 background, grid, text, muted, low, high;  // from few values to many
};

// at(i) returns column i of `count`; draws at most one column per pixel.
void draw_distributions(const char* id, size_t count, const std::function<Distribution(size_t)>& at,
                        ImVec2 size, const DistributionColors&);

}  // namespace lunagrad
