#include "ui/panels/time/track.h"

#include <algorithm>
#include <cmath>

#include "runtime/core/figures.h"
#include "ui/base/counted.h"
#include "ui/window/theme.h"

namespace lunagrad {

// The track on the screen: steps increase from left to right.
struct TimeTrack::Scale {
  int64_t first, last;
  ImVec2 min, max;
  float left, right;  // of the first and the last step

  float x_of(int64_t step) const {
    const double part = last > first ? double(step - first) / double(last - first) : 1.0;
    return left + float(std::clamp(part, 0.0, 1.0)) * (right - left);
  }
  int64_t step_at(float x) const {
    const double part = std::clamp(double((x - left) / (right - left)), 0.0, 1.0);
    return first + int64_t(std::llround(part * double(last - first)));
  }
};

std::string cost_text(const ReplayController::Cost& cost, int64_t first_step) {
  std::string text = counted(cost.steps, "step");
  if (cost.goes_on)
    text += " from the replayed step " + std::to_string(cost.from);
  else if (cost.from < first_step)
    text += " from the beginning";
  else
    text += " from the keyframe at " + std::to_string(cost.from);
  if (cost.seconds >= 0.05)
    text += ", about " + run_time_figure(cost.seconds);
  else if (cost.seconds > 0)
    text += ", less than 0.1 s";
  return text;
}

void TimeTrack::add_commands(Workbench& bench, const char* panel) {
  const auto any = [&bench] { return bench.shown().last_step() > 0; };
  const auto add = [&](const char* name, const char* key, const char* help, std::function<void()> run,
                       std::function<bool()> enabled, bool repeats) {
    bench.commands().add_composed(
        {std::string("Time: ") + name, key, help, std::move(run), std::move(enabled), panel, repeats});
  };
  add(
      "one step back", "Left", "Moves the handle of the track to the step before.",
      [this, &bench] { move(bench, -1); }, any, true);
  add(
      "one step forward", "Right", "Moves the handle of the track to the next step.",
      [this, &bench] { move(bench, 1); }, any, true);
  add(
      "ten steps back", "Shift+Left", "Moves the handle of the track ten steps back.",
      [this, &bench] { move(bench, -10); }, any, true);
  add(
      "ten steps forward", "Shift+Right", "Moves the handle of the track ten steps forward.",
      [this, &bench] { move(bench, 10); }, any, true);
  add(
      "first step", "Home", "Moves the handle of the track to the first step of the run.",
      [this, &bench] { aim(bench, bench.shown().first_step()); }, any, false);
  add(
      "last step", "End", "Shows the latest step and follows the run.",
      [this, &bench] { aim(bench, bench.shown().last_step()); }, any, false);
  add(
      "show the step", "Enter", "Repeats the run up to the step of the handle and shows it.",
      [this, &bench] { show(bench); },
      [this, &bench] { return aimed_ || bench.shown().lacks_values(bench.shown().cursor()); }, false);
  add(
      "cancel", "Escape", "Ends the replay that is under way, or puts the handle back.",
      [this, &bench] {
        let_go();
        if (bench.shown().replay().progress()) bench.shown().cancel_replay();
      },
      [this, &bench] { return aimed_ || bench.shown().replay().progress(); }, false);
}

void TimeTrack::move(Workbench& bench, int64_t by) {
  ShownStep& shown = bench.shown();
  const auto replay = shown.replay().progress();
  const int64_t from = aimed_ ? *aimed_ : replay ? replay->to : shown.cursor();
  aim(bench, std::clamp(from + by, shown.first_step(), std::max(shown.first_step(), shown.last_step())));
}

void TimeTrack::aim(Workbench& bench, int64_t step) {
  aimed_ = step;
  if (bench.shown().at_hand(step)) show(bench);
}

void TimeTrack::show(Workbench& bench) {
  if (const auto step = std::exchange(aimed_, std::nullopt))
    bench.shown().go_to(*step);
  else if (bench.shown().lacks_values(bench.shown().cursor()))
    bench.shown().repeat(bench.shown().cursor());
}

void TimeTrack::draw(Workbench& bench) {
  ImGui::PushID("track");
  draw_bar(bench);
  draw_legend(bench, signs_);
  draw_state(bench);
  ImGui::PopID();
}

void TimeTrack::draw_bar(Workbench& bench) {
  ShownStep& shown = bench.shown();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float width = std::max(ImGui::GetContentRegionAvail().x, em(4)), height = em(3), pad = em(0.5f);
  const int64_t first = shown.first_step();
  const Scale scale{first,      std::max(first, shown.last_step()),
                    at,         {at.x + width, at.y + height},
                    at.x + pad, at.x + width - pad};
  ImGui::InvisibleButton("strip", {width, height});
  const bool held = ImGui::IsItemActive(), hovered = ImGui::IsItemHovered();
  const bool pressed = ImGui::IsItemActivated(), released = ImGui::IsItemDeactivated();
  bench.description().add_last("time.strip", "steps " + std::to_string(scale.first) + " to " +
                                                 std::to_string(scale.last) + ", " +
                                                 std::to_string(shown.history().steps.size()) + " kept");
  ImGui::GetWindowDrawList()->AddRectFilled(scale.min, scale.max, theme().canvas, em(0.3f));
  marks_ = track_marks(bench);
  draw_known(bench, scale);
  draw_handle(bench, scale, held);
  if (hovered && !held) tell_step(bench, scale);
  // During a drag kept steps are shown immediately; another step is shown when the handle is released. The
  // track of a current run moves under a mouse that rests, so only a moved mouse moves the handle.
  if (held && (pressed || ImGui::GetIO().MouseDelta.x != 0))
    aimed_ = scale.step_at(ImGui::GetIO().MousePos.x);
  if (held && aimed_ && shown.at_hand(*aimed_))
    shown.go_to(*aimed_);
  else if (released)
    show(bench);
  if (aimed_ && *aimed_ > scale.last) let_go();  // aimed_ belongs to an earlier run
}

void TimeTrack::draw_known(Workbench& bench, const Scale& scale) {
  ImDrawList* const list = ImGui::GetWindowDrawList();
  const float height = scale.max.y - scale.min.y, foot = scale.max.y - em(0.7f);
  const auto present = [&](TrackSign sign) { signs_.insert(sign); };
  signs_ = {TrackSign::kept, TrackSign::keyframe};
  for (const KeptStep& kept : bench.shown().history().steps) {
    if (kept.step < scale.first) continue;
    const float x = scale.x_of(kept.step), top = scale.min.y + height * (kept.values ? 0.25f : 0.5f);
    list->AddLine({x, top}, {x, foot}, sign_color(kept.values ? TrackSign::values : TrackSign::kept));
    if (kept.values) present(TrackSign::values);
  }
  std::string steps;
  if (const MemoryKeyframes* const keyframes = bench.shown().replay().keyframes()) {
    const std::vector<int64_t> at = keyframes->steps();
    for (const int64_t step : at)
      list->AddCircleFilled({scale.x_of(step), scale.max.y - em(0.35f)}, em(0.17f),
                            sign_color(TrackSign::keyframe));
    steps = counted(int64_t(at.size()), "keyframe");
  }
  bench.description().add("time.keyframes", steps, scale.min, scale.max);
  for (const ProbeController::Item& item : bench.probes().items())
    for (const auto& [first, last] : bench.probes().covered(item)) {
      present(TrackSign::probe);
      list->AddRectFilled({scale.x_of(first), scale.max.y - em(0.1f)}, {scale.x_of(last), scale.max.y},
                          sign_color(TrackSign::probe));
    }
  for (const TrackMark& mark : marks_) {
    if (mark.step < scale.first || mark.step > scale.last) continue;
    present(mark.sign);
    const float x = scale.x_of(mark.step), y = scale.min.y + em(0.35f);
    draw_sign(list, mark.sign, {x, y}, em(0.3f));
    bench.description().add("time.mark", "step " + std::to_string(mark.step) + ": " + mark.text,
                            {x - em(0.3f), scale.min.y}, {x + em(0.3f), scale.min.y + em(0.7f)});
  }
}

void TimeTrack::draw_handle(Workbench& bench, const Scale& scale, bool held) {
  ImDrawList* const list = ImGui::GetWindowDrawList();
  const ShownStep& shown = bench.shown();
  const auto handle = [&](int64_t step, ImU32 color) {
    const float x = scale.x_of(step);
    list->AddLine({x, scale.min.y}, {x, scale.max.y}, color, 2);
    list->AddCircleFilled({x, scale.min.y + em(0.9f)}, em(0.38f), color);
  };
  const int64_t latest = std::clamp(shown.cursor(), scale.first, scale.last);
  handle(latest, shown.live() ? theme().text : theme().warning);
  if (aimed_ && (held || !shown.at_hand(*aimed_))) handle(*aimed_, theme().accent);
}

// Shows the step under the mouse, its events, and the cost of showing it.
void TimeTrack::tell_step(Workbench& bench, const Scale& scale) const {
  const float mouse = ImGui::GetIO().MousePos.x;
  const int64_t step = scale.step_at(mouse);
  std::string text = "step " + std::to_string(step);
  if (bench.shown().at_hand(step))
    text += step < scale.last ? ", kept" : ", the latest";
  else
    text += ": " + cost_text(bench.shown().cost(step), scale.first);
  for (const TrackMark& mark : marks_)
    if (std::abs(scale.x_of(mark.step) - mouse) < em(0.3f) + 2)
      text += "\nstep " + std::to_string(mark.step) + ": " + mark.text;
  text += "\n\nDrag to go back in time.";
  explain(text.c_str());
}

void TimeTrack::draw_state(Workbench& bench) {
  const ReplayController& replay = bench.shown().replay();
  if (const auto progress = replay.progress())
    draw_progress(bench, *progress);
  else if (aimed_ && !bench.shown().at_hand(*aimed_))
    draw_offer(bench, *aimed_, "");
  else if (const int64_t step = bench.shown().cursor(); bench.shown().lacks_values(step))
    draw_offer(bench, step, "its values are not kept: ");
  draw_findings(bench);
}

void TimeTrack::draw_progress(Workbench& bench, const ReplayController::Progress& progress) {
  const float part =
      float(progress.at - progress.from) / float(std::max<int64_t>(progress.to - progress.from, 1));
  const std::string text =
      "replays step " + std::to_string(progress.at) + " of " + std::to_string(progress.to);
  const float button = ImGui::CalcTextSize("Cancel").x + 3 * ImGui::GetStyle().FramePadding.x;
  const float width = std::max(ImGui::GetContentRegionAvail().x - button - em(0.5f), em(4));
  ImGui::ProgressBar(part, {width, 0}, text.c_str());
  bench.description().add_last("time.replay", text);
  ImGui::SameLine(0, em(0.4f));
  if (ImGui::Button("Cancel")) bench.shown().cancel_replay();
  bench.description().add_last("time.cancel", "");
  explain("Ends the replay. The run itself is not touched.");
}

void TimeTrack::draw_offer(Workbench& bench, int64_t step, const char* why) {
  const std::string text = "step " + std::to_string(step) + ": " + why +
                           cost_text(bench.shown().cost(step), bench.shown().first_step());
  ImGui::AlignTextToFramePadding();
  ImGui::PushTextWrapPos(0);
  ImGui::TextUnformatted(text.c_str());
  ImGui::PopTextWrapPos();
  bench.description().add_last("time.cost", text);
  ImGui::SameLine();
  if (ImGui::Button(*why ? "Repeat" : "Show")) return show(bench);
  bench.description().add_last("time.show", "");
  explain("Repeats these steps beside the run and shows the last one with its values. Enter.");
}

// Shows the findings of the last replay.
void TimeTrack::draw_findings(Workbench& bench) {
  ReplayController& replay = bench.shown().replay();
  const auto tell = [&](const char* name, ImU32 color, const std::string& text) {
    ImGui::PushTextWrapPos(0);
    text_in(color, "%s", text.c_str());
    ImGui::PopTextWrapPos();
    bench.description().add_last(name, text);
  };
  if (const std::string problem = replay.problem(); !problem.empty()) {
    if (ImGui::SmallButton("\xc3\x97")) replay.dismiss_problem();
    explain("Hides this message.");
    ImGui::SameLine();
    tell("time.problem", theme().bad, problem);
  }
  const ReplayController::Position* const position = replay.position();
  if (!position) return;
  if (position->difference)
    tell("time.differs", theme().warning,
         "The replay differs from the run since step " + std::to_string(position->difference->step) + ": " +
             position->difference->what + "; " + position->difference->cause + ".");
  if (!position->note.empty()) tell("time.note", theme().muted, position->note);
}

}  // namespace lunagrad
