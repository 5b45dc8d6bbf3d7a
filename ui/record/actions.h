#pragma once
// The user's actions in the window, by name and arguments: their registry, and the record of the actions done
// so far, each as a line of Lua. Buttons, menus, keys and scripts (drives) all go through perform(). Owned by
// the shell; an action's effect belongs to the class or panel that adds it. Drawing thread only.
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "ui/record/action_values.h"

namespace lunagrad {

struct Action {
  std::string name;       // "set_param": ui.set_param in Lua
  std::string arguments;  // "name, value", for the documentation
  // Carries out the action. Throws an Error with the reason if that is impossible; then nothing is recorded.
  std::function<void(const ActionArguments&)> run;
  // Returns why the action is not possible yet, as a sentence, or "". A script waits until it is possible,
  // for example until the tape has a node. Empty function: always possible.
  std::function<std::string(const ActionArguments&)> lacks = {};
};

class Actions {
 public:
  // The state of the run when an action was done. A script waits for this state before it repeats the action.
  struct Moment {
    std::string state;  // "running", "paused", "ended"; "" before the first run
    int64_t step = 0;
    uint64_t pauses = 0, ended = 0;  // pauses and ended runs since the window began
    bool operator==(const Moment&) const = default;
  };
  struct Line {
    std::string text;    // one line of Lua
    std::string time;    // "12:03:45", local time
    bool waits = false;  // the line is ui.reach, which waits for the moment of the next line
  };

  void add(Action);
  const std::vector<Action>& all() const { return actions_; }
  const Action* find(const std::string& name) const;

  // Carries out the action and records it, unless it is a part of another action. Throws if it is not
  // possible. `goes_on`: if the last line is of the same action, the new line replaces it, for example while
  // a slider is dragged.
  void perform(const std::string& name, const ActionValues&, bool goes_on = false);
  // Like perform(), for buttons and keys: reports an error to on_error. Returns false if the action was not
  // possible.
  bool act(const std::string& name, const ActionValues& = {}, bool goes_on = false);
  // Records `run` as a call of the action; the action need not have been added.
  void act_as(const std::string& name, const ActionValues&, const std::function<void()>& run);
  // Records the action without carrying it out. Within another action, its line comes before that action's
  // line.
  void note(const std::string& name, const ActionValues&);

  // While an object of this class exists, nothing is recorded: for changes that the window makes by itself.
  class Quiet {
   public:
    explicit Quiet(Actions& actions) : actions_(actions) { ++actions_.depth_; }
    ~Quiet() { --actions_.depth_; }
    Quiet(const Quiet&) = delete;

   private:
    Actions& actions_;
  };

  std::function<Moment()> moment;
  std::function<void(const std::string&)> on_error;

  const std::deque<Line>& lines() const { return lines_; }
  uint64_t dropped() const { return dropped_; }  // number of oldest lines that were dropped
  uint64_t version() const { return version_; }  // changes when an existing line changes, not with a new one
  void clear();
  // The lines as a script for --drive. `opened`: the window's script or run, named in a comment; "": none.
  std::string as_script(const std::string& opened) const;

 private:
  void carry_out(const std::string& name, const ActionValues&, bool goes_on,
                 const std::function<void()>& run);
  void record(const Moment&, const std::string& name, const ActionValues&, bool goes_on);
  void append(std::string text, bool waits);
  void drop_oldest();

  std::vector<Action> actions_;
  std::deque<Line> lines_;
  std::optional<Moment> noted_;  // moment of the last line
  std::string last_;             // action of the last line
  int depth_ = 0;                // number of nested actions that are being carried out
  size_t bytes_ = 0;
  uint64_t dropped_ = 0, version_ = 0;
};

}  // namespace lunagrad
