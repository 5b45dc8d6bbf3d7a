#pragma once
// The values that a script shares with the program around it as lg.host: named values in both directions, and
// functions and ops of the program. Threads: the functions of the first part may be called from any thread.
// Tensors cross threads as bytes, because a tensor belongs to the thread that made it. The script sees a
// value that the program sets from its next step on; the program sees a value that the script sets after
// that step.
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "runtime/core/op.h"
#include "runtime/core/tensor.h"
#include "script/host/host_op.h"
#include "script/meta/signature.h"
#include "script/session_host.h"

namespace lunagrad {

using HostFunction = std::function<TensorList(const TensorList&)>;
using HostValueFunction = SessionHost::ValueFunction;
using HostFunctionPtr = std::shared_ptr<const std::variant<HostFunction, HostValueFunction>>;

class HostValues {
 public:
  // Any thread. On a fault these return false, and `why` gets the reason.
  bool set(const std::string& name, const SessionValue&, std::string* why);  // copies
  bool add_function(const std::string& name, HostFunction, std::string* why);
  bool add_function(const std::string& name, HostValueFunction, std::string* why);
  // The op lives as long as the session, and `owner` as long as this.
  bool add_op(const Op&, std::shared_ptr<const void> owner, std::string* why);
  SessionHost::Got get(const std::string& name) const;  // a value for any thread; nil when there is none
  void close();  // afterwards a script finds no function of the program

  // The session's thread.
  // At a step boundary, at the start and at the end of a script. `step`: the steps that have ended. Error
  // when a value cannot be read; the others are exchanged even so.
  void exchange(int64_t step);
  void drop();  // the script's values; before the thread ends
  const SessionValue* find(const std::string& name) const;
  std::map<std::string, Tensor> tensors() const;  // of the script, by name: "a", "a.b"
  void put(const std::string& name, SessionValue);
  HostFunctionPtr function(const std::string& name) const;
  const Signature* op(const std::string& name) const;
  std::string names() const;  // "a, b, c", for errors

 private:
  bool add(const std::string& name, HostFunctionPtr, std::string* why);

  mutable std::mutex mutex_;
  std::map<std::string, SessionValue> arriving_;       // for any thread; under the mutex
  std::map<std::string, SessionHost::Got> published_;  // for any thread; under the mutex
  std::map<std::string, HostFunctionPtr> functions_;   // under the mutex
  struct SignedOp {
    std::shared_ptr<const void> owner;
    std::unique_ptr<const HostOp> op;
    std::unique_ptr<const Signature> signature;
  };
  std::map<std::string, SignedOp> ops_;         // under the mutex; never removed
  std::map<std::string, SessionValue> values_;  // the session's thread
  std::set<std::string> changed_;               // by the script since the last exchange; the session's thread
};

}  // namespace lunagrad
