#pragma once
// A playhead that walks through the nodes of a tape in the order in which they ran, or in reverse, as the
// backward pass does. Knows only the number of nodes. Drawing thread only.
#include <cstddef>

namespace lunagrad {

class TapePlayer {
 public:
  void resize(size_t count);  // call for another tape: the playhead keeps its position if possible
  size_t count() const { return count_; }

  bool on() const { return position_ >= 0; }
  int position() const { return position_; }  // in the order of the forward pass, -1: off
  int number() const;                         // in the played order, from 1; 0: off
  bool backward() const { return backward_; }
  void set_backward(bool);
  bool playing() const { return playing_; }

  void step(int by);  // moves in the played order; the first step goes to its first node
  void play();        // plays; starts again if the playhead is at the end
  void pause() { playing_ = false; }
  void stop();                    // removes the playhead
  bool tick(double seconds);      // advances the time; returns true when the playhead moved
  bool done(int position) const;  // the playhead has reached or passed this node

 private:
  size_t count_ = 0;
  int position_ = -1;
  bool backward_ = false, playing_ = false;
  double due_ = 0;  // nodes due, with a fraction
};

}  // namespace lunagrad
