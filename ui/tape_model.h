#pragma once
// The tape that the window shows: the latest snapshot with its picture. Pictures are laid out on a thread of
// their own; snapshots of the same structure keep theirs, so that nodes stay where they are from step to
// step. All but the layout thread belongs to the drawing thread.
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "script/session.h"
#include "ui/widgets/graph_canvas.h"

namespace lunagrad {

using TapePtr = std::shared_ptr<const TapeSnapshot>;

// Equal for tapes that look the same: ops, shapes, modules, names and edges, not ids or values.
uint64_t tape_structure(const TapeSnapshot&);
// The picture of a tape. Node i of it is node i of the snapshot. Empty when stopped.
CanvasGraph tape_picture(const TapeSnapshot&, const TextMeasure&, std::stop_token = {});
// What a search looks at: op, module, names, shapes, source place.
std::string searchable_text(const NodeInfo&);
bool contains_words(const std::string& text, const std::string& words);  // all of them, letter case aside

class TapeModel {
 public:
  // `wake` is called on the layout thread when a picture is ready.
  TapeModel(TextMeasure, std::function<void()> wake);

  void offer(TapePtr);  // the latest snapshot; the one before it in the queue is dropped
  bool update();        // true: a new snapshot is shown
  void clear();

  const TapeSnapshot* tape() const { return shown_.tape.get(); }
  const CanvasGraph* picture() const { return shown_.picture.get(); }
  uint64_t structure() const { return shown_.structure; }
  bool laying_out() const { return offered_ != shown_.tape; }

  int selected() const { return selected_; }  // index of a node, -1: none
  void select(int node);
  const NodeInfo* selected_node() const;
  int find_node(uint64_t id) const;  // index, -1: not on this tape

 private:
  struct Shown {
    TapePtr tape;
    std::shared_ptr<const CanvasGraph> picture;
    uint64_t structure = 0;
  };
  void work(std::stop_token);
  void keep_selection(const Shown& next);

  TextMeasure measure_;
  std::function<void()> wake_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  TapePtr requested_;  // guarded by mutex_
  Shown ready_;        // guarded by mutex_
  Shown shown_;
  TapePtr offered_;
  int selected_ = -1;
  std::jthread thread_;  // last: stops before what it uses goes
};

}  // namespace lunagrad
