#pragma once
// Tooltips beside what they explain, never over it. Drawing thread only, except tip_corner().
#include <imgui.h>

#include <cstdint>
#include <optional>
#include <string>

namespace lunagrad {

// A rectangle of the screen.
struct ScreenArea {
  ImVec2 min, max;
  bool contains(ImVec2 p) const { return p.x >= min.x && p.x < max.x && p.y >= min.y && p.y < max.y; }
  ScreenArea within(const ScreenArea& other) const;  // the common part; empty where they do not meet
};
ScreenArea last_item_area();  // of the last item, as far as it is visible

// What a tooltip explains, and where the tooltip is tried first.
struct TipSubject {
  ScreenArea area;
  bool aside = false;  // first to the right or left: a column, whose upper end may be far away
  std::optional<ScreenArea> picture{};  // first inside of it, so that the tooltip hides nothing around it
  uint64_t key = 0;                     // tells subjects apart that one item shows one after the other
};

TipSubject last_item_subject();  // aside for an entry of a menu, so that the other entries stay visible

// The corner of a tooltip of `size`: below the subject if it fits there, else above, to the right or to the
// left, always within the screen. Only if the subject leaves no such place, it lies over a part of it that is
// beside the mouse.
ImVec2 tip_corner(ImVec2 size, const TipSubject&, ImVec2 mouse, const ScreenArea& screen);

// A tooltip of this text; lines longer than `wrap` pixels are broken (0: none).
void show_tip(const std::string& text, const TipSubject&, float wrap = 0);
// A tooltip of other items, up to end_tip(). It appears once its size is known, in the frame after the first.
// `text` is what shown_tip() says.
void begin_tip(const TipSubject&, std::string text = {});
void end_tip();

struct ShownTip {
  std::string text;
  ScreenArea subject, area;
};
const ShownTip* shown_tip();  // the tooltip of this frame; null if it has none

}  // namespace lunagrad
