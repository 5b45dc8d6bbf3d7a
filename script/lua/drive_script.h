#pragma once
// A Lua script that drives the window like a user. It has its own Lua state with the whole standard library
// and runs in slices. Its global table `ui` holds the owner's functions. A call of one of them suspends the
// script until the function has finished. Belongs to the thread that made it, which may be any thread. No Lua
// type appears here.
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
  // A Lua table is a list of strings, or fields by name. An empty table has no fields.
  using Field = std::variant<bool, double, std::string>;
  using Fields = std::map<std::string, Field>;
  using Value = std::variant<std::monostate, bool, double, std::string, std::vector<std::string>, Fields>;
  using Values = std::vector<Value>;
  // Called when the call begins and then once per slice, until it returns the results of the call.
  using Poll = std::function<std::optional<Values>()>;
  // Begins a call. An exception from it or from its Poll becomes a Lua error at the line of the call.
  using Function = std::function<Poll(const Values& arguments)>;

  // `arguments` are arg[1…] and `...` of the script. Error (kind file) when the file cannot be read.
  DriveScript(const std::string& path, const std::vector<std::string>& arguments,
              std::map<std::string, Function> functions);
  ~DriveScript();
  DriveScript(const DriveScript&) = delete;

  // Runs a slice: until the script waits for a function or ends. Returns whether the script has ended. A
  // slice of more than 30 s is an error of the script.
  bool resume();
  const std::string& error() const;  // the script's error with a traceback; "" if none

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace lunagrad
