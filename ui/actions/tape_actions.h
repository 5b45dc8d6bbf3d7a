#pragma once
// What a panel can change in the tape view: selection, outlined nodes, open modules. Owns the request to
// select a node that the tape does not show yet; the model itself belongs to the workbench. Drawing thread
// only.
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "ui/record/actions.h"
#include "ui/runs/journal.h"
#include "ui/tape/model.h"

namespace lunagrad {

class TapeActions {
 public:
  TapeActions(TapeModel&, Actions&);  // which outlive this object

  void select(int node);                                      // by index; -1 selects none
  void play_to(int node) { model_.select(node); }             // the player does it, not the user
  void select_again(int by) { model_.select_again(by); }      // back (-1) or forward (1) in the selections
  void select_when_shown(uint64_t id) { wanted_node_ = id; }  // as soon as the tape has the node
  void light(std::vector<int> nodes) { model_.light(std::move(nodes)); }  // outlines them
  void set_open(uint32_t group, bool open);
  void open_modules(FoldState::Mode, uint32_t depth);
  void open_around(int node) { model_.open_around(node); }  // all modules that contain the node
  void turn(bool sideways);                                 // the picture follows the shape of its panel

  // Selects the node of a new breakpoint hit, and the node that select_when_shown() asked for. Once a frame,
  // after the model's update().
  void update(const Journal&);
  // A new run begins: the tape stays until the run has its own.
  void begin_run();
  void clear();  // removes the tape and the pending selection

 private:
  // A node by what identifies it from step to step, and the other way round: -1 for none.
  ActionFields fields_of(int node) const;
  int find(const ActionArguments&) const;
  int group_at(const std::string& path) const;  // -1: none

  TapeModel& model_;
  Actions& actions_;
  uint64_t wanted_node_ = 0;  // 0: none
  size_t stops_seen_ = 0;     // breakpoint hits of the journal that were handled
};

}  // namespace lunagrad
