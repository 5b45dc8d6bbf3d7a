#include "ui/app/regions.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <iterator>

#include "ui/base/redraw.h"
#include "ui/window/theme.h"

namespace lunagrad {
namespace {

constexpr ImGuiWindowFlags kStill = ImGuiWindowFlags_NoScrollbar | ImGuiWindowFlags_NoScrollWithMouse;

bool same_letters(const std::string& a, const std::string& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

float tab_width(const char* title) {
  return ImGui::CalcTextSize(title).x + 2 * ImGui::GetStyle().FramePadding.x;
}

}  // namespace

Panel* Regions::find(const std::string& title) const {
  for (const auto& panel : panels_)
    if (panel->title() == title) return panel.get();
  return nullptr;
}

std::vector<Panel*> Regions::panels_in(const std::vector<std::string>& titles) const {
  std::vector<Panel*> found;
  for (const std::string& title : titles)
    if (Panel* panel = find(title)) found.push_back(panel);
  return found;
}

std::vector<PanelPlace> Regions::places() const {
  std::vector<PanelPlace> places;
  for (const auto& panel : panels_) places.push_back({panel->title(), panel->region()});
  return places;
}

std::vector<std::string> Regions::order(const PanelLayout& layout) const {
  std::vector<std::string> titles;
  for (const auto& tabs : layout.tabs)
    for (Panel* panel : panels_in(tabs)) titles.push_back(panel->title());
  return titles;
}

// Layouts are presets and the user's own; panels are identified by title, regions by name.
void Regions::add_actions(Workbench& bench) {
  const auto known = [this](const ActionArguments& given) -> const std::string& {
    const std::string& title = given.text(0, "title");
    std::string all;
    for (const auto& panel : panels_) all += (all.empty() ? "" : ", ") + std::string(panel->title());
    if (!find(title)) given.refuse("there is no panel \"" + title + "\"; there are " + all);
    return title;
  };
  Actions& actions = bench.actions();
  actions.add({"show_panel", "title", [this, &bench, known](const ActionArguments& given) {
                 const std::string& title = known(given);
                 bench.shell().show_panel(title);
                 only_ = focus_next_ = title;
               }});
  actions.add({"fill_window", "title", [&bench, known](const ActionArguments& given) {
                 PanelLayout& layout = bench.shell().settings().layout;
                 if (layout.maximized != known(given)) layout.toggle_maximized(known(given));
               }});
  actions.add({"restore_panel", "",
               [&bench](const ActionArguments&) { bench.shell().settings().layout.maximized.clear(); }});
  actions.add({"move_panel", "title, region, place", [&bench, known](const ActionArguments& given) {
                 const std::string& title = known(given);
                 const std::string& name = given.text(1, "region");
                 const auto region = std::find(std::begin(kRegionNames), std::end(kRegionNames), name);
                 if (region == std::end(kRegionNames)) {
                   std::string all;
                   for (const char* one : kRegionNames) all += (all.empty() ? "" : ", ") + std::string(one);
                   given.refuse("there is no region \"" + name + "\"; there are " + all);
                 }
                 PanelLayout& layout = bench.shell().settings().layout;
                 layout.move(title, Region(region - std::begin(kRegionNames)),
                             given.has(2) ? size_t(given.whole(2, "place", 1)) - 1 : size_t(-1));
                 layout.maximized.clear();
               }});
  actions.add({"layout", "name", [this, &bench](const ActionArguments& given) {
                 const std::string& name = given.text(0, "name");
                 const auto& own = bench.settings().presets;
                 if (const auto found = own.find(name); found != own.end())
                   return bench.shell().use_layout(name, PanelLayout(found->second));
                 std::string all;
                 for (const char* preset : kPresets) {
                   if (same_letters(name, preset))
                     return bench.shell().use_layout(preset, preset_layout(preset, places()));
                   all += (all.empty() ? "" : ", ") + std::string(preset);
                 }
                 for (const auto& [kept, layout] : own) all += ", " + kept;
                 given.refuse("there is no layout \"" + name + "\"; there are " + all);
               }});
}

void Regions::focus(Workbench& bench, const std::string& title) {
  if (find(title)) bench.actions().act("show_panel", {title});
}

void Regions::toggle_filling(Workbench& bench, const std::string& title) {
  if (bench.settings().layout.maximized == title)
    bench.actions().act("restore_panel");
  else
    bench.actions().act("fill_window", {title});
}

void Regions::move(Workbench& bench, const std::string& title, Region region, size_t before) {
  const std::string name = kRegionNames[size_t(region)];
  if (before == size_t(-1))
    bench.actions().act("move_panel", {title, name});
  else
    bench.actions().act("move_panel", {title, name, double(before + 1)});
}

void Regions::splitter(Workbench& bench, const char* id, Rect rect, bool vertical, float& share,
                       float whole) {
  const ImVec2 size{rect.max.x - rect.min.x, rect.max.y - rect.min.y};
  ImGui::SetCursorScreenPos(rect.min);
  ImGui::InvisibleButton(id, {std::max(size.x, 1.0f), std::max(size.y, 1.0f)});
  bench.description().add_last("splitter", id);
  if (ImGui::IsItemHovered() || ImGui::IsItemActive()) {
    ImGui::SetMouseCursor(vertical ? ImGuiMouseCursor_ResizeEW : ImGuiMouseCursor_ResizeNS);
    const ImVec2 middle{(rect.min.x + rect.max.x) / 2, (rect.min.y + rect.max.y) / 2};
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

void Regions::tab_menu(Workbench& bench, Panel& panel) {
  PanelLayout& layout = bench.shell().settings().layout;
  const std::string title = panel.title();
  if (!ImGui::BeginPopupContextItem("menu")) return;
  const auto item = [&](const std::string& label, const char* key, bool enabled) {
    const bool chosen = ImGui::MenuItem(label.c_str(), key, false, enabled);
    bench.description().add_last("panel.menu", label);
    return chosen;
  };
  const bool filling = layout.maximized == title;
  if (item(filling ? "Back to its region" : "Fill the window",
           bench.commands().key_of("Panel: fill the window").c_str(), true))
    toggle_filling(bench, title);
  ImGui::Separator();
  for (size_t region = 0; region < kRegions; ++region)
    if (item(std::string("Move to the ") + kRegionNames[region], nullptr,
             layout.region_of(title) != Region(region)))
      move(bench, title, Region(region));
  ImGui::EndPopup();
}

void Regions::draw_tab(Workbench& bench, Panel& panel, std::string& front) {
  PanelLayout& layout = bench.shell().settings().layout;
  const std::string title = panel.title();
  const bool in_front = front == title, focused = layout.focused == title;
  ImGui::PushID(panel.title());
  ImGui::PushStyleColor(ImGuiCol_Button, in_front ? theme().raised : with_alpha(theme().raised, 0));
  ImGui::PushStyleColor(ImGuiCol_Text, in_front ? theme().text : theme().muted);
  if (ImGui::Button(panel.title())) {
    front = title;
    focus(bench, title);
  }
  ImGui::PopStyleColor(2);
  const ImVec2 min = ImGui::GetItemRectMin(), max = ImGui::GetItemRectMax();
  shown_.push_back({&panel, min, max});
  bench.description().add_last("panel", title + (in_front ? " in front" : "") + (focused ? " focused" : ""));
  if (in_front)
    ImGui::GetWindowDrawList()->AddRectFilled({min.x + em(0.3f), max.y - 2}, {max.x - em(0.3f), max.y},
                                              focused ? theme().accent : theme().faint);
  if (ImGui::IsItemHovered() && ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left))
    toggle_filling(bench, title);
  if (ImGui::IsItemActive() && ImGui::IsMouseDragging(ImGuiMouseButton_Left, em(0.8f))) dragged_ = title;
  if (dragged_.empty())
    explain(
        "Drag to move the panel. Right-click for a menu. Double-click to fill the window, and again to "
        "restore it.");
  tab_menu(bench, panel);
  ImGui::PopID();
}

// Names the step of a panel that does not show the window's step; the text ends at `end`.
void Regions::draw_step_note(Workbench& bench, const PanelStep& step, const std::string& title, ImVec2 end) {
  const std::string text = step_note(bench, step);
  if (text.empty()) return;
  ImGui::SetCursorScreenPos({end.x - ImGui::CalcTextSize(text.c_str()).x, end.y});
  ImGui::AlignTextToFramePadding();
  text_in(step_color(bench, step.step), "%s", text.c_str());
  bench.description().add_last("panel.step", title + ": " + text);
  explain("The step that this panel shows. The toolbar has the step of the window.");
}

void Regions::draw_tabs(Workbench& bench, const std::vector<Panel*>& panels, std::string& front, float room) {
  // As many tabs as fit, always including the one in front.
  const float gap = em(0.2f), more = tab_width("99 more") + gap;
  float whole = 0;
  for (const Panel* panel : panels) whole += tab_width(panel->title()) + gap;
  std::vector<Panel*> fitting, hidden;
  const auto front_panel =
      std::find_if(panels.begin(), panels.end(), [&](const Panel* panel) { return front == panel->title(); });
  float left = whole <= room ? room : room - more - tab_width((*front_panel)->title()) - gap;
  for (Panel* panel : panels) {
    const float width = tab_width(panel->title()) + gap;
    if (whole <= room || panel == *front_panel) {
      fitting.push_back(panel);
    } else if (hidden.empty() && width <= left) {
      left -= width;
      fitting.push_back(panel);
    } else {
      hidden.push_back(panel);
    }
  }
  for (size_t i = 0; i < fitting.size(); ++i) {
    if (i > 0) ImGui::SameLine(0, gap);
    draw_tab(bench, *fitting[i], front);
  }
  if (!hidden.empty()) {
    ImGui::SameLine(0, gap);
    const std::string label = std::to_string(hidden.size()) + " more";
    if (ImGui::Button((label + "###more").c_str())) ImGui::OpenPopup("more panels");
    bench.description().add_last("panel.more", label);
    for (const Panel* panel : hidden)
      bench.description().add_last("panel", std::string(panel->title()) + " behind " + label);
    explain("More panels of this region.");
    if (ImGui::BeginPopup("more panels")) {
      for (Panel* panel : hidden) {
        if (ImGui::MenuItem(panel->title())) {
          front = panel->title();
          focus(bench, front);
        }
        bench.description().add_last("panel.more.choice", panel->title());
      }
      ImGui::EndPopup();
    }
  }
}

void Regions::draw_region(Workbench& bench, const char* id, const std::vector<Panel*>& panels, Rect rect,
                          std::string& front) {
  const ImVec2 size{rect.max.x - rect.min.x, rect.max.y - rect.min.y};
  if (panels.empty() || size.x < 4 || size.y < 4) return;
  auto in_front =
      std::find_if(panels.begin(), panels.end(), [&](const Panel* panel) { return front == panel->title(); });
  if (in_front == panels.end()) {
    in_front = panels.begin();
    front = (*in_front)->title();
  }
  ImDrawList* list = ImGui::GetWindowDrawList();
  list->AddRectFilled(rect.min, rect.max, theme().panel, em(0.4f));
  const float pad = em(0.6f);
  ImGui::SetCursorScreenPos({rect.min.x + pad, rect.min.y + em(0.35f)});
  ImGui::BeginChild(id, {std::max(size.x - 2 * pad, 1.0f), std::max(size.y - em(0.7f), 1.0f)}, false, kStill);
  const float whole = ImGui::GetContentRegionAvail().x, row = ImGui::GetFrameHeight();
  // The tools are next to the tabs if they fit, otherwise in a separate row.
  const bool filling = bench.settings().layout.maximized == front;
  float tabs = filling ? tab_width("Back") + em(0.2f) : 0;
  for (const Panel* panel : panels) tabs += tab_width(panel->title()) + em(0.2f);
  const float tools = tools_[front];
  // A panel whose tools do not name its step has room for it at the end of the row, so that the number moves
  // nothing when it changes. Where the tabs leave no room, it has its own row.
  const std::string title = front;
  const auto needs_note = [&](const std::optional<PanelStep>& step) {
    if (!step || (step->said && tools <= whole)) return false;
    // While the script runs, the step differs in one frame and not in the next. At a pause the room stays:
    // single steps would move what is below.
    return bench.journal().active() || !step_note(bench, *step).empty();
  };
  const bool noted = needs_note(find(title)->shown_step(bench));
  const float note = noted ? ImGui::CalcTextSize("step 0,000,000").x + em(0.8f) : 0;
  const bool below = noted && whole - note < tab_width(title.c_str()) + tab_width("99 more") + em(0.4f);
  const float room = below ? whole : whole - note;
  const bool beside = !below && tabs + em(0.8f) + tools <= room;
  const ImVec2 head = ImGui::GetCursorScreenPos();
  ImGui::BeginChild("tabs", {beside ? std::min(tabs, room) : room, row}, false, kStill);
  draw_tabs(bench, panels, front, room);
  if (filling && panels.size() == 1) {
    ImGui::SameLine(0, em(0.2f));
    if (ImGui::Button("Back")) bench.actions().act("restore_panel");
    bench.description().add_last("panel.back", "");
    explain("Restores the panel to its region.");
  }
  ImGui::EndChild();
  Panel& shown = *find(front);  // a click on a tab may have changed it
  const float left = ImGui::GetCursorPosX();
  const ImVec2 note_end{head.x + whole, below ? ImGui::GetCursorScreenPos().y : head.y};
  if (below) ImGui::Dummy({whole, row});
  if (beside) ImGui::SameLine(left + std::min(tabs, room) + em(0.8f), 0);
  ImGui::PushID(front.c_str());
  // A panel without tools has no row for them; draw_tools() is still called in each frame, since tools may
  // appear.
  const float beside_tabs = std::max(room - std::min(tabs, room) - em(0.8f), 1.0f);
  ImGui::BeginChild("tools", {beside ? beside_tabs : 0, beside || tools > 0 ? row : 1}, false, kStill);
  ImGui::BeginGroup();
  shown.draw_tools(bench);
  ImGui::EndGroup();
  tools_[front] = ImGui::GetItemRectSize().x;
  ImGui::EndChild();
  ImGui::PopID();
  ImGui::SetCursorPosY(ImGui::GetCursorPosY() + em(0.2f));
  if (focus_next_ == front) {
    ImGui::SetNextWindowFocus();
    focus_next_.clear();
  }
  ImGui::PushID(front.c_str());
  ImGui::BeginChild("content", {0, 0}, false, kStill);
  shown.draw(bench);
  ImGui::EndChild();
  ImGui::PopID();
  if (front == title) {  // behind the content, which may have taken over another step while it was drawn
    const std::optional<PanelStep> step = shown.shown_step(bench);
    const bool needed = needs_note(step);
    if (needed) draw_step_note(bench, *step, title, note_end);
    if (needed != noted) draw_again_in(0);
  }
  if (bench.description().enabled()) {
    std::string text = std::string(id) + ":";
    for (const Panel* panel : panels) text += std::string(" ") + panel->title() + ",";
    bench.description().add("region", text + " in front " + front, rect.min, rect.max);
  }
  // The click may have hit an item, which is active by now.
  if (ImGui::IsWindowHovered(ImGuiHoveredFlags_ChildWindows |
                             ImGuiHoveredFlags_AllowWhenBlockedByActiveItem) &&
      (ImGui::IsMouseClicked(ImGuiMouseButton_Left) || ImGui::IsMouseClicked(ImGuiMouseButton_Right)))
    bench.shell().settings().layout.focused = front;
  ImGui::EndChild();
}

void Regions::draw_drag(Workbench& bench, Rect body, const std::array<Rect, kRegions>& quarters) {
  if (dragged_.empty()) return;
  Panel* panel = find(dragged_);
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  // During a drag, shows the target: a position among tabs, or the end of a region's tabs.
  size_t target = kRegions, before = size_t(-1);
  for (size_t region = 0; region < kRegions; ++region)
    if (body.holds(mouse) && quarters[region].holds(mouse)) target = region;
  PanelLayout& layout = bench.shell().settings().layout;
  for (const Tab& tab : shown_) {
    if (!Rect{tab.min, tab.max}.holds(mouse) || tab.panel == panel) continue;
    const std::string title = tab.panel->title();
    target = size_t(layout.region_of(title));
    const auto& tabs = layout.tabs[target];
    const bool behind = mouse.x > (tab.min.x + tab.max.x) / 2;
    before = size_t(std::find(tabs.begin(), tabs.end(), title) - tabs.begin()) + (behind ? 1 : 0);
    const float mark = behind ? tab.max.x : tab.min.x;
    ImGui::GetForegroundDrawList()->AddRectFilled({mark - 2, tab.min.y}, {mark + 2, tab.max.y},
                                                  theme().accent);
  }
  ImDrawList* list = ImGui::GetForegroundDrawList();
  const bool valid = panel && target < kRegions;
  if (valid && before == size_t(-1)) {
    const Rect& quarter = quarters[target];
    list->AddRectFilled(quarter.min, quarter.max, with_alpha(theme().accent, 0.18f), em(0.4f));
    list->AddRect(quarter.min, quarter.max, theme().accent, em(0.4f), 0, 2);
  }
  const std::string label = valid ? dragged_ + " to the " + kRegionNames[target] : dragged_ + ": not here";
  const ImVec2 size = ImGui::CalcTextSize(label.c_str()), at{mouse.x + em(1), mouse.y + em(0.6f)};
  list->AddRectFilled({at.x - em(0.4f), at.y - em(0.2f)},
                      {at.x + size.x + em(0.4f), at.y + size.y + em(0.2f)}, theme().raised, em(0.3f));
  list->AddText(at, theme().text, label.c_str());
  if (ImGui::IsMouseDown(ImGuiMouseButton_Left)) return;
  if (valid) {
    move(bench, dragged_, Region(target), before);
    focus(bench, dragged_);
  }
  dragged_.clear();
}

void Regions::draw(Workbench& bench, ImVec2 at, ImVec2 size) {
  PanelLayout& layout = bench.shell().settings().layout;
  layout.place(places());
  shown_.clear();
  const Rect body{at, {at.x + size.x, at.y + size.y}};
  if (Panel* filling = find(layout.maximized)) {
    std::string front = filling->title();
    draw_region(bench, "filling", {filling}, body, front);
    dragged_.clear();  // no target
    return;
  }
  if (size.x < em(46) || size.y < em(20)) {
    // The window is too small for several regions: draws one region with a tab for each panel.
    std::vector<Panel*> all;
    for (const std::string& title : order(layout)) all.push_back(find(title));
    draw_region(bench, "only", all, body, only_);
    dragged_.clear();
    return;
  }
  std::array<std::vector<Panel*>, kRegions> in;
  for (size_t region = 0; region < kRegions; ++region) in[region] = panels_in(layout.tabs[region]);
  const float gap = em(0.5f);
  const auto split = [&](Rect whole, bool vertical, float share, bool first, bool second) {
    // A part without panels leaves its space to the other.
    const float length = vertical ? whole.max.x - whole.min.x : whole.max.y - whole.min.y;
    const float part = first && second ? std::round((length - gap) * share) : first ? length : -gap;
    std::array<Rect, 2> parts{whole, whole};
    (vertical ? parts[0].max.x : parts[0].max.y) = (vertical ? whole.min.x : whole.min.y) + part;
    (vertical ? parts[1].min.x : parts[1].min.y) = (vertical ? whole.min.x : whole.min.y) + part + gap;
    return parts;
  };
  const auto place = [&](bool all) {
    const auto any = [&](size_t region) { return all || !in[region].empty(); };
    const auto sides = split(body, true, layout.columns, any(0) || any(1), any(2) || any(3));
    const auto left = split(sides[0], false, layout.left_rows, any(0), any(1));
    const auto right = split(sides[1], false, layout.right_rows, any(2), any(3));
    return std::array<Rect, kRegions>{left[0], left[1], right[0], right[1]};
  };
  const auto rects = place(false);
  for (size_t region = 0; region < kRegions; ++region)
    draw_region(bench, kRegionNames[region], in[region], rects[region], layout.front[region]);
  const bool is_left = !in[0].empty() || !in[1].empty(), is_right = !in[2].empty() || !in[3].empty();
  if (is_left && is_right) {
    const float x = rects[0].max.x;
    splitter(bench, "columns", {{x, at.y}, {x + gap, body.max.y}}, true, layout.columns, size.x);
  }
  if (!in[0].empty() && !in[1].empty())
    splitter(bench, "left rows", {{at.x, rects[0].max.y}, {rects[0].max.x, rects[1].min.y}}, false,
             layout.left_rows, size.y);
  if (!in[2].empty() && !in[3].empty())
    splitter(bench, "right rows", {{rects[2].min.x, rects[2].max.y}, {rects[2].max.x, rects[3].min.y}}, false,
             layout.right_rows, size.y);
  draw_drag(bench, body, place(true));
}

}  // namespace lunagrad
