#pragma once
// A playhead that walks through the nodes of a tape in the order in which they ran, or in which the backward
// pass visits them, which is the reverse. Knows only how many there are. Drawing thread only.
#include <cstddef>

namespace lunagrad {

class TapePlayer {
 public:
  void resize(size_t count);  // another tape: the playhead stays as far as it can
  size_t count() const { return count_; }

  bool on() const { return position_ >= 0; }
  int position() const { return position_; }  // in the order of the forward pass, -1: off
  int number() const;                         // in the order that is played, from 1; 0: off
  bool backward() const { return backward_; }
  void set_backward(bool);
  bool playing() const { return playing_; }

  void step(int by);  // in the order that is played; begins at its first node
  void play();        // from the start when it is at the end
  void pause() { playing_ = false; }
  void stop();                    // the playhead goes
  bool tick(double seconds);      // time has passed: true when the playhead moved
  bool done(int position) const;  // that node has had its turn

 private:
  size_t count_ = 0;
  int position_ = -1;
  bool backward_ = false, playing_ = false;
  double due_ = 0;  // nodes, in parts
};

}  // namespace lunagrad
