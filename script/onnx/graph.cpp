#include "script/onnx/graph.h"

#include <algorithm>
#include <cstring>
#include <unordered_map>

#include "onnx.pb.h"
#include "runtime/core/version.h"
#include "runtime/ops.h"

namespace lunagrad::onnx_export {

static_assert(std::endian::native == std::endian::little, "the bytes of tensors are written as they lie");

constexpr int kIrVersion = 8, kOpset = 17;

int onnx_type(DType type) {
  switch (type) {
    case DType::boolean:
      return onnx_messages::TensorProto::BOOL;
    case DType::u8:
      return onnx_messages::TensorProto::UINT8;
    case DType::i32:
      return onnx_messages::TensorProto::INT32;
    case DType::i64:
      return onnx_messages::TensorProto::INT64;
    case DType::f16:
      return onnx_messages::TensorProto::FLOAT16;
    case DType::bf16:
      return onnx_messages::TensorProto::BFLOAT16;
    case DType::f32:
      return onnx_messages::TensorProto::FLOAT;
    case DType::f64:
      return onnx_messages::TensorProto::DOUBLE;
    case DType::c64:
    case DType::c128:
      break;
  }
  fail("io.onnx_export: complex tensors (", type, ") cannot be exported");
}

namespace {

void set_attribute(onnx_messages::AttributeProto& to, const Attribute& from) {
  to.set_name(from.name);
  switch (from.kind) {
    case Attribute::Kind::integer:
      to.set_type(onnx_messages::AttributeProto::INT);
      return to.set_i(from.integer);
    case Attribute::Kind::real:
      to.set_type(onnx_messages::AttributeProto::FLOAT);
      return to.set_f(float(from.number));
    case Attribute::Kind::text:
      to.set_type(onnx_messages::AttributeProto::STRING);
      return to.set_s(from.texts[0]);
    case Attribute::Kind::integers:
      to.set_type(onnx_messages::AttributeProto::INTS);
      to.mutable_ints()->Assign(from.integers.begin(), from.integers.end());
      return;
    case Attribute::Kind::texts:
      to.set_type(onnx_messages::AttributeProto::STRINGS);
      for (const std::string& text : from.texts) to.add_strings(text);
  }
}

void describe(onnx_messages::ValueInfoProto& info, const std::string& name, const Tensor& example) {
  info.set_name(name);
  onnx_messages::TypeProto::Tensor& type = *info.mutable_type()->mutable_tensor_type();
  type.set_elem_type(onnx_type(example.dtype()));
  type.mutable_shape();  // present also for a scalar
  for (const int64_t size : example.shape()) type.mutable_shape()->add_dim()->set_dim_value(size);
}

}  // namespace

Graph::Graph() : model_(std::make_unique<onnx_messages::ModelProto>()) {
  model_->set_ir_version(kIrVersion);
  model_->set_producer_name("lunagrad");
  model_->set_producer_version(LUNAGRAD_VERSION);
  onnx_messages::OperatorSetIdProto& opset = *model_->add_opset_import();
  opset.set_domain("");
  opset.set_version(kOpset);
  model_->mutable_graph();
}
Graph::~Graph() = default;
Graph::Graph(Graph&&) noexcept = default;

onnx_messages::GraphProto& Graph::graph() { return *model_->mutable_graph(); }

std::string Graph::fresh(std::string name) {
  const std::string base = name;
  for (int n = 2; !taken_.insert(name).second; ++n) name = base + "_" + std::to_string(n);
  return name;
}

Names Graph::add(const char* type, const Names& inputs, const std::vector<Attribute>& attributes,
                 int outputs) {
  onnx_messages::NodeProto& node = *graph().add_node();
  origins_.push_back(origin_);
  const std::string path = origin_.module.empty() ? type : origin_.module + "/" + type;
  Names results;
  for (int i = 0; i < outputs; ++i) {
    results.push_back(fresh(i == 0 ? path : results[0] + ":" + std::to_string(i)));
    node.add_output(results.back());
  }
  node.set_name(results[0]);
  node.set_op_type(type);
  for (const std::string& input : inputs) node.add_input(input);
  while (node.input_size() > 0 && node.input(node.input_size() - 1).empty())
    node.mutable_input()->RemoveLast();
  for (const Attribute& attribute : attributes) set_attribute(*node.add_attribute(), attribute);
  return results;
}

std::string Graph::tensor(const Tensor& value, const std::string& name) {
  onnx_messages::TensorProto& out = *graph().add_initializer();
  out.set_name(fresh(name.empty() ? "constant" : name));
  out.set_data_type(onnx_type(value.dtype()));
  for (const int64_t size : value.shape()) out.add_dims(size);
  const NoGrad off;
  const Tensor dense = contiguous(to(value, cpu_device()));
  out.set_raw_data(dense.raw(), dense.nbytes());
  return out.name();
}

std::string Graph::integers(const std::vector<int64_t>& values) {
  return tensor(Tensor::from<int64_t>(values, {int64_t(values.size())}), "integers");
}

std::string Graph::sizes(const std::vector<int64_t>& values) {
  const std::string name = tensor(Tensor::from<int64_t>(values, {int64_t(values.size())}), "sizes");
  sizes_.insert(name);
  return name;
}

std::string Graph::number(double value, DType type) {
  uint64_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  for (const auto& [key, name] : numbers_)
    if (key.second == type && std::memcmp(&key.first, &value, sizeof value) == 0) return name;
  const NoGrad off;
  const Tensor scalar = to(Tensor::from<double>(std::span(&value, 1), {}), type);
  numbers_.push_back({{value, type}, tensor(scalar, "number")});
  return numbers_.back().second;
}

void Graph::input(const std::string& name, const Tensor& example) {
  taken_.insert(name);
  describe(*graph().add_input(), name, example);
}

void Graph::output(std::string from, const std::string& name, const Tensor& example) {
  if (const auto earlier = renamed_.find(from); earlier != renamed_.end()) from = earlier->second;
  describe(*graph().add_output(), name, example);
  // A node's result is renamed. Other values (inputs, parameters, and values that are already outputs) are
  // copied by an Identity node.
  bool made = false;
  for (const onnx_messages::NodeProto& node : graph().node())
    made |= std::find(node.output().begin(), node.output().end(), from) != node.output().end();
  for (int i = 0; i + 1 < graph().output_size(); ++i) made &= graph().output(i).name() != from;
  if (!made) {
    onnx_messages::NodeProto& node = *graph().add_node();
    origins_.push_back({"", {}, ""});
    node.set_op_type("Identity");
    node.set_name(fresh("Identity"));
    node.add_input(from);
    node.add_output(name);
    return;
  }
  renamed_[from] = name;
  for (onnx_messages::NodeProto& node : *graph().mutable_node()) {
    for (std::string& input : *node.mutable_input())
      if (input == from) input = name;
    for (std::string& output : *node.mutable_output())
      if (output == from) output = name;
  }
}

void Graph::prune() {
  onnx_messages::GraphProto& g = graph();
  std::set<std::string> needed;
  for (const onnx_messages::ValueInfoProto& output : g.output()) needed.insert(output.name());
  onnx_messages::GraphProto kept;
  std::vector<int> order;
  for (int i = g.node_size() - 1; i >= 0; --i) {
    const onnx_messages::NodeProto& node = g.node(i);
    if (std::none_of(node.output().begin(), node.output().end(),
                     [&](const std::string& name) { return needed.count(name) > 0; }))
      continue;
    needed.insert(node.input().begin(), node.input().end());
    order.push_back(i);
  }
  std::vector<Origin> origins;
  for (auto i = order.rbegin(); i != order.rend(); ++i) {
    kept.add_node()->Swap(g.mutable_node(*i));
    origins.push_back(std::move(origins_[size_t(*i)]));
  }
  for (onnx_messages::TensorProto& tensor : *g.mutable_initializer())
    if (needed.count(tensor.name())) kept.add_initializer()->Swap(&tensor);
  g.mutable_node()->Swap(kept.mutable_node());
  g.mutable_initializer()->Swap(kept.mutable_initializer());
  origins_ = std::move(origins);
}

}  // namespace lunagrad::onnx_export
