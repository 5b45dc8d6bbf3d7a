#pragma once
// Fetches the visible parts of one tensor from the session, which reads it on its own thread at a safe point:
// a slice of its value, a slice of its gradient, and pictures of both. The drawing thread states what it
// needs and reads the answers; it never waits.
#include <chrono>
#include <functional>
#include <memory>
#include <optional>

#include "script/session_inspection.h"
#include "ui/base/awaited.h"

namespace lunagrad {

class ValueProbe {
 public:
  // `wake` is called on the session's thread when an answer arrives.
  explicit ValueProbe(std::function<void()> wake);

  // The part of the value, or of the gradient, that a panel shows.
  struct Look {
    SliceQuery slice;
    std::optional<TileQuery> tiles;
  };
  Look value_look, gradient_look;

  // Keeps the answers current: sends a request when anything changed since the last one. While the script
  // runs, requests for the same place (a number that stays the same while the user looks at one tensor) are
  // sent at most a few times a second. Returns true when a request was sent. Call once a frame.
  bool watch(SessionInspection&, int place, const TensorPlace&, bool running);
  void forget();  // shows nothing until the next watch()
  // Sets the step whose answers are shown; answers for another step wait until that step is set. Once a
  // frame.
  void show(int64_t step);
  // Whether all answers for the tensor are there.
  bool has_all(const TensorPlace&) const;

  // The answers for the last place and the shown step; null until they arrive.
  std::shared_ptr<const SliceView> value() const { return sides_[0].shown_slice; }
  std::shared_ptr<const SliceView> gradient() const { return sides_[1].shown_slice; }
  std::shared_ptr<const TileView> value_tiles() const { return sides_[0].shown_tiles; }
  std::shared_ptr<const TileView> gradient_tiles() const { return sides_[1].shown_tiles; }

 private:
  using Clock = std::chrono::steady_clock;
  struct Side {
    Awaited<SliceView> slice;
    Awaited<TileView> tiles;
    std::shared_ptr<const SliceView> shown_slice;
    std::shared_ptr<const TileView> shown_tiles;
    std::optional<TensorPlace> place;  // place of the last request
    Look look;
  };
  bool ask(SessionInspection&, Side&, const TensorPlace&, const Look&);

  Side sides_[2];
  int place_ = -1;
  Clock::time_point asked_at_;
};

bool same_look(const ValueProbe::Look&, const ValueProbe::Look&);

}  // namespace lunagrad
