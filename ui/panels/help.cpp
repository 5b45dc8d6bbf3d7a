// Examples and help: the bundled examples to read, open and run; searchable help on all functions that a
// script can call; the sections of the guide; the keys. In front when the window opens without a script.
#include "script/meta/help.h"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <map>
#include <string>
#include <utility>

#include "ui/window/field_focus.h"
#include "ui/window/theme.h"
#include "ui/workbench/example_needs.h"
#include "ui/workbench/key_sheet.h"
#include "ui/workbench/palette.h"
#include "ui/workbench/panel.h"

namespace lunagrad {
namespace {

class HelpPanel final : public Panel {
 public:
  const char* title() const override { return "Examples and help"; }
  Region region() const override { return Region::upper_left; }
  std::optional<PanelStep> shown_step(const Workbench&) const override { return std::nullopt; }

  void add_commands(Workbench& bench) override {
    bench.commands().add(
        {"Help: search", "F1", "Searches everything that a script can call.", [this, &bench] {
           page_ = Page::help;
           focus_search_ = true;
           bench.shell().show_panel(title());
         }});
    bench.commands().add({"Help: examples", "", "Shows the examples: read, open or run one.", [this, &bench] {
                            page_ = Page::examples;
                            bench.shell().show_panel(title());
                          }});
    bench.commands().add({"Help: keys", "", "Every command and its key.", [this, &bench] {
                            page_ = Page::keys;
                            bench.shell().show_panel(title());
                          }});
  }

  void draw_tools(Workbench& bench) override {
    page_button(bench, "Examples", Page::examples, "Scripts that come with Lunagrad.");
    ImGui::SameLine();
    page_button(bench, "Help", Page::help, "Everything a script can call, and the guide. F1.");
    ImGui::SameLine();
    page_button(bench, "Keys", Page::keys, "Every command and its key.");
  }

  void draw(Workbench& bench) override {
    if (const std::string wanted = bench.shell().take_help_query(); !wanted.empty()) {
      page_ = Page::help;
      std::snprintf(query_, sizeof query_, "%s", wanted.c_str());
      searched_ = false;
    }
    switch (page_) {
      case Page::examples:
        return draw_examples(bench);
      case Page::help:
        return draw_help(bench);
      case Page::keys:
        return draw_keys(bench);
    }
  }

 private:
  enum class Page { examples, help, keys };

  void page_button(Workbench& bench, const char* label, Page page, const char* help) {
    if (tool_button(label, page_ == page)) page_ = page;
    bench.description().add_last("help.page", std::string(label) + (page_ == page ? " shown" : ""));
    explain(help);
  }

  void draw_examples(Workbench& bench) {
    if (!looked_) {
      examples_ = find_examples();
      for (const Example& example : examples_) needs_[example.name] = needed_arguments(example.path);
    }
    looked_ = true;
    if (!read_.empty()) return draw_script(bench);
    ImGui::BeginChild("examples", {0, 0});
    ImGui::PushTextWrapPos();
    if (bench.script().empty()) {
      bold_text("Write, run and inspect training scripts");
      text_in(
          theme().muted,
          "Pick an example or open your script. F5 runs it, F6 pauses it; then click a node of the tape.");
    }
    ImGui::PopTextWrapPos();
    const std::vector<std::string> recent = bench.settings().recent;  // opening a script reorders the list
    for (size_t i = 0; i < std::min<size_t>(recent.size(), 5); ++i) draw_recent(bench, recent[i]);
    if (ImGui::Button("Open a script")) bench.commands().run("Script: open");
    bench.description().add_last("help.open", "");
    explain("Opens a Lua file by name or path. Ctrl+P.");
    if (examples_.empty())
      draw_empty("No examples", "The folder of examples is missing. Reinstall Lunagrad.");
    for (const Example& example : examples_) {
      ImGui::Separator();
      ImGui::PushID(example.name.c_str());
      bold_text(example.name);
      bench.description().add_last("example", example.name);
      ImGui::PushTextWrapPos();
      text_in(theme().muted, "%s", example.sentence.c_str());
      ImGui::PopTextWrapPos();
      buttons(bench, example);
      ImGui::PopID();
    }
    ImGui::EndChild();
  }

  static void draw_recent(Workbench& bench, const std::string& path) {
    const std::string shown = short_path(path);
    if (ImGui::Button((shown + "##recent").c_str())) bench.control().open(path);
    bench.description().add_last("help.recent", shown);
    explain("Opens this script again.");
  }

  void buttons(Workbench& bench, const Example& example) {
    if (ImGui::Button("Run")) {
      bench.control().open(example.path);
      bench.commands().run("Clean run");
    }
    bench.description().add_last("example.run", example.name);
    const std::string& needs = needs_[example.name];
    explain(needs.empty()
                ? "Runs it from the start."
                : ("Runs it from the start with the arguments of the next run, which the menu sets: " +
                   needs + ".")
                      .c_str());
    ImGui::SameLine();
    if (!needs.empty()) {
      ImGui::AlignTextToFramePadding();
      text_in(theme().warning, "needs %s", needs.c_str());
      bench.description().add_last("example.needs", example.name + " " + needs);
      explain(
          "An argument of the script: the menu at the end of the top row sets it under \"The next run\".");
      ImGui::SameLine();
    }
    if (ImGui::Button("Open")) bench.control().open(example.path);
    bench.description().add_last("example.open", example.name);
    explain("Opens it as the script of this window. F5 runs it.");
    if (!read_.empty()) return;
    ImGui::SameLine();
    if (ImGui::Button("Read")) {
      read_ = example.name;
      std::ifstream file(example.path);
      lines_.clear();
      for (std::string line; std::getline(file, line);) lines_.push_back(printable(line));
    }
    bench.description().add_last("example.read", example.name);
    explain("Shows its text here.");
  }

  void draw_script(Workbench& bench) {
    const auto example =
        std::find_if(examples_.begin(), examples_.end(), [&](const Example& e) { return e.name == read_; });
    if (example == examples_.end()) return read_.clear();
    const bool back = ImGui::Button("All examples");
    bench.description().add_last("example.back", "");
    explain("Back to the list.");
    ImGui::SameLine();
    buttons(bench, *example);
    ImGui::SameLine();
    bold_text(example->name);
    bench.description().add_last("example.shown", example->name);
    ImGui::BeginChild("text", {0, 0}, false, ImGuiWindowFlags_HorizontalScrollbar);
    ImGui::PushFont(fonts().mono);
    for (size_t i = 0; i < lines_.size(); ++i) {
      text_in(theme().faint, "%3zu ", i + 1);
      ImGui::SameLine(0, 0);
      const bool comment = lines_[i].find_first_not_of(' ') == lines_[i].find("--");
      text_in(comment ? theme().muted : theme().text, "%s", lines_[i].c_str());
    }
    ImGui::PopFont();
    ImGui::EndChild();
    if (back) read_.clear();
  }

  void draw_help(Workbench& bench) {
    ImGui::SetNextItemWidth(-1);
    if (focus_search_) focus_next_field();
    focus_search_ = false;
    if (ImGui::InputTextWithHint("##query", "search: softmax, learning rate, checkpoint", query_,
                                 sizeof query_))
      searched_ = false;
    bench.description().add_last("help.query", query_);
    if (!searched_) {
      found_ = search_help(query_);
      chosen_ = found_.empty() ? nullptr : found_.front();
    }
    const bool scroll_up = !std::exchange(searched_, true);
    if (found_.empty()) {
      draw_empty("Nothing found", "All words must occur in the name or the description.");
      bench.description().add_last("help.none", query_);
      return;
    }
    const float list = std::min(em(15), ImGui::GetContentRegionAvail().x * 0.4f);
    ImGui::BeginChild("names", {list, 0});
    if (scroll_up) ImGui::SetScrollY(0);
    ImGuiListClipper clipper;
    clipper.Begin(int(found_.size()));
    while (clipper.Step())
      for (int i = clipper.DisplayStart; i < clipper.DisplayEnd; ++i) {
        const HelpEntry* entry = found_[size_t(i)];
        ImGui::PushID(i);
        if (ImGui::Selectable(entry->name.c_str(), entry == chosen_)) chosen_ = entry;
        ImGui::PopID();
        bench.description().add_last("help.entry", entry->name);
      }
    ImGui::EndChild();
    ImGui::SameLine();
    ImGui::BeginChild("entry", {0, 0});
    ImGui::PushTextWrapPos();
    draw_entry(bench);
    ImGui::PopTextWrapPos();
    ImGui::EndChild();
  }

  void draw_entry(Workbench& bench) {
    const bool section = chosen_->kind == HelpEntry::Kind::section;
    if (section) {
      text_in(theme().faint, "from the %s", chosen_->call.c_str());
    } else {
      bold_text(chosen_->call);
      bench.description().add_last("help.call", chosen_->call);
      if (ImGui::Button("Copy")) ImGui::SetClipboardText(chosen_->call.c_str());
      explain("Copies the call.");
    }
    // Monospaced, since the documents' drawings need aligned columns.
    if (section) ImGui::PushFont(fonts().mono);
    ImGui::TextUnformatted(chosen_->text.c_str());
    if (section) ImGui::PopFont();
    bench.description().add_last("help.text", chosen_->text);
  }

  Page page_ = Page::examples;
  bool looked_ = false;
  std::vector<Example> examples_;
  std::map<std::string, std::string> needs_;  // arguments that an example needs, by its name
  std::string read_;                          // name of the example that is shown
  std::vector<std::string> lines_;
  char query_[256] = "";
  bool searched_ = false, focus_search_ = false;
  std::vector<const HelpEntry*> found_;
  const HelpEntry* chosen_ = nullptr;
};

}  // namespace

std::unique_ptr<Panel> make_help_panel() { return std::make_unique<HelpPanel>(); }

}  // namespace lunagrad
