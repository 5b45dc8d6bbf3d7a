#pragma once
// Fetches what is shown of one tensor from the session, which reads it on its own thread at a safe point: a
// slice of its value and one of its gradient, and pictures of both. The drawing thread says what it wants to
// see and looks; it never waits.
#include <chrono>
#include <functional>
#include <memory>
#include <optional>

#include "script/session.h"
#include "ui/base/awaited.h"

namespace lunagrad {

class ValueProbe {
 public:
  // `wake` is called on the session's thread when an answer is there.
  explicit ValueProbe(std::function<void()> wake);

  // What a panel wants to see of the value and of the gradient.
  struct Look {
    SliceQuery slice;
    std::optional<TileQuery> tiles;
  };
  Look value_look, gradient_look;

  // Keeps the answers current: asks when anything changed since the last question, but for the same place (a
  // number that stays while the user looks at the same tensor) a few times a second at most while the script
  // runs. True: it asked. Call once a frame.
  bool watch(Session&, int place, const TensorPlace&, bool running);
  void forget();  // shows nothing until the next watch()

  // What was read last of that place; null while the first answer is on its way.
  std::shared_ptr<const SliceView> value() const { return sides_[0].slice.get(); }
  std::shared_ptr<const SliceView> gradient() const { return sides_[1].slice.get(); }
  std::shared_ptr<const TileView> value_tiles() const { return sides_[0].tiles.get(); }
  std::shared_ptr<const TileView> gradient_tiles() const { return sides_[1].tiles.get(); }

 private:
  using Clock = std::chrono::steady_clock;
  struct Side {
    Awaited<SliceView> slice;
    Awaited<TileView> tiles;
    std::optional<TensorPlace> place;  // that was asked about
    Look look;
  };
  bool ask(Session&, Side&, const TensorPlace&, const Look&);

  Side sides_[2];
  int place_ = -1;
  Clock::time_point asked_at_;
};

bool same_look(const ValueProbe::Look&, const ValueProbe::Look&);

}  // namespace lunagrad
