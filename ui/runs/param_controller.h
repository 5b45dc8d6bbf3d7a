#pragma once
// The user's edits of a script's parameters: pending values, reasons of refused values, and the edits in
// order for undo. The values also apply to the next run. Drawing thread only.
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "script/session_control.h"

namespace lunagrad {

class ParamController {
 public:
  struct Edit {
    std::string name, before, after;
    int64_t step = 0;  // the step at which the edit was made
  };

  // Once a frame: values that the script has taken over are no longer pending.
  void update(const std::vector<ParamInfo>&);
  // Sends a value to the session. Returns false when it was refused; refusal() has the reason. While
  // `part_of_drag` is true, all changes are one edit; the first call without it ends the edit.
  bool set(SessionControl&, const ParamInfo&, const std::string& value, int64_t step,
           bool part_of_drag = false);
  void end_drag(int64_t step);
  const std::optional<Edit>& drag() const { return drag_; }  // the drag in progress
  bool undo(SessionControl&, int64_t step);                  // returns false when there is nothing to undo
  const std::vector<Edit>& edits() const { return edits_; }  // the edits in effect, oldest first

  // The value that the user sees: the pending one, otherwise the script's.
  const std::string& value(const ParamInfo&) const;
  bool on_its_way(const std::string& name) const { return asked_.count(name) > 0; }
  const std::string& refusal(const std::string& name) const;  // "" if the last value was accepted
  // Returns pending values that no script has taken over because none runs: they apply to the run that starts
  // now.
  std::map<std::string, std::string> take_waiting() { return std::exchange(asked_, {}); }
  // All values that the user has set, for the next run.
  const std::map<std::string, std::string>& chosen() const { return chosen_; }

 private:
  bool send(SessionControl&, const std::string& name, const std::string& value);

  std::map<std::string, std::string> asked_, chosen_, refusals_;
  std::vector<Edit> edits_;
  std::optional<Edit> drag_;
};

}  // namespace lunagrad
