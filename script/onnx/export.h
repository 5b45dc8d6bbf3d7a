#pragma once
// Writes a model as an ONNX file (opset 17): runs it once on an example and writes the recorded ops. Called
// by bind.cpp on the thread of the context.
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "runtime/core/tensor.h"

namespace lunagrad::onnx_export {

struct Model {
  std::function<TensorList(const TensorList&)> run;
  std::string path, title;  // the path of the module's calls, and the graph's name; "" for a function
  std::vector<std::pair<std::string, Tensor>> parameters = {};  // with buffers, named as in state_dict
};

struct Options {
  std::vector<std::string> input_names, output_names;  // empty: input, output, or input_1, input_2, …
  std::optional<int> batch_dim = {};                   // from 0; this dim of every input gets any size
};

// Error when the model cannot be expressed in ONNX, or the file would have 2 GiB or more.
void export_model(const std::string& file, const Model&, const TensorList& inputs, const Options&);

}  // namespace lunagrad::onnx_export
