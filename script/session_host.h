#pragma once
// The part of a Session that shares values with its script: lg.host.
//
// Threads: every function may be called from any thread and returns at once. Ownership: tensors are copied.
#include <functional>
#include <string>

#include "runtime/core/tensor_fwd.h"

namespace lunagrad {

struct Op;
class SessionThread;

class SessionHost {
 public:
  SessionHost(const SessionHost&) = delete;

  // Sets lg.host.NAME: before a run, or during a run from its next step on.
  void set(const std::string& name, const Tensor& value);
  // The value that the script assigned to lg.host.NAME up to its last finished step, else the value of set();
  // undefined when there is neither.
  Tensor get(const std::string& name) const;
  // lg.host.NAME(tensors and numbers …) calls the function on the session's thread. Values that it computes
  // with the engine's ops have gradients. Its exceptions are errors of the script.
  void add_function(const std::string& name, std::function<TensorList(const TensorList&)> function);
  // lg.host.NAME(…) runs an op of this program. Its record (runtime/core/op.h) says how it computes and what
  // its gradient is, and must outlive the session.
  void add_op(const Op& record);

 protected:
  explicit SessionHost(SessionThread& thread) : thread_(thread) {}
  ~SessionHost() = default;

 private:
  SessionThread& thread_;
};

}  // namespace lunagrad
