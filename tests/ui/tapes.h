#pragma once
// Tapes for tests: written by hand, or of a network with modules of any size.
#include <array>
#include <memory>
#include <string>
#include <vector>

#include "script/session.h"

namespace lunagrad::test {

// Nodes are added in the order in which they ran; the snapshot has the newest first.
class TapeMaker {
 public:
  uint64_t leaf(const std::string& name, std::vector<int64_t> shape) {
    NodeInfo& made = add("leaf", "", {}, std::move(shape), 0);
    made.outputs[0].name = name;
    return made.id;
  }
  uint64_t call(const std::string& op, const std::string& module, std::vector<uint64_t> inputs,
                std::vector<int64_t> shape, int line = 10) {
    return add(op, module, inputs, std::move(shape), line).id;
  }
  TapeSnapshot snapshot(int64_t step = 1) const {
    TapeSnapshot made;
    made.step = step;
    made.nodes.assign(nodes_.rbegin(), nodes_.rend());
    return made;
  }
  explicit TapeMaker(uint64_t first_id = 1) : next_(first_id) {}

 private:
  NodeInfo& add(const std::string& op, const std::string& module, const std::vector<uint64_t>& inputs,
                std::vector<int64_t> shape, int line) {
    NodeInfo& made = nodes_.emplace_back();
    made.id = next_++;
    made.op = op;
    made.module = module;
    made.place = {"train.lua", line};
    made.forward_ns = double(made.id % 977) * 100;
    made.backward_ns = made.forward_ns * 2;
    for (const uint64_t input : inputs) made.inputs.emplace_back().node = input;
    made.outputs.emplace_back().shape = std::move(shape);
    made.outputs[0].dtype = "f32";
    made.bytes = 4;
    for (const int64_t size : made.outputs[0].shape) made.bytes *= size;
    return made;
  }
  std::vector<NodeInfo> nodes_;
  uint64_t next_;
};

// Consecutive blocks, each x + down(relu(up(norm(x)))): ten nodes. `extra`: that block has one more op.
inline TapeSnapshot residual_tape(int blocks, uint64_t first_id = 1, int extra = -1) {
  TapeMaker tape(first_id);
  std::vector<std::array<uint64_t, 6>> weights;
  for (int b = 0; b < blocks; ++b) {
    const std::string at = "blocks." + std::to_string(b) + ".";
    weights.push_back({tape.leaf(at + "norm.weight", {64}), tape.leaf(at + "norm.bias", {64}),
                       tape.leaf(at + "up.weight", {256, 64}), tape.leaf(at + "up.bias", {256}),
                       tape.leaf(at + "down.weight", {64, 256}), tape.leaf(at + "down.bias", {64})});
  }
  const uint64_t data = tape.leaf("x", {8, 64});
  uint64_t x = tape.call("relu", "Net", {data}, {8, 64});
  for (int b = 0; b < blocks; ++b) {
    const std::string at = "Net.blocks." + std::to_string(b);
    const auto& w = weights[size_t(b)];
    const uint64_t normed = tape.call("layer_norm", at + ".norm", {x, w[0], w[1]}, {8, 64}, 20);
    const uint64_t up = tape.call("linear", at + ".up", {normed, w[2], w[3]}, {8, 256}, 21);
    uint64_t active = tape.call("relu", at, {up}, {8, 256}, 22);
    if (b == extra) active = tape.call("tanh", at, {active}, {8, 256}, 23);
    const uint64_t down = tape.call("linear", at + ".down", {active, w[4], w[5]}, {8, 64}, 24);
    x = tape.call("add", at, {x, down}, {8, 64}, 25);
  }
  tape.call("mean", "", {x}, {}, 30);
  return tape.snapshot();
}

}  // namespace lunagrad::test
