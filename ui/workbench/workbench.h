#pragma once
// What the panels share: a session and all that the window knows of it, without a window. A panel reads from
// here and calls the actions; nothing here waits for the script. Drawing thread only.
#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "script/session.h"
#include "ui/base/description.h"
#include "ui/base/errands.h"
#include "ui/editor/documents.h"
#include "ui/editor/syntax_checker.h"
#include "ui/inspect/gradient_model.h"
#include "ui/inspect/node_inquiry.h"
#include "ui/inspect/value_probe.h"
#include "ui/runs/journal.h"
#include "ui/runs/library.h"
#include "ui/runs/param_desk.h"
#include "ui/tape/model.h"
#include "ui/workbench/commands.h"
#include "ui/workbench/settings.h"

namespace lunagrad {

class Workbench {
 public:
  // `ask_frame` asks for a new frame; it is called on any thread. Fonts must be loaded. `also` gets every
  // event of the session, on its thread.
  Workbench(std::string script, RunOptions, std::function<void()> ask_frame, EventSink also = {});

  // Takes over what the session sent since the last frame. True: there is something new to see.
  bool update();

  // Actions. Each says in the console what it cannot do.
  void run();  // from the start; a paused run goes on instead
  // From the start, whatever is going on, as soon as what was not saved is; `paused`: only to its first step.
  void restart(bool paused = false);
  void pause_or_resume();
  void step();       // to the next step boundary, then pauses; starts a run when there is none
  void step_op();    // when paused: to the end of the next operation
  void step_line();  // when paused: to the script's next line, which the editor then shows
  void stop();       // a second one interrupts at once
  void evaluate(const std::string& code);
  void rerun_with(const std::map<std::string, std::string>& values);  // of parameters
  // Sets a breakpoint on a line of a script, or takes it away. True: there is one now.
  bool toggle_breakpoint(const SourcePlace&);
  void toggle_breakpoint(const NodeInfo&);  // on its line, else on its op
  void show_node(uint64_t id);              // selects it as soon as the tape shows it

  // The script that run() runs from now on, a file or the title of a text without one; a run that is going on
  // is left alone. It is shown in the editor.
  void open(const std::string& path);
  // Opens the script in the editor, and what an earlier start left unsaved in the state folder.
  void open_texts();
  // Shows the line in the editor, whose panel comes to the front; the file is opened if need be.
  void go_to(const SourcePlace&);
  std::optional<SourcePlace> take_wanted_place() { return std::exchange(wanted_place_, std::nullopt); }
  // Saves, and has a script that runs take the change over when hot_reload is on; then `saved` is called. The
  // console says why not.
  void save(Document&, std::function<void()> saved = {});
  // Waits until all that is not saved is in its file or kept for the next start; false: the console says what
  // is not.
  bool keep_texts();
  bool hot_reload = true;
  // Brings the panel of this title to the front, and the keys to it.
  void show_panel(const std::string& title) { settings.layout.show(title); }
  // A sentence over the panels until somebody dismisses it, and in the console.
  void notice(const std::string& sentence);
  // Shows the curves of the run in this folder, read only; F5 then runs its script anew.
  void open_run(const std::string& folder);

  const std::string& script() const { return script_; }
  RunOptions& run_options() { return options_; }  // of the next run
  // Line `place.line` of the file as it was when the run began, without its indent; empty if it cannot be
  // read.
  const std::string& source_line(const SourcePlace&);
  // What the session measures and keeps only while somebody looks: whoever shows it asks in each frame.
  void want_profile() { profile_wanted_ = Clock::now(); }
  void want_data() { data_wanted_ = Clock::now(); }

  // Time: everything shows the step that the tape is of, the latest one while it is live.
  int64_t shown_step() const {
    return standing_ ? *standing_ : tape.tape() ? tape.tape()->step : journal.step();
  }
  bool live() const { return !standing_; }
  void stand_on(int64_t step);  // the kept step nearest to it
  void step_in_time(int by);  // to the next kept step, or one before; behind the latest one it is live again
  void go_live() { standing_.reset(); }
  const History& history() const { return history_; }  // as of this frame
  // What the window may hold beside the run: kept steps get what textures leave of it.
  size_t memory_budget = kHistoryBudget;
  size_t memory_held() const;

  // The tensor of the selected node that is looked at.
  int inspected_output() const { return inspected_input_ ? 0 : inspected_; }
  void inspect_output(int output) { inspected_input_ = false, inspected_ = output; }
  bool inspects_input() const { return inspected_input_; }
  int inspected() const { return inspected_; }
  void inspect_input(int input) { inspected_input_ = true, inspected_ = input; }
  const TensorPlace& inspected_place() const { return place_; }
  const std::string& told() const { return told_; }  // what became of what was copied or saved last

  Journal journal;
  TapeModel tape;
  ValueProbe probe;
  GradientModel gradients;
  ParamDesk params;
  NodeInquiry inquiry;
  Description description;
  Commands commands;
  Settings settings;
  std::string state_folder;  // where this window keeps what outlives it, "" for nowhere
  std::vector<std::string> notices;
  bool new_seed = false;   // each run from the start draws a seed
  std::string help_query;  // what the help panel is to search for next; it takes it away
  RunLibrary runs;
  Errands errands;  // what waits for a disk, for all panels
  // Writes a part of the window as it is drawn next to a PNG file; `done` is told why it could not be, or "".
  // Empty without a window.
  std::function<void(const std::string& path, ImVec2 min, ImVec2 max,
                     std::function<void(const std::string&)> done)>
      take_picture;
  Documents documents;
  SyntaxChecker syntax;
  const std::function<void()> wake;  // asks for a new frame; any thread
  Session session;                   // last: it is stopped before what its events go to

 private:
  void show_text(const std::string& path);
  bool is_undecided(const Document&) const;
  bool save_before_run();  // false: not yet, or not at all
  void begin_run();
  void update_documents();
  void reload_if_run(const std::string& path);
  void remember_run_lines();
  static std::vector<std::string> lines_of(const TextBuffer&);

  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::seconds kLooksAway{2};  // nobody has asked for so long
  Clock::time_point profile_wanted_, data_wanted_;

  std::string script_;
  RunOptions options_;
  enum class Awaited { nothing, run, paused_run } awaited_ = Awaited::nothing;  // until what was not saved is
  int saving_ = 0;                                                              // for that
  std::optional<SourcePlace> wanted_place_;
  std::map<std::string, std::vector<std::string>> sources_;
  uint64_t wanted_node_ = 0;
  size_t stops_seen_ = 0;
  void share_memory();
  void watch_values(const NodeInfo&);
  const NodeInfo* captured_twin(const NodeInfo&, int64_t& step);
  bool inspected_input_ = false;
  int inspected_ = 0;
  TensorPlace place_;
  std::optional<int64_t> standing_;  // a kept step that is shown in place of the latest
  History history_;
  size_t history_budget_ = kHistoryBudget;     // as the session was told
  std::optional<uint64_t> follows_line_from_;  // until there were more pauses
  std::string told_;
  TapePtr captured_;  // holds the twin
};

}  // namespace lunagrad
