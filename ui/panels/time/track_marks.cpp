#include "ui/panels/time/track_marks.h"

#include <array>

#include "ui/runs/list.h"
#include "ui/window/theme.h"

namespace lunagrad {
namespace {

struct SignText {
  const char *name, *help;
};
constexpr std::array<SignText, 10> kSigns = {{
    {"kept step", "Its tape is kept: the step is shown at once."},
    {"with values", "Tape and values are kept."},
    {"keyframe",
     "The states of the run after this step. A replay begins with the nearest one before its step."},
    {"probe", "Steps for which a probe has values."},
    {"edit", "A parameter or the model was changed."},
    {"reload", "A changed script took over."},
    {"checkpoint", "A checkpoint was saved."},
    {"pause", "The run was paused."},
    {"NaN or Inf", "The first NaN or Inf."},
    {"fork", "Another run went on from here, or this run went on from another one."},
}};

TrackSign sign_of(RunMark::Kind kind) {
  switch (kind) {
    case RunMark::Kind::edit:
      return TrackSign::edit;
    case RunMark::Kind::reload:
      return TrackSign::reload;
    case RunMark::Kind::checkpoint:
      return TrackSign::checkpoint;
    case RunMark::Kind::pause:
      return TrackSign::pause;
    case RunMark::Kind::not_finite:
      return TrackSign::not_finite;
  }
  return TrackSign::pause;
}

}  // namespace

std::vector<TrackMark> track_marks(const Workbench& bench) {
  std::vector<TrackMark> marks;
  for (const RunMark& mark : bench.journal().curves().marks)
    marks.push_back({sign_of(mark.kind), mark.step, mark.text});
  if (bench.journal().run_folder().empty()) return marks;
  const std::string folder = full_path(bench.journal().run_folder());
  for (const RunSummary& run : bench.runs().runs()) {
    const std::string step = std::to_string(run.parent_step);
    if (run.folder == folder && !run.parent.empty())
      marks.push_back({TrackSign::fork, run.parent_step + 1,
                       "went on after step " + step + " of " + name_of_folder(run.parent)});
    else if (run.parent == folder)
      marks.push_back({TrackSign::fork, run.parent_step, "the run " + run.name + " went on after this step"});
  }
  return marks;
}

ImU32 sign_color(TrackSign sign) {
  const Theme& t = theme();
  switch (sign) {
    case TrackSign::kept:
      return t.faint;
    case TrackSign::values:
    case TrackSign::reload:
      return t.accent;
    case TrackSign::keyframe:
    case TrackSign::pause:
      return t.muted;
    case TrackSign::probe:
    case TrackSign::fork:
      return t.series[4];
    case TrackSign::edit:
      return t.warning;
    case TrackSign::checkpoint:
      return t.good;
    case TrackSign::not_finite:
      return t.bad;
  }
  return t.muted;
}

void draw_sign(ImDrawList* list, TrackSign sign, ImVec2 at, float size) {
  const ImU32 color = sign_color(sign);
  switch (sign) {
    case TrackSign::kept:
      return list->AddLine({at.x, at.y - 0.3f * size}, {at.x, at.y + size}, color);
    case TrackSign::values:
      return list->AddLine({at.x, at.y - size}, {at.x, at.y + size}, color);
    case TrackSign::keyframe:
      return list->AddCircleFilled(at, 0.6f * size, color);
    case TrackSign::probe:
      return list->AddRectFilled({at.x - size, at.y - 0.2f * size}, {at.x + size, at.y + 0.2f * size}, color);
    case TrackSign::pause:
      list->AddLine({at.x - 0.4f * size, at.y - size}, {at.x - 0.4f * size, at.y + size}, color, 2);
      return list->AddLine({at.x + 0.4f * size, at.y - size}, {at.x + 0.4f * size, at.y + size}, color, 2);
    case TrackSign::fork:  // a branch
      list->AddLine({at.x - 0.6f * size, at.y - size}, {at.x - 0.6f * size, at.y + size}, color, 2);
      return list->AddLine({at.x - 0.6f * size, at.y + 0.4f * size}, {at.x + 0.8f * size, at.y - size}, color,
                           2);
    case TrackSign::checkpoint:
      return list->AddRectFilled({at.x - 0.7f * size, at.y - 0.7f * size},
                                 {at.x + 0.7f * size, at.y + 0.7f * size}, color);
    case TrackSign::reload:
      return list->AddCircle(at, 0.8f * size, color, 0, 2);
    case TrackSign::edit:
    case TrackSign::not_finite:
      return list->AddTriangleFilled({at.x - size, at.y - 0.8f * size}, {at.x + size, at.y - 0.8f * size},
                                     {at.x, at.y + 0.8f * size}, color);
  }
}

void draw_legend(Workbench& bench, const std::set<TrackSign>& signs) {
  const float right = ImGui::GetCursorScreenPos().x + ImGui::GetContentRegionAvail().x;
  const float size = em(0.3f), height = ImGui::GetTextLineHeight();
  bool first = true;
  for (const TrackSign sign : signs) {
    const SignText& text = kSigns[size_t(sign)];
    const float width = em(1.1f) + ImGui::CalcTextSize(text.name).x;
    if (!first && ImGui::GetItemRectMax().x + em(0.8f) + width <= right) ImGui::SameLine(0, em(0.8f));
    first = false;
    const ImVec2 at = ImGui::GetCursorScreenPos();
    ImGui::Dummy({width, height});
    draw_sign(ImGui::GetWindowDrawList(), sign, {at.x + em(0.4f), at.y + height / 2}, size);
    ImGui::GetWindowDrawList()->AddText({at.x + em(1.1f), at.y}, theme().muted, text.name);
    bench.description().add_last("time.legend", text.name);
    explain(text.help);
  }
}

}  // namespace lunagrad
