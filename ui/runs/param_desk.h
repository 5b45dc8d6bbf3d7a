#pragma once
// What the user did with a script's parameters: values that are on their way to the script, why one was
// refused, and the edits in order, so that they can be taken back. Its values are those of the next run, too.
// Drawing thread only.
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "script/session.h"

namespace lunagrad {

// The shortest text that gives the number again.
std::string param_text(double);

class ParamDesk {
 public:
  struct Edit {
    std::string name, before, after;
    int64_t step = 0;  // in which it was made
  };

  // Once a frame: what the script has taken over is on its way no more.
  void update(const std::vector<ParamInfo>&);
  // Hands a value to the session; false: refused, refusal() says why. While `part_of_drag` the changes of one
  // drag are one edit, which the first call without it ends.
  bool set(Session&, const ParamInfo&, const std::string& value, int64_t step, bool part_of_drag = false);
  void end_drag(int64_t step);
  bool undo(Session&, int64_t step);                         // false: there is nothing to take back
  const std::vector<Edit>& edits() const { return edits_; }  // those in force, oldest first

  // What the user sees as the value: the one on its way, else the script's.
  const std::string& value(const ParamInfo&) const;
  bool on_its_way(const std::string& name) const { return asked_.count(name) > 0; }
  const std::string& refusal(const std::string& name) const;  // "" when the last value was taken
  // What no script has taken over, since none runs: it goes into the run that begins now.
  std::map<std::string, std::string> take_waiting() { return std::exchange(asked_, {}); }
  // All that was chosen, for the next run.
  const std::map<std::string, std::string>& chosen() const { return chosen_; }

 private:
  bool send(Session&, const std::string& name, const std::string& value);

  std::map<std::string, std::string> asked_, chosen_, refusals_;
  std::vector<Edit> edits_;
  std::optional<Edit> drag_;
};

}  // namespace lunagrad
