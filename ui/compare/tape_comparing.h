#pragma once
// The difference between the shown tape and another one: of another kept step, from before the last reload,
// of a run in a folder, or from a file. Owns the comparison, which a background task makes, and the tape that
// was shown at the last reload. Drawing thread only.
#include <functional>
#include <memory>
#include <string>

#include "ui/actions/shell.h"
#include "ui/actions/shown_step.h"
#include "ui/compare/diff_marks.h"
#include "ui/runs/journal.h"
#include "ui/tape/model.h"

namespace lunagrad {

class TapeComparing {
 public:
  // All references outlive this object. `begins` is called when a comparison takes over the colours of the
  // tape.
  TapeComparing(const Session&, const ShownStep&, const Journal&, const TapeModel&, Shell&,
                std::function<void()> begins);

  void with_step(int64_t step) { act({{"step", double(step)}}); }
  void with_tape_before_reload() { act({{"before_reload", true}}); }
  void with_run(const std::string& folder) { act({{"run", folder}}); }
  void with_file(const std::string& path) { act({{"file", path}}); }
  bool knows_reload() const { return before_reload_ != nullptr; }
  // Writes the difference as a page for a browser. An existing file is an error.
  void save(const std::string& path) { shell_.actions().act("save_tape_comparison", {path}); }
  void close() { shell_.actions().act("close_tape_comparison"); }
  void forget();     // close() as a part of another action
  void begin_run();  // the new run may have another script: forgets the tape from before the reload
  void update();     // once a frame, after the tape was updated

  bool working() const { return working_; }
  const std::shared_ptr<const TapeDiff>& difference() const { return diff_; }  // null if there is none
  const std::shared_ptr<const NodeMarks>& marks() const { return marks_; }     // of the shown tape; or null
  // The step of the other tape, if it is a step of this run; otherwise 0.
  int64_t other_step() const { return other_.tape ? other_.tape->step : 0; }
  const std::string& problem() const { return problem_; }  // why there is no difference
  const std::string& result() const { return result_; }    // the result of save(), a sentence

 private:
  // The tape that is compared with the shown one.
  struct Other {
    TapePtr tape;               // a tape of this run
    std::string title, source;  // otherwise a run or a file
  };
  void act(ActionFields fields) { shell_.actions().act("compare_tape", {std::move(fields)}); }
  void add_actions();
  std::string lacks() const;
  Other other_of(const ActionArguments&) const;
  void compare(Other);
  void write(const std::string& path);

  const Session& session_;
  const ShownStep& shown_;
  const Journal& journal_;
  const TapeModel& tape_;
  Shell& shell_;
  const std::function<void()> begins_;
  std::shared_ptr<const TapeDiff> diff_;
  std::shared_ptr<const NodeMarks> marks_;
  TapePtr marked_;         // the tape that marks_ belongs to
  Other other_;            // what the latest request compares
  TapePtr compared_;       // the shown tape at that time
  uint64_t requests_ = 0;  // only the latest request is answered
  bool working_ = false;
  std::string problem_, result_;
  TapePtr latest_, before_reload_;
  size_t reloads_ = 0;
};

}  // namespace lunagrad
