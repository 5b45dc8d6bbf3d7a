#pragma once
// Draws a graph on an unbounded sheet: drag to pan, wheel to zoom around the mouse, click to select a box, a
// map in the corner. Draws only what is visible; below a legible size it omits the text, and at small zoom it
// draws points. Knows boxes, texts and colours, but no tapes and no sessions. Drawing thread only, except
// CanvasGraph, TextMeasure and canvas_box().
#include <imgui.h>

#include <array>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ui/graph/grid.h"
#include "ui/graph/layout.h"
#include "ui/window/tooltip.h"

namespace lunagrad {

struct CanvasNode {
  std::string title, line;  // title: bold; line: plain, below the title; an empty text takes no space
  std::string name;         // the whole name, if the title is only a part of it
  int color = 0;            // index into the caller's palette
  bool pill = false;        // round ends: the box is a source
  bool opens = false;       // the box contains others: drawn as a stack
  bool pale = false;        // in the background
  float title_width = 0, line_width = 0;  // at zoom 1
};

// A frame around boxes that belong together, with a title to click.
struct CanvasFrame {
  std::string title;
  GraphPoint low, high;
  float title_width = 0;
};

// A reduced version of a large graph for zooms where a unit of the sheet is less than `zoom` pixels: one box
// and one line per pixel, and the frames that are large enough to see.
struct FarView {
  float zoom = 0;
  std::vector<uint32_t> boxes, strokes, frames;
  GraphGrid box_grid, stroke_grid;  // of indices into the lists above
};

struct CanvasGraph {
  std::vector<CanvasNode> nodes;
  std::vector<CanvasFrame> frames;  // outer frames before inner ones
  Graph graph;                      // a box per node, in canvas units: pixels at zoom 1
  GraphLayout layout;
  GraphPoint low;            // everything is in [low, low + size of the layout]
  GraphGrid boxes, strokes;  // boxes: of all boxes; strokes: of the lines between consecutive points
  std::vector<uint32_t> stroke_point, stroke_edge;
  std::vector<FarView> far;  // from large to small zoom; none for small graphs
  uint32_t colors_used = 0;  // a bit for each colour of the boxes that contain no others
  bool piles = false;        // some boxes contain others
  uint64_t number = 0;       // unique number of this picture

  void index();  // computes all members from `low` on; call after the layout is set

 private:
  void index_far();
};

// Text widths without Dear ImGui, so that boxes can be sized on any thread. The widths are copied from fonts
// of 15 units.
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

constexpr float kFarZoom = 0.2f;  // below this zoom boxes are plain rectangles and lines are straight
constexpr float kFrameTitle = 21, kFramePad = 9;  // space above the content of a frame, and around it

Graph::Box canvas_box(CanvasNode&, const TextMeasure&);  // also stores the widths of the node's texts
// The box that an arrow key leads to: along an edge, or to the side in about the same row. -1: none.
enum class Direction { up, down, left, right };
int canvas_neighbour(const CanvasGraph&, int box, Direction);

class GraphCanvas {
 public:
  struct Colors {
    ImU32 background, grid, box, text, muted, faint, edge, highlight, selected, bad, band;
    const ImU32* palette;
  };
  // How a box is marked at the moment; the picture stays the same.
  struct Mark {
    bool faded = false;          // not matched by a search, or not reached by the player yet
    bool lit = false;            // outlined
    bool failed = false;         // filled in the error colour, with a cross
    float heat = -1;             // 0 to 1: colour by a quantity; negative: none
    ImU32 color = 0;             // replaces the palette's colour; 0: none
    bool strong = false;         // the colour fills the box, at each zoom
    const char* sign = nullptr;  // one letter in the corner, on `color`
  };
  // Boxes that belong together, wherever they are: a coloured ground behind them and along the lines between
  // them.
  struct Band {
    std::vector<uint32_t> boxes, strokes;
    std::vector<std::string> labels;  // from long to short: the first that fits is drawn
    bool lit = false;
  };
  struct Marks {
    int selected = -1;
    int playhead = -1;
    const std::vector<Mark>* boxes = nullptr;
    const std::vector<uint32_t>* standing_out =
        nullptr;  // outlined, failed and matched boxes: visible at small zoom, too
    const std::vector<Band>* bands = nullptr;
    std::function<std::string(int box)>
        note;            // text instead of the line, where text is drawn; "" keeps the line
    std::string corner;  // a sentence in a corner that shows no boxes; "": none
  };
  struct Click {
    enum class Kind { none, background, box, frame, corner } kind = Kind::none;
    int index = -1;
    bool menu = false;  // the right button was clicked
  };

  // The colour of a box with this heat, between the ground and the hottest colour.
  static ImU32 heat_color(ImU32 ground, ImU32 hottest, float heat);

  // Draws the graph into an area of `size`.
  Click draw(const char* id, const CanvasGraph&, ImVec2 size, const Colors&, const Marks&,
             const std::function<void(int box, ImVec2 min, ImVec2 max)>& on_box = {},
             const std::function<void(int frame, ImVec2 min, ImVec2 max)>& on_frame = {});
  // Fit the view in the next frame: fit() to the whole graph; show_end() to the end of the graph at a legible
  // zoom; fit_if_legible() to the whole graph if that is legible.
  void fit() { fit_ = Fit::whole; }
  void show_end() { fit_ = Fit::end; }
  void fit_if_legible() { fit_ = Fit::if_legible; }
  void center(int box) { center_ = box; }
  void reveal(int box) { reveal_ = box; }  // centers the box if it is not visible
  // The part of the sheet that an area of `size` pixels shows at the smallest legible zoom.
  static ImVec2 legible_room(ImVec2 size);
  int hovered() const { return hovered_; }
  int hovered_frame() const { return hovered_frame_; }  // the frame whose title is under the mouse
  float least_text() const {
    return least_text_;
  }  // height of the smallest text of a box in this frame; 0: none
  ImVec2 corner_min() const {
    return corner_min_;
  }  // the sentence of the corner; equal to corner_max() without one
  ImVec2 corner_max() const { return corner_max_; }
  // Of the box, or of the title, under the mouse, as far as it is visible.
  const ScreenArea& hovered_area() const { return hovered_area_; }
  float zoom() const { return zoom_; }
  ImVec2 map_min() const { return map_min_; }  // corner of the map; equal to map_max() when there is no map
  ImVec2 map_max() const { return map_max_; }

 private:
  enum class Fit { none, whole, end, if_legible };
  // The data that one frame is drawn from.
  struct View {
    ImDrawList* list;
    const CanvasGraph& graph;
    const Colors& colors;
    const Marks& marks;
    ImVec2 min, max;
    GraphGrid::Area area;  // the same in sheet coordinates
    const FarView* far;    // null: draw everything
  };
  void fit(const CanvasGraph&, ImVec2 min, ImVec2 size);
  const FarView* far_view(const CanvasGraph&) const;
  ImVec2 to_screen(GraphPoint p) const { return {origin_.x + p.x * zoom_, origin_.y + p.y * zoom_}; }
  GraphPoint to_sheet(ImVec2 p) const { return {(p.x - origin_.x) / zoom_, (p.y - origin_.y) / zoom_}; }
  ImVec2 low_of(const CanvasGraph&, int box) const;
  ImVec2 high_of(const CanvasGraph&, int box) const;
  void navigate(const CanvasGraph&, ImVec2 min, ImVec2 size, bool hovered, bool active);
  void draw_frames(const View&) const;
  void draw_bands(const View&) const;
  void draw_band_labels(const View&) const;
  // `taken`: the areas of the labels drawn so far, as left, top, right, bottom.
  void draw_band_label(const View&, const Band&, std::vector<ImVec4>& taken) const;
  float around_boxes() const;  // width of a band beside a box
  void draw_edges(const View&) const;
  void draw_marked_edges(const View&);
  void draw_stroke(const View&, uint32_t stroke, bool marked) const;
  static void draw_curve(const View&, ImVec2 from, ImVec2 to, ImU32 color, float width);
  void draw_far(const View&, const std::vector<uint32_t>& visible);
  void draw_box(const View&, int box);
  void draw_signs(const View&, const Mark&, ImVec2 min, ImVec2 max) const;
  void place_corner(const View&, const std::vector<uint32_t>& visible, ImVec2 size);
  void draw_corner(const View&, const std::vector<uint32_t>& visible, bool hovered);
  void place_map(const CanvasGraph&, ImVec2 min, ImVec2 size);
  void draw_map(const View&);

  float zoom_ = 1;
  ImVec2 origin_{0, 0};  // screen position of the layout's (0, 0)
  ImVec2 corner_{0, 0};  // the canvas' own corner in the last frame
  ImVec2 last_size_{0, 0};
  Fit fit_ = Fit::end;
  Fit fitted_ = Fit::end;  // the last kind of fit
  bool touched_ = false;   // the user has panned or zoomed: a resize keeps the view
  int center_ = -1, reveal_ = -1;
  int hovered_ = -1, hovered_frame_ = -1;
  float least_text_ = 0;
  ImVec2 corner_min_{0, 0}, corner_max_{0, 0};
  ScreenArea hovered_area_{};
  bool dragging_map_ = false;
  ImVec2 map_min_{0, 0}, map_max_{0, 0};
  std::vector<uint32_t> touching_;               // lines of the selected box
  std::pair<uint64_t, int> touching_of_{0, -1};  // the picture and the box of touching_
  std::vector<uint64_t> taken_;                  // bit set of pixels that have a point already, at small zoom

  struct Dot {
    ImVec2 at, size;
    int color;
  };
  uint64_t map_of_ = 0;  // number of the picture that the map's dots show
  ImVec2 map_size_{0, 0};
  std::vector<Dot> dots_;
};

}  // namespace lunagrad
