#pragma once
// A graph on an endless sheet: drag to pan, wheel to zoom about the mouse, click to pick a node. Draws only
// what is in sight; below a legible size it drops the text. Knows boxes, texts and colours, nothing of tapes
// or sessions.
#include <imgui.h>

#include <array>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "ui/widgets/graph_layout.h"

namespace lunagrad {

struct CanvasNode {
  std::string title, line;  // bold, and plain below it; an empty one takes no room
  int color = 0;            // index of the caller's palette
  bool pill = false;        // fully rounded: a source
};

struct CanvasGraph {
  std::vector<CanvasNode> nodes;
  Graph graph;  // a box for each node, in canvas units: pixels at zoom 1
  GraphLayout layout;
};

// Widths of texts without Dear ImGui, so that boxes can be sized on any thread. Copied from fonts of 15
// units.
class TextMeasure {
 public:
  TextMeasure() = default;
  TextMeasure(const ImFont* plain, const ImFont* bold);
  float plain(std::string_view text) const { return width(plain_, text); }
  float bold(std::string_view text) const { return width(bold_, text); }

 private:
  struct Advances {
    std::array<float, 256> of{};
    float other = 8;
  };
  static Advances copy(const ImFont*);
  static float width(const Advances&, std::string_view);
  Advances plain_, bold_;
};

Graph::Box canvas_box(const CanvasNode&, const TextMeasure&);

class GraphCanvas {
 public:
  struct Colors {
    ImU32 background, grid, box, text, muted, faint, edge, highlight, selected;
    const ImU32* palette;
  };
  struct Marks {
    int selected = -1;
    const std::vector<char>* found = nullptr;  // of a search: all other nodes fade
  };

  // Fills `size`. Returns the node clicked, -1 for a click beside all nodes, -2 for no click.
  int draw(const char* id, const CanvasGraph&, ImVec2 size, const Colors&, const Marks&,
           const std::function<void(int node, ImVec2 min, ImVec2 max)>& on_visible = {});
  void fit() { fit_ = true; }  // shows the whole graph with the next frame
  void center(int node) { center_ = node; }
  int hovered() const { return hovered_; }
  float zoom() const { return zoom_; }

 private:
  ImVec2 to_screen(GraphPoint p) const { return {origin_.x + p.x * zoom_, origin_.y + p.y * zoom_}; }
  void draw_edges(ImDrawList*, const CanvasGraph&, ImVec2 min, ImVec2 max, const Colors&, const Marks&) const;
  void draw_node(ImDrawList*, const CanvasGraph&, int node, const Colors&, const Marks&) const;
  void navigate(const CanvasGraph&, ImVec2 min, ImVec2 size, bool hovered, bool active);

  float zoom_ = 1;
  ImVec2 origin_{0, 0};  // where the layout's (0, 0) is on the screen
  ImVec2 corner_{0, 0};  // the canvas' own corner in the last frame
  ImVec2 last_size_{0, 0};
  bool fit_ = true;
  bool touched_ = false;  // the user has panned or zoomed: a change of size keeps the view
  int center_ = -1;
  int hovered_ = -1;
};

}  // namespace lunagrad
