#pragma once
// Runs Lua scripts. A Session owns one thread, and on it one Lua state and one Context. Its functions are
// declared by who calls them, in the headers of its parts; code that needs one part takes a reference to this
// part, to which a Session converts.
//
// Threads: every function may be called from any thread and, except wait(), returns at once. Requests are
// carried out at safe points: after an op called from Lua, between nodes of a backward pass, at step
// boundaries, and in a count hook every 1000 Lua instructions. Callbacks (`done`) and the event sink are
// called on the session's thread; they must not call wait(). Ownership: what functions return are copies or
// shared, immutable values; they stay valid after the session. Errors: an error in a script is an event of
// kind error; the functions themselves do not throw. No Lua type appears here.
#include <memory>

#include "script/session_console.h"
#include "script/session_control.h"
#include "script/session_host.h"
#include "script/session_inspection.h"
#include "script/session_watches.h"

namespace lunagrad {

class Session : public SessionControl,
                public SessionInspection,
                public SessionWatches,
                public SessionConsole,
                public SessionHost {
 public:
  explicit Session(EventSink sink);
  ~Session();  // stops the running script and waits for its end
  Session(const Session&) = delete;

 private:
  explicit Session(std::unique_ptr<SessionThread>);

  std::unique_ptr<SessionThread> thread_;  // the parts refer to it
};

}  // namespace lunagrad
