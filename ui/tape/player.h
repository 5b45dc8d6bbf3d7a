#pragma once
// A playhead that walks through the nodes of a tape in the order in which they ran, or in reverse, as the
// backward pass does. Knows only the number of nodes. Drawing thread only.
#include <cstddef>

namespace lunagrad {

class TapePlayer {
 public:
  void resize(size_t count);  // another tape: the playhead stays where it is, if possible
  size_t count() const { return count_; }

  bool on() const { return position_ >= 0; }
  int position() const { return position_; }  // in the order of the forward pass, -1: off
  int number() const;                         // in the played order, from 1; 0: off
  bool backward() const { return backward_; }
  void set_backward(bool);
  bool playing() const { return playing_; }

  void step(int by);  // in the played order; the first step goes to its first node
  void play();        // from the start if it is at the end
  void pause() { playing_ = false; }
  void stop();                    // removes the playhead
  bool tick(double seconds);      // advances the time; true: the playhead moved
  bool done(int position) const;  // the playhead has reached or passed that node

 private:
  size_t count_ = 0;
  int position_ = -1;
  bool backward_ = false, playing_ = false;
  double due_ = 0;  // nodes, with fraction
};

}  // namespace lunagrad
