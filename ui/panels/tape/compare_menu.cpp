#include "ui/panels/tape/compare_menu.h"

#include <algorithm>

#include "ui/base/counted.h"
#include "ui/runs/list.h"
#include "ui/window/theme.h"
#include "ui/workbench/panel.h"

namespace lunagrad {
namespace {

constexpr const char* kSteps =
    "Computes each node of this step again in another way, from the same values, so that one that is wrong "
    "by "
    "itself differs from those that inherit its error.";

// Draws the button after the last item, or at `at` from the left of the panel.
bool close_button(Workbench& bench, const char* label, const char* help, float at = 0) {
  ImGui::SameLine(at, at > 0 ? 0 : em(0.5f));
  const bool pressed = ImGui::SmallButton(label);
  bench.description().add_last("tape.compare.close", label);
  explain(help);
  return pressed;
}

float button_room(const char* label) {
  return ImGui::CalcTextSize(label).x + 2 * ImGui::GetStyle().FramePadding.x + em(0.8f);
}

std::string cut_to(const std::string& sentence, float room) {
  const Fonts::Label label{ImGui::GetFont(), ImGui::GetFontSize()};
  return fitting_text(sentence, label, room);
}

void draw_progress(Workbench& bench, const StepInquiry& inquiry, const StepInquiry::Progress& progress) {
  std::string words = "comparing with " + inquiry.with();
  if (progress.all > 0)
    words += ": " + std::to_string(progress.done) + " of " + std::to_string(progress.all) +
             (progress.name.empty() ? "" : ", " + progress.name);
  const float room = ImGui::GetContentRegionAvail().x - button_room("Cancel");
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float end = ImGui::GetCursorPosX() + room;
  const float part = progress.all > 0 ? float(progress.done) / float(progress.all) : 0;
  ImGui::GetWindowDrawList()->AddRectFilled(at, {at.x + room * part, at.y + ImGui::GetTextLineHeight()},
                                            with_alpha(theme().accent, 0.25f), 2);
  text_in(theme().text, "%s", cut_to(words, room).c_str());
  bench.description().add_last("tape.compare.progress", words);
  if (close_button(bench, "Cancel", "Ends the comparison.", end)) bench.step_comparing().close();
}

// Goes to the node, or to its line if another backward pass is shown.
void go_to_row(Workbench& bench, const ComparedNode& row) {
  if (const int node = bench.tape().find_node(row.node); node >= 0) {
    bench.tape_actions().select(node);
    bench.shell().raise_panel("Inspector", "Tape");
  } else {
    bench.texts().go_to(row.place);
  }
}

void draw_answer(Workbench& bench, const StepComparison& comparison) {
  const ComparedNode* const wrong = first_wrong(comparison);
  const std::string sides = comparison.reference + " and " + comparison.other;
  const float room = ImGui::GetContentRegionAvail().x - button_room("x");
  const std::string words =
      wrong ? "first wrong: " + accusation_of(*wrong) : comparison_counts(comparison) + ": " + sides;
  const std::string shown = cut_to(words, room);
  if (wrong) {
    ImGui::PushStyleColor(ImGuiCol_Text, theme().bad);
    if (ImGui::Selectable(shown.c_str(), false, 0, {ImGui::CalcTextSize(shown.c_str()).x, 0}))
      go_to_row(bench, *wrong);
    ImGui::PopStyleColor();
  } else {
    text_in(theme().good, "%s", shown.c_str());
  }
  bench.description().add_last("tape.compare.summary", words);
  explain((words + "\n" +
           (wrong ? comparison_counts(comparison) + ": " + sides + ". Click to select it."
                  : "Select a node to see its errors in the Inspector."))
              .c_str());
  if (close_button(bench, "x", "Removes the colours of the comparison.")) bench.step_comparing().close();
}

// The runs with which the tape can be compared: of the same script first, of these the latest first.
std::vector<const RunSummary*> other_runs(Workbench& bench) {
  const std::string& folder = bench.journal().run_folder();
  const std::string own = folder.empty() ? "" : full_path(folder), script = file_name(bench.script());
  std::vector<const RunSummary*> others;
  for (const RunSummary& run : bench.runs().runs())
    if (run.problem.empty() && run.steps > 0 && run.folder != own) others.push_back(&run);
  std::stable_sort(others.begin(), others.end(),
                   [](const RunSummary* a, const RunSummary* b) { return a->started > b->started; });
  std::stable_partition(others.begin(), others.end(),
                        [&](const RunSummary* run) { return file_name(run->script) == script; });
  return others;
}

}  // namespace

void CompareMenu::add_commands(Workbench& bench, const char* panel) {
  bench.commands().add_composed(
      {"Tape: compare", "C", "Compares this step with another way to compute it, or with another tape.",
       [this] { opening_ = true; }, [&bench] { return bench.tape().tape() != nullptr; }, panel});
}

void CompareMenu::draw_button(Workbench& bench) {
  if (ImGui::Button("Compare")) opening_ = true;
  bench.description().add_last("tape.compare", "");
  explain("Compares this step with another way to compute it, or with the tape of another step or run. C.");
  if (std::exchange(opening_, false)) ImGui::OpenPopup("compare");
  if (!ImGui::BeginPopup("compare")) return;
  draw_sides(bench);
  ImGui::Separator();
  draw_tapes(bench);
  ImGui::EndPopup();
}

std::shared_ptr<const NodeMarks> CompareMenu::marks(Workbench& bench) {
  return bench.tape_comparing().marks() ? bench.tape_comparing().marks() : bench.step_comparing().marks();
}

// A menu that scrolls, for many items.
template <class Each>
void draw_choices(Workbench& bench, const char* label, const char* help, bool any, const Each& each) {
  ImGui::SetNextWindowSizeConstraints({0, 0}, {FLT_MAX, em(18)});
  const bool open = ImGui::BeginMenu(label, any);
  bench.description().add_last("tape.compare.tapes", std::string(label) + (any ? "" : " not now"));
  if (!open) return explain(help);
  each();
  ImGui::EndMenu();
}

void CompareMenu::draw_tapes(Workbench& bench) {
  bench.curves().look_around(bench.script());  // the Runs panel, which looks too, may never have been shown
  TapeComparing& comparing = bench.tape_comparing();
  const auto item = [&](const std::string& name) {
    const bool chosen = ImGui::MenuItem(name.c_str());
    bench.description().add_last("tape.compare.tape", name);
    return chosen;
  };
  bold_text("This tape, beside the tape of");
  explain("Lists what was added, removed and changed, and which values moved, causes first.");
  const int64_t shown = bench.shown().step();
  const auto& kept = bench.shown().history().steps;
  draw_choices(bench, "another step", "A step whose tape is kept.", kept.size() > 1, [&] {
    for (auto step = kept.rbegin(); step != kept.rend(); ++step)
      if (step->step != shown && item("step " + std::to_string(step->step))) comparing.with_step(step->step);
  });
  if (ImGui::MenuItem("before the reload", nullptr, false, comparing.knows_reload()))
    comparing.with_tape_before_reload();
  bench.description().add_last("tape.compare.tape",
                               comparing.knows_reload() ? "before the reload" : "before the reload not now");
  explain("The tape that was shown when the script was last reloaded.");
  draw_choices(
      bench, "another run",
      "The same step of another run. If it does not keep this step, the structure of its nearest step.", true,
      [&] {
        const std::vector<const RunSummary*> runs = other_runs(bench);
        for (const RunSummary* const run : runs) {
          ImGui::PushID(run->folder.c_str());  // runs in two folders may have one name
          if (item(run->name + ", " + counted(run->steps, "step"))) comparing.with_run(run->folder);
          ImGui::PopID();
        }
        if (!runs.empty()) return;
        const auto [done, all] = bench.runs().progress();
        const char* const words = all > done ? "reading runs" : "no other run has steps";
        text_in(theme().muted, "%s", words);
        bench.description().add_last("tape.compare.no_run", words);
      });
  draw_choices(bench, "a file", "A tape that Export has written as JSON, or lg.tape(loss):json().", true,
               [&] {
                 ImGui::SetNextItemWidth(em(20));
                 const bool entered = ImGui::InputTextWithHint("##file", "tape.json", file_, sizeof file_,
                                                               ImGuiInputTextFlags_EnterReturnsTrue);
                 bench.description().add_last("tape.compare.file", file_);
                 ImGui::SameLine(0, em(0.4f));
                 if ((ImGui::Button("Compare##file") || entered) && file_[0]) {
                   comparing.with_file(file_);
                   ImGui::CloseCurrentPopup();
                 }
               });
}

void CompareMenu::draw_sides(Workbench& bench) {
  StepComparing& comparing = bench.step_comparing();
  const std::string lacks = comparing.lacks();
  bold_text("This step, computed with");
  explain(kSteps);
  for (const StepComparing::Side& side : comparing.sides()) {
    if (ImGui::MenuItem(side.with.c_str(), nullptr, false, lacks.empty())) comparing.compare(side.with);
    bench.description().add_last("tape.compare.side", side.with + (lacks.empty() ? "" : " not now"));
    explain(side.help.c_str());
  }
  if (!comparing.knows_devices()) text_in(theme().muted, "looking for devices");
  if (lacks.empty()) return;
  ImGui::PushTextWrapPos(em(20));
  text_in(theme().warning, "%s", lacks.c_str());
  ImGui::PopTextWrapPos();
}

void CompareMenu::draw_line(Workbench& bench) {
  const StepComparing& comparing = bench.step_comparing();
  TapeComparing& tapes = bench.tape_comparing();
  if (tapes.working()) {
    text_in(theme().muted, "comparing the tapes");
  } else if (!tapes.problem().empty()) {
    const std::string words = "not compared: " + tapes.problem();
    text_in(theme().warning, "%s",
            cut_to(words, ImGui::GetContentRegionAvail().x - button_room("x")).c_str());
    bench.description().add_last("tape.compare.problem", words);
    explain(words.c_str());
    if (close_button(bench, "x", "Removes this line.")) tapes.close();
  } else if (const auto progress = comparing.inquiry().progress()) {
    draw_progress(bench, comparing.inquiry(), *progress);
  } else if (comparing.shown()) {
    draw_answer(bench, *comparing.shown());
  } else if (const std::string problem = comparing.problem(); !problem.empty()) {
    const std::string words = "not compared with " + comparing.inquiry().with() + ": " + problem;
    text_in(theme().warning, "%s",
            cut_to(words, ImGui::GetContentRegionAvail().x - button_room("x")).c_str());
    bench.description().add_last("tape.compare.problem", words);
    explain(words.c_str());
    if (close_button(bench, "x", "Removes this line.")) bench.step_comparing().close();
  }
}

}  // namespace lunagrad
