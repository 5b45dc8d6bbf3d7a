#pragma once
// The part of a Session that shares values with its script: lg.host.
//
// Threads: every function may be called from any thread and returns at once. Ownership: tensors are copied.
// The functions do not throw: those that set or add return false and give the reason in `why`. get() and
// get_value() throw std::bad_alloc when there is no memory for the copy.
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "runtime/core/tensor_fwd.h"
#include "script/session_value.h"

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
  // undefined when there is neither, and for a text or a table. A number or a boolean becomes a 0-d tensor.
  // While a run is paused at the end of a step, this step is finished.
  Tensor get(const std::string& name) const;
  // As set() and get(), for texts, numbers, booleans and tables too (session_value.h). The script gets a new
  // table each time that it reads lg.host.NAME; nil removes the name. Refuses tables that are nested too
  // deep.
  bool set_value(const std::string& name, const SessionValue& value, std::string* why = nullptr);
  struct Got {
    SessionValue value;  // for any thread; nil: there is none
    int64_t step = -1;   // the script's steps that had ended when the value crossed; -1: it is of set()
  };
  Got get_value(const std::string& name) const;
  // lg.host.NAME(tensors and numbers …) calls the function on the session's thread. Values that it computes
  // with the engine's ops have gradients. Whatever it throws is an error of the script. Refuses an empty
  // function and the name of an op.
  bool add_function(const std::string& name, std::function<TensorList(const TensorList&)> function,
                    std::string* why = nullptr);
  // As add_function(), for a function that takes and returns any values. Tensors are the script's own.
  using ValueFunction = std::function<std::vector<SessionValue>(const std::vector<SessionValue>&)>;
  bool add_value_function(const std::string& name, ValueFunction function, std::string* why = nullptr);
  // lg.host.NAME(…) runs an op of this program. Its record (runtime/core/op.h) says how it computes and what
  // its gradient is, and must outlive the session. What its functions throw is an error of the script.
  // Refuses a record that cannot run: without a name that Lua can write, with the name of an op of the
  // engine, with neither compose() nor shape(), or with arguments whose names or fallbacks do not fit.
  // `owner` is released after the last use of the record; with one, the record need not outlive the session.
  bool add_op(const Op& record, std::string* why = nullptr, std::shared_ptr<const void> owner = nullptr);

 protected:
  explicit SessionHost(SessionThread& thread) : thread_(thread) {}
  ~SessionHost() = default;

 private:
  SessionThread& thread_;
};

}  // namespace lunagrad
