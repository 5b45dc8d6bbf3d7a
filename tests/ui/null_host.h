#pragma once
// A host of panels without a window: Dear ImGui alone, which displays nothing.
#include <imgui.h>

#include <string>
#include <vector>

#include "ui/embed.h"

namespace lunagrad::tests {

class NullHost {
 public:
  NullHost() {
    ImGui::CreateContext();
    ImGuiIO& io = ImGui::GetIO();
    io.IniFilename = nullptr;
    io.DisplaySize = {1000, 600};
    io.Fonts->AddFontDefault();
    unsigned char* pixels = nullptr;
    int width = 0, height = 0;
    io.Fonts->GetTexDataAsRGBA32(&pixels, &width, &height);
  }
  ~NullHost() { ImGui::DestroyContext(); }
  NullHost(const NullHost&) = delete;

  ImFont* font() const { return ImGui::GetIO().Fonts->Fonts[0]; }

  // Draws one frame with the panels in windows next to each other; returns its number of vertices.
  int frame(PanelHost& panels, const std::vector<std::string>& titles) const {
    ImGui::GetIO().DeltaTime = 1.0f / 60;
    panels.update();
    ImGui::NewFrame();
    const float width = 1000 / float(titles.size());
    for (size_t i = 0; i < titles.size(); ++i) {
      ImGui::SetNextWindowPos({float(i) * width, 0});
      ImGui::SetNextWindowSize({width, 600});
      ImGui::Begin(titles[i].c_str());
      panels.draw(titles[i]);
      ImGui::End();
    }
    ImGui::Render();
    return ImGui::GetDrawData()->TotalVtxCount;
  }
};

}  // namespace lunagrad::tests
