#pragma once
// The probes of the window: expressions that are evaluated in each step of the running script, and by a
// replay in the steps before. Owns their list and the replay; the session evaluates them, the journal has
// their curves. They stay when another run begins. Drawing thread only; nothing here waits.
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "script/session.h"
#include "ui/record/actions.h"
#include "ui/runs/journal.h"
#include "ui/time/back_fill.h"
#include "ui/time/replay_desk.h"

namespace lunagrad {

class ProbeDesk {
 public:
  // The references outlive this object. `run_now` gives the run as it is. `wake` requests a frame; it is
  // called on any thread.
  ProbeDesk(Session&, Journal&, Actions&, const ReplayDesk&, std::function<ReplayDesk::RunNow()> run_now,
            const std::function<void()>& wake);

  // Takes over what a replay found, and starts the next one. Once a frame. True: something is new.
  bool update();

  struct Item {
    Probe probe;           // its name is never empty
    std::string problem;   // why it has no values, or not those of earlier steps; "": nothing is wrong
    bool stopped = false;  // earlier steps are not filled in: that failed, or the user cancelled
  };
  const std::vector<Item>& items() const { return items_; }
  // What there is of its values, in words: "live since step 40, steps 1 to 39 are being repeated".
  std::string state_of(const Item&) const;
  // The steps for which it has values: first and last of each range.
  std::vector<std::pair<int64_t, int64_t>> covered(const Item&) const;
  // Why it is refused; "": it was added.
  std::string add(const Probe&);
  void remove(const std::string& name) { actions_.act("remove_probe", {name}); }
  void fill(const std::string& name) { actions_.act("fill_probe", {name}); }  // again
  void cancel() { actions_.act("cancel_fill"); }
  std::optional<BackFill::Progress> progress() const { return back_fill_.progress(); }

  // A probe that a menu suggests, for the form of the Time panel.
  void propose(Probe probe) { proposed_ = std::move(probe); }
  std::optional<Probe> take_proposed() { return std::exchange(proposed_, std::nullopt); }

 private:
  // Steps that a replay has to fill in; none: first > last.
  struct Gap {
    int64_t first = 1, last = 0;
    bool empty() const { return first > last; }
  };
  void add_actions();
  std::string problem_of(const Probe&) const;
  size_t index_of(const std::string& name) const;  // items_.size(): there is none of that name
  void try_again();
  void take(BackFill::Result);
  void start();
  Gap gap_of(const Item&) const;

  Session& session_;
  Journal& journal_;
  Actions& actions_;
  const ReplayDesk& replay_;
  const std::function<ReplayDesk::RunNow()> run_now_;
  std::vector<Item> items_;
  std::optional<Probe> proposed_;
  uint64_t runs_ = 0, reloads_ = 0;  // of the journal, as far as this object has reacted to them
  BackFill back_fill_;
};

// "the end of each step", "line 12", "train.lua:12"
std::string place_of(const Probe&);

}  // namespace lunagrad
