#pragma once
// Runs Lua scripts. A Session owns one thread, and on it one Lua state and one Context. Its functions are
// declared by who calls them, in the headers of its parts; code that needs one part takes a reference to this
// part, to which a Session converts.
//
// Threads: every function may be called from any thread and, except wait(), wait_for() and
// step_and_wait(), returns at once. Requests are carried out at safe points: after an op called from Lua,
// between nodes of a backward pass, at step boundaries, and in a count hook every 1000 Lua instructions.
// Callbacks (`done`), the event sink and functions of the host are called on the session's thread, with the
// program's locale; they must not wait for the session. Ownership: what functions return are copies or
// shared, immutable values; they stay valid after the session. Errors: an error in a script is an event of
// kind error; the functions themselves do not throw, where their header says nothing else. What a callback
// throws becomes an event of kind error, and the run goes on; a sink that throws is reported once, on stderr
// and in an event. No Lua type appears here.
#include <memory>
#include <string>

#include "script/session_console.h"
#include "script/session_control.h"
#include "script/session_host.h"
#include "script/session_inspection.h"
#include "script/session_watches.h"

namespace lunagrad {

// Names the folder that contains lunagrad/init.lua, for all sessions of the process, in place of the folder
// that is found beside the program and its libraries. Before the first run; false, with the reason in `why`,
// if the folder has no such file or a run uses another folder already.
bool set_library(const std::string& folder, std::string* why = nullptr);

class Session : public SessionControl,
                public SessionInspection,
                public SessionWatches,
                public SessionConsole,
                public SessionHost {
 public:
  explicit Session(EventSink sink, SessionOptions = {});  // script/view/run.h
  // Stops the running script and waits for its end. Two threads are not waited for: the session's own, when
  // it is destroyed in a callback or a function of the host, and one that has been in the same call of Lua's
  // library for ten seconds, such as a pattern that backtracks, which nothing can interrupt. They end by
  // themselves, as soon as the callback or the call returns, and call no more callbacks or functions of the
  // program; records of ops must then live as long as the process.
  ~Session();
  // Does what the destructor does, but waits at most so many seconds for the end of the thread. False: it
  // waited for nothing more, and the thread ends by itself as described above; a callback or a function of
  // the program that it is in may still return. Afterwards no other function may be called.
  bool end(double seconds);
  Session(const Session&) = delete;

 private:
  explicit Session(std::unique_ptr<SessionThread>);

  std::unique_ptr<SessionThread> thread_;  // the parts refer to it
};

}  // namespace lunagrad
