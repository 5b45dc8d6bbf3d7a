#include "ui/embed.h"

#include <GLFW/glfw3.h>

#include "runtime/core/error.h"
#include "ui/panels/why_strip.h"
#include "ui/window/input.h"
#include "ui/window/theme.h"
#include "ui/workbench/panel.h"

namespace lunagrad {
namespace {

// Must run before a Workbench measures text.
void prepare_theme(ImFont* font) {
  if (font) use_font(font);
  if (!fonts().body) fail("PanelHost: there is no font; give one, or call load_fonts() before");
  if (theme().text == 0) {
    const ImGuiStyle host = ImGui::GetStyle();
    set_theme(true);
    ImGui::GetStyle() = host;
  }
}

// Runs the panel's own commands; global commands are left to the host.
void take_keys(const Commands& commands, const char* panel) {
  const ImGuiIO& io = ImGui::GetIO();
  if (ImGui::IsPopupOpen("", ImGuiPopupFlags_AnyPopupId | ImGuiPopupFlags_AnyPopupLevel)) return;
  for (int key = GLFW_KEY_SPACE; key <= GLFW_KEY_LAST; ++key) {
    if (!key_pressed(key)) continue;
    const Command* command =
        commands.meant({key, io.KeyCtrl, io.KeyShift, io.KeyAlt}, panel, io.WantTextInput);
    if (!command || command->panel != panel || !commands.enabled(*command)) continue;
    if (command->repeats || key_pressed(key, false)) commands.run(*command);
  }
}

}  // namespace

struct PanelHost::Parts {
  explicit Parts(const Options& options) : bench("", {}, options.wake, options.on_event) {
    for (const auto& panel : panels) panel->add_commands(bench);
  }
  void begin() { bench.begin_host_run(); }
  Workbench bench;
  std::vector<std::unique_ptr<Panel>> panels = make_panels();
  // The answer to "Why?" is in the panel that asked, since a host has no place of its own for it.
  WhyStrip why;
  uint64_t answer = 0;  // its number
  const Panel* asked = nullptr;
};

PanelHost::PanelHost(Options options) {
  prepare_theme(options.font);
  if (!options.wake) options.wake = [] {};
  parts_ = std::make_unique<Parts>(options);
}

PanelHost::~PanelHost() { parts_->bench.control().interrupt(); }

void PanelHost::run_file(const std::string& path, RunOptions options) {
  parts_->begin();
  session().run_file(path, std::move(options));
}

void PanelHost::run_text(const std::string& code, const std::string& chunk_name, RunOptions options) {
  parts_->begin();
  session().run_text(code, chunk_name, std::move(options));
}

Session& PanelHost::session() { return parts_->bench.live_session(); }

bool PanelHost::update() {
  parts_->bench.description().clear();
  return parts_->bench.update();
}

std::vector<std::string> PanelHost::titles() const {
  std::vector<std::string> titles;
  for (const auto& panel : parts_->panels) titles.push_back(panel->title());
  return titles;
}

void PanelHost::draw(const std::string& title) {
  constexpr ImGuiWindowFlags kStill = ImGuiWindowFlags_NoScrollbar | ImGuiWindowFlags_NoScrollWithMouse;
  for (const auto& panel : parts_->panels) {
    if (panel->title() != title) continue;
    ImGui::PushID(panel.get());
    ImGui::BeginChild("tools", {0, ImGui::GetFrameHeight()}, false, kStill);
    bool focused = ImGui::IsWindowFocused(ImGuiFocusedFlags_ChildWindows);
    panel->draw_tools(parts_->bench);
    ImGui::EndChild();
    if (parts_->asked == panel.get()) parts_->why.draw(parts_->bench, ImGui::GetContentRegionAvail().x);
    ImGui::BeginChild("content", {0, 0}, false, kStill);
    focused |= ImGui::IsWindowFocused(ImGuiFocusedFlags_ChildWindows);
    panel->draw(parts_->bench);
    ImGui::EndChild();
    if (const uint64_t answer = parts_->bench.why().number(); answer != parts_->answer) {
      parts_->answer = answer;
      parts_->asked = panel.get();
    }
    if (focused) take_keys(parts_->bench.commands(), panel->title());
    ImGui::PopID();
    return;
  }
  fail("PanelHost: there is no panel \"", title, '"');
}

const Description& PanelHost::shown() {
  parts_->bench.description().enable();
  return parts_->bench.description();
}

}  // namespace lunagrad
