#pragma once
// Everything that the user can do in the window, as named actions with arguments: the registry of them, and
// the record of those that were done, each as a line of Lua. Buttons, menus, keys and scripts (drives) all go
// through perform(). Owned by the shell; what an action does belongs to the class or panel that adds it.
// Drawing thread only.
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
  // Does it. An Error says why it could not be done; then nothing is recorded.
  std::function<void(const ActionArguments&)> run;
  // Why it cannot be done yet, a sentence, or "": a script waits for it, as for a node that the tape does not
  // have yet. Empty: always possible.
  std::function<std::string(const ActionArguments&)> lacks = {};
};

class Actions {
 public:
  // The state of the run when something is done. A script waits for it before it does the same.
  struct Moment {
    std::string state;  // "running", "paused", "ended"; "" before the first run
    int64_t step = 0;
    uint64_t pauses = 0, ended = 0;  // pauses and ended runs since the window began
    bool operator==(const Moment&) const = default;
  };
  struct Line {
    std::string text;    // of Lua, without a line break
    std::string time;    // "12:03:45", local
    bool waits = false;  // ui.reach: for the moment of the next line
  };

  void add(Action);
  const std::vector<Action>& all() const { return actions_; }
  const Action* find(const std::string& name) const;

  // Does the action and records it, unless it is a part of another one. Error if it could not be done.
  // `goes_on`: if the last line is of this action too, it is replaced, as while a slider is dragged.
  void perform(const std::string& name, const ActionValues&, bool goes_on = false);
  // The same for buttons and keys: reports an error to on_error. False: it could not be done.
  bool act(const std::string& name, const ActionValues& = {}, bool goes_on = false);
  // A call of the action that `run` does, which add() need not know.
  void act_as(const std::string& name, const ActionValues&, const std::function<void()>& run);
  // Records the action without doing it; also while another one is carried out, before that one's line.
  void note(const std::string& name, const ActionValues&);

  // While it lives, nothing is recorded: what the window does by itself.
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
  uint64_t dropped() const { return dropped_; }  // lines: the oldest, of very many
  uint64_t version() const { return version_; }  // changes when a line other than a new one does
  void clear();
  // The lines as a script for --drive. `opened`: the script or run of the window, for the comment; "": none.
  std::string as_script(const std::string& opened) const;

 private:
  void carry_out(const std::string& name, const ActionValues&, bool goes_on,
                 const std::function<void()>& run);
  void record(const Moment&, const std::string& name, const ActionValues&, bool goes_on);
  void append(std::string text, bool waits);
  void drop_oldest();

  std::vector<Action> actions_;
  std::deque<Line> lines_;
  std::optional<Moment> noted_;  // of the last line
  std::string last_;             // action of the last line
  int depth_ = 0;                // actions that are being carried out, one within the other
  size_t bytes_ = 0;
  uint64_t dropped_ = 0, version_ = 0;
};

}  // namespace lunagrad
