// Toolbar: the run's controls with their keys, its state, how far it is, and the engine's memory.
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "ui/panel.h"
#include "ui/theme.h"

namespace lunagrad {
namespace {

enum class Icon { play, pause, step, stop };

void draw_icon(Icon icon, ImVec2 at, float size, ImU32 color) {
  ImDrawList* list = ImGui::GetWindowDrawList();
  const float s = size;
  const ImVec2 a = at;
  switch (icon) {
    case Icon::play:
      list->AddTriangleFilled({a.x + s * 0.12f, a.y}, {a.x + s * 0.12f, a.y + s}, {a.x + s, a.y + s / 2},
                              color);
      break;
    case Icon::pause:
      list->AddRectFilled({a.x + s * 0.1f, a.y}, {a.x + s * 0.38f, a.y + s}, color);
      list->AddRectFilled({a.x + s * 0.62f, a.y}, {a.x + s * 0.9f, a.y + s}, color);
      break;
    case Icon::step:
      list->AddTriangleFilled({a.x, a.y}, {a.x, a.y + s}, {a.x + s * 0.68f, a.y + s / 2}, color);
      list->AddRectFilled({a.x + s * 0.74f, a.y}, {a.x + s * 0.98f, a.y + s}, color);
      break;
    case Icon::stop:
      list->AddRectFilled({a.x + s * 0.08f, a.y + s * 0.08f}, {a.x + s * 0.92f, a.y + s * 0.92f}, color);
      break;
  }
}

bool icon_button(Workbench& bench, Icon icon, const char* label, const char* item, ImU32 color, bool enabled,
                 const char* help) {
  const float height = ImGui::GetFrameHeight(), size = std::round(height * 0.42f);
  const bool compact = ImGui::GetWindowWidth() < em(50);
  const float text = compact ? 0 : ImGui::CalcTextSize(label).x + em(0.45f);
  ImGui::BeginDisabled(!enabled);
  const ImVec2 at = ImGui::GetCursorScreenPos();
  ImGui::PushID(item);
  const bool pressed = ImGui::Button("##button", {size + text + em(1.1f), height});
  ImGui::PopID();
  bench.description.add_last(item, std::string(label) + (enabled ? "" : " disabled"));
  explain(help);
  ImGui::EndDisabled();
  const float strength = enabled ? 1.0f : 0.35f;
  draw_icon(icon, {at.x + em(0.55f), std::round(at.y + (height - size) / 2)}, size,
            with_alpha(color, strength));
  if (!compact)
    ImGui::GetWindowDrawList()->AddText({at.x + em(1) + size, at.y + ImGui::GetStyle().FramePadding.y},
                                        with_alpha(theme().text, strength), label);
  ImGui::SameLine(0, em(0.35f));
  return pressed;
}

struct Status {
  std::string text;
  ImU32 color;
};

Status status_of(const Journal& journal) {
  const Theme& t = theme();
  switch (journal.state()) {
    case SessionState::running:
      return {"running", t.good};
    case SessionState::paused:
      return {"paused", t.warning};
    case SessionState::stopping:
      return {"stopping", t.warning};
    case SessionState::idle:
      break;
  }
  if (!journal.ended()) return {"ready", t.muted};
  switch (journal.outcome()) {
    case Outcome::ok:
      return {"finished", t.good};
    case Outcome::stopped:
      return {"stopped", t.warning};
    default:
      return {"failed", t.bad};
  }
}

std::string time_text(double seconds) {
  char text[32];
  const int whole = int(seconds);
  if (whole >= 3600)
    std::snprintf(text, sizeof text, "%d:%02d:%02d", whole / 3600, whole / 60 % 60, whole % 60);
  else if (whole >= 60)
    std::snprintf(text, sizeof text, "%d:%02d", whole / 60, whole % 60);
  else
    std::snprintf(text, sizeof text, "%.1f s", seconds);
  return text;
}

void draw_status(Workbench& bench) {
  const Status status = status_of(bench.journal);
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float height = ImGui::GetFrameHeight(), dot = em(0.28f);
  const ImVec2 size{ImGui::CalcTextSize("stopping").x + em(2.1f), height};
  ImDrawList* list = ImGui::GetWindowDrawList();
  list->AddRectFilled(at, {at.x + size.x, at.y + height}, with_alpha(status.color, 0.16f), height / 2);
  list->AddCircleFilled({at.x + em(0.8f), at.y + height / 2}, dot, status.color, 16);
  list->AddText({at.x + em(1.4f), at.y + ImGui::GetStyle().FramePadding.y}, theme().text,
                status.text.c_str());
  ImGui::Dummy(size);
  bench.description.add_last("state", status.text);
  if (bench.journal.state() == SessionState::stopping)
    explain("The script stops at its next step. Stop once more to interrupt it at once.");
  ImGui::SameLine(0, em(0.8f));
}

void draw_progress(Workbench& bench) {
  const Journal& journal = bench.journal;
  char text[64];
  const auto step = static_cast<long long>(journal.step());
  if (journal.total() > 0)
    std::snprintf(text, sizeof text, "step %lld / %lld", step, static_cast<long long>(journal.total()));
  else
    std::snprintf(text, sizeof text, "step %lld", step);
  const float width = em(10.5f), height = ImGui::GetFrameHeight();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  ImDrawList* list = ImGui::GetWindowDrawList();
  list->AddRectFilled(at, {at.x + width, at.y + height}, theme().raised, em(0.3f));
  if (journal.total() > 0) {
    const float part = std::min(1.0f, float(journal.step()) / float(journal.total()));
    list->AddRectFilled(at, {at.x + width * part, at.y + height}, with_alpha(theme().accent, 0.35f),
                        em(0.3f));
  }
  const float text_width = ImGui::CalcTextSize(text).x;
  list->AddText({std::round(at.x + (width - text_width) / 2), at.y + ImGui::GetStyle().FramePadding.y},
                theme().text, text);
  ImGui::Dummy({width, height});
  bench.description.add_last("step", text);
  ImGui::SameLine(0, em(0.9f));
}

void figure(Workbench& bench, const char* item, const std::string& text, float width, const char* help) {
  const float left = ImGui::GetCursorPosX();
  if (left + width > ImGui::GetWindowWidth() - em(5)) return;
  ImGui::AlignTextToFramePadding();
  text_in(theme().muted, "%s", text.c_str());
  bench.description.add_last(item, text);
  explain(help);
  ImGui::SameLine(left + width, 0);
}

}  // namespace

void draw_toolbar(Workbench& bench) {
  const Journal& journal = bench.journal;
  const SessionState state = journal.state();
  const bool paused = state == SessionState::paused, running = state == SessionState::running;
  if (icon_button(bench, Icon::play, paused ? "Continue" : "Run", "run", theme().good,
                  !running && state != SessionState::stopping,
                  "Runs the script from the start, or goes on from a pause. F5; Ctrl+F5 always starts over."))
    bench.run();
  if (icon_button(bench, Icon::pause, "Pause", "pause", theme().warning, running || paused,
                  "Pauses at the script's next safe point, and goes on. F6."))
    bench.pause_or_resume();
  if (icon_button(bench, Icon::step, "Step", "step_button", theme().accent, state != SessionState::stopping,
                  "Goes on to the next step of lg.run.steps and pauses there. F8."))
    bench.step();
  if (icon_button(bench, Icon::stop, "Stop", "stop", theme().bad, journal.active(),
                  "Stops at the next step; a second time interrupts at once. Shift+F5."))
    bench.stop();
  ImGui::SameLine(0, em(0.9f));
  draw_status(bench);
  draw_progress(bench);
  figure(bench, "elapsed", time_text(journal.elapsed()), em(4.5f),
         "Time since the run began, pauses included.");
  char text[64];
  if (const double rate = journal.steps_per_second(); rate > 0 && !paused) {
    std::snprintf(text, sizeof text, rate >= 100 ? "%.0f steps/s" : "%.1f steps/s", rate);
    figure(bench, "rate", text, em(7), "Steps in a second, over the last two seconds.");
  }
  const Session::Memory memory = bench.session.memory();
  std::snprintf(text, sizeof text, "%.1f MiB", double(memory.in_use) / (1 << 20));
  figure(bench, "memory", text, em(6), "Memory of all tensors on the CPU.");
  if (ImGui::GetWindowWidth() < em(30)) return;
  const char* label = theme().dark ? "Light" : "Dark";
  ImGui::SameLine(ImGui::GetWindowWidth() - ImGui::CalcTextSize(label).x - em(2.0f));
  if (ImGui::Button(label)) set_theme(!theme().dark);
  bench.description.add_last("theme", label);
  explain("Changes between the dark and the light theme.");
}

}  // namespace lunagrad
