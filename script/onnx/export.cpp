#include "script/onnx/export.h"

#include <algorithm>

#include "onnx.pb.h"
#include "runtime/io/atomic_file.h"
#include "runtime/ops.h"
#include "script/onnx/batch.h"
#include "script/onnx/rule.h"

namespace lunagrad::onnx_export {
namespace {

std::vector<std::string> names_for(const char* what, const std::vector<std::string>& given, size_t count) {
  if (!given.empty()) {
    if (given.size() != count)
      fail("io.onnx_export: ", given.size(), " ", what, " names are given and there ",
           count == 1 ? "is " : "are ", count, " ", what, count == 1 ? "" : "s");
    return given;
  }
  if (count == 1) return {what};
  std::vector<std::string> names;
  for (size_t i = 1; i <= count; ++i) names.push_back(what + ("_" + std::to_string(i)));
  return names;
}

// Runs the model on `inputs` and returns the graph of that run.
Graph record(const Model& model, const TensorList& inputs, const Options& options) {
  const NoGrad off;
  Graph graph;
  ValueTable values;
  std::vector<Step> steps;
  TensorList examples, results;
  std::vector<int> outputs;
  // The model gets copies: it may write to its inputs, and every input needs its own memory.
  for (const Tensor& x : inputs) examples.push_back(clone(x));
  const std::vector<std::string> input_names = names_for("input", options.input_names, inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) graph.input(input_names[i], examples[i]);
  {
    Recorder recorder(values);
    const auto know = [&](const Tensor& x, Value value) {
      values.push_back(std::move(value));
      recorder.know(x, int(values.size()) - 1);
    };
    std::vector<std::pair<const std::string*, Tensor>> parameters;
    for (const auto& [name, x] : model.parameters) {
      // A tensor with several names keeps the first.
      const bool shared = std::any_of(parameters.begin(), parameters.end(), [&x = x](const auto& known) {
        return known.second.storage_ref() == x.storage_ref() && known.second.offset() == x.offset() &&
               known.second.shape() == x.shape() && known.second.strides() == x.strides();
      });
      if (shared) continue;
      parameters.push_back({&name, x});
      know(x, {x, name, x.storage().version, true});
    }
    for (size_t i = 0; i < inputs.size(); ++i) know(examples[i], {{}, input_names[i]});
    results = model.run(examples);
    for (const Tensor& y : results) outputs.push_back(recorder.value_of(y));
    if (!recorder.complaint().empty()) fail("io.onnx_export: ", recorder.complaint());
    for (const Value& value : values)
      if (value.parameter && value.tensor.storage().version != value.version)
        fail("io.onnx_export: the model changes '", value.name, "' in evaluation, by ",
             value.tensor.storage().last_writer, at(value.tensor.storage().last_write));
    steps = recorder.take();
  }
  const std::vector<std::string> output_names = names_for("output", options.output_names, results.size());
  for (const std::string& name : output_names) {
    if (std::find(input_names.begin(), input_names.end(), name) != input_names.end())
      fail("io.onnx_export: '", name, "' is the name of an input and of an output");
    graph.reserve_name(name);
  }
  for (Value& value : values)
    if (value.parameter) value.name = graph.tensor(value.tensor, value.name);
  Writer writer(graph, values);
  writer.set_root(model.path);
  writer.write(steps);
  for (size_t i = 0; i < results.size(); ++i)
    graph.output(writer.name_of(outputs[i]), output_names[i], results[i]);
  graph.prune();
  graph.graph().set_name(model.title.empty() ? "model" : model.title);
  return graph;
}

// The inputs with the batch size plus 1: their first element along the batch dim is appended.
TensorList grown(const TensorList& inputs, int dim) {
  const NoGrad off;
  TensorList all;
  for (const Tensor& x : inputs) {
    if (x.ndim() <= dim || x.size(dim) != inputs[0].size(dim) || x.size(dim) == 0)
      fail(
          "io.onnx_export: dynamic_batch: every input must have the same number of elements, at least 1, in "
          "dim ",
          dim + 1, " (got shapes ", inputs[0].shape(), " and ", x.shape(), ")");
    all.push_back(cat({x, narrow(x, dim, 0, 1)}, dim));
  }
  return all;
}

}  // namespace

void export_model(const std::string& file, const Model& model, const TensorList& inputs,
                  const Options& options) {
  Graph graph = record(model, inputs, options);
  if (options.batch_dim) {
    Graph larger = record(model, grown(inputs, *options.batch_dim), options);
    follow_batch(graph, larger, *options.batch_dim, inputs[0].size(*options.batch_dim));
    graph.prune();
  }
  constexpr size_t kMost = size_t(1) << 31;
  const size_t bytes = graph.model().ByteSizeLong();
  if (bytes >= kMost)
    fail("io.onnx_export: the model has ", bytes, " bytes, and an ONNX file ends at 2 GiB; export its parts");
  AtomicFile out(file);
  out.write(graph.model().SerializeAsString());
  out.commit();
}

}  // namespace lunagrad::onnx_export
