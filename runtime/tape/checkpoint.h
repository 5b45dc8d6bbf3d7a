#pragma once
// Checkpoints: a part of the forward pass whose saved values are not kept but made again, by running its
// function once more, when backward needs the first of them. The nodes of the region stay on the tape as they
// are, without values; the n-th node of the second run hands its values to the n-th node of the first. So
// gradients are bit-equal to those of a plain run and reach whatever the function used. The second run sees
// the generator, grad mode, autocast, device and module path of the first; all are put back afterwards. It
// must do the same as the first: anything else is an Error. Checkpoints nest: what an inner one needs to run
// again is made again by the outer one. One thread.
#include <functional>
#include <memory>

#include "runtime/tape/tape.h"

namespace lunagrad {

class CheckpointRegion final : public Counted {
 public:
  static void destroy(CheckpointRegion* region) { delete region; }
  ~CheckpointRegion();

  // Runs `forward`, which calls the function; `again` is kept to call it once more.
  static void run(const std::function<void()>& forward, std::function<void()> again);

  // The tape recorded a node while the region was current.
  void record(Node&);
  // The same for the values of a custom op, which come after its node.
  void record_custom(Node&, std::unique_ptr<CustomCall>);
  // Gives the region's nodes their values.
  void recompute(const Node& needed_by);
  // The walk is done with a node: its values go, and with the oldest node what is needed to make them, unless
  // the graph is `retained`.
  void release(Node&, bool retained);
  void forget(const Node&);  // a node dies
  // Whether this is the second run: what counts or averages (running statistics) has been done in the first.
  bool replaying() const { return replaying_; }

 private:
  class Enter;
  struct Settings {
    Generator generator;
    DType autocast;
    bool has_autocast;
    Device* device;
    uint32_t module;
  };

  CheckpointRegion(std::function<void()> again, uint64_t first_tensor);
  void adopt(CheckpointRegion& child);
  void check_same(const Node& first, const Node& again) const;

  std::function<void()> again_;  // null in a region inside another until that one was run again
  Settings settings_;
  const uint64_t first_tensor_;  // tensors with a smaller id are older than the region
  std::vector<Node*> nodes_;     // null: dead
  std::vector<CheckpointRegion*> children_;
  Ref<CheckpointRegion> parent_;
  size_t child_index_ = 0;  // in parent_
  bool replaying_ = false, replayed_ = false;
  size_t next_node_ = 0, next_child_ = 0;
};

// f(inputs) as a checkpoint, for C++ hosts.
TensorList checkpoint(std::function<TensorList(const TensorList&)> f, const TensorList& inputs);

}  // namespace lunagrad
