#pragma once
// Changes the tape view for a panel: selection, outlined nodes, open modules. Owns the request to select a
// node that the tape does not show yet; the model itself belongs to the workbench. Drawing thread only.
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
  TapeActions(TapeModel&, Actions&);  // both must outlive this object

  void select(int node);                                  // a node by its index; -1 selects none
  void play_to(int node) { model_.select(node); }         // selects a node for the player, without an action
  void select_again(int by) { model_.select_again(by); }  // to the earlier (-1) or later (1) selection
  void select_when_shown(uint64_t id) { wanted_node_ = id; }              // as soon as the tape has the node
  void light(std::vector<int> nodes) { model_.light(std::move(nodes)); }  // outlines these nodes
  void set_open(uint32_t group, bool open);
  void open_modules(CollapseState::Mode, uint32_t depth);
  void open_around(int node) { model_.open_around(node); }  // all modules that contain the node
  // The direction and the size of the picture follow its panel.
  void show_in(bool sideways, PictureRoom);
  void fit_again();  // collapses as much as does not fit now, and opens what fits

  // Selects the node at which the run has come to stand, and the node that select_when_shown() asked for.
  // Once a frame, after the model's update().
  void update(const Journal&);
  // fields_of() describes a node by fields that are the same in every step. find() returns the node with
  // these fields, or -1 if there is none.
  ActionFields fields_of(int node) const;
  int find(const ActionFields&) const;

  // A new run begins: the tape stays until the run has its own.
  void begin_run();
  void clear();  // removes the tape and the pending selection

 private:
  int find(const ActionArguments&) const;
  int group_at(const std::string& path) const;  // -1: none

  TapeModel& model_;
  Actions& actions_;
  uint64_t wanted_node_ = 0;  // 0: none
  PausePtr pause_;            // the journal's position that was already handled
};

}  // namespace lunagrad
