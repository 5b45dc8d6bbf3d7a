#pragma once
// The part of a Session that shares values with its script: lg.host.
//
// Threads: every function may be called from any thread and returns at once. Ownership: tensors are copied.
// The functions do not throw: set(), add_function() and add_op() return false and give the reason in `why`.
// get() throws std::bad_alloc when there is no memory for the copy.
#include <functional>
#include <string>

#include "runtime/core/tensor_fwd.h"

namespace lunagrad {

struct Op;
class SessionThread;

class SessionHost {
 public:
  SessionHost(const SessionHost&) = delete;

  // Sets lg.host.NAME: before a run, or during a run from its next step on; while the run is paused at the
  // end of a step, from the step that comes. Refuses an undefined tensor, and one whose values cannot be
  // read.
  bool set(const std::string& name, const Tensor& value, std::string* why = nullptr);
  // The value that the script assigned to lg.host.NAME up to its last finished step, else the value of set();
  // undefined when there is neither. While a run is paused at the end of a step, this step is finished.
  Tensor get(const std::string& name) const;
  // lg.host.NAME(tensors and numbers …) calls the function on the session's thread. Values that it computes
  // with the engine's ops have gradients. Whatever it throws is an error of the script. Refuses an empty
  // function and the name of an op.
  bool add_function(const std::string& name, std::function<TensorList(const TensorList&)> function,
                    std::string* why = nullptr);
  // lg.host.NAME(…) runs an op of this program. Its record (runtime/core/op.h) says how it computes and what
  // its gradient is, and must outlive the session. What its functions throw is an error of the script.
  // Refuses a record that cannot run: without a name that Lua can write, with the name of an op of the
  // engine, with neither compose() nor shape(), or with arguments whose names or fallbacks do not fit.
  bool add_op(const Op& record, std::string* why = nullptr);

 protected:
  explicit SessionHost(SessionThread& thread) : thread_(thread) {}
  ~SessionHost() = default;

 private:
  SessionThread& thread_;
};

}  // namespace lunagrad
