// Editor: the scripts as tabs, with the cost of each line while they run. The nodes of the caret's line are
// outlined on the tape, and the line of the node selected there is marked here.
#include <GLFW/glfw3.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "runtime/core/error.h"
#include "script/lua/source.h"
#include "ui/base/redraw.h"
#include "ui/editor/completion.h"
#include "ui/editor/definition.h"
#include "ui/editor/live_gutter.h"
#include "ui/editor/name_help.h"
#include "ui/panels/editor/file_banner.h"
#include "ui/panels/editor/past_text.h"
#include "ui/panels/time/probe_list.h"
#include "ui/text/code_editor.h"
#include "ui/text/commands.h"
#include "ui/text/find_bar.h"
#include "ui/widgets/path_bar.h"
#include "ui/window/input.h"
#include "ui/window/theme.h"
#include "ui/window/tooltip.h"
#include "ui/workbench/panel.h"

namespace lunagrad {
namespace {

constexpr double kCheckAfter = 0.25;  // seconds without typing before a text is compiled

class EditorPanel final : public Panel {
 public:
  const char* title() const override { return "Editor"; }
  Region region() const override { return Region::upper_left; }
  // The costs in the gutter are of the tape's step.
  std::optional<PanelStep> shown_step(const Workbench& bench) const override {
    return gutter_.live() ? step_of_tape(bench, false) : std::nullopt;
  }

  void add_commands(Workbench& bench) override {
    const auto has_text = [&bench] { return bench.texts().documents().active() != nullptr; };
    const auto show = [this, &bench] { bench.shell().show_panel(title()); };
    const auto text = [&bench]() -> Document& { return *bench.texts().documents().active(); };
    auto& commands = bench.commands();
    commands.add(
        {"Text: new", "Ctrl+N", "Opens a new text, which can run without a file.", [this, &bench, show] {
           show();
           begin_text(bench);
         }});
    commands.add_composed(
        {"Text: open", "Ctrl+O", "Opens a file by its path. Tab completes.", [this, &bench, show] {
           show();
           ask_path("Open", folder_of(bench.texts().documents().active()));
         }});
    commands.add_composed({"Text: save", "Ctrl+S", "Saves the text and, if it is running, reloads it.",
                           [this, &bench, text] {
                             if (!refuses(bench, text())) save(bench, text());
                           },
                           has_text});
    commands.add_composed({"Text: save as", "Ctrl+Shift+S", "Saves the text under another name.",
                           [this, &bench, show, text] {
                             show();
                             if (!refuses(bench, text())) ask_path("Save as", text().path);
                           },
                           has_text});
    commands.add({"Text: close", "Ctrl+W", "Closes the text. Asks first if it has changes.",
                  [this, &bench, text] { close(bench, text()); }, has_text, title()});
    commands.add_composed({"Text: find", "Ctrl+F", "Plain text or a regular expression.",
                           [this, &bench] { find(bench, false); }, has_text, title()});
    commands.add_composed({"Text: replace", "Ctrl+H", "Replaces one match or all.",
                           [this, &bench] { find(bench, true); }, has_text, title()});
    commands.add_composed({"Text: find next", "F3", "Goes to the next match.",
                           [this, &bench] { find_again(bench, true); }, has_text, title()});
    commands.add_composed({"Text: find previous", "Shift+F3", "Goes to the previous match.",
                           [this, &bench] { find_again(bench, false); }, has_text, title()});
    commands.add_composed({"Text: go to the definition", "F12",
                           "Goes to where the name at the caret is defined, or to its help.",
                           [this, &bench, text] { go_to_definition(bench, past_.shown(text())); }, has_text,
                           title()});
    commands.add_composed({"Text: run this file", "", "Makes this text the script that F5 runs.",
                           [&bench, text] { take_as_script(bench, text()); }, has_text});
    commands.add_composed({"Text: hot reload", "", kReloadHelp,
                           [&bench] { bench.texts().set_hot_reload(!bench.texts().hot_reload()); }});
    commands.add_composed({"Text: evaluate", "", "Evaluates the selection or the line in the run.",
                           [this, &bench, text] { evaluate(bench, past_.shown(text())); }, has_text,
                           title()});
  }

  void draw_tools(Workbench& bench) override {
    if (ImGui::Button("File")) ImGui::OpenPopup("file");
    bench.description().add_last("editor.menu", "File");
    explain("Open, save, close, hot reload.");
    draw_file_menu(bench);
    ImGui::SameLine();
    if (ImGui::Button("Costs")) ImGui::OpenPopup("gutter");
    bench.description().add_last("editor.menu", "Costs");
    explain("Costs to show beside the lines of a running script.");
    draw_gutter_menu(bench);
    ImGui::SameLine();
    Document* document = bench.texts().documents().active();
    if (tool_button("Find", find_.is_open()) && document) {
      if (find_.is_open())
        find_.close();
      else
        find_.open(past_.shown(*document).buffer, false);
    }
    bench.description().add_last("editor.menu", "Find");
    explain("Find and replace. Ctrl+F, Ctrl+H");
  }

  void draw(Workbench& bench) override {
    forget_closed(bench);
    draw_path_bar(bench);
    leave_find(bench);
    show_text_of_node(bench);
    follows_ |= bench.texts().follow_pause();
    if (bench.texts().documents().active()) draw_tabs(bench);
    if (bench.texts().documents().active())
      banner_.draw(bench, *bench.texts().documents().active(),
                   [this, &bench](Document& text, auto saved) { save(bench, text, std::move(saved)); });
    Document* document = bench.texts().documents().active();
    if (!document) {
      draw_empty("No text is open",
                 "File > Open (Ctrl+O) opens a script, File > New (Ctrl+N) begins one. F5 runs it.");
      return;
    }
    if (bench.texts().wants_place()) past_.show_text();
    Document& shown = past_.choose(bench, *document);
    past_.draw_strip(bench, *document);
    if (past_.take_back()) views_[document->id].take_focus();
    if (past_.shows_difference()) return past_.draw_difference(bench, *document);
    const bool past = past_.is_of(*document);
    CodeEditor& view = view_of(*document);
    if (find_.draw(shown.buffer, describe(bench), past)) view.follow_caret();
    ran_ = bench.step_texts().of_tape(*document);
    follow_tape(bench, *document, view);
    if (!past) check_syntax(bench, *document);
    draw_text(bench, *document, view);
    if (view.focused() && ImGui::GetIO().KeyCtrl && key_pressed(GLFW_KEY_ENTER, false))
      evaluate(bench, shown);
    draw_status(bench, shown, view);
  }

 private:
  static constexpr const char* kReloadHelp =
      "Saving a running script reloads it at the end of its step. States of lg.run.state are kept.";

  static FindBar::Describe describe(Workbench& bench) {
    return [&bench](const char* name, const std::string& text) { bench.description().add_last(name, text); };
  }

  CodeEditor& view_of(const Document& document) {
    return past_.is_of(document) ? past_.view() : views_[document.id];
  }

  // A past text is only read, and the document behind it does not change unseen: the editor says so.
  static bool refuses(Workbench& bench, const Document& document) {
    if (!bench.step_texts().refuses_change(document)) return false;
    bench.shell().show_panel("Editor");
    return true;
  }

  void forget_closed(Workbench& bench) {
    std::erase_if(views_, [&](const auto& view) {
      for (size_t i = 0; i < bench.texts().documents().count(); ++i)
        if (bench.texts().documents()[i].id == view.first) return false;
      return true;
    });
  }

  // ---- files

  void ask_path(const char* label, std::string path) { path_.open(label, std::move(path)); }

  static std::string folder_of(const Document* document) {
    if (!document) return {};
    const size_t slash = document->path.rfind('/');
    return slash == std::string::npos ? "" : document->path.substr(0, slash + 1);
  }

  void save(Workbench& bench, Document& document, std::function<void()> saved = {}) {
    if (!document.path.empty()) return bench.texts().save(document, std::move(saved));
    ask_path("Save as", "");
  }

  // Asks before unsaved text is lost.
  void close(Workbench& bench, Document& document) {
    if (document.modified() && !document.buffer.content().empty())
      banner_.ask_to_close(document);
    else
      bench.texts().documents().close(document);
  }

  void begin_text(Workbench& bench) {
    Document& document = bench.texts().documents().add_untitled();
    if (bench.script().empty()) bench.control().open(document.title);
    views_[document.id].take_focus();
  }

  void draw_path_bar(Workbench& bench) {
    const std::optional<std::string> path = path_.draw(describe(bench));
    if (!path) return;
    try {
      Document* document = bench.texts().documents().active();
      if (path_.label() == "Open") {
        if (stamp_of(*path).exists())
          document = &bench.texts().documents().open(*path);
        else
          document = &bench.texts().documents().create(*path);
        if (bench.script().empty()) bench.control().open(*path);
      } else if (document) {
        const bool is_script = document->path.empty() && bench.script() == document->title;
        bench.texts().save_as(*document, *path,
                              [this, &bench, path = *path, is_script](const std::string& error) {
                                if (!error.empty()) return path_.complain(error);
                                if (is_script) bench.control().open(path);
                                path_.close();
                              });
        views_[document->id].take_focus();
        return;
      }
      path_.close();
      if (document) views_[document->id].take_focus();
    } catch (const Error& error) {
      path_.complain(error.what());
    }
  }

  void draw_file_menu(Workbench& bench) {
    if (!ImGui::BeginPopup("file")) return;
    Document* document = bench.texts().documents().active();
    const auto item = [&](const char* label, const char* key, bool enabled) {
      const bool chosen = ImGui::MenuItem(label, key, false, enabled);
      bench.description().add_last("editor.menu.item", label);
      return chosen;
    };
    if (item("New", "Ctrl+N", true)) begin_text(bench);
    if (item("Open", "Ctrl+O", true)) ask_path("Open", folder_of(document));
    ImGui::Separator();
    const bool edited = document && !past_.is_of(*document);
    if (item("Save", "Ctrl+S", edited)) save(bench, *document);
    if (item("Save as", "Ctrl+Shift+S", edited)) ask_path("Save as", document->path);
    if (item("Close", "Ctrl+W", document != nullptr)) close(bench, *document);
    ImGui::Separator();
    if (item("Run this file with F5", "", document != nullptr)) take_as_script(bench, *document);
    explain("Makes this text the script that F5 runs.");
    const bool reloads = bench.texts().hot_reload();
    if (ImGui::MenuItem("Hot reload", "", reloads)) bench.texts().set_hot_reload(!reloads);
    bench.description().add_last("editor.menu.item", reloads ? "Hot reload on" : "Hot reload off");
    explain(kReloadHelp);
    ImGui::EndPopup();
  }

  static void take_as_script(Workbench& bench, const Document& document) {
    bench.control().open(document.path.empty() ? document.title : document.path);
  }

  static bool is_script(const Workbench& bench, const Document& document) {
    return document.path.empty() ? bench.script() == document.title
                                 : same_file(bench.script(), document.path);
  }

  void draw_tabs(Workbench& bench) {
    const float height = ImGui::GetFrameHeight() + em(0.1f);
    float width = 0;
    const auto label = [&](const Document& document) {
      return std::string(is_script(bench, document) ? "\xe2\x96\xb6 " : "") + document.title +
             (document.modified() ? " *" : "");
    };
    for (size_t i = 0; i < bench.texts().documents().count(); ++i)
      width += ImGui::CalcTextSize(label(bench.texts().documents()[i]).c_str()).x + em(3);
    const bool scrolls = width > ImGui::GetContentRegionAvail().x;
    ImGui::BeginChild("tabs", {0, height + (scrolls ? ImGui::GetStyle().ScrollbarSize : 0)}, false,
                      ImGuiWindowFlags_HorizontalScrollbar);
    Document* closed = nullptr;
    for (size_t i = 0; i < bench.texts().documents().count(); ++i) {
      Document& document = bench.texts().documents()[i];
      ImGui::PushID(document.id);
      if (i > 0) ImGui::SameLine(0, em(0.3f));
      const bool shown = &document == bench.texts().documents().active();
      if (tool_button(label(document).c_str(), shown)) {
        bench.texts().documents().activate(document);
        views_[document.id].take_focus();
      }
      bench.description().add_last("editor.tab", document.title + (document.modified() ? " modified" : ""));
      std::string tip = document.path.empty() ? "has no file yet" : document.path;
      if (is_script(bench, document)) tip += "\n\xe2\x96\xb6 This is what F5 runs.";
      if (document.modified()) tip += "\n* Unsaved changes. Ctrl+S";
      explain(tip.c_str());
      if (shown && bench.texts().documents().count() > 1) {
        ImGui::SameLine(0, em(0.1f));
        if (ImGui::Button("x")) closed = &document;
        bench.description().add_last("editor.close", document.title);
        explain("Closes this text. Ctrl+W");
      }
      ImGui::PopID();
    }
    ImGui::EndChild();
    if (closed) close(bench, *closed);
  }

  // Escape in the text or in the find row closes that row.
  void leave_find(Workbench& bench) {
    Document* document = bench.texts().documents().active();
    const bool escaped = key_pressed(GLFW_KEY_ESCAPE, false) && !(names_ && names_->proposes());
    if (!document || !find_.is_open() || !escaped) return;
    find_.close();
    view_of(*document).take_focus();
  }

  void find(Workbench& bench, bool replace) {
    Document* const document = bench.texts().documents().active();
    if (document) find_.open(past_.shown(*document).buffer, replace && !refuses(bench, *document));
  }

  void find_again(Workbench& bench, bool forward) {
    Document* document = bench.texts().documents().active();
    if (document && find_.is_open() && find_.go(past_.shown(*document).buffer, forward))
      view_of(*document).follow_caret();
  }

  // Searches this text, then the other files that the run has read. For names of the library it shows their
  // help.
  void go_to_definition(Workbench& bench, Document& document) {
    const std::string name = name_at(document.buffer, document.buffer.caret());
    if (name.empty()) return;
    if (const auto here = definition_of(document.buffer, name, document.buffer.caret()))
      return show_definition(bench, document, *here);
    const std::string library = resolved_path(document.buffer, name);
    if (library.starts_with("lg.") || !explain_path(library).empty()) {
      return bench.shell().search_help(library.substr(library.find_last_of(".:") + 1));
    }
    for (const std::string& file : bench.session().files()) try {
        const TextBuffer text(read_script(file));
        if (const auto there = definition_of(text, name, text.end()))
          return show_definition(bench, bench.texts().documents().open(file), *there);
      } catch (const Error&) {  // the file was removed after the script read it
      }
    bench.shell().write(ConsoleLine::Kind::note,
                        "no definition of " + printable(name) + " in the script's files\n");
  }

  void show_definition(Workbench& bench, Document& document, TextPosition at) {
    const bool past = document.id < 0;  // it is shown in place of the active document
    if (!past) bench.texts().documents().activate(document);
    document.buffer.set_caret(at);
    CodeEditor& view = past ? past_.view() : views_[document.id];
    view.follow_caret();
    view.take_focus();
  }

  static void evaluate(Workbench& bench, const Document& document) {
    const TextBuffer& buffer = document.buffer;
    bench.control().evaluate(buffer.has_selection() ? buffer.text(buffer.selection())
                                                    : buffer.line(buffer.caret().line));
  }

  // ---- the run

  void draw_gutter_menu(Workbench& bench) {
    if (!ImGui::BeginPopup("gutter")) return;
    text_in(theme().muted, "Costs of each line in the latest step");
    for (CostColumn& column : gutter_.columns()) {
      if (!gutter_.offers(column)) continue;
      ImGui::MenuItem(column.heading, "", &column.shown);
      bench.description().add_last("editor.menu.item",
                                   column.heading + std::string(column.shown ? " on" : " off"));
      explain(column.help);
    }
    ImGui::EndPopup();
  }

  void follow_tape(Workbench& bench, Document& active, CodeEditor& view) {
    Document& document = past_.shown(active);
    const bool others =
        !bench.tape().lit().empty() && bench.tape().lit() != lit_;  // another panel outlined nodes
    if (gutter_.update(bench.tape().tape(), document, ran_) && !others) light(bench, document);
    if (const auto wanted = bench.texts().take_wanted_place()) {
      const SourceTextPtr ran = wanted->step > 0 ? bench.step_texts().at(active, wanted->step) : nullptr;
      const int line = ran ? LiveGutter::line_now(*ran, wanted->place.line, document)
                           : gutter_.line_now(wanted->place.line);
      if (line >= 0) document.buffer.set_caret({line, 0});
      view.reveal(document.buffer.caret().line);
      view.take_focus();
      light(bench, document);
    }
    const NodeInfo* node = bench.tape().selected_node();
    marked_ =
        node && LiveGutter::belongs(document, node->place.file) ? gutter_.line_now(node->place.line) : -1;
    if (std::exchange(reveals_, false) && marked_ >= 0) view.reveal(marked_);
    if (const int line = line_of_pause(bench, document); std::exchange(follows_, false) && line >= 0)
      view.reveal(line);
  }

  int line_of_pause(const Workbench& bench, const Document& document) const {
    const PausePtr& at = bench.journal().pause();
    return at && LiveGutter::belongs(document, at->place.file) ? gutter_.line_now(at->place.line) : -1;
  }

  // When a node is selected elsewhere, brings its text to the front if the text is open.
  void show_text_of_node(Workbench& bench) {
    if (bench.tape().selected() == last_selected_) return;
    last_selected_ = bench.tape().selected();
    const NodeInfo* node = bench.tape().selected_node();
    if (!node || bench.texts().wants_place()) return;  // a line that was asked for goes before the node's
    reveals_ = true;
    for (size_t i = 0; i < bench.texts().documents().count(); ++i)
      if (LiveGutter::belongs(bench.texts().documents()[i], node->place.file))
        bench.texts().documents().activate(bench.texts().documents()[i]);
  }

  // Outlines the nodes of the caret's line.
  void light(Workbench& bench, const Document& document) {
    const LineCost* here = gutter_.cost(document.buffer.caret().line);
    lit_ = here ? here->nodes : std::vector<int>();
    bench.tape_actions().light(lit_);
  }

  void check_syntax(Workbench& bench, Document& document) {
    const uint64_t revision = document.buffer.revision();
    if (revision != typed_revision_ || document.id != typed_document_) {
      typed_revision_ = revision;
      typed_document_ = document.id;
      typed_at_ = ImGui::GetTime();
      checked_ = false;
    }
    if (checked_) return;
    if (ImGui::GetTime() - typed_at_ < kCheckAfter) return draw_again_in(kCheckAfter);
    checked_ = true;
    bench.texts().syntax().check(document.id, revision, document.buffer.content());
  }

  // The lines where the text does not compile or the last run failed.
  std::vector<CodeEditor::Mark> errors(Workbench& bench, const Document& document) {
    std::vector<CodeEditor::Mark> marks;
    if (document.id < 0) return marks;  // a past text, which ran
    const std::optional<SyntaxAnswer> syntax = bench.texts().syntax().answer(document.id);
    if (syntax && !syntax->message.empty() && syntax->line > 0)
      marks.push_back({std::min(syntax->line, document.buffer.line_count()) - 1, syntax->message});
    const ConsoleLine* last = bench.journal().last_error();
    if (last && bench.journal().ended() && bench.journal().outcome() != Outcome::ok &&
        LiveGutter::belongs(document, last->place.file)) {
      const int line = gutter_.line_now(last->place.line);
      if (line >= 0) marks.push_back({line, bench.journal().error_message(last->place)});
    }
    return marks;
  }

  // ---- the text

  void draw_text(Workbench& bench, Document& active, CodeEditor& view) {
    Document& document = past_.shown(active);
    CodeEditor::Look look;
    look.read_only = past_.is_of(active);
    look.errors = errors(bench, document);
    std::vector<const CostColumn*> shown;
    if (gutter_.live())
      for (const CostColumn& column : gutter_.columns())
        if (column.shown && gutter_.offers(column)) {
          shown.push_back(&column);
          look.columns.push_back({column.heading, column.help});
        }
    look.cell = [&](int line, size_t column) {
      const LineCost* here = gutter_.cost(line);
      return here ? shown[column]->text(*here) : std::string();
    };
    if (!shown.empty() && shown[0] == &gutter_.columns()[0])
      look.heat = [&](int line) { return gutter_.heat(line); };
    look.marked = marked_;
    if (!look.read_only) look.paused_line = line_of_pause(bench, document);
    look.search = find_.search();
    look.current_match = look.search ? find_.current(document.buffer) : -1;
    if (bench.description().enabled())
      look.on_visible = [&](int line, ImVec2 min, ImVec2 max) {
        describe_line(bench, document, line, min, max);
        if (line == look.paused_line)
          bench.description().add("editor.stands", std::to_string(line + 1), min, max);
      };
    if (!names_) names_.emplace(bench.wake());
    look.popup = !look.read_only && names_->take_keys(view);
    const ImVec2 room = ImGui::GetContentRegionAvail();
    const float below =
        ImGui::GetTextLineHeightWithSpacing() * (look.errors.empty() ? 1.0f : 2.0f) + em(0.2f);
    const int line_before = document.buffer.caret().line;
    const CodeEditor::Result did = view.draw(look.read_only ? "past" : "code", document.buffer,
                                             {room.x, std::max(room.y - below, em(3))}, look);
    if (document.buffer.caret().line != line_before || did.edited) {
      gutter_.update(bench.tape().tape(), document, ran_);
      light(bench, document);
    }
    if (did.wants_probe) propose_probe_at_caret(bench);
    if (did.column_hovered >= 0) tooltip(look.columns[size_t(did.column_hovered)].help, did.hovered);
    if (did.gutter_hovered >= 0) explain_line(look, did);
    if (did.refused) bench.step_texts().refuses_change(active);
    if (!look.read_only) names_->draw(bench.live_session(), document.buffer, view, did, bench.description());
  }

  void describe_line(Workbench& bench, const Document& document, int line, ImVec2 min, ImVec2 max) {
    const std::string number = std::to_string(line + 1);
    const TextPosition caret = document.buffer.caret();
    bench.description().add("editor.line", number + ": " + document.buffer.line(line), min, max);
    if (const LineCost* here = gutter_.cost(line)) {
      std::string costs = number + ":";
      for (const CostColumn& column : gutter_.columns()) costs += " " + column.text(*here);
      bench.description().add("editor.cost", costs, min, max);
    }
    if (line == marked_) bench.description().add("editor.marked", number, min, max);
    if (line == caret.line)
      bench.description().add("editor.caret", number + ":" + std::to_string(caret.column + 1), min, max);
  }

  void explain_line(const CodeEditor::Look& look, const CodeEditor::Result& did) {
    for (const CodeEditor::Mark& mark : look.errors)
      if (mark.line == did.gutter_hovered) return tooltip(mark.message, did.hovered);
    if (const std::string sentence = gutter_.sentence(did.gutter_hovered); !sentence.empty())
      tooltip(sentence, did.hovered);
  }

  static void tooltip(const std::string& text, const ScreenArea& of) { show_tip(text, {.area = of}, em(30)); }

  // "line 12: matmul: …" of a message "train.lua:12: matmul: …".
  static std::string error_text(const CodeEditor::Mark& mark) {
    const std::string line = std::to_string(mark.line + 1);
    const std::string place = ":" + line + ": ";
    const size_t found = mark.message.substr(0, mark.message.find('\n')).find(place);
    return "line " + line + ": " + mark.message.substr(found == mark.message.npos ? 0 : found + place.size());
  }

  void draw_status(Workbench& bench, Document& document, CodeEditor& view) {
    for (const CodeEditor::Mark& mark : errors(bench, document)) {
      const std::string text = error_text(mark);
      ImGui::PushStyleColor(ImGuiCol_Text, theme().bad);
      if (ImGui::Selectable((text + "###error").c_str())) {
        document.buffer.set_caret({mark.line, 0});
        view.reveal(mark.line);
        view.take_focus();
      }
      ImGui::PopStyleColor();
      bench.description().add_last("editor.error", text);
      explain((text + "\nClick to go there.").c_str());
      break;
    }
    const TextBuffer& buffer = document.buffer;
    const TextPosition caret = buffer.caret();
    std::string text = "line " + std::to_string(caret.line + 1) + ", column " +
                       std::to_string(screen_column(buffer.line(caret.line), caret.column) + 1);
    if (buffer.has_selection())
      text += ", " + std::to_string(buffer.text(buffer.selection()).size()) + " bytes selected";
    if (const size_t lit = bench.tape().lit().size()) {
      const std::string nodes =
          std::to_string(lit) + (lit == 1 ? " node" : " nodes") + " outlined in the tape";
      text += ", " + nodes;
      bench.description().add_last("editor.lit", nodes);
    }
    text += buffer.crlf() ? ", CRLF" : "";
    text += document.read_only ? ", read-only" : "";
    text += document.modified() ? ", not saved" : "";
    if (!bench.texts().documents().autosave_trouble().empty())
      text += ", unsaved text cannot be kept: " + bench.texts().documents().autosave_trouble();
    text_in(theme().muted, "%s", text.c_str());
    bench.description().add_last("editor.status", text);
    explain(text.c_str());
  }

  std::map<int, CodeEditor> views_;  // by id of the document
  PastText past_;                    // shown in place of the active document
  SourceTextPtr ran_;                // the text that the tape's step ran
  FindBar find_;
  PathBar path_;
  std::optional<NameHelp> names_;
  LiveGutter gutter_;
  FileBanner banner_;
  int typed_document_ = 0;
  uint64_t typed_revision_ = 0;
  double typed_at_ = 0;
  bool checked_ = false, reveals_ = false, follows_ = false;
  std::vector<int> lit_;
  int marked_ = -1, last_selected_ = -1;
};

}  // namespace

std::unique_ptr<Panel> make_editor_panel() { return std::make_unique<EditorPanel>(); }

}  // namespace lunagrad
