#pragma once
// The window's record of a run: its console, its curves, its progress. The session's thread calls push(),
// which only queues under a short lock; everything else belongs to the drawing thread, which takes the queue
// over once a frame with update(). Needs no window: a test can feed it.
#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "script/view/run.h"
#include "script/view/surgery.h"
#include "ui/runs/curves.h"
#include "ui/runs/media_log.h"
#include "ui/runs/probe_curves.h"
#include "ui/runs/text_history.h"

namespace lunagrad {

struct ConsoleLine {
  enum class Kind { output, warning, error, command, note } kind = Kind::output;
  std::string text;  // one line, valid UTF-8, no control characters
  SourcePlace place;
  uint32_t part = 0;  // index of the line within its message: an error's traceback follows its first line
};

// Makes valid UTF-8 without control characters: tabs become spaces, ANSI sequences are removed, invalid bytes
// become U+FFFD.
std::string printable(std::string_view);

// The first NaN or Inf of a run.
struct NotFiniteNote {
  bool nan = true;  // false: Inf
  int64_t step = 0, since = 0;
  std::string headline;     // "NaN since step 20: sqrt at model.lua:31"
  std::string explanation;  // may be empty
  SourcePlace place;
  uint64_t node = 0;
};

// An error that ended the run, or that refused a changed script.
struct FailureNote {
  std::string text;  // the first line of the error
  SourcePlace place;
  bool ended = false;  // the error has ended the run
};

// A variable of the script whose graph grows from step to step.
struct GrowthNote {
  std::string name, text;
  int64_t step = 0;
  SourcePlace place;
};

class Journal {
 public:
  static constexpr size_t kMostLines = 100000;  // the oldest lines are dropped first
  static constexpr size_t kMostMarks = 4096;    // the oldest marks are dropped first

  // `wake` is called on the pushing thread when the queue stops being empty.
  explicit Journal(std::function<void()> wake = {});

  void push(const Event&);  // any thread
  bool update();            // returns true when something arrived

  // A new run starts as soon as the current one, if any, has ended: curves and progress are reset.
  void restart();
  void write(ConsoleLine::Kind, std::string_view text, SourcePlace = {});
  // Between these calls all values of a parameter are one edit: one mark, one line of the console. Events may
  // arrive after end_drag(), whose `value` is the last one.
  void begin_drag(const std::string& name);
  void end_drag(const std::string& name, const std::string& value);
  void clear_console();
  void set_smoothing(double beta);
  double smoothing() const { return smoothing_; }

  const std::deque<ConsoleLine>& lines() const { return lines_; }
  uint64_t lines_dropped() const {
    return dropped_;
  }  // dropped or cleared lines: the number of the first line that exists
  bool line_open() const { return line_open_; }    // the last line may still grow
  uint64_t revision() const { return revision_; }  // grows with each change in the console
  const std::deque<Metric>& metrics() const { return curves_.metrics; }
  // The curves of the current run, or of the last one. Not const, since charts cache values for other axes in
  // them.
  RunCurves& curves() { return curves_; }
  const RunCurves& curves() const { return curves_; }
  ProbeCurves& probes() { return probes_; }
  const ProbeCurves& probes() const { return probes_; }
  const MediaLog& media() const { return media_; }
  // The texts that the run has loaded, and the texts of the run before it, whose tape may still be shown.
  const TextHistory& texts() const { return texts_; }
  const TextHistory& former_texts() const { return waiting_for_end_ ? texts_ : former_texts_; }
  SessionState state() const { return state_; }
  bool active() const { return state_ != SessionState::idle; }
  bool awaits_end() const { return waiting_for_end_; }  // of a run, after which another one begins
  bool ended() const { return ended_; }                 // a run has ended, and no new run has started
  Outcome outcome() const { return outcome_; }
  const std::string& run_folder() const { return run_folder_; }
  int64_t step() const { return step_; }
  int64_t total() const { return total_; }  // 0: unknown
  double elapsed() const;                   // seconds, including past pauses; during a pause it does not grow
  double steps_per_second() const;          // mean over about the last two seconds
  const ConsoleLine* last_error() const;
  // The message of the latest error at this place: the first of its lines, without the traceback. "" if none.
  std::string error_message(const SourcePlace&) const;
  const std::optional<NotFiniteNote>& not_finite() const { return not_finite_; }
  const std::optional<FailureNote>& failure() const { return failure_; }
  void dismiss_failure() { failure_.reset(); }
  const std::optional<GrowthNote>& growth() const { return growth_; }
  // The changes that lg.surgery made in this run; null: none yet.
  const std::shared_ptr<const SurgeryHistory>& surgery() const { return surgery_; }
  uint64_t last_hit() const { return last_hit_; }  // the last breakpoint that the run hit, 0: none
  const std::vector<ParamEdit>& edits() const { return edits_; }  // of parameters while the run was active
  const std::vector<uint64_t>& stops() const { return stops_; }   // of breakpoint hits; 0: hit without a node
  bool at_breakpoint() const { return at_breakpoint_; }           // paused at a breakpoint
  uint64_t pauses() const { return pauses_; }                     // number of pauses so far
  uint64_t ends() const { return ends_; }                         // number of runs that have ended so far
  uint64_t runs() const { return runs_; }                         // number of runs that have begun
  uint64_t reloads() const { return reloads_; }                   // number of reloads so far, of all runs
  const SourcePlace& pause_place() const {
    return pause_place_;
  }  // where the run is paused; no file while it is not

 private:
  using Clock = std::chrono::steady_clock;
  void apply(const Event&);
  void begin();
  void note(const Event&);  // handles events that the user must see
  void edit(const Event&, const std::string& name, const std::string& before);
  void mark(RunMark::Kind, const Event&, std::string text, std::string brief = {});

  std::function<void()> wake_;
  std::mutex mutex_;
  std::vector<Event> queue_;  // guarded by mutex_
  std::vector<Event> taken_;

  std::deque<ConsoleLine> lines_;
  uint64_t dropped_ = 0, revision_ = 0;
  bool line_open_ = false;  // the last line has no newline yet
  RunCurves curves_;
  ProbeCurves probes_;
  std::map<std::string, std::string> params_;  // last reported values, to detect edits
  struct Drag {
    bool marked = false;
    size_t mark = 0;    // index in curves_.marks
    uint64_t line = 0;  // number of a console line, counted like lines_dropped()
    std::string before;
    std::optional<std::string> last;  // set when the drag has ended; the drag's last value
  };
  std::map<std::string, Drag> drags_;
  MediaLog media_;
  TextHistory texts_, former_texts_;
  double smoothing_ = kDefaultSmoothing;
  SessionState state_ = SessionState::idle;
  bool waiting_for_end_ = false;
  bool ended_ = false;
  Outcome outcome_ = Outcome::ok;
  std::string run_folder_;
  std::optional<NotFiniteNote> not_finite_;
  std::optional<FailureNote> failure_;
  std::string failed_;  // the latest error without a line
  std::optional<GrowthNote> growth_;
  std::shared_ptr<const SurgeryHistory> surgery_;
  std::vector<uint64_t> stops_;
  bool at_breakpoint_ = false;
  uint64_t last_hit_ = 0;
  std::vector<ParamEdit> edits_;
  uint64_t pauses_ = 0, ends_ = 0, runs_ = 0, reloads_ = 0;
  SourcePlace pause_place_;
  int64_t step_ = 0, total_ = 0;
  double time_ = 0, paused_time_ = 0;
  Clock::time_point time_at_ = Clock::now();
  std::deque<std::pair<double, int64_t>> recent_;  // recent times with their steps
};

}  // namespace lunagrad
