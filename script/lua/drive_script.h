#pragma once
// A Lua script that drives the window like a user. It has its own Lua state with the whole standard library
// and runs in slices. Its global table `ui` holds the owner's functions; a function that has not finished
// suspends the script until it has. Belongs to the thread that made it, which may be any thread. No Lua type
// appears here.
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace lunagrad {

class DriveScript {
 public:
  using Value = std::variant<std::monostate, bool, double, std::string, std::vector<std::string>>;
  using Values = std::vector<Value>;
  // Asked at once and then once a slice, until it gives what the call returns in Lua.
  using Poll = std::function<std::optional<Values>()>;
  // Begins a call. What it or its Poll throws becomes a Lua error at the line of the call.
  using Function = std::function<Poll(const Values& arguments)>;

  // Error (kind file) when the file cannot be read. `arguments` are arg[1…] and `...` of the script.
  DriveScript(const std::string& path, const std::vector<std::string>& arguments,
              std::map<std::string, Function> functions);
  ~DriveScript();
  DriveScript(const DriveScript&) = delete;

  // Runs until the script waits or ends. True: it has ended. A script that runs for 30 s without waiting
  // fails.
  bool resume();
  const std::string& error() const;  // message and traceback of what ended it; empty: nothing did

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace lunagrad
