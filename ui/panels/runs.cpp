// Runs: the run folders near the script as a table. A tick shows a run's curves; runs can be starred,
// annotated, compared and deleted here.
#include <imgui_internal.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "runtime/core/figures.h"
#include "script/run/notes.h"
#include "ui/base/redraw.h"
#include "ui/panels/runs/action_help.h"
#include "ui/panels/runs/brush_control.h"
#include "ui/panels/runs/columns.h"
#include "ui/panels/runs/comparison_window.h"
#include "ui/panels/runs/dialogs.h"
#include "ui/panels/runs/folder_tasks.h"
#include "ui/panels/runs/name_cell.h"
#include "ui/panels/runs/own_run.h"
#include "ui/panels/runs/run_menu.h"
#include "ui/panels/runs/run_source.h"
#include "ui/panels/time/fork_form.h"
#include "ui/runs/list.h"
#include "ui/runs/parallel.h"
#include "ui/widgets/parallel_plot.h"
#include "ui/window/outlined.h"
#include "ui/window/theme.h"
#include "ui/workbench/panel.h"

namespace lunagrad {
namespace {

constexpr float kLeastTable = 9;    // least height of the table below parallel coordinates, in em
constexpr float kLeastBeside = 36;  // least width of the panel with the table beside them
constexpr float kLeastName = 7, kForkName = 15, kMostName = 26;  // widths of the names, in em

class RunsPanel final : public Panel {
 public:
  const char* title() const override { return "Runs"; }
  Region region() const override { return Region::lower_left; }
  std::optional<PanelStep> shown_step(const Workbench&) const override { return std::nullopt; }

  void add_commands(Workbench& bench) override {
    const auto run = [this, &bench] { return selected_run(bench); };
    add_own_command(
        bench, "Compare", kCompareHelp, [this, &bench] { compare(bench); },
        [this, &bench] { return pair(bench).size() == 2; });
    add_own_command(
        bench, "Parallel coordinates", kParallelHelp, [this] { parallel_ = !parallel_; },
        [this, &bench] { return bench.runs().runs().size() > 1 || parallel_; });
    add_own_command(
        bench, "New run from the selected run", kForkHelp, [this, &bench] { fork(bench); },
        [this, &bench] { return can_fork(bench); });
    add_own_command(
        bench, "Open the selected run", kOpenHelp, [this, &bench] { open(bench); },
        [this, &bench] { return can_open(bench); });
    add_own_command(
        bench, "Note on the selected run", kNoteHelp, [this, run] { dialogs_.ask_note(*run()); },
        [run] { return run() != nullptr; });
    add_own_command(
        bench, "Script of the selected run", kScriptHelp, [this, &bench] { open_script(bench); },
        [run] { return run() != nullptr; });
    add_own_command(
        bench, "Export", kExportHelp, [this, &bench] { tasks_.export_runs(bench, to_export(bench)); },
        [this, &bench] { return !to_export(bench).empty(); });
    add_own_command(
        bench, "Delete", kDeleteHelp, [this] { dialogs_.ask_deletion(selected_); },
        [this] { return !selected_.empty(); });
    add_run_source(bench);
  }

  void draw(Workbench& bench) override {
    look(bench);
    const std::vector<RunSummary>& runs = bench.runs().runs();
    if (runs.empty()) {
      const auto [done, all] = bench.runs().progress();
      draw_empty(all > done ? "Reading runs" : "No runs yet",
                 ("Every run is kept in a folder of runs/. Searched: " + places_).c_str());
      return;
    }
    arrange_runs(bench);
    draw_tools_line(bench);
    tasks_.draw(bench);
    ForkForm::draw_state(bench);
    if (!draw_parallel(bench)) draw_table(bench);
    const auto change_folder = [&](std::function<void()> work, const std::string& well) {
      tasks_.change(bench, std::move(work), well);
    };
    if (dialogs_.draw(bench, change_folder)) selected_.clear();
    fork_.draw(bench, fork_button_);
    comparison_.draw(bench);
  }

 private:
  void look(Workbench& bench) {
    const std::string key = bench.script() + "\n" + bench.journal().run_folder() + "\n" +
                            std::to_string(bench.runs().curves().size());
    if (key == looked_for_) return;
    looked_for_ = key;
    if (bench.curves().opened_sweep() != opened_sweep_) {
      opened_sweep_ = bench.curves().opened_sweep();
      choose_sweep(bench, opened_sweep_);
    }
    const std::set<std::string> folders = bench.curves().look_around(bench.script());
    places_.clear();
    for (const std::string& folder : folders) places_ += (places_.empty() ? "" : ", ") + folder;
  }

  void arrange_runs(Workbench& bench) {
    const std::vector<RunSummary>& runs = bench.runs().runs();
    if (bench.runs().revision() != revision_) {
      revision_ = bench.runs().revision();
      differences_ = differences(runs);
      metrics_ = metric_names(runs);
      sweeps_.clear();
      for (const RunSummary& run : runs)
        if (!run.sweep.empty()) sweeps_.insert(run.sweep);
      choose_metric_of_sweep(runs);
      if (std::find(metrics_.begin(), metrics_.end(), order_.metric) == metrics_.end())
        order_.metric = metrics_.empty() ? "" : metrics_[0];
      std::erase_if(selected_, [&](const std::string& folder) {
        return std::none_of(runs.begin(), runs.end(),
                            [&](const RunSummary& run) { return run.folder == folder; });
      });
      arranged_ = false;
    }
    if (!arranged_) {
      listed_ = arrange(runs, differences_, order_);
      std::stable_partition(metrics_.begin(), metrics_.end(),
                            [ranked = ranked_metric(runs, order_.sweep)](const std::string& metric) {
                              return metric == ranked;
                            });
      settings_ = sweep_settings(runs, order_.sweep, settings_, kMostSettings);
      columns_ = run_columns(order_.metric, settings_);
      plot_.reset();
      brush_rows(runs);
    }
    arranged_ = true;
  }

  // The table shows the listed runs that the brushes select; in the plot the others are pale.
  void brush_rows(const std::vector<RunSummary>& runs) {
    rows_ = brushes_.selected(runs, listed_, order_.metric);
    tree_ = tree_of(runs, rows_);
    if (plot_) brushes_.mark(*plot_, runs, order_.metric);
  }

  void choose_metric(Workbench& bench, const std::string& metric) {
    order_.metric = metric;
    metric_of_sweep_ = false;
    brushes_.clear_metric(bench, listed_, metric);
    arranged_ = false;
  }

  // Shows the trials of a sweep with the best first, or all runs for "", the latest first.
  void choose_sweep(Workbench& bench, const std::string& sweep) {
    brushes_.clear(bench);
    order_.sweep = sweep;
    parallel_ = metric_of_sweep_ = !sweep.empty();
    settings_.clear();
    choose_metric_of_sweep(bench.runs().runs());
    sorts_ = true;
    arranged_ = false;
  }

  // The metric that a sweep optimises is chosen as soon as a trial has logged it, unless the user was faster.
  void choose_metric_of_sweep(const std::vector<RunSummary>& runs) {
    const std::string ranked = metric_of_sweep_ ? ranked_metric(runs, order_.sweep) : "";
    if (ranked.empty()) return;
    order_.metric = ranked;
    metric_of_sweep_ = false;
    sorts_ = true;
  }

  const RunSummary* find(Workbench& bench, const std::string& folder) const {
    for (const RunSummary& run : bench.runs().runs())
      if (run.folder == folder) return &run;
    return nullptr;
  }

  void draw_tools_line(Workbench& bench) {
    const float right = ImGui::GetCursorScreenPos().x + ImGui::GetContentRegionAvail().x;
    const auto place = [&](float width) {
      if (ImGui::GetItemRectMax().x + ImGui::GetStyle().ItemSpacing.x + width <= right) ImGui::SameLine();
    };
    ImGui::SetNextItemWidth(std::min(em(11), 0.42f * ImGui::GetContentRegionAvail().x));
    if (ImGui::InputTextWithHint("##filter", "find runs", filter_, sizeof filter_)) {
      order_.filter = filter_;
      arranged_ = false;
    }
    bench.description().add_last("runs.filter", filter_);
    explain(
        "Words that must occur in a run's line: in its name, outcome, script, what differs or its note; "
        "\"starred\" finds the stars.");
    place(em(8));
    ImGui::SetNextItemWidth(em(8));
    if (ImGui::BeginCombo("##metric", order_.metric.empty() ? "no metric" : order_.metric.c_str())) {
      for (const std::string& metric : metrics_)
        if (ImGui::Selectable(metric.c_str(), metric == order_.metric)) choose_metric(bench, metric);
      ImGui::EndCombo();
    }
    bench.description().add_last("runs.metric", order_.metric);
    explain("The metric of the columns last and best.");
    if (!sweeps_.empty()) draw_sweep_choice(bench, place);
    const auto [done, all] = bench.runs().progress();
    const size_t known = bench.runs().runs().size();
    std::string count =
        (rows_.size() < known ? std::to_string(rows_.size()) + " of " : "") + std::to_string(known);
    count += known == 1 ? " run" : " runs";
    if (brushes_.any() && rows_.size() > BrushControl::kMostCurves)
      count += ", curves of the best " + std::to_string(BrushControl::kMostCurves);
    if (all > done) count += ", reading " + std::to_string(done) + " of " + std::to_string(all);
    place(ImGui::CalcTextSize(count.c_str()).x);
    ImGui::AlignTextToFramePadding();
    text_in(theme().muted, "%s", count.c_str());
    bench.description().add_last("runs.count", count);
    explain(("Runs in " + places_ +
             ". A click selects one, with Ctrl several; the box in front shows its curves.")
                .c_str());
    const auto action = [&](const char* label, bool possible, const char* name, const char* help) {
      place(ImGui::CalcTextSize(label).x + 2 * ImGui::GetStyle().FramePadding.x);
      ImGui::BeginDisabled(!possible);
      const bool pressed = ImGui::Button(label);
      ImGui::EndDisabled();
      bench.description().add_last(name, possible ? "" : "not now");
      explain(help);
      return pressed;
    };
    const bool several = rows_.size() > 1 || parallel_;  // a single run has no other to compare with
    if (several) {
      place(ImGui::CalcTextSize("Parallel").x + 2 * ImGui::GetStyle().FramePadding.x);
      if (tool_button("Parallel", parallel_)) parallel_ = !parallel_;
      bench.description().add_last("runs.parallel", parallel_ ? "on" : "off");
      explain(kParallelHelp);
    }
    if (several && action("Compare", pair(bench).size() == 2, "runs.compare", kCompareHelp)) compare(bench);
    for (const RunAction& of : actions(bench)) {
      if (of.item && action(of.label, of.possible, of.item, of.help)) of.act();
      if (of.help == kForkHelp) fork_button_ = last_item_area();
    }
  }

  // What can be done with the selected runs: the buttons, and the menu of a row.
  std::vector<RunAction> actions(Workbench& bench) {
    const RunSummary* const run = selected_run(bench);
    return {{"Open", nullptr, kOpenHelp, can_open(bench), [this, &bench] { open(bench); }},
            {"Note", "runs.note", kNoteHelp, run != nullptr, [this, run] { dialogs_.ask_note(*run); }},
            {"Fork...", "runs.fork", kForkHelp, can_fork(bench), [this, &bench] { fork(bench); }},
            {"Script", "runs.script", kScriptHelp, run != nullptr, [this, &bench] { open_script(bench); }},
            {"Export", "runs.export", kExportHelp, !to_export(bench).empty(),
             [this, &bench] { tasks_.export_runs(bench, to_export(bench)); }},
            {"Delete", "runs.delete", kDeleteHelp, !selected_.empty(),
             [this] { dialogs_.ask_deletion(selected_); }}};
  }

  // The selected runs, or else the ticked ones.
  std::vector<std::string> to_export(Workbench& bench) const {
    const std::set<std::string>& chosen = selected_.empty() ? bench.runs().shown() : selected_;
    if (chosen.empty() && !bench.journal().run_folder().empty()) return {bench.journal().run_folder()};
    return {chosen.begin(), chosen.end()};
  }

  // The runs to compare: the two selected ones, or else the ticked ones.
  const std::set<std::string>& pair(Workbench& bench) const {
    return selected_.size() == 2 ? selected_ : bench.runs().shown();
  }

  void compare(Workbench& bench) {
    const auto found = std::make_shared<RunComparison>();
    bench.shell().background_tasks().add(
        [found, left = *pair(bench).begin(), right = *std::next(pair(bench).begin())] {
          *found = compare_runs(left, right);
        },
        [this, found](const std::string& problem) {
          if (!problem.empty()) found->problem = problem;
          comparison_.open(std::move(*found));
        });
  }

  // The run that alone is selected; null if there is none.
  const RunSummary* selected_run(Workbench& bench) const {
    return selected_.size() == 1 ? find(bench, *selected_.begin()) : nullptr;
  }
  bool can_fork(Workbench& bench) const {
    const RunSummary* const run = selected_run(bench);
    return run && run->problem.empty();
  }
  bool can_open(Workbench& bench) const { return can_fork(bench) && !bench.journal().active(); }
  void open(Workbench& bench) { bench.control().open_run(*selected_.begin()); }
  void fork(Workbench& bench) {
    const RunSummary* const run = selected_run(bench);
    fork_.open(bench, run->folder, run->steps);
  }

  template <class Place>
  void draw_sweep_choice(Workbench& bench, const Place& place) {
    const auto name = [](const std::string& folder) {
      return folder.empty() ? "all runs" : "sweep " + file_name(folder);
    };
    place(em(9));
    ImGui::SetNextItemWidth(em(9));
    if (ImGui::BeginCombo("##sweep", name(order_.sweep).c_str())) {
      std::vector<std::string> choices(sweeps_.begin(), sweeps_.end());
      choices.insert(choices.begin(), "");
      for (const std::string& sweep : choices) {
        if (ImGui::Selectable(name(sweep).c_str(), sweep == order_.sweep)) choose_sweep(bench, sweep);
        bench.description().add_last("runs.sweep.choice", name(sweep));
        if (!sweep.empty()) explain(sweep.c_str());
      }
      ImGui::EndCombo();
    }
    bench.description().add_last("runs.sweep", name(order_.sweep));
    explain("Shows the trials of one sweep, or all runs.");
  }

  // Draws the plot above the table, which keeps half of the height, or in a low panel to its left. Returns
  // true when the panel is too small for both.
  bool draw_parallel(Workbench& bench) {
    if (!parallel_) return false;
    if (!plot_) {
      plot_ = parallel_plot(bench.runs().runs(), listed_, order_.metric);
      brush_rows(bench.runs().runs());
    }
    if (plot_->axes.size() < 2) {
      text_in(theme().muted, "Nothing to compare: no setting differs, or nothing was logged.");
      return false;
    }
    const std::vector<RunSummary>& runs = bench.runs().runs();
    std::set<size_t> chosen;
    for (const size_t row : listed_)
      if (selected_.count(runs[row].folder)) chosen.insert(row);
    const ImVec2 room = ImGui::GetContentRegionAvail();
    const bool low = room.y < em(9 + kLeastTable), beside = low && room.x >= em(kLeastBeside);
    const bool alone = low && !beside;
    const ParallelPick pick = draw_parallel_plot(
        "runs.parallel", *plot_, chosen,
        {std::max(beside ? room.x * 0.48f : room.x, em(3)), std::max(low ? room.y : room.y / 2, em(9))},
        bench.description());
    if (pick.clicked) {
      select(runs[*pick.clicked].folder);
      scroll_to_ = runs[*pick.clicked].folder;
    }
    if (brushes_.take(bench, pick, *plot_, listed_, order_.metric)) brush_rows(runs);
    if (pick.under) explain(run_values(runs[*pick.under], *plot_, order_.metric).c_str());
    if (beside) ImGui::SameLine(0, em(1));
    return alone;
  }

  // A click selects this run only; with Ctrl it adds or removes the run.
  void select(const std::string& folder) {
    const bool selected = selected_.count(folder) > 0, among = ImGui::GetIO().KeyCtrl;
    if (!among) selected_.clear();
    if (selected && among)
      selected_.erase(folder);
    else
      selected_.insert(folder);
  }

  void draw_table(Workbench& bench) {
    const ImGuiTableFlags flags = ImGuiTableFlags_Sortable | ImGuiTableFlags_ScrollX |
                                  ImGuiTableFlags_ScrollY | ImGuiTableFlags_Resizable |
                                  ImGuiTableFlags_Hideable | ImGuiTableFlags_RowBg |
                                  ImGuiTableFlags_NoSavedSettings | ImGuiTableFlags_SizingFixedFit;
    ImVec2 room = ImGui::GetContentRegionAvail();
    room.y = std::max(room.y, em(7));  // a low panel scrolls
    table_right_ = ImGui::GetCursorScreenPos().x + room.x;
    if (room.x < em(3) || !ImGui::BeginTable("runs", int(columns_.size()) + 1, flags, room)) return;
    const bool fresh = ImGui::GetCurrentTable()->IsInitializing;  // as in a panel that now fills the window
    ImGui::TableSetupScrollFreeze(3, 1);
    ImGui::TableSetupColumn(
        "##shown",
        ImGuiTableColumnFlags_NoSort | ImGuiTableColumnFlags_NoResize | ImGuiTableColumnFlags_NoHide,
        ImGui::GetFrameHeight());
    const bool higher = higher_is_better(bench.runs().runs(), order_.sweep, order_.metric);
    for (size_t i = 0; i < columns_.size(); ++i) {
      const RunTableColumn& column = columns_[i];
      ImGuiTableColumnFlags extra =
          column.column == RunColumn::started
              ? ImGuiTableColumnFlags_DefaultSort | ImGuiTableColumnFlags_PreferSortDescending
              : 0;
      if (column.column == RunColumn::star || (column.column == RunColumn::best && higher))
        extra |= ImGuiTableColumnFlags_PreferSortDescending;
      if (!column.on) extra |= ImGuiTableColumnFlags_Disabled;
      ImGui::TableSetupColumn(column.title.c_str(), extra, em(column.width), ImGuiID(i));
    }
    const float row_height = ImGui::GetFrameHeight() + 2 * ImGui::GetStyle().CellPadding.y;
    const float rows = float(rows_.size()) * row_height;
    const float below =
        ImGui::GetTextLineHeight() + ImGui::GetStyle().ScrollbarSize + em(1);  // below and above the rows
    fit_columns(room.x - (rows + below > room.y ? ImGui::GetStyle().ScrollbarSize : 0));
    ImGui::TableNextRow(ImGuiTableRowFlags_Headers);
    for (int i = 0; i <= int(columns_.size()); ++i) {
      if (!ImGui::TableSetColumnIndex(i)) continue;
      // A column keeps its identity when its metric or setting changes.
      const std::string title =
          i == 0 ? "##shown" : columns_[size_t(i - 1)].title + "###column" + std::to_string(i);
      ImGui::TableHeader(title.c_str());
      if (i == 0) {
        explain("A tick shows the curves of a run in Curves.");
      } else {
        explain(columns_[size_t(i - 1)].help.c_str());
        bench.description().add_last("runs.column", columns_[size_t(i - 1)].title);
      }
    }
    const bool sorts = std::exchange(sorts_, false);
    if (sorts) {
      const bool sweep = !order_.sweep.empty();
      order_.column = sweep ? RunColumn::best : RunColumn::started;
      order_.setting.clear();
      order_.descending = !sweep || higher;
    }
    for (size_t i = 0; (sorts || fresh) && i < columns_.size(); ++i)
      if (columns_[i].column == order_.column && columns_[i].setting == order_.setting)
        ImGui::TableSetColumnSortDirection(
            int(i) + 1, order_.descending ? ImGuiSortDirection_Descending : ImGuiSortDirection_Ascending,
            false);
    if (ImGuiTableSortSpecs* specs = ImGui::TableGetSortSpecs();
        specs && specs->SpecsDirty && specs->SpecsCount > 0) {
      const RunTableColumn& column =
          columns_[std::min<size_t>(specs->Specs[0].ColumnUserID, columns_.size() - 1)];
      order_.column = column.column;
      order_.setting = column.setting;
      order_.descending = specs->Specs[0].SortDirection == ImGuiSortDirection_Descending;
      specs->SpecsDirty = false;
      arranged_ = false;
      arrange_runs(bench);
    }
    if (const std::string folder = std::exchange(scroll_to_, {}); !folder.empty())
      for (size_t i = 0; i < tree_.size(); ++i)
        if (bench.runs().runs()[tree_[i].run].folder == folder)
          ImGui::SetScrollY(std::max(0.0f, (float(i) - 1) * row_height));
    ImGuiListClipper clipper;
    clipper.Begin(int(tree_.size()), row_height);
    while (clipper.Step())
      for (int i = clipper.DisplayStart; i < clipper.DisplayEnd; ++i) draw_row(bench, tree_[size_t(i)]);
    ImGui::EndTable();
  }

  // When the panel's width changes, the column of names takes the space left by the columns that fit, so that
  // no column is cut off at the right edge.
  void fit_columns(float room) {
    // A fork's name needs space for its branch and its step.
    const bool forks =
        std::any_of(tree_.begin(), tree_.end(), [](const RunTreeRow& row) { return row.below; });
    const float least = em(forks ? kForkName : kLeastName);
    if (std::abs(room - fitted_) < 1 && forks == fitted_forks_ && settings_.size() == fitted_settings_)
      return;
    if (ImGui::GetCurrentTable()->MinColumnWidth <= 0) return draw_again_in(0);  // the table's first frame
    fitted_ = room;
    fitted_forks_ = forks;
    fitted_settings_ = settings_.size();
    const ImGuiStyle& style = ImGui::GetStyle();
    const float between = 2 * style.CellPadding.x;
    float others = ImGui::GetFrameHeight() + between, name = 0;
    size_t name_at = 0;
    for (size_t i = 0; i < columns_.size(); ++i) {
      if (!columns_[i].on) continue;
      const bool is_name = columns_[i].column == RunColumn::name;
      if (is_name) name_at = i;
      others += (is_name ? 0 : em(columns_[i].width)) + between;
      if (i > name_at && room - others >= least) name = room - others;
    }
    ImGui::TableSetColumnWidth(int(name_at) + 1, std::clamp(name, least, em(kMostName)));
  }

  void draw_row(Workbench& bench, const RunTreeRow& row) {
    const RunSummary& read = bench.runs().runs()[row.run];
    const std::optional<RunSummary> own = own_run(bench, read);
    const RunSummary& run = own ? *own : read;
    ImGui::PushID(run.folder.c_str());
    ImGui::TableNextRow(0, ImGui::GetFrameHeight());
    ImGui::TableNextColumn();
    bool shown = bench.runs().shows(run.folder);
    ImGui::BeginDisabled(!run.problem.empty());
    if (tick_box("##shown", &shown)) bench.curves().show(run.folder, shown);
    ImGui::EndDisabled();
    bench.description().add_last("runs.show", run.name + (shown ? " shown" : ""));
    explain("A tick shows the curves of the run in Curves.");
    if (ImGui::TableNextColumn() && draw_star_cell(bench, run))
      tasks_.change(bench, [folder = run.folder, star = !run.starred] { set_star(folder, star); });
    ImGui::TableNextColumn();
    const bool selected = selected_.count(run.folder) > 0;
    const ImVec2 cell = ImGui::GetCursorScreenPos();
    if (draw_name_cell(bench, run, row, selected)) select(run.folder);
    if (ImGui::IsItemHovered() && ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left) && can_open(bench))
      open(bench);
    if (ImGui::BeginPopupContextItem("menu")) {
      if (ImGui::IsWindowAppearing() && !selected) selected_ = {run.folder};
      draw_run_menu(bench, actions(bench));
      ImGui::EndPopup();
    }
    // The item is as wide as the table, which may be scrolled, so the description gets the rectangle of the
    // cell.
    bench.description().add("runs.run",
                            run.name + " " +
                                (run.problem.empty() ? run.outcome + " " + run.note : run.problem) +
                                (run.damage.empty() ? "" : " " + run.damage) + (selected ? " selected" : ""),
                            cell, {cell.x + em(3), cell.y + ImGui::GetFrameHeight()});
    const std::string damage = run.damage.empty() ? "" : "\n" + run.damage;
    explain(run.problem.empty() ? (run.folder + "\nscript " + run.script + fork_text(run) + damage).c_str()
                                : run.problem.c_str());
    if (!run.problem.empty()) {
      // The error text uses the space of all cells to the right, which are empty.
      if (ImGui::TableNextColumn()) {
        const ImVec2 at = ImGui::GetCursorScreenPos();
        ImGui::PushClipRect(at, {table_right_, at.y + ImGui::GetFrameHeight()}, false);
        ImGui::GetWindowDrawList()->AddText({at.x, at.y + ImGui::GetStyle().FramePadding.y}, theme().bad,
                                            ("unreadable: " + run.problem).c_str());
        ImGui::PopClipRect();
      }
    } else {
      draw_cells(bench, run, differences_[row.run]);
    }
    ImGui::PopID();
  }

  void draw_cells(Workbench& bench, const RunSummary& run, const std::string& difference) {
    const auto cell = [](const std::string& text, ImU32 color) {
      if (!ImGui::TableNextColumn()) return false;
      ImGui::AlignTextToFramePadding();
      const bool cut = ImGui::CalcTextSize(text.c_str()).x > ImGui::GetContentRegionAvail().x;
      text_in(color, "%s", text.c_str());
      if (cut) explain(text.c_str());
      return true;
    };
    const Theme& t = theme();
    // 2026-01-31T23:59:59Z
    std::string started = run.started.substr(0, 16);
    if (started.size() == 16) started[10] = ' ';
    const std::string& outcome = run.outcome;
    const bool logged = run.metrics.count(order_.metric) > 0;
    const double last = last_of(run, order_.metric), best = best_of(run, order_.metric);
    const std::string best_text = std::isnan(best) ? "-" : number_figure(best);
    if (cell(best_text, t.text)) bench.description().add_last("runs.best", run.name + " " + best_text);
    for (size_t i = 0; i < kMostSettings; ++i) {
      const auto found = i < settings_.size() ? run.config.find(settings_[i]) : run.config.end();
      if (cell(found == run.config.end() ? "-" : found->second, t.text) && found != run.config.end())
        bench.description().add_last("runs.setting", run.name + " " + found->first + " " + found->second);
    }
    cell(outcome, outcome == "ok"                              ? t.good
                  : outcome == "running"                       ? t.accent
                  : outcome == "paused"                        ? t.warning
                  : outcome == "error" || outcome == "numeric" ? t.bad
                                                               : t.muted);
    cell(std::to_string(run.steps) + (run.steps_total > 0 ? " / " + std::to_string(run.steps_total) : ""),
         t.text);
    cell(logged ? number_figure(last) : "-", logged && !std::isfinite(last) ? t.bad : t.text);
    cell(started.empty() ? "-" : started, t.muted);
    cell(run_time_figure(run.seconds), t.muted);
    cell(difference, t.text);
    cell(run.note.substr(0, run.note.find('\n')), t.muted);
  }

  void open_script(Workbench& bench) { bench.texts().go_to({*selected_.begin() + "/script.lua", 1}); }

  RunOrder order_;
  std::vector<std::string> differences_, metrics_;
  float fitted_ = 0;  // the width for which the columns were sized
  bool fitted_forks_ = false;
  size_t fitted_settings_ = 0;
  std::vector<std::string> settings_;  // the settings that have columns
  std::vector<RunTableColumn> columns_;
  bool sorts_ = false;            // the table is to sort by its usual column
  bool metric_of_sweep_ = false;  // no trial of the chosen sweep has logged the metric that it optimises
  std::vector<size_t> listed_;    // the runs that the search and the sweep leave
  BrushControl brushes_;
  std::vector<size_t> rows_;      // the listed runs that the brushes select
  std::vector<RunTreeRow> tree_;  // the tree of rows_
  uint64_t revision_ = 0;
  bool arranged_ = false;
  std::set<std::string> selected_;  // folders of selected runs
  std::string looked_for_, places_;
  char filter_[256] = "";
  float table_right_ = 0;
  FolderTasks tasks_;
  std::set<std::string> sweeps_;  // folders of sweeps that have runs
  std::string opened_sweep_;
  std::optional<ParallelPlot> plot_;  // of listed_, made when it is first drawn
  bool parallel_ = false;
  std::string scroll_to_;  // the folder of a run that was clicked in the plot
  RunDialogs dialogs_;
  ForkForm fork_;
  ScreenArea fork_button_{};
  ComparisonWindow comparison_;
};

}  // namespace

std::unique_ptr<Panel> make_runs_panel() { return std::make_unique<RunsPanel>(); }

}  // namespace lunagrad
