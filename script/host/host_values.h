#pragma once
// The values that a script shares with the C++ program around it as lg.host: named tensors in both
// directions, and functions and ops of the program. Threads: the functions of the first part may be called
// from any thread. Tensors cross threads as bytes, because a tensor belongs to the thread that made it. The
// script sees a value that the program sets from its next step on; the program sees a value that the script
// sets after that step.
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "runtime/core/op.h"
#include "runtime/core/tensor.h"
#include "script/host/host_op.h"
#include "script/meta/signature.h"

namespace lunagrad {

using HostFunction = std::function<TensorList(const TensorList&)>;

class HostValues {
 public:
  // Any thread. On a fault these return false, and `why` gets the reason.
  bool set(const std::string& name, const Tensor&, std::string* why);  // copies
  bool add_function(const std::string& name, HostFunction, std::string* why);
  bool add_op(const Op&, std::string* why);   // lives as long as the session
  Tensor get(const std::string& name) const;  // a copy; undefined when there is none
  void close();                               // afterwards a script finds no function of the program

  // The session's thread.
  // At a step boundary, at the start and at the end of a script. Error when a value cannot be read; the
  // others are exchanged even so.
  void exchange();
  void drop();  // the script's tensors; before the thread ends
  const Tensor* find(const std::string& name) const;
  const std::map<std::string, Tensor>& values() const { return values_; }
  void put(const std::string& name, Tensor);
  std::shared_ptr<const HostFunction> function(const std::string& name) const;
  const Signature* op(const std::string& name) const;
  std::string names() const;  // "a, b, c", for errors

 private:
  struct Bytes {
    Shape shape;
    DType dtype = DType::f32;
    std::string bytes;
    Bytes() = default;
    explicit Bytes(const Tensor&);
    Tensor tensor() const;
  };

  mutable std::mutex mutex_;
  std::map<std::string, Bytes> arriving_, published_;                     // under the mutex
  std::map<std::string, std::shared_ptr<const HostFunction>> functions_;  // under the mutex
  struct SignedOp {
    std::unique_ptr<const HostOp> op;
    std::unique_ptr<const Signature> signature;
  };
  std::map<std::string, SignedOp> ops_;   // under the mutex; never removed
  std::map<std::string, Tensor> values_;  // the session's thread
  std::set<std::string> changed_;         // by the script since the last exchange; the session's thread
};

}  // namespace lunagrad
