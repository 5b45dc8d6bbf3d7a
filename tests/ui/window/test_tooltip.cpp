// Where tooltips are: beside what they explain.
#include <doctest/doctest.h>
#include <imgui.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "folders.h"
#include "ui/window/theme.h"
#include "ui/window/tooltip.h"

using namespace lunagrad;

namespace {

const ScreenArea kScreen{{0, 0}, {300, 200}};

ScreenArea area_of(ImVec2 corner, ImVec2 size) { return {corner, {corner.x + size.x, corner.y + size.y}}; }

bool meet(const ScreenArea& a, const ScreenArea& b) {
  return a.min.x < b.max.x && b.min.x < a.max.x && a.min.y < b.max.y && b.min.y < a.max.y;
}

bool inside(const ScreenArea& a, const ScreenArea& b) {
  return a.min.x >= b.min.x && a.min.y >= b.min.y && a.max.x <= b.max.x && a.max.y <= b.max.y;
}

// Corners, middle and edges of an area, just inside of it.
std::vector<ImVec2> places(const ScreenArea& area) {
  std::vector<ImVec2> found;
  for (const float x : {area.min.x, (area.min.x + area.max.x) / 2, area.max.x - 1})
    for (const float y : {area.min.y, (area.min.y + area.max.y) / 2, area.max.y - 1}) found.push_back({x, y});
  return found;
}

}  // namespace

TEST_CASE("a tooltip covers no part of its subject and stays on the screen, at each edge and corner") {
  for (const ImVec2 tip : {ImVec2{60, 20}, ImVec2{120, 60}, ImVec2{20, 80}})
    for (const ImVec2 size : {ImVec2{0, 0}, ImVec2{12, 12}, ImVec2{80, 20}, ImVec2{300, 20}, ImVec2{10, 200}})
      for (const bool aside : {false, true})
        for (float x = 0; x + size.x <= 300; x += 10)
          for (float y = 0; y + size.y <= 200; y += 10) {
            const ScreenArea subject = area_of({x, y}, size);
            for (const ImVec2 mouse : places(subject)) {
              const ScreenArea at =
                  area_of(tip_corner(tip, {.area = subject, .aside = aside}, mouse, kScreen), tip);
              CAPTURE(x);
              CAPTURE(y);
              CHECK_FALSE(meet(at, subject));
              CHECK(inside(at, kScreen));
            }
          }
}

TEST_CASE("below is tried before above, and the sides of a column before both") {
  const ScreenArea subject = area_of({140, 90}, {20, 20});
  const ImVec2 mouse{150, 100}, tip{60, 20};
  CHECK(tip_corner(tip, {.area = subject}, mouse, kScreen).y >= subject.max.y);
  CHECK(tip_corner(tip, {.area = subject, .aside = true}, mouse, kScreen).x >= subject.max.x);
  const ScreenArea low = area_of({140, 180}, {20, 20}), right = area_of({280, 90}, {20, 20});
  CHECK(tip_corner(tip, {.area = low}, {150, 190}, kScreen).y + tip.y <= low.min.y);
  CHECK(tip_corner(tip, {.area = right, .aside = true}, {290, 100}, kScreen).x + tip.x <= right.min.x);
  // A subject as high as the screen has its tooltip at a side.
  const ScreenArea column = area_of({140, 0}, {20, 200});
  CHECK(tip_corner(tip, {.area = column}, {150, 100}, kScreen).x >= column.max.x);
}

TEST_CASE("a subject that fills the screen keeps the place under the mouse free") {
  for (const ScreenArea& subject :
       {kScreen, ScreenArea{{-500, -500}, {900, 900}}, ScreenArea{{5, 5}, {295, 195}}})
    for (const bool aside : {false, true})
      for (const ImVec2 mouse : places(kScreen)) {
        const ImVec2 tip{100, 40};
        const ScreenArea at =
            area_of(tip_corner(tip, {.area = subject, .aside = aside}, mouse, kScreen), tip);
        CHECK(inside(at, kScreen));
        CHECK_FALSE(at.contains(mouse));
      }
  // What is larger than the screen begins at its corner.
  const ImVec2 huge = tip_corner({900, 900}, {.area = area_of({140, 90}, {20, 20})}, {150, 100}, kScreen);
  CHECK(huge.x == 0);
  CHECK(huge.y == 0);
}

TEST_CASE("a tooltip of a place in a picture is next to the mouse, inside the picture") {
  const ImVec2 min{100, 200}, max{400, 260}, size{120, 30};
  const ScreenArea screen{{0, 0}, {1000, 1000}};
  const auto place = [&](ImVec2 mouse, ImVec2 of) {
    const TipSubject subject{.area = {mouse, mouse}, .aside = true, .picture = ScreenArea{min, max}};
    const ImVec2 at = tip_corner(of, subject, mouse, screen);
    CAPTURE(mouse.x);
    CAPTURE(mouse.y);
    CHECK(at.x >= min.x);
    CHECK(at.x + of.x <= max.x);
    const bool covers = mouse.x >= at.x && mouse.x < at.x + of.x && mouse.y >= at.y && mouse.y < at.y + of.y;
    CHECK_FALSE(covers);
    return at;
  };
  for (float x = min.x; x <= max.x; x += 10)
    for (float y = min.y; y <= max.y; y += 10) {
      const ImVec2 at = place({x, y}, size);
      CHECK(at.y >= min.y);
      CHECK(at.y + size.y <= max.y);
      CHECK(place({x, y}, {260, 30}).y + 30 <=
            max.y);  // too wide to be next to the mouse: stays above the lower edge of the picture
    }
  CHECK(place({110, 230}, size).x > 110);
  CHECK(place({390, 230}, size).x < 390);
}

TEST_CASE("the tooltip of an item is beside it in each frame in which it is visible") {
  ImGuiContext* const context = ImGui::CreateContext();
  ImGuiIO& io = ImGui::GetIO();
  io.IniFilename = nullptr;
  io.DisplaySize = {400, 300};
  io.DeltaTime = 1.0f / 60;
  load_fonts(1);
  io.Fonts->Build();
  set_theme(true);
  size_t shown = 0;
  for (int frame = 0; frame < 60; ++frame) {
    // The mouse goes from row to row, and each row has a tooltip of another size.
    const int row = frame / 3;
    io.MousePos = {30, float(row) * 14 + 7};
    ImGui::NewFrame();
    ImGui::SetNextWindowPos({0, 0});
    ImGui::SetNextWindowSize(io.DisplaySize);
    ImGui::Begin("window", nullptr, ImGuiWindowFlags_NoDecoration);
    for (int i = 0; i < 20; ++i) {
      ImGui::SetCursorScreenPos({20, float(i) * 14});
      ImGui::PushID(i);
      ImGui::InvisibleButton("row", {100, 12});
      if (i % 2) explain("A sentence that is longer than a line, so that it needs two of them, or three.");
      if (i % 2 == 0 && ImGui::IsItemHovered()) {
        begin_tip(last_item_subject(), "parts");
        for (int k = 0; k <= i / 3; ++k) ImGui::Text("part %d of %d", k, i);
        end_tip();
      }
      ImGui::PopID();
    }
    ImGui::End();
    ImGui::Render();
    const ShownTip* const tip = shown_tip();
    if (!tip) continue;
    ++shown;
    CHECK_FALSE(meet(tip->area, tip->subject));
    CHECK(inside(tip->area, {{0, 0}, io.DisplaySize}));
    CHECK(tip->subject.contains(io.MousePos));
  }
  CHECK(shown > 40);
  ImGui::DestroyContext(context);
}

TEST_CASE("a press hides the tooltip until the mouse has left the item, unless it explains something else") {
  ImGuiContext* const context = ImGui::CreateContext();
  ImGuiIO& io = ImGui::GetIO();
  io.IniFilename = nullptr;
  io.DisplaySize = {400, 300};
  io.DeltaTime = 1.0f / 60;
  load_fonts(1);
  io.Fonts->Build();
  set_theme(true);
  const auto tip = [&](ImVec2 mouse, bool down, const char* text) {
    io.MousePos = mouse;
    io.MouseDown[0] = down;
    ImGui::NewFrame();
    ImGui::SetNextWindowPos({0, 0});
    ImGui::SetNextWindowSize(io.DisplaySize);
    ImGui::Begin("window", nullptr, ImGuiWindowFlags_NoDecoration);
    ImGui::SetCursorScreenPos({20, 20});
    ImGui::InvisibleButton("button", {100, 20});
    explain(text);
    ImGui::End();
    ImGui::Render();
    return shown_tip() ? shown_tip()->text : std::string();
  };
  const ImVec2 over{30, 30}, beside{300, 200};
  tip(over, false, "Pauses.");
  CHECK(tip(over, false, "Pauses.") == "Pauses.");
  CHECK(tip(over, true, "Pauses.").empty());
  CHECK(tip(over, false, "Pauses.").empty());
  CHECK(tip(over, false, "Continues.") == "Continues.");
  CHECK(tip(beside, false, "Pauses.").empty());
  CHECK(tip(over, false, "Pauses.") == "Pauses.");
  ImGui::DestroyContext(context);
}

TEST_CASE("every tooltip of the window is placed by tooltip.cpp") {
  for (const auto& entry : std::filesystem::recursive_directory_iterator(LUNAGRAD_SOURCE_DIR "/ui")) {
    if (entry.path().extension() != ".cpp" || entry.path().filename() == "tooltip.cpp") continue;
    std::ostringstream text;
    text << std::ifstream(entry.path()).rdbuf();
    CAPTURE(entry.path().string());
    for (const char* call : {"BeginTooltip(", "SetTooltip(", "SetTooltipV("})
      CHECK(text.str().find(call) == std::string::npos);
  }
}
