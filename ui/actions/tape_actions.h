#pragma once
// What a panel can change in the tape view: selection, outlined nodes, open modules. Owns the request to
// select a node that the tape does not show yet; the model itself belongs to the workbench. Drawing thread
// only.
#include <cstdint>
#include <utility>
#include <vector>

#include "ui/runs/journal.h"
#include "ui/tape/model.h"

namespace lunagrad {

class TapeActions {
 public:
  explicit TapeActions(TapeModel& model) : model_(model) {}  // which outlives this object

  void select(int node) { model_.select(node); }              // by index; -1 selects none
  void select_again(int by) { model_.select_again(by); }      // back (-1) or forward (1) in the selections
  void select_when_shown(uint64_t id) { wanted_node_ = id; }  // as soon as the tape has the node
  void light(std::vector<int> nodes) { model_.light(std::move(nodes)); }  // outlines them
  void set_open(uint32_t group, bool open) { model_.set_open(group, open); }
  void open_around(int node) { model_.open_around(node); }  // all modules that contain the node
  void fold(FoldState state) { model_.fold(std::move(state)); }

  // Selects the node of a new breakpoint hit, and the node that select_when_shown() asked for. Once a frame,
  // after the model's update().
  void update(const Journal&);
  // A new run begins: the tape stays until the run has its own.
  void begin_run();
  void clear();  // removes the tape and the pending selection

 private:
  TapeModel& model_;
  uint64_t wanted_node_ = 0;  // 0: none
  size_t stops_seen_ = 0;     // breakpoint hits of the journal that were handled
};

}  // namespace lunagrad
