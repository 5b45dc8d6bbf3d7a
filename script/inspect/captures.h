#pragma once
// Combines several viewers of backward passes into one; calls them in order. A viewer added during a pass
// sees the next pass. Belongs to the session's thread.
#include <exception>
#include <utility>

#include "runtime/core/small.h"
#include "runtime/tape/tape.h"

namespace lunagrad {

class Captures final : public Capture {
 public:
  using Viewers = Small<Capture*, 8>;  // built again in each step, without an allocation
  // The viewers of the next pass, without any: the caller adds them.
  Viewers& renew() {
    next_.clear();
    return next_;
  }
  bool empty() const { return next_.empty(); }

  void begin(std::span<Node* const> nodes) override {
    now_ = next_;
    for (Capture* viewer : now_) viewer->begin(nodes);
  }
  void gradient(const Node& node, uint32_t output, const Tensor& gradient) override {
    for (Capture* viewer : now_) viewer->gradient(node, output, gradient);
  }
  bool keep(const Node& node) override {
    bool kept = false;
    for (Capture* viewer : now_) kept |= viewer->keep(node);
    return kept;
  }
  void end() override {
    std::exception_ptr failed;
    for (Capture* viewer : std::exchange(now_, {})) try {
        viewer->end();
      } catch (const std::exception&) {
        if (!failed) failed = std::current_exception();
      }
    if (failed) std::rethrow_exception(failed);
  }

 private:
  Viewers now_, next_;
};

}  // namespace lunagrad
