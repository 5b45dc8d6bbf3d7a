#pragma once
// A recorded tape as the comparison uses it: operations, leaves, and sources (batches, labels, masks and
// numbers, which need no gradient and were made by no node). Plain values; any thread.
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "runtime/statistics/sketch.h"
#include "runtime/statistics/summary.h"

namespace lunagrad {

// A tape's record of a value. Tapes of older versions have no sketch.
struct TapeValue {
  Summary summary;
  std::optional<Sketch> sketch;
};

struct TapeNode {
  enum class Kind { op, leaf, source };
  Kind kind = Kind::op;
  int64_t id = -1;   // in the run that recorded it; -1: unknown
  std::string op;    // "matmul"; "leaf"; "source"
  std::string name;  // leaf: "fc1.weight"; source: the name of the operand, "input"
  std::string module, device, file;
  int line = 0;      // 0: unknown
  std::string code;  // the script's line without its indent; "" when the script is not known
  std::vector<int64_t> shape;
  std::string dtype;
  std::vector<std::pair<std::string, std::string>> attributes;
  std::vector<int> inputs;  // indices of nodes; -1: an absent operand
  std::optional<TapeValue> value, gradient;
  double forward_ns = 0, backward_ns = 0;
};
using TapeNodeKind = TapeNode::Kind;

struct TapeGraph {
  std::string title;  // the name that the user gave
  int64_t step = -1;  // -1: unknown
  std::string script_name, script;
  // In the order in which the ops ran. Each node comes after its inputs; leaves and sources come right before
  // the op that reads them first.
  std::vector<TapeNode> nodes;

  bool has_values() const;
};

// The module of a node. For a leaf or source outside of modules it is taken from the name.
std::string path_of(const TapeNode&);
// A label for people: "linear net.1", "net.1.weight", "input of net.1".
std::string label_of(const TapeNode&);
std::string shape_text(const std::vector<int64_t>& shape);  // "[32, 10]"

// Sorts nodes so that each comes after its inputs. Error of kind file, which begins with `where`, when a node
// depends on itself.
std::vector<TapeNode> in_order(std::vector<TapeNode> nodes, const std::string& where);

}  // namespace lunagrad
