#pragma once
// The latest run of a session: its script, its Run, the files that the script was read from, and its device.
// The session's thread replaces and uses it; params(), set_param(), files() and device() may be called from
// any thread.
//
// Lock: the mutex guards which Run is current (other threads copy the pointer) and the list of files. Only
// the session's thread writes the pointer, so it reads it without the lock. Params has its own lock.
#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "runtime/core/context.h"
#include "script/run/run.h"

namespace lunagrad {

class CurrentRun {
 public:
  // Any thread.
  std::vector<ParamInfo> params() const;
  bool set_param(const std::string& name, const std::string& value, std::string* why) const;
  // The script's file and the files that it required, without the bundled library.
  std::vector<std::string> files() const;
  Device* device() const { return device_.load(); }  // device of the latest script, to read its memory use

  // The session's thread.
  void begin(const Script&, std::function<void(Event)> emit);
  void set_script(const Script& script) { script_ = script; }
  const Script& script() const { return script_; }  // the script that a reload reads again
  explicit operator bool() const { return run_ != nullptr; }
  Run& operator*() const { return *run_; }
  Run* operator->() const { return run_.get(); }
  std::shared_ptr<Run> share() const { return run_; }
  void add_file(const std::string&);
  void set_device(Device* device) { device_.store(device); }

 private:
  std::shared_ptr<Run> locked_run() const;

  mutable std::mutex mutex_;
  std::shared_ptr<Run> run_;
  std::vector<std::string> files_;
  std::atomic<Device*> device_{&cpu_device()};
  Script script_;  // for the session's thread
};

}  // namespace lunagrad
