#pragma once
// Calls of every public op with operands that are 0-d, empty or of single elements, in one argument or in
// all, and with hostile numbers in one parameter. They are derived from the samples, so a new op has them
// without further work. Each must give a result or an Error: no crash, no hang, and no more memory than a
// limit.
#include <pthread.h>

#include <atomic>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "tests/samples/samples.h"

namespace lunagrad::tests {

struct HostileCall {
  const Op* op = nullptr;
  std::vector<SampleInput> inputs;
  Values params;
  bool hostile_params = false;
};
// "index_fill([], [0], []; dim = 4)"
std::string name_of(const HostileCall&);

// Visits all calls. `thorough`: every combination of operands and parameters, else each hostile parameter
// with the sample's operands alone.
void for_hostile_calls(bool thorough, const std::function<void(const HostileCall&)>&);

// Operands as the samples have them, f32 or c64 and i64, on the CPU.
TensorList operands_of(const HostileCall&);

struct HostileResult {
  std::string error;  // of the call; "" if it gave a result
  Operands outputs;
  std::string gradient_error;  // of the gradients of first and second order
  TensorList gradients;        // in the order of the operands; undefined where there is none
};
// Makes the call, its gradient and, for small operands, the gradient of that.
HostileResult run_hostile(const HostileCall&, const TensorList& operands);

// Watches calls from a thread of its own. A call that takes more than `patience` s of processor time is asked
// to stop, as Ctrl-C does; one that takes another `patience` s is named on stderr, and the process aborts.
class CallWatch {
 public:
  explicit CallWatch(double patience);
  ~CallWatch();
  CallWatch(const CallWatch&) = delete;
  void begin(const std::string& call);
  // False: the call had to be stopped.
  bool end();

 private:
  void watch();
  double processor_time() const;  // s, of the watched thread
  const double patience_;
  clockid_t clock_;
  Context& context_;  // of the watched thread
  std::mutex mutex_;
  std::string call_;
  uint64_t number_ = 0;  // of calls so far; 0: none runs
  bool running_ = false;
  std::atomic<bool> ended_{false};
  std::thread thread_;
};

}  // namespace lunagrad::tests
