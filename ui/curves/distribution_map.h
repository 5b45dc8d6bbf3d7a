#pragma once
// Histograms side by side, oldest left: each column a histogram, each row a bin, the darker the more values
// lie there. Bins of all columns have edges in common. Knows numbers, nothing of sessions. Drawing thread
// only.
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

// Column i of `count` is asked for with at(i); as many as there are pixels are drawn.
void draw_distributions(const char* id, size_t count, const std::function<Distribution(size_t)>& at,
                        ImVec2 size, const DistributionColors&);

}  // namespace lunagrad
