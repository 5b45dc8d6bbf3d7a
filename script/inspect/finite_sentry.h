#pragma once
// Finds the first NaN or Inf of a run without being asked, and names the op that made it. It looks at the
// tensor that each backward pass starts from, at the gradients of the pass that are small, at the parameters
// that an optimizer has changed, and at what the script logs. Gradients and parameters are read in as many
// steps and backward passes as cost half a percent of the time, beyond a few milliseconds for the beginning.
// What a backward pass starts from is traced over the graph (runtime/tape/origin.h). Values on a GPU are read
// with a delay, together. Of a backward pass whose calls are put off the gradients are not read, since that
// would end a group at each. The recording of a sealed step sees nothing of the sentry, which reads when it
// has time: two recordings would differ. For the session's thread.
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "runtime/tape/finite.h"
#include "runtime/tape/tape.h"
#include "script/view/source_place.h"

namespace lunagrad {

class FiniteSentry final : public Capture {
 public:
  struct Found {
    bool nan = true;    // false: Inf
    int64_t step = 0;   // where it was found; 0: outside of steps
    int64_t since = 0;  // the first step in which it can have been made
    std::string what;   // "sqrt at model.lua:31", "the gradient of fc1.weight"
    std::string explanation;
    SourcePlace place;
    uint64_t node = 0;
  };
  // `tell` is called once a run. `aside` says that the ops that run now are not the script's.
  FiniteSentry(std::function<void(const Found&)> tell, std::function<bool()> aside)
      : tell_(std::move(tell)), aside_(std::move(aside)) {}

  void set_on(bool on) { on_ = on; }
  bool looks() const { return on_ && !found_; }
  bool looks_at_gradients() const { return looks() && looking_; }  // now
  bool found() const { return found_; }
  double spent() const { return ticks_to_ns(spent_); }  // nanoseconds of reading since the run began
  void begin_run(int64_t done);                         // or a run goes on after step `done`
  void begin_step(int64_t step);
  void end_step();
  void end_run();
  // An optimizer has made a step, of this line.
  void stepped(const TensorList& parameters);
  // A gradient scaler has left a step out because of its scale.
  void skipped();
  // A logged value; those of a loss count.
  void logged(const std::string& name, double value, int64_t step, const SourcePlace&);

  void root(const Tensor&);  // a backward pass of the script starts from it
  void begin(std::span<Node* const> nodes) override;
  void gradient(const Node&, uint32_t output, const Tensor&) override;
  bool keep(const Node&) override { return false; }
  void end() override { pass_ = {}; }

 private:
  // The first gradient that was not finite.
  struct BadGradient {
    int64_t step = 0;
    bool nan = true;
    std::string what;
    SourcePlace place;
  };
  struct DeviceRoot {
    Tensor value;
    int64_t step;
    SourcePlace place;
  };
  void keep_to_the_part();  // decides whether there is time to read the next values
  bool finite(const Tensor&);
  bool sampled_finite(const Tensor&);
  void judge_root(const Tensor&);
  void judge_parameter(const Tensor&);
  void read_device_roots();
  void report(Found);

  const std::function<void(const Found&)> tell_;
  const std::function<bool()> aside_;
  bool on_ = false, found_ = false;
  int64_t step_ = 0;
  int64_t good_ = 0;  // the last step after which every parameter is known to have been finite
  std::span<Node* const> pass_;
  std::optional<BadGradient> bad_gradient_;
  std::optional<Found> pending_;  // until a gradient scaler has had its say
  std::deque<DeviceRoot> roots_;
  bool looking_ = false;                                 // gradients and parameters are read
  bool whole_ = false;                                   // large ones, too
  bool missed_ = false;                                  // a parameter was not read in this step
  bool stepped_ = false;                                 // an optimizer has made a step
  uint64_t began_ = 0, spent_ = 0, spent_on_whole_ = 0;  // ticks since the run began
};

}  // namespace lunagrad
