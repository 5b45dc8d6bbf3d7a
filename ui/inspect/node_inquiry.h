#pragma once
// The user's requests about the selected node besides its values: a gradient check, a comparison of devices,
// a tensor as text or as a file. The session answers on its own thread; this class belongs to the drawing
// thread.
#include <functional>
#include <string>

#include "script/session_inspection.h"
#include "ui/base/awaited.h"

namespace lunagrad {

class NodeInquiry {
 public:
  explicit NodeInquiry(std::function<void()> wake)
      : gradient_(wake), devices_(wake), text_(wake), file_(wake) {}

  void check_gradient(SessionInspection&, int64_t step, uint64_t node);
  void compare_devices(SessionInspection&, int64_t step, uint64_t node);
  void cancel();
  void close();  // hides the results
  bool checking() const { return gradient_.waiting(); }
  bool comparing() const { return devices_.waiting(); }
  // The results for this node; null when the request was about another node, or there was none.
  std::shared_ptr<const GradientCheck> gradient(uint64_t node) const {
    return node == node_ ? gradient_.get() : nullptr;
  }
  std::shared_ptr<const DeviceComparison> devices(uint64_t node) const {
    return node == node_ ? devices_.get() : nullptr;
  }
  uint64_t node() const { return node_; }
  uint64_t number() const { return number_; }  // a number that differs for each request

  void copy(SessionInspection&, const TensorPlace&, const SliceQuery&, SliceFormat);
  void save(SessionInspection&, const TensorPlace&, const std::string& path);
  // A sentence about the last copy or save since the last call, and text for the clipboard. Once a frame.
  struct Answer {
    std::string sentence, clipboard;
    bool failed = false;
  };
  std::optional<Answer> update();

 private:
  struct Copied {
    std::string text, error;
  };
  struct Saved {
    std::string path, error;
  };
  uint64_t node_ = 0, number_ = 0;
  Awaited<GradientCheck> gradient_;
  Awaited<DeviceComparison> devices_;
  Awaited<Copied> text_;
  Awaited<Saved> file_;
};

}  // namespace lunagrad
