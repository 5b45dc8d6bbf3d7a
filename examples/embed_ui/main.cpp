// Embeds Lunagrad's panels in a C++ program with its own frame loop. Its window has a slider, a button, and
// the tape and curves of the script that it runs.
//   lunagrad-embed-ui                      runs until the window is closed
//   lunagrad-embed-ui FRAMES PICTURE.png   draws FRAMES frames and saves the last one
#include <imgui.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>

#include "ui/embed.h"
#include "ui/window/window.h"

using namespace lunagrad;

constexpr const char* kScript = R"(
local lg = require "lunagrad"
local rate = lg.run.live("rate", 0.02, {min = 0.001, max = 0.2})
local net = lg.nn.Sequential(lg.nn.Linear(1, 32), lg.nn.Tanh(), lg.nn.Linear(32, 1))
local adam = lg.optim.Adam(net:parameters(), {lr = rate})
local x = lg.linspace(-3, 3, 128):unsqueeze(2)
for step in lg.run.steps(100000) do
  local loss = lg.nn.functional.mse_loss(net(x), x:sin())
  adam:zero_grad(); loss:backward(); adam:step()
  lg.run.log {loss = loss}
end
)";

// Places the next window at a rectangle given in fractions of the main window.
static void begin_part(const char* title, float x, float y, float width, float height) {
  const ImVec2 size = ImGui::GetMainViewport()->Size;
  ImGui::SetNextWindowPos({x * size.x, y * size.y});
  ImGui::SetNextWindowSize({width * size.x, height * size.y});
  ImGui::Begin(title, nullptr,
               ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoResize | ImGuiWindowFlags_NoCollapse);
}

static void run(long frames, const char* picture) {
  Window window({.width = 1100, .height = 700, .title = "A host of Lunagrad's panels"});
  std::atomic<int64_t> step = 0;  // written by events on the session's thread
  PanelHost panels({.wake = &Window::wake, .on_event = [&](const Event& event) {
                      if (event.kind == Event::Kind::metrics) step = event.step;
                    }});
  panels.run_text(kScript, "=sine", {.write_run = false});
  float rate = 0.02f;
  for (long frame = 1; !window.wants_to_close(); ++frame) {
    window.wait(1.0 / 60);
    panels.update();
    window.begin_frame();
    begin_part("The host", 0, 0, 0.5f, 0.25f);
    ImGui::Text("step %lld", static_cast<long long>(step.load()));
    if (ImGui::SliderFloat("learning rate", &rate, 0.001f, 0.2f, "%.3f", ImGuiSliderFlags_Logarithmic))
      panels.session().set_param("rate", std::to_string(rate));
    if (ImGui::Button("Once more")) panels.run_text(kScript, "=sine", {.write_run = false});
    ImGui::End();
    begin_part("Its curves", 0, 0.25f, 0.5f, 0.75f);
    panels.draw("Curves");
    ImGui::End();
    begin_part("Its tape", 0.5f, 0, 0.5f, 1);
    panels.draw("Tape");
    ImGui::End();
    if (frame == frames) window.presenter().capture(picture);
    window.end_frame();
    if (frame == frames) return;
  }
}

int main(int argc, char** argv) try {
  run(argc > 2 ? std::atol(argv[1]) : 0, argc > 2 ? argv[2] : "");
} catch (const std::exception& error) {
  std::fprintf(stderr, "lunagrad-embed-ui: %s\n", error.what());
  return 1;
}
