#include "ui/window/tooltip.h"

#include <imgui_internal.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <utility>

#include "ui/base/redraw.h"
#include "ui/window/theme.h"

namespace lunagrad {
namespace {

enum class Side { below, above, right, left };

// Keeps [at, at + length] inside of [low, high]; what is longer begins at `low`.
float kept_within(float at, float length, float low, float high) {
  return std::max(std::min(at, high - length), low);
}

// The corner on one side of the subject. The arrow of the mouse reaches down and to the right from its tip.
ImVec2 corner_at(Side side, ImVec2 size, const ScreenArea& of, ImVec2 mouse, const ScreenArea& room) {
  const float gap = em(0.3f);
  const float x = kept_within(mouse.x - em(1), size.x, room.min.x, room.max.x);
  const float y = kept_within(mouse.y - size.y / 2, size.y, room.min.y, room.max.y);
  switch (side) {
    case Side::below:
      return {x, std::max(of.max.y + gap, mouse.y + em(1.3f))};
    case Side::above:
      return {x, of.min.y - gap - size.y};
    case Side::right:
      return {std::max(of.max.x + gap, mouse.x + em(1)), y};
    case Side::left:
      break;
  }
  return {of.min.x - gap - size.x, y};
}

std::optional<ImVec2> free_corner(std::span<const Side> sides, ImVec2 size, const ScreenArea& of,
                                  ImVec2 mouse, const ScreenArea& room) {
  for (const Side side : sides) {
    const ImVec2 at = corner_at(side, size, of, mouse, room);
    const bool beside = side == Side::right || side == Side::left;
    const bool fits = beside ? at.x >= room.min.x && at.x + size.x <= room.max.x
                             : at.y >= room.min.y && at.y + size.y <= room.max.y;
    if (fits) return at;
  }
  return std::nullopt;
}

bool has_room_for(ImVec2 size, const ScreenArea& room) {
  return size.x <= room.max.x - room.min.x && size.y <= room.max.y - room.min.y;
}

// What is measured at the end of a tooltip places it in the next frame.
struct Measured {
  uint64_t key;
  ImVec2 size;
  int frame;
};
std::optional<Measured> measured;
std::optional<ShownTip> shown;
int shown_in = -1;  // frame of `shown`
// What was explained when the mouse was pressed on it; until the mouse leaves it.
struct Pressed {
  ScreenArea area;
  std::string text;
};
std::optional<Pressed> pressed;
uint64_t open_key = 0;
ImVec2 open_size{0, 0};

ScreenArea screen() {
  const ImGuiViewport* const viewport = ImGui::GetMainViewport();
  return {viewport->Pos, {viewport->Pos.x + viewport->Size.x, viewport->Pos.y + viewport->Size.y}};
}

void begin_at(ImVec2 size, const TipSubject& subject, std::string text) {
  const ImVec2 at = tip_corner(size, subject, ImGui::GetIO().MousePos, screen());
  ImGui::SetNextWindowPos(at);
  ImGui::BeginTooltip();
  shown = ShownTip{std::move(text), subject.area, {at, {at.x + size.x, at.y + size.y}}};
  shown_in = ImGui::GetFrameCount();
}

}  // namespace

ScreenArea ScreenArea::within(const ScreenArea& other) const {
  const ImVec2 low{std::max(min.x, other.min.x), std::max(min.y, other.min.y)};
  return {low,
          {std::max(low.x, std::min(max.x, other.max.x)), std::max(low.y, std::min(max.y, other.max.y))}};
}

ScreenArea last_item_area() {
  const ImDrawList* const list = ImGui::GetWindowDrawList();
  return ScreenArea{ImGui::GetItemRectMin(), ImGui::GetItemRectMax()}.within(
      {list->GetClipRectMin(), list->GetClipRectMax()});
}

TipSubject last_item_subject() {
  const ImGuiWindow* const window = ImGui::GetCurrentWindowRead();
  const bool entry =
      (window->Flags & ImGuiWindowFlags_Popup) != 0 && ImGui::GetItemRectSize().x > 0.7f * window->Size.x;
  return {.area = last_item_area(), .aside = entry};
}

ImVec2 tip_corner(ImVec2 size, const TipSubject& subject, ImVec2 mouse, const ScreenArea& screen) {
  using enum Side;
  static constexpr std::array kBelow{below, above, right, left}, kAside{right, left, below, above};
  static constexpr std::array kVertical{above, below};
  const std::array<Side, 4>& sides = subject.aside ? kAside : kBelow;
  if (subject.picture) {
    const ScreenArea room = subject.picture->within(screen);
    if (has_room_for(size, room))
      if (const auto at = free_corner(sides, size, subject.area, mouse, room)) return *at;
    // Above or below the picture's own columns.
    const ScreenArea columns{{room.min.x, screen.min.y}, {room.max.x, screen.max.y}};
    if (has_room_for(size, columns))
      if (const auto at = free_corner(kVertical, size, subject.area, mouse, columns)) return *at;
  }
  if (const auto at = free_corner(sides, size, subject.area, mouse, screen)) return *at;
  // The subject fills the screen, or the tooltip does.
  const ImVec2 at = free_corner(kAside, size, {mouse, mouse}, mouse, screen)
                        .value_or(corner_at(right, size, {mouse, mouse}, mouse, screen));
  return {kept_within(at.x, size.x, screen.min.x, screen.max.x),
          kept_within(at.y, size.y, screen.min.y, screen.max.y)};
}

void show_tip(const std::string& text, const TipSubject& subject, float wrap) {
  const ImVec2 pad = ImGui::GetStyle().WindowPadding;
  if (wrap > 0) wrap = std::min(wrap, std::max(screen().max.x - screen().min.x - 2 * pad.x, em(4)));
  const ImVec2 inside = ImGui::CalcTextSize(text.c_str(), nullptr, false, wrap > 0 ? wrap : -1);
  begin_at({inside.x + 2 * pad.x, inside.y + 2 * pad.y}, subject, text);
  if (wrap > 0) ImGui::PushTextWrapPos(wrap + pad.x);
  ImGui::TextUnformatted(text.c_str());
  if (wrap > 0) ImGui::PopTextWrapPos();
  ImGui::EndTooltip();
}

void explain(const char* text) {
  if (pressed && !pressed->area.contains(ImGui::GetIO().MousePos)) pressed.reset();
  if (!ImGui::IsItemHovered(ImGuiHoveredFlags_AllowWhenDisabled)) return;
  const TipSubject subject = last_item_subject();
  // Who presses a button knows what it does and looks at what it changes, which the tooltip must not hide.
  const bool disabled = (ImGui::GetCurrentContext()->LastItemData.InFlags & ImGuiItemFlags_Disabled) != 0;
  if (ImGui::IsMouseClicked(ImGuiMouseButton_Left) && !disabled) pressed = Pressed{subject.area, text};
  if (!pressed || pressed->text != text) show_tip(text, subject, em(26));
}

void begin_tip(const TipSubject& subject, std::string text) {
  // An item has one tooltip at a time, and `key` tells its subjects apart.
  open_key = subject.key * 0x9e3779b97f4a7c15u + ImGui::GetID("tip");
  const bool known = measured && measured->key == open_key && measured->frame >= ImGui::GetFrameCount() - 1;
  open_size = known ? measured->size : ImVec2{0, 0};
  if (known) {
    begin_at(open_size, subject, std::move(text));
  } else {
    constexpr float kOutOfSight = -1e4f;  // this frame only measures it
    ImGui::SetNextWindowPos({kOutOfSight, kOutOfSight});
    ImGui::BeginTooltip();
  }
  ImGui::BeginGroup();
}

void end_tip() {
  ImGui::EndGroup();
  const ImVec2 inside = ImGui::GetItemRectSize(), pad = ImGui::GetStyle().WindowPadding;
  const ImVec2 size{inside.x + 2 * pad.x, inside.y + 2 * pad.y};
  measured = Measured{open_key, size, ImGui::GetFrameCount()};
  if (std::abs(size.x - open_size.x) + std::abs(size.y - open_size.y) > 0.5f) draw_again_in(0);
  ImGui::EndTooltip();
}

const ShownTip* shown_tip() { return shown && shown_in == ImGui::GetFrameCount() ? &*shown : nullptr; }

}  // namespace lunagrad
