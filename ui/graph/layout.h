#pragma once
// Places the boxes of a directed graph in layers, top to bottom, so that edges run downwards. Pure: no
// window, no engine; any thread. Layers by longest path, order within a layer by barycentre sweeps,
// horizontal positions by least squares under that order, which keeps chains straight. Time is linear in
// boxes, edges and the layers that edges cross. Deterministic.
#include <cstdint>
#include <limits>
#include <stop_token>
#include <vector>

namespace lunagrad {

struct Graph {
  enum class Pin : uint8_t { none, top, bottom };  // keeps the box in the first or the last layer
  struct Box {
    float width = 0, height = 0;
    Pin pin = Pin::none;
    float side = 0;       // edges enter over the middle of this length; 0: of the box's width
    bool source = false;  // may be placed beside its reader, see layout_sideways()
  };
  struct Edge {
    uint32_t from = 0, to = 0;  // box numbers; edges into a box are in the order of its operands
    // Offsets from the center of the box where the edge leaves and enters; NaN: chosen by the layout.
    float leave = 0, enter = std::numeric_limits<float>::quiet_NaN();
  };
  std::vector<Box> boxes;
  std::vector<Edge> edges;
};

struct LayoutStyle {
  float layer_gap = 20;        // between two layers
  float port_gap = 9;          // between two layers if one of them has only boxes without size
  float box_gap = 18;          // between neighbours in a layer
  uint32_t longest_span = 48;  // an edge across more layers is straight and does not avoid boxes
};

struct GraphPoint {
  float x = 0, y = 0;
};

struct GraphLayout {
  std::vector<GraphPoint> centers;  // center of each box
  std::vector<uint32_t> layers;     // layer of each box, 0 at the top
  std::vector<GraphPoint> points;   // points of all edges: start, bends, end
  std::vector<uint32_t> first;      // edge e has points first[e] up to first[e + 1]
  float width = 0, height = 0;      // all boxes are in [0, width] x [0, height]
  uint32_t layer_count = 0;
  uint32_t rows = 1;      // rows that the layers are wrapped into, see rows.h
  bool curved = true;     // curves with vertical ends join the bends; otherwise straight lines
  bool sideways = false;  // from left to right: layers are columns, and curves have horizontal ends
};

// Returns an empty layout when stopped.
GraphLayout layout_graph(const Graph&, const LayoutStyle&, std::stop_token = {});

}  // namespace lunagrad
