#pragma once
// The workbench's operations on the editor's texts: show a line, save, save before a run, pass saved changes
// to a running script. Owns the documents, the syntax checker and the source lines of the run. The drawing
// thread waits for a file only to open one and in keep_all(). Drawing thread only.
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "script/session_control.h"
#include "ui/actions/shell.h"
#include "ui/editor/documents.h"
#include "ui/editor/syntax_checker.h"
#include "ui/runs/journal.h"

namespace lunagrad {

class TextController {
 public:
  // The references outlive this object. `wake` requests a frame; it is called on any thread.
  TextController(SessionControl& session, const Journal& journal, Shell& shell,
                 const std::function<void()>& wake);

  // Checks for files that changed on the disk, and keeps unsaved text. Once a frame.
  void update();

  Documents& documents() { return documents_; }
  SyntaxChecker& syntax() { return syntax_; }

  // Opens the file in the editor. A failure is reported in the console.
  void show(const std::string& path);
  // Opens the script, if any, and the texts that an earlier start left unsaved in the state folder.
  void open_kept(const std::string& script);
  // Shows the line in the editor and brings the panel to the front; opens the file if necessary. `step`: the
  // step that ran this line; 0: the step of the tape.
  void go_to(const SourcePlace&, int64_t step = 0);
  // Shows the text in which the run stands. Returns, once for each position, whether there is one.
  bool follow_pause();
  bool wants_place() const { return wanted_place_.has_value(); }
  // Returns, once, the line that the editor panel should scroll to.
  struct WantedPlace {
    SourcePlace place;
    int64_t step = 0;
  };
  std::optional<WantedPlace> take_wanted_place() { return std::exchange(wanted_place_, std::nullopt); }

  // Saves the document, passes it to the run if hot_reload() is on and the run uses it, then calls `saved`. A
  // failure is reported in the console.
  void save(Document&, std::function<void()> saved = {});
  // Writes the document to another file. Throws and reports errors like Documents::save_as.
  void save_as(Document&, const std::string& path, Documents::Saved);
  // Saves all modified documents that have a file. Returns true when no save is in progress now. Otherwise
  // `all_saved` is called when the last one is finished; before that `failed` is called for each document
  // that could not be saved.
  bool save_before_run(std::function<void()> failed, std::function<void()> all_saved);
  // Waits until all unsaved text is in its file or kept for the next start. Returns false if some is not; the
  // console names it.
  bool keep_all();

  bool hot_reload() const { return hot_reload_; }
  void set_hot_reload(bool on) { shell_.actions().act("set_hot_reload", {on}); }

  // Line `place.line` of the file on the disk as it was when the run began, without its indent; "" if it
  // cannot be read. Of the script and its modules StepTexts knows what ran.
  const std::string& source_line(const SourcePlace&);
  void forget_sources() { sources_.clear(); }  // the run has another script, or another version of it
  void remember_run_lines();                   // takes the documents' present text as the text that runs

 private:
  // Brings the text to the front of the editor, which keeps its place among the panels; opens the file if
  // necessary.
  void bring(const std::string& file);
  void set_text(const std::string& file, const std::string& text);
  void note_text(const Document&, const std::string& file);
  static std::vector<std::string> lines_of(const TextBuffer&);
  static bool is_undecided(const Document&);
  void reload_if_run(const std::string& path);

  SessionControl& session_;
  const Journal& journal_;
  Shell& shell_;
  Documents documents_;
  SyntaxChecker syntax_;
  bool hot_reload_ = true;
  PausePtr pause_;  // the last position that follow_pause() followed to
  int saving_ = 0;  // documents that save_before_run() waits for
  std::optional<WantedPlace> wanted_place_;
  std::map<std::string, std::vector<std::string>> sources_;  // lines by file
};

}  // namespace lunagrad
