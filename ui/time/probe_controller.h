#pragma once
// The probes of the window: expressions that are evaluated in each step of the running script, and by a
// replay in earlier steps. Owns their list and the replay; the session evaluates them, the journal has their
// curves. The probes stay when another run begins. Drawing thread only; nothing here waits.
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "script/session_watches.h"
#include "ui/record/actions.h"
#include "ui/runs/journal.h"
#include "ui/time/back_fill.h"
#include "ui/time/replay_controller.h"

namespace lunagrad {

class ProbeController {
 public:
  // The references outlive this object. `run_now` returns the present state of the run. `wake` requests a
  // frame; it is called on any thread.
  ProbeController(SessionWatches&, Journal&, Actions&, const ReplayController&,
                  std::function<ReplayController::RunNow()> run_now, const std::function<void()>& wake);

  // Takes over the result of a replay, and starts the next replay. Once a frame. Returns true when something
  // is new.
  bool update();

  struct Item {
    Probe probe;           // its name is never empty
    std::string problem;   // why it has no values, or no values of earlier steps; "": no error
    bool stopped = false;  // no replay for earlier steps: it failed, or the user cancelled it
  };
  const std::vector<Item>& items() const { return items_; }
  // The state of its values in words: "live since step 40, steps 1 to 39 are being repeated".
  std::string state_of(const Item&) const;
  // The steps for which it has values: first and last of each range.
  std::vector<std::pair<int64_t, int64_t>> covered(const Item&) const;
  // Adds a probe. Returns why it is refused, or "".
  std::string add(const Probe&);
  void remove(const std::string& name) { actions_.act("remove_probe", {name}); }
  void fill(const std::string& name) { actions_.act("fill_probe", {name}); }  // tries the replay again
  void cancel() { actions_.act("cancel_fill"); }
  std::optional<BackFill::Progress> progress() const { return back_fill_.progress(); }

  // A probe that a menu suggests, for the form of the Time panel.
  void propose(Probe probe) { proposed_ = std::move(probe); }
  std::optional<Probe> take_proposed() { return std::exchange(proposed_, std::nullopt); }

 private:
  // Steps whose values a replay has to compute; if none: first > last.
  struct Gap {
    int64_t first = 1, last = 0;
    bool empty() const { return first > last; }
  };
  void add_actions();
  std::string problem_of(const Probe&) const;
  size_t index_of(const std::string& name) const;  // items_.size(): there is no probe of this name
  void try_again();
  void take(BackFill::Result);
  void start();
  Gap gap_of(const Item&) const;

  SessionWatches& session_;
  Journal& journal_;
  Actions& actions_;
  const ReplayController& replay_;
  const std::function<ReplayController::RunNow()> run_now_;
  std::vector<Item> items_;
  std::optional<Probe> proposed_;
  uint64_t runs_ = 0, reloads_ = 0;  // counts of the journal up to which this object has reacted
  BackFill back_fill_;
};

// "the end of each step", "line 12", "train.lua:12"
std::string place_of(const Probe&);

}  // namespace lunagrad
