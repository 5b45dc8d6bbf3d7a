// Reads back what lg.io.onnx_export writes: operators in order, names, initializers. tests/onnx/check.py
// tests that the files are valid and compute the same.
#include <doctest/doctest.h>

#include <cstring>
#include <filesystem>

#include "folders.h"
#include "onnx.pb.h"
#include "runtime/ops.h"
#include "script/onnx/export.h"
#include "tests/support/program.h"

using namespace lunagrad;
using namespace lunagrad::onnx_messages;

namespace {

struct File {
  ModelProto model;
  explicit File(const std::string& path) { REQUIRE(model.ParseFromString(test::read_file(path))); }
  const GraphProto& graph() const { return model.graph(); }

  std::string operators() const {
    std::string all;
    for (const NodeProto& node : graph().node()) all += (all.empty() ? "" : " ") + node.op_type();
    return all;
  }
  const NodeProto* first(const std::string& type) const {
    for (const NodeProto& node : graph().node())
      if (node.op_type() == type) return &node;
    return nullptr;
  }
  const TensorProto* tensor(const std::string& name) const {
    for (const TensorProto& tensor : graph().initializer())
      if (tensor.name() == name) return &tensor;
    return nullptr;
  }
  // "2x3" of a tensor, "batchx4" of an input or output.
  std::string shape(const std::string& name) const {
    std::string text;
    const auto add = [&](const std::string& size) { text += (text.empty() ? "" : "x") + size; };
    if (const TensorProto* const found = tensor(name))
      for (const int64_t size : found->dims()) add(std::to_string(size));
    for (const auto* list : {&graph().input(), &graph().output()})
      for (const ValueInfoProto& value : *list)
        if (value.name() == name)
          for (const auto& dim : value.type().tensor_type().shape().dim())
            add(dim.has_dim_param()   ? dim.dim_param()
                : dim.has_dim_value() ? std::to_string(dim.dim_value())
                                      : "?");
    return text;
  }
};

const AttributeProto* attribute(const NodeProto* node, const std::string& name) {
  REQUIRE(node);
  for (const AttributeProto& found : node->attribute())
    if (found.name() == name) return &found;
  return nullptr;
}

// The networks of tests/onnx/models.lua, written once.
const std::string& models() {
  static const test::Folder folder;
  static const std::string path = [] {
    const test::Finished run =
        test::Program({test::kProgram, LUNAGRAD_SOURCE_DIR "/tests/onnx/models.lua", folder.path()}).finish();
    CHECK_MESSAGE(run.code == 0, run.err);
    return folder.path();
  }();
  return path;
}

// The graph of a function of tensors.
struct Exported {
  test::Folder folder;
  std::string path = folder.path() + "/model.onnx";

  std::string error(std::function<TensorList(const TensorList&)> run, const TensorList& inputs,
                    const onnx_export::Options& options = {}) const {
    try {
      onnx_export::export_model(path, {std::move(run), ""}, inputs, options);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  }
  File file(std::function<TensorList(const TensorList&)> run, const TensorList& inputs,
            const onnx_export::Options& options = {}) const {
    REQUIRE(error(std::move(run), inputs, options) == "");
    return File(path);
  }
};

}  // namespace

TEST_CASE("ONNX: an MLP has its layers and the names of its state_dict") {
  const File file(models() + "/mlp.onnx");
  CHECK(file.model.ir_version() == 8);
  CHECK(file.model.producer_name() == "lunagrad");
  REQUIRE(file.model.opset_import_size() == 1);
  CHECK(file.model.opset_import(0).version() == 17);
  CHECK(file.graph().name() == "Sequential");
  CHECK(file.operators() == "Gemm Relu Gemm LogSoftmax");
  CHECK(file.graph().node(0).name() == "0/Gemm");
  CHECK(file.graph().node(0).input(1) == "0.weight");
  CHECK(file.graph().node(0).input(2) == "0.bias");
  CHECK(file.graph().initializer_size() == 4);
  CHECK(file.shape("0.weight") == "16x6");
  CHECK(file.shape("3.bias") == "4");
  CHECK(file.shape("input") == "batchx6");
  CHECK(file.shape("output") == "batchx4");
}

TEST_CASE("ONNX: an activation fused into linear or a convolution becomes a node after it") {
  const Tensor weight = ones({3, 4}), bias = ones({3});
  const auto operators = [&](const Shape& x, Activation activation) {
    const auto run = [&](const TensorList& in) {
      return TensorList{linear(in[0], weight, bias, activation)};
    };
    return Exported().file(run, {ones(x)}).operators();
  };
  CHECK(operators({2, 4}, Activation::relu) == "Gemm Relu");
  CHECK(operators({2, 4}, Activation::sigmoid) == "Gemm Sigmoid");
  CHECK(operators({5, 2, 4}, Activation::tanh) == "Transpose MatMul Add Tanh");
  const auto convolution = [](const TensorList& in) {
    return TensorList{conv2d(in[0], ones({1, 2, 3, 3}), {}, {1}, {1}, {1}, 1, Activation::relu)};
  };
  CHECK(Exported().file(convolution, {ones({1, 2, 4, 4})}).operators() == "Conv Relu");
}

TEST_CASE("ONNX: a convolutional network") {
  const File file(models() + "/cnn.onnx");
  CHECK(file.operators() ==
        "Conv BatchNormalization Relu MaxPool Conv Mul Erf Add Mul Mul GlobalAveragePool Reshape Gemm");
  CHECK(file.graph().node(0).input_size() == 2);  // no bias
  CHECK(file.graph().node(1).input(3) == "1.running_mean");
  const NodeProto& second = file.graph().node(4);
  CHECK(attribute(&second, "group")->i() == 4);
  CHECK(attribute(&second, "strides")->ints(1) == 2);
  int64_t sizes[2];
  const TensorProto* const flat = file.tensor(file.first("Reshape")->input(1));
  REQUIRE(flat->raw_data().size() == sizeof sizes);
  std::memcpy(sizes, flat->raw_data().data(), sizeof sizes);
  CHECK(sizes[0] == -1);
  CHECK(sizes[1] == 8);
}

TEST_CASE("ONNX: a GPT stores its shared weight once and its mask as a constant") {
  const File file(models() + "/gpt.onnx");
  CHECK(file.tensor("bytes.weight"));
  CHECK_FALSE(file.tensor("head.weight"));
  CHECK(file.shape("causal") == "8x8");
  CHECK(file.first("LayerNormalization")->input(1) == "blocks.0.norm1.weight");
  CHECK(attribute(file.first("LayerNormalization"), "axis")->i() == -1);
  CHECK(file.shape("output") == "batchx8x50");
  int softmaxes = 0;
  for (const NodeProto& node : file.graph().node()) softmaxes += node.op_type() == "Softmax";
  CHECK(softmaxes == 2);
}

TEST_CASE("ONNX: an LSTM's gates are reordered to ONNX's order") {
  const File file(models() + "/lstm.onnx");
  const NodeProto* const node = file.first("LSTM");
  CHECK(attribute(node, "hidden_size")->i() == 7);
  CHECK(attribute(node, "direction")->s() == "forward");
  CHECK(file.shape(node->input(1)) == "1x28x5");
  CHECK(file.shape(node->input(3)) == "1x56");
  CHECK(node->input_size() == 4);  // zero initial states are left out
  int layers = 0;
  for (const NodeProto& each : file.graph().node()) layers += each.op_type() == "LSTM";
  CHECK(layers == 4);
  CHECK(file.graph().output_size() == 3);
  CHECK(file.shape("output_1") == "batchx4x14");

  const File states(models() + "/lstm_states.onnx");
  CHECK(states.first("LSTM")->input_size() == 7);
  CHECK(states.shape("input_2") == "1xbatchx7");
}

TEST_CASE("ONNX: values independent of the inputs are constants, unused values are left out") {
  const Exported out;
  const Tensor x = ones({2, 3});
  const File file = out.file(
      [](const TensorList& in) -> TensorList {
        const Tensor unused = exp(in[0]);
        return {in[0] * tril(ones({2, 3})) + 1.5};
      },
      {x});
  CHECK(file.operators() == "Mul Add");
  CHECK(file.shape("constant") == "2x3");
  CHECK(file.graph().initializer_size() == 2);
}

TEST_CASE("ONNX: an input, a constant and a repeated result may be outputs") {
  const Exported out;
  const File file = out.file(
      [](const TensorList& in) -> TensorList {
        const Tensor y = relu(in[0]);
        return {in[0], y, y, ones({2})};
      },
      {ones({2})}, {.output_names = {"a", "b", "c", "d"}});
  CHECK(file.operators() == "Relu Identity Identity Identity");
  for (const char* name : {"a", "b", "c", "d"}) CHECK(file.shape(name) == "2");
}

TEST_CASE("ONNX: in-place writes become new values, and are refused where a graph cannot express them") {
  const Exported out;
  const Tensor x = ones({2, 3});
  const File file = out.file(
      [](const TensorList& in) -> TensorList {
        const Tensor y = clone(in[0]);
        copy_(y, y * 2.0);
        return {y + in[0]};
      },
      {x});
  CHECK(file.operators() == "Mul Add");
  const auto part_written = [](const TensorList& in) -> TensorList {
    const Tensor y = clone(in[0]);
    copy_(select(y, 0, 1), Tensor::number(3.0));
    return {y};
  };
  CHECK(out.error(part_written, {x}).find("changed in place through another view of its memory by _copy") !=
        std::string::npos);
  const auto into_constant = [](const TensorList& in) -> TensorList {
    const Tensor y = zeros({4});
    copy_(narrow(y, 0, 0, 2), sum(in[0], {1}));
    return {y};
  };
  CHECK(out.error(into_constant, {x}).find("changed in place") != std::string::npos);
}

TEST_CASE("ONNX: a dynamic batch size") {
  const Exported out;
  const Tensor x = ones({2, 3});
  const onnx_export::Options any{.batch_dim = 0};
  // If several sizes depend on the batch, or one outside of a reshape, they are computed from the input's
  // size.
  const File repeated = out.file(
      [](const TensorList& in) -> TensorList {
        return {expand(ones({1, 3}) * sum(in[0]), {in[0].size(0), 3}), flatten(in[0], 0, 1)};
      },
      {x}, any);
  CHECK(repeated.graph().node(0).op_type() == "Shape");
  CHECK(repeated.shape("output_1") == "batchx3");
  CHECK(repeated.shape("output_2") == "?");

  const auto by_size = [](const TensorList& in) -> TensorList { return {in[0] * double(in[0].size(0))}; };
  CHECK(out.error(by_size, {x}, any) ==
        "io.onnx_export: dynamic_batch: mul: a constant that it reads depends on the size of the batch");
  const auto branching = [](const TensorList& in) -> TensorList {
    return {in[0].size(0) > 2 ? tanh(in[0]) : relu(in[0])};
  };
  CHECK(out.error(branching, {x}, any).find("relu: it is computed in another way") != std::string::npos);
  CHECK(out.error(by_size, {x, ones({3, 3})}, any).find("every input must have the same number") !=
        std::string::npos);
  CHECK(out.error(by_size, {x}) == "");
}

TEST_CASE("ONNX: a model that cannot be expressed is one error and leaves no file") {
  const Exported out;
  const Tensor x = ones({2, 3});
  const auto error_of = [&](Tensor (*f)(const Tensor&)) {
    return out.error([f](const TensorList& in) -> TensorList { return {f(in[0])}; }, {x});
  };
  CHECK(error_of([](const Tensor& t) { return nonzero(t); }) ==
        "io.onnx_export: nonzero: this operation cannot be exported to ONNX");
  CHECK(error_of([](const Tensor& t) { return dropout(t, 0.5, true); }).find("dropout: random numbers") !=
        std::string::npos);
  CHECK(error_of([](const Tensor& t) { return to(t, DType::c64); }).find("complex") != std::string::npos);
  CHECK_FALSE(std::filesystem::exists(out.path));
}
