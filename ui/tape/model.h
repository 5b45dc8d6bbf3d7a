#pragma once
// The tape that the window shows: a snapshot with its picture, the open modules, and the marks. A separate
// thread makes the pictures: first with our own layout, then, for up to kMostForDot boxes, with Graphviz if
// it is installed. Snapshots of the same structure keep their picture, so that nodes do not move from step to
// step. Everything except the layout thread belongs to the drawing thread.
#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "script/view/tape.h"
#include "ui/tape/picture.h"
#include "ui/tape/selection_trail.h"
#include "ui/tape/tree.h"

namespace lunagrad {

using TapePtr = std::shared_ptr<const TapeSnapshot>;

// Equal for tapes that look the same: ops, shapes, modules, names, lines and edges, but not ids and values.
uint64_t tape_structure(const TapeSnapshot&);
// The texts that a search matches: op, module, names, shapes, dtypes; the second one has the source place,
// too.
std::string node_words(const NodeInfo&);
std::string searchable_text(const NodeInfo&);
bool contains_words(const std::string& text, const std::string& words);  // all of the words, ignoring case

class TapeModel {
 public:
  // `wake` is called on the layout thread when a picture is ready. `dot`: Graphviz's program, "" for none.
  TapeModel(TextMeasure, std::function<void()> wake, std::string dot = "dot");

  void offer(TapePtr);  // sets the snapshot to show next; replaces one that still waits
  bool update();        // returns true when there is something new to show
  void clear();
  // A new run begins: the picture stays until the new run has one.
  void begin_run() { former_ = shown_.tape; }
  bool former() const { return former_ && former_ == shown_.tape; }  // the tape is from the previous run

  const TapeSnapshot* tape() const { return shown_.tape.get(); }
  const TapePtr& share() const { return shown_.tape; }
  const TapeTree* tree() const { return shown_.tree.get(); }
  const TapePicture* picture() const { return shown_.picture.get(); }
  // Per node, for searches. Another pointer when they change.
  const std::shared_ptr<const std::vector<std::string>>& texts() const { return shown_.texts; }
  uint64_t structure() const { return shown_.structure; }
  bool laying_out() const { return offered_ && (offered_ != shown_.tape || asked_ != shown_.collapse); }
  double kept() const {
    return shown_.kept;
  }  // the fraction of its boxes that were in the previous picture, too
  uint32_t collapsed() const { return shown_.collapsed; }  // boxes that are closed only for lack of room
  bool by_dot() const { return shown_.by_dot; }
  const std::string& dot_trouble() const { return shown_.trouble; }  // why not, if the user should know

  const CollapseState& collapse() const { return asked_; }
  void set_collapse(CollapseState, uint64_t anchor = 0);  // the group or node with key `anchor` does not move
  void set_open(uint32_t group, bool open);
  void open_around(int node);  // opens all groups that contain the node

  int selected() const { return selected_; }  // index of a node, -1: none
  void select(int node);
  void select_again(int by);                           // the previous (-1) or next (1) node of the history
  uint64_t selections() const { return selections_; }  // number of calls of select()
  const NodeInfo* selected_node() const;
  int find_node(uint64_t id) const;  // index of the node, -1: not on this tape

  const std::vector<int>& lit() const { return lit_; }  // nodes that are outlined
  void light(std::vector<int> nodes);

 private:
  using Clock = std::chrono::steady_clock;
  struct Shown {
    TapePtr tape;
    std::shared_ptr<const TapeTree> whole,
        tree;  // of the tape's modules; with parts, if the picture has some
    std::shared_ptr<const TapePicture> picture;
    std::shared_ptr<const std::vector<std::string>> texts;
    std::vector<char> open;
    CollapseState collapse;
    uint32_t collapsed = 0;
    uint64_t structure = 0, generation = 0;
    double kept = 0;
    bool by_dot = false;
    std::string trouble;
  };
  struct Request {
    TapePtr tape;
    CollapseState collapse;
    uint64_t anchor = 0, generation = 0;
  };
  void ask(uint64_t anchor);
  void keep_marks(const Shown& next);
  // On the layout thread:
  void work(std::stop_token);
  bool draw(const Request&, Shown&, std::stop_token);  // true: there is a new picture
  void refine(const Request&, Shown&, std::shared_ptr<const TapePicture> before, std::stop_token);
  void publish(const Shown&);

  TextMeasure measure_;
  std::function<void()> wake_;
  std::string dot_;
  Clock::time_point restructured_{};

  std::mutex mutex_;
  std::condition_variable_any changed_;
  Request requested_;        // guarded by mutex_
  Shown ready_;              // guarded by mutex_
  uint64_t generation_ = 0;  // guarded by mutex_: grows with clear()

  Shown shown_;
  TapePtr offered_, former_;
  CollapseState asked_;
  int selected_ = -1;
  uint64_t selections_ = 0;
  SelectionTrail trail_;
  std::vector<int> lit_;
  std::jthread thread_;  // last: its destructor stops the thread before the members it uses are destroyed
};

}  // namespace lunagrad
