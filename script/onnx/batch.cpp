#include "script/onnx/batch.h"

#include <cstring>

#include "onnx.pb.h"
#include "runtime/core/error.h"

namespace lunagrad::onnx_export {
namespace {

constexpr const char* kBatch = "batch";

class Batch {
 public:
  Batch(Graph& graph, Graph& larger, int dim, int64_t n)
      : graph_(graph), g_(graph.graph()), larger_(larger.graph()), dim_(dim), n_(n) {
    graph_.set_origin({});
  }

  void follow() {
    compare_nodes();
    const int tensors = g_.initializer_size();
    for (int i = 0; i < tensors; ++i) {
      const onnx_messages::TensorProto &a = g_.initializer(i), &b = larger_.initializer(i);
      if (a.SerializeAsString() == b.SerializeAsString()) continue;
      const int user = user_of(a.name());
      if (a.name() != b.name() || !graph_.are_sizes(a.name()) || a.raw_data().size() != b.raw_data().size())
        refuse(user, "a constant that it reads depends on the size of the batch");
      follow_sizes(user, a, b);
    }
    for (onnx_messages::ValueInfoProto& input : *g_.mutable_input())
      input.mutable_type()->mutable_tensor_type()->mutable_shape()->mutable_dim(dim_)->set_dim_param(kBatch);
    for (int i = 0; i < g_.output_size(); ++i) open_output(i);
    put_first();
  }

 private:
  [[noreturn]] void refuse(int node, const std::string& fact) const {
    const Origin& origin = graph_.origin_of(node);
    const char* op = origin.op;
    while (*op == '_') ++op;
    fail("io.onnx_export: dynamic_batch: ", *op ? op : g_.node(node).op_type().c_str(), ": ", fact,
         at(origin.line));
  }

  void compare_nodes() const {
    const int count = std::min(g_.node_size(), larger_.node_size());
    for (int i = 0; i < count; ++i)
      if (g_.node(i).SerializeAsString() != larger_.node(i).SerializeAsString())
        refuse(i, "it is computed in another way for another size of the batch");
    if (g_.node_size() != larger_.node_size() || g_.initializer_size() != larger_.initializer_size())
      refuse(std::max(0, count - 1), "what follows it is another for another size of the batch");
  }

  int user_of(const std::string& name) const {
    for (int i = 0; i < g_.node_size(); ++i)
      for (const std::string& input : g_.node(i).input())
        if (input == name) return i;
    return 0;
  }

  static std::vector<int64_t> integers_of(const onnx_messages::TensorProto& tensor) {
    std::vector<int64_t> values(tensor.raw_data().size() / sizeof(int64_t));
    std::memcpy(values.data(), tensor.raw_data().data(), tensor.raw_data().size());
    return values;
  }

  // Makes the sizes in tensor `a`, an operand of node `user`, depend on the batch size; `b` has the sizes for
  // n + 1. If only one size of a Reshape depends on the batch size, it becomes -1, which ONNX computes from
  // the other sizes. Otherwise a Concat of constants and multiples of the batch size replaces `a`.
  void follow_sizes(int user, const onnx_messages::TensorProto& a, const onnx_messages::TensorProto& b) {
    std::vector<int64_t> sizes = integers_of(a);
    const std::vector<int64_t> grown = integers_of(b);
    std::vector<size_t> follow;
    for (size_t i = 0; i < sizes.size(); ++i) {
      if (sizes[i] == grown[i]) continue;
      if (sizes[i] % n_ != 0 || sizes[i] / n_ * (n_ + 1) != grown[i])
        refuse(user, text("a size goes from ", sizes[i], " to ", grown[i], " when the batch goes from ", n_,
                          " to ", n_ + 1));
      follow.push_back(i);
    }
    const std::string name = a.name();
    if (follow.size() == 1 && g_.node(user).op_type() == "Reshape") {
      sizes[follow[0]] = -1;
      for (onnx_messages::TensorProto& tensor : *g_.mutable_initializer())
        if (tensor.name() == name) tensor.set_raw_data(sizes.data(), sizes.size() * sizeof(int64_t));
      return;
    }
    Names parts;
    for (size_t i = 0; i < sizes.size(); ++i)
      parts.push_back(sizes[i] == grown[i] ? graph_.integers({sizes[i]}) : multiple(sizes[i] / n_));
    const std::string all = graph_.add("Concat", parts, {{"axis", int64_t(0)}})[0];
    for (std::string& input : *g_.mutable_node(user)->mutable_input())
      if (input == name) input = all;
  }

  // The name of a value of shape [1]: the batch size times a factor.
  std::string multiple(int64_t factor) {
    if (batch_.empty())
      batch_ = graph_.add("Shape", {g_.input(0).name()},
                          {{"start", int64_t(dim_)}, {"end", int64_t(dim_ + 1)}})[0];
    return factor == 1 ? batch_ : graph_.add("Mul", {batch_, graph_.integers({factor})})[0];
  }

  void open_output(int i) {
    onnx_messages::TensorShapeProto& shape =
        *g_.mutable_output(i)->mutable_type()->mutable_tensor_type()->mutable_shape();
    const onnx_messages::TensorShapeProto& grown = larger_.output(i).type().tensor_type().shape();
    for (int d = 0; d < shape.dim_size(); ++d) {
      const int64_t size = shape.dim(d).dim_value(), larger = grown.dim(d).dim_value();
      if (size == larger) continue;
      if (size == n_ && larger == n_ + 1)
        shape.mutable_dim(d)->set_dim_param(kBatch);
      else
        shape.mutable_dim(d)->clear_value();
    }
  }

  // Moves the added nodes before the others, which read them. The added nodes read only inputs.
  void put_first() {
    const int added = g_.node_size() - larger_.node_size();
    google::protobuf::RepeatedPtrField<onnx_messages::NodeProto> ordered;
    for (int i = 0; i < g_.node_size(); ++i) {
      const int from = i < added ? larger_.node_size() + i : i - added;
      ordered.Add()->Swap(g_.mutable_node(from));
    }
    g_.mutable_node()->Swap(&ordered);
  }

  Graph& graph_;
  onnx_messages::GraphProto& g_;
  const onnx_messages::GraphProto& larger_;
  const int dim_;
  const int64_t n_;
  std::string batch_;
};

}  // namespace

void follow_batch(Graph& graph, Graph& larger, int dim, int64_t n) { Batch(graph, larger, dim, n).follow(); }

}  // namespace lunagrad::onnx_export
