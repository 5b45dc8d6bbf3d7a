// Tape: the nodes of a backward pass as a graph, inside the modules that ran them, with data flowing
// downwards. A click selects a node for the inspector, or opens and closes a module.
#include <GLFW/glfw3.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "runtime/core/figures.h"
#include "ui/base/counted.h"
#include "ui/base/redraw.h"
#include "ui/panels/change_menu.h"
#include "ui/panels/node_commands.h"
#include "ui/panels/tape/box_tip.h"
#include "ui/panels/tape/choices.h"
#include "ui/panels/tape/compare_menu.h"
#include "ui/panels/tape/export_menu.h"
#include "ui/panels/tape/marks.h"
#include "ui/panels/time/probe_list.h"
#include "ui/panels/why_strip.h"
#include "ui/tape/legend.h"
#include "ui/window/field_focus.h"
#include "ui/window/input.h"
#include "ui/window/theme.h"
#include "ui/workbench/panel.h"

namespace lunagrad {
namespace {

class TapePanel final : public Panel {
 public:
  const char* title() const override { return "Tape"; }
  Region region() const override { return Region::upper_right; }
  std::optional<PanelStep> shown_step(const Workbench& bench) const override {
    return step_of_tape(bench, !find_.active());
  }

  void add_commands(Workbench& bench) override {
    export_.add_action(bench, [] { return colors(); });
    compare_.add_commands(bench, title());
    const auto there = [&bench] { return bench.tape().picture() && !bench.tape().picture()->boxes.empty(); };
    const auto add = [&](const char* name, const char* key, const char* help, std::function<void()> run,
                         bool repeats = false, bool composed = false) {
      bench.commands().add(
          {std::string("Tape: ") + name, key, help, std::move(run), there, title(), repeats, composed});
    };
    add("fit", "F", "Shows the whole tape; what is too small to read is collapsed.",
        [this, &bench] { fit(bench); });
    add("show the end", "End", "Shows the last nodes, near the loss, at a readable size.",
        [this] { show_end(); });
    add(
        "search", "Ctrl+F", "Focuses the search.", [this] { focus_search_ = true; }, false, true);
    add(
        "next node", "N", "Selects the node that runs next.", [this, &bench] { step(bench, 1); }, true);
    add(
        "previous node", "Shift+N", "Selects the node that ran before.", [this, &bench] { step(bench, -1); },
        true);
    add("play", "Space", "Plays the nodes in the order in which they run, or pauses.",
        [this, &bench] { play(bench); });
    add("switch order", "", "Switches between forward and backward order.",
        [this] { player_.set_backward(!player_.backward()); });
    constexpr struct {
      const char *name, *key, *help;
      Direction to;
    } kMoves[] = {
        {"up", "Up", "Selects what the node reads, or the neighbour in that direction.", Direction::up},
        {"down", "Down", "Selects what reads the node, or the neighbour in that direction.", Direction::down},
        {"left", "Left", "Selects the neighbour on the left.", Direction::left},
        {"right", "Right", "Selects the neighbour on the right.", Direction::right}};
    for (const auto& [name, key, help, to] : kMoves)
      add(
          name, key, help, [this, &bench, to = to] { move(bench, to); }, true, true);
    add(
        "open", "Enter", "Opens the module or the node's menu.", [this, &bench] { enter(bench); }, false,
        true);
    add_look_commands(bench);
    add_node_commands(bench, title(), changes_);
  }

  void draw_tools(Workbench& bench) override {
    const float others = button_width("Groups") + em(11.4f);
    ImGui::SetNextItemWidth(std::clamp(ImGui::GetContentRegionAvail().x - others, em(4), em(12)));
    if (focus_search_) focus_next_field();
    focus_search_ = false;
    ImGui::InputTextWithHint("##search", "search", search_, sizeof search_);
    const bool entered = ImGui::IsItemDeactivated() && search_[0] &&
                         (key_pressed(GLFW_KEY_ENTER, false) || key_pressed(GLFW_KEY_KP_ENTER, false));
    bench.description().add_last("tape.search", search_);
    explain(
        "Op, module, name, shape, dtype or source line, as \"linear blocks.1\" or \"train.lua:12\". Enter: "
        "next match, Shift+Enter: previous.");
    const TapeSnapshot* tape = bench.tape().tape();
    if (!tape || !bench.tape().texts()) return;
    find_.update(search_, *bench.tape().texts(), bench.tape().structure());
    if (entered) {
      bench.tape_actions().select(find_.step(ImGui::GetIO().KeyShift ? -1 : 1));
      focus_search_ = true;
    }
    const std::string text = find_.summary(tape->nodes.size(), tape->step, bench.tape().former());
    ImGui::SameLine(0, em(0.4f));
    draw_group_switch(bench, tape->plan.plan.get());
    ImGui::SameLine();
    ImGui::AlignTextToFramePadding();
    text_in(step_color(bench, tape->step), "%s", text.c_str());
    bench.description().add_last("tape.summary", text);
    std::string help = "Nodes of the tape, or matches of the search, and the step.";
    if (bench.tape().by_dot()) help += " Laid out by Graphviz.";
    if (!bench.tape().dot_trouble().empty()) help += " " + bench.tape().dot_trouble() + ".";
    explain(help.c_str());
  }

  void draw(Workbench& bench) override {
    turn(bench);
    const TapePicture* picture = bench.tape().picture();
    if (!picture || picture->boxes.empty()) {
      if (bench.tape().laying_out())
        draw_empty("Laying out the tape", "This takes a moment for a large tape.");
      else
        draw_empty("No tape yet", "Run a script that calls backward() to see its latest step here.");
      structure_ = 0;
      return;
    }
    follow(bench, *picture);
    const bool roomy = ImGui::GetContentRegionAvail().y > em(9);
    if (roomy) draw_controls(bench);
    compare_.draw_line(bench);
    ImVec2 room = ImGui::GetContentRegionAvail();
    const bool explained = roomy && room.x >= em(26) && room.y >= em(14);
    if (explained) room.y -= legend_height(room.x);
    // Keyboard navigation between widgets is off here: the arrow keys belong to the graph.
    ImGui::BeginChild(
        "sheet", room, false,
        ImGuiWindowFlags_NoNavInputs | ImGuiWindowFlags_NoScrollbar | ImGuiWindowFlags_NoScrollWithMouse);
    sheet_ = room;
    draw_graph(bench, *picture, room);
    draw_menu(bench);
    changes_.draw_field(bench);
    ImGui::EndChild();
    compare_.draw_window(bench);
    if (explained) draw_legend(bench, *picture);
    export_.take_picture(bench, sheet_min_, sheet_max_);
  }

 private:
  // How the tape is drawn, and its export.
  void add_look_commands(Workbench& bench) {
    const auto there = [&bench] { return bench.tape().tape() != nullptr; };
    add_own_command(
        bench, "Export", "Writes the tape as DOT, SVG, PNG or JSON.", [this] { export_.open_soon(); }, there);
    for (const OpenChoice& choice : open_choices())
      add_own_command(
          bench, choice.command, choice.help, [this, &bench, &choice] { open_modules(bench, choice); },
          there);
    for (const auto& [flow, label] :
         {std::pair{"auto", "Flow by the panel's shape"}, std::pair{"right", "Flow to the right"},
          std::pair{"down", "Flow down"}})
      add_own_command(bench, label, "The direction in which data flows.",
                      [&bench, flow = flow] { bench.shell().settings().tape_direction = flow; });
    add_own_command(bench, "Groups", "Marks the calls that are computed in one pass over memory, or not.",
                    [&bench] { bench.shell().settings().tape_groups = !bench.settings().tape_groups; });
    add_own_command(bench, "Colour by operation", "The family of the op.", [this] { marks_.metric = -1; });
    for (size_t m = 0; m < tape_metrics().size(); ++m)
      add_own_command(
          bench, std::string("Colour by ") + tape_metrics()[m].name, tape_metrics()[m].help,
          [this, m] { marks_.metric = int(m); },
          [&bench, m] { return bench.tape().tape() && known(tape_metrics()[m], *bench.tape().tape()); });
  }

  // The picture runs to the right where the panel is wider than high, or as the user chose, and is fitted to
  // the sheet until the user moves it.
  void turn(Workbench& bench) {
    const std::string& chosen = bench.settings().tape_direction;
    const CollapseState& state = bench.tape().collapse();
    ImVec2 room = ImGui::GetContentRegionAvail();
    // Near a square shape it keeps its direction, so that moving a splitter does not turn it back and forth.
    const float threshold = state.sideways ? 0.9f : 1.1f;
    const bool sideways = chosen == "right" || (chosen != "down" && room.x > threshold * room.y);
    if (sheet_.x <= 0) {  // not drawn yet: about its size
      sheet_ = {room.x, room.y - ImGui::GetFrameHeightWithSpacing() - legend_height(room.x)};
    }
    const ImVec2 legible = GraphCanvas::legible_room(sheet_);
    PictureRoom fitted = state.room;
    // A sheet that grows a little is not worth another picture; in a smaller one texts would be too small.
    const auto differs = [](float now, float then) { return now < then - 0.5f || now > 1.05f * then; };
    const bool changed = differs(legible.x, fitted.width) || differs(legible.y, fitted.height);
    if (changed && !ImGui::IsAnyMouseDown() && (!moved_ || fitted.width <= 0))
      fitted = {legible.x, legible.y};
    if (sideways != state.sideways || fitted != state.room) bench.tape_actions().show_in(sideways, fitted);
  }

  static GraphCanvas::Colors colors() {
    const Theme& t = theme();
    return {t.canvas, t.grid,    t.panel,  t.text, t.muted,  t.faint,
            t.faint,  t.warning, t.accent, t.bad,  t.accent, t.family.data()};
  }

  // Takes over changes since the last frame: another picture, a selection made in another panel.
  void follow(Workbench& bench, const TapePicture& picture) {
    const TapeModel& model = bench.tape();
    if (picture.canvas.number != picture_) {
      // Resets the view if the picture has little in common with the previous one. Until the user moves the
      // view, it is fitted to every picture, as long as everything is legible.
      const bool turned = picture.canvas.layout.sideways != sideways_;
      sideways_ = picture.canvas.layout.sideways;
      if (whole_ && !moved_ && model.collapse().exceptions == collapse_.exceptions)
        show_whole();
      else if (picture_ == 0 || structure_ == 0 || turned || model.kept() < 0.25)
        show_end();
      else if (!moved_)
        canvas_.fit_if_legible();
      collapse_ = model.collapse();
      picture_ = picture.canvas.number;
    }
    if (model.structure() != structure_) {
      structure_ = model.structure();
      player_.resize(model.tree()->execution.size());
    }
    if (model.selections() != selections_) {
      selections_ = model.selections();
      wanted_ = model.selected();
      if (wanted_ >= 0) bench.tape_actions().open_around(wanted_);
    }
    if (wanted_ >= 0 && size_t(wanted_) < picture.box_of.size()) {
      const uint32_t box = picture.box_of[size_t(wanted_)];
      if (!picture.boxes[box].is_group || (opened_ != 0 && picture.keys[box] != opened_)) {
        canvas_.reveal(int(box));
        wanted_ = -1;
        opened_ = 0;
      }
    }
    const double now = ImGui::GetTime();
    const bool moved = player_.tick(now - last_time_);
    last_time_ = now;
    if (moved) show_playhead(bench);
    if (player_.playing()) draw_again_in(kAnimation);
  }

  // What the user has opened stays open; then texts may be smaller than is legible.
  void fit(Workbench& bench) {
    show_whole();
    bench.tape_actions().fit_again();
  }

  void show_whole() {
    canvas_.fit();
    moved_ = false;
    whole_ = true;
  }

  void show_end() {
    canvas_.show_end();
    moved_ = whole_ = false;
  }

  void show_playhead(Workbench& bench) {
    if (!player_.on()) return;
    const int node = int(bench.tape().tree()->execution[size_t(player_.position())]);
    bench.tape_actions().play_to(node);
    selections_ = bench.tape().selections();
    wanted_ = -1;
    canvas_.reveal(int(bench.tape().picture()->box_of[size_t(node)]));
  }

  // The selection was made on this sheet: nothing needs to be opened or moved.
  void select_here(Workbench& bench, int node) {
    bench.tape_actions().select(node);
    selections_ = bench.tape().selections();
    wanted_ = -1;
  }

  // Opens a closed module. What it holds stays in sight.
  void open(Workbench& bench, const TapePicture& picture, size_t box) {
    wanted_ = bench.tape().tree()->first_node(picture.boxes[box]);
    bench.tape_actions().set_open(picture.boxes[box].index, true);
    opened_ = picture.keys[box];
  }

  // Places the next item in this row, or in a new row if there is no space.
  static void flow(float width) {
    if (ImGui::GetItemRectMax().x + em(0.4f) + width <
        ImGui::GetWindowPos().x + ImGui::GetWindowContentRegionMax().x)
      ImGui::SameLine(0, em(0.4f));
  }
  static float button_width(const char* label) {
    return ImGui::CalcTextSize(label).x + 2 * ImGui::GetStyle().FramePadding.x;
  }

  void draw_controls(Workbench& bench) {
    const TapeModel& model = bench.tape();
    if (ImGui::Button("Fit")) fit(bench);
    bench.description().add_last("tape.fit", "");
    explain(
        "Shows the whole tape; what is too small to read is collapsed. F. Drag: pan. Wheel: zoom. Click: "
        "select or "
        "open.");
    flow(em(6.5f));
    ImGui::SetNextItemWidth(em(6.5f));
    draw_open_choice(bench, model);
    flow(em(6.5f));
    ImGui::SetNextItemWidth(em(6.5f));
    draw_direction_choice(bench);
    flow(em(9.5f));
    ImGui::SetNextItemWidth(em(9.5f));
    draw_color_choice(bench, *model.tape());
    if (model.tape()->passes.size() > 1) {
      flow(em(10));
      ImGui::SetNextItemWidth(em(10));
      draw_pass_choice(bench, *model.tape());
    }
    flow(button_width("Export"));
    export_.draw(bench);
    flow(button_width("Compare"));
    compare_.draw_button(bench);
    flow(button_width("Forward") + em(7));
    if (ImGui::Button(player_.backward() ? "Backward" : "Forward")) player_.set_backward(!player_.backward());
    bench.description().add_last("tape.order", player_.backward() ? "backward" : "forward");
    explain("Order to play: forward or backward. Click to switch.");
    ImGui::SameLine(0, em(0.2f));
    if (ImGui::Button("<##previous")) step(bench, -1);
    bench.description().add_last("tape.previous", "");
    explain("Previous node. Shift+N.");
    ImGui::SameLine(0, em(0.2f));
    if (ImGui::Button(player_.playing() ? "Pause##play" : "Play##play")) play(bench);
    bench.description().add_last("tape.play", player_.playing() ? "playing" : "");
    explain("Plays the nodes in the order in which they run. Space.");
    ImGui::SameLine(0, em(0.2f));
    if (ImGui::Button(">##next")) step(bench, 1);
    bench.description().add_last("tape.next", "");
    explain("Next node. N.");
    if (player_.on()) {
      const std::string text = std::to_string(player_.number()) + " / " + std::to_string(player_.count());
      flow(button_width(text.c_str()) + em(2));
      ImGui::AlignTextToFramePadding();
      text_in(theme().text, "%s", text.c_str());
      bench.description().add_last("tape.playhead", text);
      explain("Position of the playhead. Later nodes are faint.");
      ImGui::SameLine(0, em(0.3f));
      if (ImGui::Button("x##stop")) player_.stop();
      bench.description().add_last("tape.stop", "");
      explain("Removes the playhead.");
    }
  }

  void open_modules(Workbench& bench, const OpenChoice& choice) {
    bench.tape_actions().open_modules(choice.mode, choice.depth);
    show_end();
  }

  void draw_open_choice(Workbench& bench, const TapeModel& model) {
    const CollapseState& state = model.collapse();
    const char* shown = state.mode == CollapseState::Mode::automatic ? "few boxes"
                        : state.mode == CollapseState::Mode::all     ? "all open"
                        : state.depth == 0                           ? "all closed"
                                                                     : nullptr;
    const std::string depth = "depth " + std::to_string(state.depth);
    const std::string label = shown ? shown : depth;
    const bool open = ImGui::BeginCombo("##open", label.c_str());
    bench.description().add_last("tape.open", label);
    if (!open) {
      explain("Which modules are open. Click a module to open it, the title of its frame to close it.");
      return;
    }
    for (const OpenChoice& choice : open_choices()) {
      if (ImGui::Selectable(choice.name, state.mode == choice.mode && state.depth == choice.depth))
        open_modules(bench, choice);
      bench.description().add_last("tape.open_choice", choice.name);
      explain(choice.help);
    }
    ImGui::EndCombo();
  }

  void draw_color_choice(Workbench& bench, const TapeSnapshot& tape) {
    const auto metrics = tape_metrics();
    const char* label = marks_.metric < 0 ? "op" : metrics[size_t(marks_.metric)].name;
    const bool open = ImGui::BeginCombo("##color", marks_.metric < 0 ? "colour: op" : label);
    bench.description().add_last("tape.color", label);
    if (!open) {
      explain("Meaning of the colours. A quantity is also written on its node.");
      return;
    }
    const auto choice = [&](const char* name, int metric, const char* help) {
      if (ImGui::Selectable(name, marks_.metric == metric)) marks_.metric = metric;
      bench.description().add_last("tape.color_choice", name);
      explain(help);
    };
    choice("op", -1, "The family of the op.");
    for (size_t m = 0; m < metrics.size(); ++m)
      if (known(metrics[m], tape)) choice(metrics[m].name, int(m), metrics[m].help);
    ImGui::EndCombo();
  }

  void step(Workbench& bench, int by) {
    player_.pause();
    player_.step(by);
    show_playhead(bench);
  }

  void play(Workbench& bench) {
    if (player_.playing())
      player_.pause();
    else
      player_.play();
    show_playhead(bench);
  }

  void move(Workbench& bench, Direction direction) {
    const TapePicture& picture = *bench.tape().picture();
    const int box = focused_box(bench, picture);
    const int next = box < 0 ? 0 : canvas_neighbour(picture.canvas, box, direction);
    if (next < 0) return;
    canvas_.reveal(next);
    const TapeTree::Item item = picture.boxes[size_t(next)];
    select_here(bench, item.is_group ? -1 : int(item.index));
    if (!item.is_group) bench.shell().raise_panel("Inspector", title());
    group_ = item.is_group ? picture.keys[size_t(next)] : 0;
  }

  void enter(Workbench& bench) {
    const TapePicture& picture = *bench.tape().picture();
    const int box = focused_box(bench, picture);
    if (box < 0) return;
    if (picture.boxes[size_t(box)].is_group)
      open(bench, picture, size_t(box));
    else
      wanted_menu_ = int(picture.boxes[size_t(box)].index);
  }

  // The selected box, or the closed module that the arrows moved to.
  int focused_box(const Workbench& bench, const TapePicture& picture) const {
    const int selected = bench.tape().selected();
    if (selected >= 0) return int(picture.box_of[size_t(selected)]);
    for (size_t b = 0; group_ != 0 && b < picture.keys.size(); ++b)
      if (picture.keys[b] == group_) return int(b);
    return -1;
  }

  void draw_graph(Workbench& bench, const TapePicture& picture, ImVec2 room) {
    marks_.update(bench, picture, find_, player_, compare_.marks(bench));
    GraphCanvas::Marks marks;
    marks.selected = focused_box(bench, picture);
    if (player_.on())
      marks.playhead = int(picture.box_of[bench.tape().tree()->execution[size_t(player_.position())]]);
    else if (const int stands = bench.tape().find_node(bench.journal().standing_node()); stands >= 0)
      marks.playhead = int(picture.box_of[size_t(stands)]);
    marks.boxes = &marks_.boxes();
    marks.standing_out = &marks_.standing_out();
    marks.bands = &marks_.bands();
    if (const uint32_t count = bench.tape().collapsed(); count > 0)
      marks.corner = count_figure(count) + (count == 1 ? " box" : " boxes") + " collapsed to fit: expand all";
    if (marks_.any_notes(find_)) marks.note = [&](int box) { return marks_.note(picture, find_, box); };
    using Visit = std::function<void(int, ImVec2, ImVec2)>;
    Visit on_box, on_frame;
    if (bench.description().enabled()) {
      for (const GraphCanvas::Band& band : marks_.bands())
        if (!band.boxes.empty())
          bench.description().add_last("tape.computed_together", band.labels[0] + (band.lit ? " lit" : ""));
      on_box = [&](int box, ImVec2 min, ImVec2 max) {
        std::string text = marks_.described(picture, find_, box);
        if (box == marks.selected) text += " selected";
        if (box == marks.playhead) text += player_.on() ? " playhead" : " current";
        bench.description().add(picture.boxes[size_t(box)].is_group ? "tape.group" : "tape.node", text, min,
                                max);
      };
      on_frame = [&](int frame, ImVec2 min, ImVec2 max) {
        bench.description().add("tape.frame", picture.canvas.frames[size_t(frame)].title, min, max);
      };
    }
    sheet_min_ = ImGui::GetCursorScreenPos();
    sheet_max_ = {sheet_min_.x + room.x, sheet_min_.y + room.y};
    const GraphCanvas::Click click =
        canvas_.draw("canvas", picture.canvas, room, colors(), marks, on_box, on_frame);
    moved_ |= (ImGui::IsItemActive() && ImGui::IsMouseDragging(ImGuiMouseButton_Left, 4)) ||
              (ImGui::IsItemHovered() && ImGui::GetIO().MouseWheel != 0);
    if (canvas_.corner_max().x > canvas_.corner_min().x)
      bench.description().add("tape.collapsed", marks.corner, canvas_.corner_min(), canvas_.corner_max());
    if (bench.description().enabled())
      bench.description().add("tape.least_text", std::to_string(int(canvas_.least_text())), sheet_min_,
                              sheet_max_);
    if (canvas_.map_max().x > canvas_.map_min().x)
      bench.description().add("tape.map", "", canvas_.map_min(), canvas_.map_max());
    answer(bench, picture, click);
    if (canvas_.hovered() >= 0 && !ImGui::IsAnyMouseDown() && !ImGui::IsPopupOpen("node menu"))
      draw_box_tip(bench, picture, size_t(canvas_.hovered()), canvas_.hovered_area(), marks_);
    if (canvas_.hovered_frame() >= 0 && !ImGui::IsAnyMouseDown() && !ImGui::IsPopupOpen("node menu"))
      draw_frame_tip(bench, picture, size_t(canvas_.hovered_frame()), canvas_.hovered_area());
  }

  void answer(Workbench& bench, const TapePicture& picture, const GraphCanvas::Click& click) {
    using Kind = GraphCanvas::Click::Kind;
    if (click.kind == Kind::corner) {
      open_modules(bench, open_choices().back());
    } else if (click.kind == Kind::background) {
      select_here(bench, -1);
      bench.tape_actions().light({});
      group_ = 0;
    } else if (click.kind == Kind::frame) {
      bench.tape_actions().set_open(picture.frames[size_t(click.index)], false);
    } else if (click.kind == Kind::box) {
      const TapeTree::Item item = picture.boxes[size_t(click.index)];
      if (item.is_group) {
        open(bench, picture, size_t(click.index));
      } else {
        select_here(bench, int(item.index));
        bench.shell().raise_panel("Inspector", title());
        if (click.menu) wanted_menu_ = int(item.index);
      }
    }
  }

  void draw_menu(Workbench& bench) {
    if (wanted_menu_ >= 0) {
      menu_node_ = std::exchange(wanted_menu_, -1);
      ImGui::OpenPopup("node menu");
    }
    if (!ImGui::BeginPopup("node menu")) return;
    const TapeModel& model = bench.tape();
    if (menu_node_ < 0 || size_t(menu_node_) >= model.tape()->nodes.size()) {
      ImGui::CloseCurrentPopup();
      ImGui::EndPopup();
      return;
    }
    const NodeInfo& node = model.tape()->nodes[size_t(menu_node_)];
    const auto item = [&](const std::string& label, bool enabled, const char* help) {
      const bool chosen = ImGui::MenuItem(label.c_str(), nullptr, false, enabled);
      bench.description().add_last("tape.menu", label);
      explain(help);
      return chosen;
    };
    if (item("Go to line " + file_and_line(node.place), node.place.line > 0,
             "Goes to the line that made this node."))
      bench.texts().go_to(node.place);
    if (why_entry(bench, "tape.menu", "Follows the causes of its value and gradient."))
      bench.why().ask_node(menu_node_);
    const std::string name = node_name(node);
    if (item("Copy name " + name, true, "Copies the name.")) ImGui::SetClipboardText(name.c_str());
    const auto& operands = model.tree()->operands[size_t(menu_node_)];
    if (item("Select inputs", !operands.empty(), "Highlights the nodes that this one reads."))
      outline_inputs(bench, menu_node_);
    draw_probe_item(bench, parameter_in(model, node), node.place);
    if (const std::string path = changed_path(node); !path.empty())
      changes_.draw_items(bench, path, node.op == "leaf");
    ImGui::EndPopup();
  }

  // A node's first parameter; "" if it reads none.
  static std::string parameter_in(const TapeModel& model, const NodeInfo& node) {
    const std::vector<OperandInfo>& read = node.op == "leaf" ? node.outputs : node.inputs;
    for (const OperandInfo& operand : read)
      if (const std::string name = parameter_of(model, node, operand); !name.empty()) return name;
    return "";
  }

  // The legend is below the sheet, so that it hides nothing; the picture of an export includes it.
  void draw_legend(Workbench& bench, const TapePicture& picture) {
    const ImVec2 corner{sheet_min_.x, sheet_max_.y};
    const float width = sheet_max_.x - corner.x;
    sheet_max_.y += legend_height(width);
    const bool groups = std::any_of(marks_.bands().begin(), marks_.bands().end(),
                                    [](const GraphCanvas::Band& band) { return !band.boxes.empty(); });
    const std::string text =
        marks_.compared() ? draw_marks_legend(*marks_.compared(), corner, width)
        : marks_.metric < 0
            ? draw_family_legend(picture.canvas, marks_.alarms(), groups, corner, width)
            : draw_heat_legend(tape_metrics()[size_t(marks_.metric)], marks_.scale(), corner, width);
    bench.description().add("tape.legend", text, corner, sheet_max_);
  }

  GraphCanvas canvas_;
  TapePlayer player_;
  TapeSearch find_;
  uint64_t picture_ = 0, structure_ = 0;  // numbers of the last frame's picture and structure
  CollapseState collapse_;
  bool moved_ = false;  // the user moved the view since it was fitted
  bool whole_ = false;  // the user wants to see the whole tape, also after it changes
  bool sideways_ = false;
  uint64_t selections_ = 0;
  int wanted_ = -1;      // a node to show as soon as the modules around it are open
  uint64_t opened_ = 0;  // key of the module that the user opened, with wanted_ inside; 0: none
  uint64_t group_ = 0;   // key of the closed module that the arrows moved to
  double last_time_ = 0;
  TapeMarks marks_;
  ImVec2 sheet_{0, 0};  // its size
  ImVec2 sheet_min_{0, 0}, sheet_max_{0, 0};
  int menu_node_ = -1, wanted_menu_ = -1;
  ChangeMenu changes_{"Tape"};
  char search_[128] = "";
  bool focus_search_ = false;
  TapeExportMenu export_;
  CompareMenu compare_;
};

}  // namespace

std::unique_ptr<Panel> make_tape_panel() { return std::make_unique<TapePanel>(); }

}  // namespace lunagrad
