#pragma once
// The tape of a backward pass: nodes, operands, shapes and times (nanoseconds) as text and numbers, without
// engine types. Immutable once made; any thread may read it.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/statistics/summary.h"
#include "script/view/source_place.h"
#include "script/view/step_plan.h"
#include "script/view/value_slice.h"

namespace lunagrad {

// An input or output of a node.
struct OperandInfo {
  uint64_t node = 0;    // id of the node that made it; 0: none
  uint64_t tensor = 0;  // the tensor's id
  std::string name;     // of the op's operand ("input", "weight") or of the parameter ("fc1.weight")
  std::vector<int64_t> shape, strides;
  std::string dtype;
  bool saved = false;  // the gradient reads this value
  uint32_t saved_version = 0, version_now = 0;
};

// One node of the tape.
struct NodeInfo {
  uint64_t id = 0;
  std::string op;  // "matmul"; "leaf" for a parameter or input
  std::string device;
  std::string module;  // "net.1"
  // Further names of a shared module, or of a leaf that is a shared parameter.
  std::vector<std::string> also;
  SourcePlace place;
  // For a call that a backward pass made with create_graph: the op whose gradient it computes, whose line and
  // module it has. "": a call of the script.
  std::string gradient_op;
  std::vector<std::pair<std::string, std::string>> attributes;  // the op's parameters, printed
  std::vector<OperandInfo> inputs, outputs;
  // No gradient goes through it: a call with the tape off, a frozen parameter, or what follows from one. It
  // has no times and no gradient.
  bool no_gradient = false;
  double forward_ns = 0, backward_ns = 0;
  int64_t bytes = 0;  // of the outputs
  // For a leaf whose gradient was all-reduced between ranks: "travelled in bucket 3 of 7 (24.1 MiB,
  // all_reduce 2.3 ms)".
  std::string travelled;
  // Summaries of the first output and its gradient; set while statistics are watched.
  std::optional<Summary> output_summary, gradient_summary;
};

// One of the backward passes of a step.
struct PassInfo {
  uint64_t key = 0;  // the same for passes from the same line and op in other steps
  std::string op;    // op of the pass's root
  SourcePlace place;
  size_t nodes = 0;
  bool inner = false;  // a later pass goes through its graph
};

// The tape of one backward pass, newest node first. Immutable; any thread may read it.
struct TapeSnapshot {
  int64_t step = 0;
  std::vector<PassInfo> passes;  // of the step, in order of execution
  int pass = -1;                 // index of this tape's pass; -1: a part of the graph without a backward pass
  std::vector<NodeInfo> nodes;
  bool failed = false;          // the run ended with an error in this step
  bool has_statistics = false;  // the nodes have summaries from this step
  TapePlan plan;                // plan of the latest deferred step, applied to these nodes
};

// The index of the first node of an op at a place, -1: there is none. An op is another node in each step, so
// what is known from one step is found in another by its place.
inline int node_at(const TapeSnapshot& tape, std::string_view op, const SourcePlace& place) {
  for (size_t i = 0; i < tape.nodes.size(); ++i)
    if (tape.nodes[i].op == op && tape.nodes[i].place == place) return int(i);
  return -1;
}

// Names a tensor of a kept step: an output or input of a node, or the gradient of an output.
struct TensorPlace {
  int64_t step = -1;  // -1: the latest
  uint64_t node = 0;
  bool input = false;  // true: input `index` of the node; false: output `index`
  int index = 0;
  Which which = Which::output;
  bool operator==(const TensorPlace&) const = default;
};

}  // namespace lunagrad
