#pragma once
// A recorded tape as its comparison with another one sees it: operations, leaves, and sources (batches,
// labels, masks and numbers, which need no gradient and which no node made). Plain values; any thread.
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "runtime/statistics/sketch.h"
#include "runtime/statistics/summary.h"

namespace lunagrad {

// What a tape keeps of a value. Tapes of older versions have no sketch.
struct TapeValue {
  Summary summary;
  std::optional<Sketch> sketch;
};

struct TapeNode {
  enum class Kind { op, leaf, source };
  Kind kind = Kind::op;
  int64_t id = -1;   // in the run that recorded it; -1: unknown
  std::string op;    // "matmul"; "leaf"; "source"
  std::string name;  // of a leaf "fc1.weight", of a source the operand that it is, "input"
  std::string module, device, file;
  int line = 0;      // 0: unknown
  std::string code;  // that line of the script without its indent; "" when the script is not known
  std::vector<int64_t> shape;
  std::string dtype;
  std::vector<std::pair<std::string, std::string>> attributes;
  std::vector<int> inputs;  // numbers of nodes; -1: an absent operand
  std::optional<TapeValue> value, gradient;
  double forward_ns = 0, backward_ns = 0;
};

struct TapeGraph {
  std::string title;  // how the user named it
  int64_t step = -1;  // -1: unknown
  std::string script_name, script;
  // In the order in which the ops ran; each node stands behind its inputs, leaves and sources right before
  // the op that reads them first.
  std::vector<TapeNode> nodes;

  bool has_values() const;
};

// The module that a node belongs to: for a leaf or source outside of modules, that of its name.
std::string path_of(const TapeNode&);
// "linear net.1", "net.1.weight", "input of net.1": for people.
std::string label_of(const TapeNode&);
std::string shape_text(const std::vector<int64_t>& shape);  // "[32, 10]"

// Puts nodes that were read in any order into the order of a graph. Error of kind file, which begins with
// `where`, when a node depends on itself.
std::vector<TapeNode> in_order(std::vector<TapeNode> nodes, const std::string& where);

}  // namespace lunagrad
