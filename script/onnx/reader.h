#pragma once
// Reads an ONNX file (opset 1 to 21, github.com/onnx/onnx/blob/main/docs/IR.md) as plain values: nodes in
// order of execution, initializers, names of inputs and outputs. lunagrad/onnx_import runs them. Tensors are
// on the CPU. Errors have kind file and name the file. Any thread.
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "runtime/core/tensor.h"

namespace lunagrad::onnx_import {

using AttributeValue = std::variant<int64_t, double, std::string, Tensor, std::vector<int64_t>,
                                    std::vector<double>, std::vector<std::string>>;

struct Node {
  std::string op, name;
  std::vector<std::string> inputs, outputs;  // "": absent
  std::vector<std::pair<std::string, AttributeValue>> attributes;
};

struct Model {
  std::string name;
  int64_t opset = 0;
  std::vector<std::string> inputs, outputs;                  // inputs without the initializers
  std::vector<std::pair<std::string, Tensor>> initializers;  // sparse initializers are refused
  std::vector<Node> nodes;
};

// `allow(path)` is called before a file with external data is read, and throws if reading is not allowed.
Model read_model(const std::string& path, const std::function<void(const std::string&)>& allow);

}  // namespace lunagrad::onnx_import
