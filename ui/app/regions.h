#pragma once
// Draws the panels at their places in a layout: tabs that can be dragged, moved by their menu, or made to
// fill the window, splitters between regions, and a menu of the tabs that do not fit. Drawing thread only.
#include <imgui.h>

#include <array>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "ui/workbench/panel.h"

namespace lunagrad {

class Regions {
 public:
  explicit Regions(std::vector<std::unique_ptr<Panel>>& panels) : panels_(panels) {}

  void add_actions(Workbench&);  // actions for layouts and panels; call once, before the first frame
  void draw(Workbench&, ImVec2 at, ImVec2 size);
  // The titles in the order on the screen, region by region.
  std::vector<std::string> order(const PanelLayout&) const;
  // The panel that gets the keys; "" for none.
  const std::string& focused(const PanelLayout& layout) const { return layout.focused; }
  // Focuses the panel as a click of the user does.
  void focus(Workbench&, const std::string& title);
  void toggle_filling(Workbench&, const std::string& title);
  std::vector<PanelPlace> places() const;

 private:
  struct Rect {
    ImVec2 min, max;
    bool holds(ImVec2 p) const { return p.x >= min.x && p.x < max.x && p.y >= min.y && p.y < max.y; }
  };
  struct Tab {
    Panel* panel;
    ImVec2 min, max;
  };
  Panel* find(const std::string& title) const;
  // `before`: the position among the region's tabs, by default the end.
  void move(Workbench&, const std::string& title, Region, size_t before = size_t(-1));
  std::vector<Panel*> panels_in(const std::vector<std::string>& titles) const;
  // Draws one region; `front` is the title of its tab in front.
  void draw_region(Workbench&, const char* id, const std::vector<Panel*>&, Rect, std::string& front);
  void draw_tabs(Workbench&, const std::vector<Panel*>&, std::string& front, float room);
  void draw_step_note(Workbench&, const PanelStep&, const std::string& title, ImVec2 end);
  void draw_tab(Workbench&, Panel&, std::string& front);
  void tab_menu(Workbench&, Panel&);
  void draw_drag(Workbench&, Rect body, const std::array<Rect, kRegions>& quarters);
  void splitter(Workbench&, const char* id, Rect, bool vertical, float& share, float whole);

  std::vector<std::unique_ptr<Panel>>& panels_;
  std::map<std::string, float> tools_;  // width of a panel's tools in the previous frame
  std::vector<Tab> shown_;              // tabs of this frame
  std::string dragged_, focus_next_;
  std::string only_;  // the tab in front if the window is too small for regions
};

}  // namespace lunagrad
