#pragma once
// What the parts of GraphCanvas measure by: the sizes of texts, and whether two rectangles meet. Any thread.
#include <imgui.h>

namespace lunagrad {

constexpr float kUnit = 15;         // height of the text at zoom 1
constexpr float kNote = 0.85f;      // size of the small lines, relative to the title
constexpr float kTitled = 0.28f;    // zoom below which texts are omitted
constexpr float kSmallest = 7;      // height of a text in pixels below which it is omitted
constexpr float kLeastText = 10;    // height of a text to which a picture may be reduced to fit, at scale 1
constexpr float kReadable = 0.75f;  // relative to the body font: up to this size, texts at small zoom are
                                    // drawn larger than to scale

inline bool meets(ImVec2 a_min, ImVec2 a_max, ImVec2 b_min, ImVec2 b_max) {
  return a_max.x >= b_min.x && a_min.x <= b_max.x && a_max.y >= b_min.y && a_min.y <= b_max.y;
}

}  // namespace lunagrad
