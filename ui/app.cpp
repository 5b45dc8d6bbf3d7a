#include "ui/app.h"

#include <GLFW/glfw3.h>
#include <imgui.h>

#include <algorithm>
#include <cmath>

#include "ui/theme.h"

namespace lunagrad {
namespace {

Window::Options titled(Window::Options options, const std::string& script) {
  options.title = script.empty() ? "Lunagrad" : script + " - Lunagrad";
  return options;
}

}  // namespace

App::App(Options options)
    : window_(titled(options.window, options.script)),
      bench_(options.script, options.run, &Window::wake),
      panels_(make_panels()) {
  if (!options.drive.empty()) {
    drive_ = std::make_unique<Drive>(options.drive, options.drive_arguments, window_);
    bench_.description.enable();
  }
  if (!options.script.empty()) bench_.run();
}

// A run that is going on ends here: an interrupt reaches it within its current kernel, and the session waits
// for it.
App::~App() { bench_.session.interrupt(); }

int App::loop() {
  const auto seconds = [](Clock::duration d) { return std::chrono::duration<double>(d).count(); };
  // A driver that draws on the CPU takes its time from the training: new data may wait a little, input may
  // not.
  const bool patient = window_.presenter().software() && !drive_;
  int warm = 3;  // Dear ImGui takes a few frames to come to rest after input
  bool dirty = true;
  Clock::time_point last{};
  while (!window_.wants_to_close()) {
    const double beat = bench_.journal.active() ? 0.1 : 0.5;  // the clock in the toolbar; the text cursor
    const double frame = drive_ ? drive_->frame_seconds() : 1.0 / 60, patience = patient ? 0.1 : frame;
    const double since = seconds(Clock::now() - last);
    const double due = warm > 0 ? frame : dirty ? patience : beat;
    if (window_.wait(std::max(due - since, 0.0))) warm = 3;
    dirty |= bench_.update();
    if (drive_) warm = 3;
    if (seconds(Clock::now() - last) < (warm > 0 ? frame : dirty ? patience : beat)) continue;
    last = Clock::now();
    draw_frame();
    dirty = false;
    warm = std::max(warm - 1, 0);
    if (drive_ && drive_->after_frame(bench_.description)) break;
  }
  const bool failed = (drive_ && drive_->failed()) || window_.presenter().validation_messages() > 0;
  return failed ? 1 : 0;
}

void App::draw_frame() {
  bench_.description.clear();
  window_.begin_frame([this] {
    if (drive_) drive_->inject();
  });
  handle_keys();
  draw_content();
  window_.end_frame();
}

void App::handle_keys() {
  const ImGuiIO& io = ImGui::GetIO();
  const auto pressed = [](int key) { return ImGui::IsKeyPressed(key, false); };
  if (pressed(GLFW_KEY_F5)) {
    if (io.KeyShift)
      bench_.stop();
    else if (io.KeyCtrl)
      bench_.restart();
    else
      bench_.run();
  }
  if (pressed(GLFW_KEY_F6)) bench_.pause_or_resume();
  if (pressed(GLFW_KEY_F8)) bench_.step();
  if (pressed(GLFW_KEY_ESCAPE) && !io.WantTextInput) bench_.tape.select(-1);
}

void App::splitter(const char* id, ImVec2 at, ImVec2 size, bool vertical, float& share, float whole) {
  ImGui::SetCursorScreenPos(at);
  ImGui::InvisibleButton(id, {std::max(size.x, 1.0f), std::max(size.y, 1.0f)});
  bench_.description.add_last("splitter", id);
  const bool lit = ImGui::IsItemHovered() || ImGui::IsItemActive();
  if (lit) {
    ImGui::SetMouseCursor(vertical ? ImGuiMouseCursor_ResizeEW : ImGuiMouseCursor_ResizeNS);
    const ImVec2 middle{at.x + size.x / 2, at.y + size.y / 2};
    const ImVec2 half = vertical ? ImVec2{1, size.y / 2 - em(0.4f)} : ImVec2{size.x / 2 - em(0.4f), 1};
    ImGui::GetWindowDrawList()->AddRectFilled({middle.x - half.x, middle.y - half.y},
                                              {middle.x + half.x, middle.y + half.y}, theme().accent, 1);
  }
  if (ImGui::IsItemActive()) {
    const ImVec2 delta = ImGui::GetIO().MouseDelta;
    share = std::clamp(share + (vertical ? delta.x : delta.y) / whole, 0.15f, 0.85f);
  }
  if (ImGui::IsItemHovered() && ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left)) share = 0.5f;
}

void App::draw_region(const char* id, const std::vector<Panel*>& panels, ImVec2 at, ImVec2 size,
                      size_t& tab) {
  if (panels.empty() || size.x < 4 || size.y < 4) return;
  tab = std::min(tab, panels.size() - 1);
  ImGui::SetCursorScreenPos(at);
  const ImVec2 end{at.x + size.x, at.y + size.y};
  ImGui::GetWindowDrawList()->AddRectFilled(at, end, theme().panel, em(0.4f));
  const float pad = em(0.6f), header = ImGui::GetFrameHeight() + em(0.5f);
  ImGui::SetCursorScreenPos({at.x + pad, at.y + em(0.35f)});
  ImGui::BeginChild(id, {size.x - 2 * pad, std::max(size.y - em(0.7f), 1.0f)}, false,
                    ImGuiWindowFlags_NoScrollbar | ImGuiWindowFlags_NoScrollWithMouse);
  ImGui::BeginChild("header", {0, ImGui::GetFrameHeight()}, false,
                    ImGuiWindowFlags_NoScrollbar | ImGuiWindowFlags_NoScrollWithMouse);
  if (panels.size() == 1) {
    ImGui::AlignTextToFramePadding();
    bold_text(panels[0]->title());
    bench_.description.add_last("panel", panels[0]->title());
  } else {
    for (size_t i = 0; i < panels.size(); ++i) {
      if (i > 0) ImGui::SameLine(0, em(0.25f));
      if (tool_button(panels[i]->title(), i == tab)) tab = i;
      bench_.description.add_last("panel", panels[i]->title());
    }
  }
  ImGui::SameLine(0, em(1));
  panels[tab]->draw_tools(bench_);
  ImGui::EndChild();
  ImGui::SetCursorPosY(header);
  ImGui::BeginChild("content", {0, 0}, false,
                    ImGuiWindowFlags_NoScrollbar | ImGuiWindowFlags_NoScrollWithMouse);
  panels[tab]->draw(bench_);
  ImGui::EndChild();
  ImGui::EndChild();
}

void App::draw_content() {
  const ImGuiViewport* viewport = ImGui::GetMainViewport();
  const float gap = em(0.5f), bar = ImGui::GetFrameHeight() + 2 * gap;
  ImGui::SetNextWindowPos(viewport->Pos);
  ImGui::SetNextWindowSize(viewport->Size);
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {0, 0});
  ImGui::PushStyleVar(ImGuiStyleVar_WindowRounding, 0);
  ImGui::Begin("workbench", nullptr,
               ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove |
                   ImGuiWindowFlags_NoBringToFrontOnFocus | ImGuiWindowFlags_NoSavedSettings |
                   ImGuiWindowFlags_NoScrollWithMouse | ImGuiWindowFlags_NoNavFocus);
  ImGui::PopStyleVar(2);
  const ImVec2 at = viewport->Pos, size = viewport->Size;
  ImGui::SetCursorScreenPos({at.x + gap, at.y + gap});
  ImGui::BeginChild("toolbar", {size.x - 2 * gap, ImGui::GetFrameHeight()}, false,
                    ImGuiWindowFlags_NoScrollbar | ImGuiWindowFlags_NoScrollWithMouse);
  draw_toolbar(bench_);
  ImGui::EndChild();

  const ImVec2 body{at.x + gap, at.y + bar}, room{size.x - 2 * gap, size.y - bar - gap};
  if (room.x < em(46) || room.y < em(20)) {
    // Too small for regions side by side: one, with a tab for each panel.
    std::vector<Panel*> all;
    for (const auto& panel : panels_) all.push_back(panel.get());
    draw_region("only", all, body, room, tabs_[4]);
  } else {
    std::vector<Panel*> in[4];
    for (const auto& panel : panels_) in[size_t(panel->region())].push_back(panel.get());
    const float left = std::round((room.x - gap) * columns_), right = room.x - gap - left;
    const float upper_left = std::round((room.y - gap) * left_rows_);
    const float upper_right = std::round((room.y - gap) * right_rows_);
    const float x = body.x + left + gap;
    draw_region("upper left", in[0], body, {left, upper_left}, tabs_[0]);
    draw_region("lower left", in[1], {body.x, body.y + upper_left + gap}, {left, room.y - gap - upper_left},
                tabs_[1]);
    draw_region("upper right", in[2], {x, body.y}, {right, upper_right}, tabs_[2]);
    draw_region("lower right", in[3], {x, body.y + upper_right + gap}, {right, room.y - gap - upper_right},
                tabs_[3]);
    splitter("columns", {body.x + left, body.y}, {gap, room.y}, true, columns_, room.x);
    splitter("left rows", {body.x, body.y + upper_left}, {left, gap}, false, left_rows_, room.y);
    splitter("right rows", {x, body.y + upper_right}, {right, gap}, false, right_rows_, room.y);
  }
  ImGui::End();
}

}  // namespace lunagrad
