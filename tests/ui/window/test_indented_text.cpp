#include <doctest/doctest.h>
#include <imgui.h>

#include "tests/ui/null_host.h"
#include "ui/window/indented_text.h"

using namespace lunagrad;

TEST_CASE("a wrapped line keeps its indentation") {
  const tests::NullHost host;
  ImGui::NewFrame();
  ImGui::SetNextWindowPos({0, 0});
  ImGui::SetNextWindowSize({200, 200});
  ImGui::Begin("text", nullptr, ImGuiWindowFlags_NoDecoration);
  ImGui::PushTextWrapPos(120);
  indented_text("sqrt");
  const float left = ImGui::GetItemRectMin().x, line = ImGui::GetItemRectSize().y;
  indented_text("  the root of a negative number is NaN");
  CHECK(ImGui::GetItemRectMin().x == left + ImGui::CalcTextSize("  ").x);
  CHECK(ImGui::GetItemRectSize().y >= 2 * line);  // all of its lines are in this rectangle
  CHECK(ImGui::GetCursorScreenPos().x == left);
  ImGui::PopTextWrapPos();
  ImGui::End();
  ImGui::Render();
}
